"""Every condition file of the starter set is complete, cited, and says no number that is not a fact of the file.

Checks the files as data, with its own reading of TOML; must not know how they are loaded, indexed or weighed.
"""

import copy
import re
import tomllib
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import pytest

from core.domain.units import UNITS

Table = dict[str, Any]

STARTER = resources.files("core.retrieval") / "starter"
NOT_CONDITIONS = {"safety.toml"}
FIRST_TWELVE = {
    "pulmonary-embolism", "heart-failure", "community-acquired-pneumonia", "copd", "asthma", "acute-coronary-syndrome",
    "pneumothorax", "acute-kidney-injury", "hyperkalaemia", "sepsis", "open-angle-glaucoma", "acute-angle-closure",
}  # fmt: skip
FILM_ECHO_AND_RETINA = {
    "atelectasis", "cardiomegaly", "consolidation", "pulmonary-oedema", "enlarged-cardiomediastinum", "fracture",
    "lung-lesion", "lung-opacity", "pleural-effusion", "support-devices", "left-ventricle-on-echo",
    "diabetic-retinopathy", "macular-degeneration",
}  # fmt: skip
THE_REST = {
    "acute-pancreatitis", "anaemia", "aortic-dissection", "appendicitis", "atrial-fibrillation", "bacterial-meningitis",
    "chronic-kidney-disease", "cirrhosis", "deep-vein-thrombosis", "diabetes", "hypertension", "hyponatraemia",
    "ischaemic-stroke", "ketoacidosis", "pre-eclampsia", "streptococcal-sore-throat", "thyroid-disease",
    "upper-gi-bleeding", "urinary-tract-infection",
}  # fmt: skip
SECTIONS = ("overview", "suspect", "tests", "criteria", "severity", "red_flags", "next_steps", "mimics")
STRENGTHS = {"hallmark", "typical", "occasional", "against", "excludes"}
OBTAIN = {"history", "examination", "laboratory", "ecg", "imaging", "other"}
APPLIES = {"sex", "age_min", "age_max", "pregnancy"}
COMPARATORS = {">=", ">", "<=", "<", "=", "between"}
KINDS = {"diagnostic", "severity", "treatment", "normal"}
RULE_SEVERITIES = {"critical", "serious", "caution"}
FORBIDDEN = ("immediately", "emergency", "rule out", "safe to discharge")

# A number stands by itself: not part of a name (FEV1, V2, CURB-65, SGLT2) and not the digits inside a unit.
_NUMBER = re.compile(r"(?<![A-Za-z0-9.])(?<![A-Za-z]-)\d+(?:,\d{3})*(?:\.\d+)?")
_NAMED = re.compile(r"1\.73 ?(?:m2|m²)|10(?:\*|\^)\d+/L|\b(?:12|twelve)-lead")


def numbers(text: str) -> list[float]:
    """Magnitudes in the text; signs are dropped, because a hyphen may be a range."""
    return [float(found.replace(",", "")) for found in _NUMBER.findall(_NAMED.sub(" ", text))]


def condition_files() -> list[str]:
    names = (item.name for item in STARTER.iterdir())
    return sorted(name for name in names if name.endswith(".toml") and name not in NOT_CONDITIONS)


def read(name: str) -> Table:
    return tomllib.loads((STARTER / name).read_text(encoding="utf-8"))


def concept_ids() -> set[str]:
    files = [item for item in (STARTER / "concepts").iterdir() if item.name.endswith(".toml")]
    tables = [tomllib.loads(item.read_text(encoding="utf-8")) for item in files]
    return {row["id"] for table in tables for row in table["concept"]}


def head_defects(data: Table, known: set[str]) -> Iterator[str]:
    for field in ("slug", "title", "group", "lang", "edition", "licence"):
        if not data.get(field):
            yield f"no {field}"
    for field in ("aliases", "icd10", "hpo"):
        if not isinstance(data.get(field), list):
            yield f"{field} is no list"
    if data.get("concept") not in known:
        yield f"unknown concept {data.get('concept')}"


def section_defects(data: Table) -> Iterator[str]:
    sections: Table = data["sections"]
    yield from (f"no section {name}" for name in SECTIONS if not sections.get(name, "").strip())
    yield from (f"unknown section {name}" for name in sections if name not in SECTIONS)
    words = sum(len(text.split()) for text in sections.values())
    if not 350 <= words <= 700:
        yield f"{words} words"


def wording_defects(data: Table) -> Iterator[str]:
    texts = dict(data["sections"]) | {f"rule {rule['id']}": rule["action"] for rule in data.get("rule", [])}
    for place, text in texts.items():
        flat = " ".join(text.lower().split())
        yield from (f"{word!r} in {place}" for word in FORBIDDEN if word in flat)


def number_defects(data: Table) -> Iterator[str]:
    facts = data["fact"]
    allowed = {abs(float(fact[end])) for fact in facts for end in ("low", "high") if end in fact}
    allowed |= {value for fact in facts for value in numbers(fact["statement"])}
    for name, text in data["sections"].items():
        yield from (f"{value:g} in {name} is no fact" for value in numbers(text) if value not in allowed)


def bound_defect(fact: Table) -> str | None:
    low, high, comparator = fact.get("low"), fact.get("high"), fact["comparator"]
    if comparator not in COMPARATORS:
        return f"comparator {comparator}"
    if comparator == "between" and (low is None or high is None or low > high):
        return "between without two ordered bounds"
    if comparator in (">=", ">") and low is None:
        return "no lower bound"
    if comparator in ("<=", "<") and high is None:
        return "no upper bound"
    return "no value" if low is None and high is None else None


def fact_defects(data: Table) -> Iterator[str]:
    facts = data["fact"]
    if len({fact["id"] for fact in facts}) < len(facts):
        yield "a fact id twice"
    for fact in facts:
        place = f"fact {fact['id']}"
        if bound := bound_defect(fact):
            yield f"{place}: {bound}"
        if fact["unit"] not in UNITS:
            yield f"{place}: unit {fact['unit']} is not in the table"
        if fact["kind"] not in KINDS:
            yield f"{place}: kind {fact['kind']}"
        if fact.get("status") != "unreviewed" or "locator" not in fact:
            yield f"{place}: no status or locator"
        yield from (f"{place}: no {field}" for field in ("quantity", "population", "statement") if not fact.get(field))


def source_defects(data: Table) -> Iterator[str]:
    sources = data["source"]
    keys = {source["key"] for source in sources}
    if len(sources) < 2 or len(keys) < len(sources):
        yield f"{len(sources)} sources, {len(keys)} keys"
    for source in sources:
        fields = ("authors", "title", "journal", "year")
        yield from (f"source {source['key']}: no {field}" for field in fields if not source.get(field))
    for group in ("fact", "clue", "rule"):
        for row in data.get(group, []):
            if row.get("citation") not in keys:
                yield f"{group} {row.get('id') or row.get('concept')} cites {row.get('citation')}"


def clue_defects(data: Table, known: set[str]) -> Iterator[str]:
    clues = data["clue"]
    strengths = [clue["strength"] for clue in clues]
    if not 12 <= len(clues) <= 30:
        yield f"{len(clues)} clues"
    yield from (f"no clue of strength {need}" for need in ("hallmark", "against") if need not in strengths)
    if len({clue["concept"] for clue in clues}) < len(clues):
        yield "a clue concept twice"
    for clue in clues:
        place = f"clue {clue['concept']}"
        if clue["concept"] not in known:
            yield f"{place} is no known concept"
        if clue["strength"] not in STRENGTHS or clue["obtain"] not in OBTAIN:
            yield f"{place}: {clue['strength']}, {clue['obtain']}"
        if clue.get("polarity", "present") not in ("present", "absent"):
            yield f"{place}: polarity {clue['polarity']}"
        if not isinstance(clue.get("critical", False), bool):
            yield f"{place}: critical is not true or false"
        yield from (f"{place}: applies {key}" for key in clue.get("applies", {}) if key not in APPLIES)


def rule_defects(data: Table) -> Iterator[str]:
    for rule in data.get("rule", []):
        if rule.get("severity") not in RULE_SEVERITIES:
            yield f"rule {rule['id']}: severity {rule.get('severity')}"
        yield from (f"rule {rule['id']}: no {field}" for field in ("when", "flag", "action") if not rule.get(field))


def defects(data: Table, known: set[str]) -> list[str]:
    """All that is wrong with one condition file, in words; empty when it is sound."""
    found = [*head_defects(data, known), *section_defects(data), *wording_defects(data), *number_defects(data)]
    found += [*fact_defects(data), *source_defects(data), *clue_defects(data, known), *rule_defects(data)]
    return found


@pytest.fixture(scope="module")
def known() -> set[str]:
    return concept_ids()


@pytest.mark.parametrize("slugs", [FIRST_TWELVE, FILM_ECHO_AND_RETINA, THE_REST])
def test_the_conditions_are_there(slugs: set[str]) -> None:
    assert {name.removesuffix(".toml") for name in condition_files()} >= slugs


def test_they_are_those_of_the_specification() -> None:
    """44 rows of knowledge.md section 12; one of them holds two conditions that are weighed apart."""
    assert len(FIRST_TWELVE | FILM_ECHO_AND_RETINA | THE_REST) == 44
    assert len(condition_files()) >= 44


@pytest.mark.parametrize("name", condition_files())
def test_the_condition_file_is_sound(name: str, known: set[str]) -> None:
    data = read(name)
    assert f"{data['slug']}.toml" == name
    assert defects(data, known) == []


def test_numbers_are_read_as_a_person_reads_them() -> None:
    text = "CURB-65 of 3; FEV1 under 50 %; 1,000/mm3; 0.5-1.5 times; eGFR 30 mL/min/1.73m2; V2-V3; a 12-lead ECG; 7.20."
    assert numbers(text) == [3, 50, 1000, 0.5, 1.5, 30, 7.2]
    assert numbers("from -6 to -12 dB, 4-6, and 20 10*9/L") == [6, 12, 4, 6, 20]


def _say(section: str, words: str) -> Callable[[Table], None]:
    def plant(data: Table) -> None:
        data["sections"][section] += words

    return plant


def _set(group: str, field: str, value: object) -> Callable[[Table], None]:
    def plant(data: Table) -> None:
        data[group][0][field] = value

    return plant


def _without(strength: str) -> Callable[[Table], None]:
    def plant(data: Table) -> None:
        data["clue"] = [clue for clue in data["clue"] if clue["strength"] != strength]

    return plant


def _no_section(data: Table) -> None:
    del data["sections"]["mimics"]


def _cut_to_a_line(data: Table) -> None:
    data["sections"] = dict.fromkeys(SECTIONS, "A few words only.")


def _few_clues(data: Table) -> None:
    data["clue"] = data["clue"][:11]


def _twice(group: str) -> Callable[[Table], None]:
    def plant(data: Table) -> None:
        data[group].append(copy.deepcopy(data[group][0]))

    return plant


def _one_source(data: Table) -> None:
    data["source"] = data["source"][:1]


def _swap_bounds(data: Table) -> None:
    data["fact"][0] |= {"comparator": "between", "low": 9.0, "high": 1.0}


def _rule(action: str, severity: str) -> Callable[[Table], None]:
    def plant(data: Table) -> None:
        rule = {"id": "planted", "when": "potassium >= 6.5", "flag": "Potassium is high.", "action": action}
        data["rule"] = [rule | {"severity": severity, "citation": data["source"][0]["key"]}]

    return plant


BROKEN: list[tuple[Callable[[Table], None], str]] = [
    (_no_section, "no section mimics"),
    (lambda data: data["sections"].update(plan="Drops."), "unknown section plan"),
    (_cut_to_a_line, "32 words"),
    (_say("overview", " word" * 700), " words"),
    (_say("tests", " A value of 123.4 mmol/L."), "123.4 in tests is no fact"),
    (_say("next_steps", " Treat Immediately."), "'immediately' in next_steps"),
    (_say("suspect", " An emergency."), "'emergency' in suspect"),
    (_say("tests", " Tests rule\nout disease."), "'rule out' in tests"),
    (_say("next_steps", " Safe to discharge."), "'safe to discharge' in next_steps"),
    (_rule("Go to the emergency room.", "critical"), "'emergency' in rule planted"),
    (_rule("Check the tracing.", "grave"), "rule planted: severity grave"),
    (_rule("", "critical"), "rule planted: no action"),
    (_set("clue", "concept", "WR:no-such-thing"), "clue WR:no-such-thing is no known concept"),
    (_set("clue", "strength", "certain"), ": certain, "),
    (_set("clue", "obtain", "guess"), ", guess"),
    (_set("clue", "polarity", "maybe"), ": polarity maybe"),
    (_set("clue", "critical", "yes"), ": critical is not true or false"),
    (_set("clue", "applies", {"height": 3}), ": applies height"),
    (_set("clue", "citation", "nobody-1900"), " cites nobody-1900"),
    (_twice("clue"), "a clue concept twice"),
    (_few_clues, "11 clues"),
    (_without("hallmark"), "no clue of strength hallmark"),
    (_without("against"), "no clue of strength against"),
    (_set("fact", "unit", "furlong"), ": unit furlong is not in the table"),
    (_set("fact", "kind", "rumour"), ": kind rumour"),
    (_set("fact", "comparator", "about"), ": comparator about"),
    (_set("fact", "status", "reviewed by nobody"), ": no status or locator"),
    (_set("fact", "citation", ""), "fact aki-rise-48h cites "),
    (_set("fact", "statement", ""), ": no statement"),
    (_swap_bounds, ": between without two ordered bounds"),
    (_twice("fact"), "a fact id twice"),
    (_one_source, "1 sources, 1 keys"),
    (_set("source", "title", ""), ": no title"),
    (lambda data: data.update(concept="WR:nothing"), "unknown concept WR:nothing"),
    (lambda data: data.update(licence=""), "no licence"),
    (lambda data: data.update(icd10="N17"), "icd10 is no list"),
]


@pytest.mark.parametrize(("plant", "reason"), BROKEN, ids=[reason for _, reason in BROKEN])
def test_a_planted_defect_is_found(plant: Callable[[Table], None], reason: str, known: set[str]) -> None:
    data = copy.deepcopy(read("acute-kidney-injury.toml"))
    assert not any(reason in said for said in defects(data, known))
    plant(data)
    assert any(reason in said for said in defects(data, known))
