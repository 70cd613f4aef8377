"""The concept table as written: ids, surfaces, parents, laboratory ties, drug classes (the TOML, not the loader)."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from importlib import resources
from typing import Any

import pytest

from core.domain.passage import Concept
from core.retrieval.concepts import Matcher


def _words(text: str) -> list[str]:
    return text.split()


KINDS = {"disease", "finding", "drug", "drug-class", "test", "procedure", "anatomy", "organism", "other"}
FILES = [
    "abdomen", "circulation", "diseases", "drugs", "echo", "eye", "film", "history", "imaging", "infection",
    "laboratory", "metabolism", "nervous", "pregnancy", "retina", "signs", "symptoms", "thyroid",
]  # fmt: skip
# What the program derives from numbers, age and sex: these ids are fixed.
DERIVED = _words(
    "tachycardia bradycardia hypoxia hypotension hypertension fever hypothermia tachypnoea reduced-consciousness shock"
    " raised-intraocular-pressure raised-cup-disc-ratio aki aki-stage-2 aki-stage-3 egfr-below-30 egfr-below-60"
    " high-anion-gap creatinine-rise age-over-65 age-under-40"
)
CONDITIONS = _words(
    "pulmonary-embolism heart-failure community-acquired-pneumonia copd asthma acute-coronary-syndrome pneumothorax"
    " acute-kidney-injury hyperkalaemia sepsis open-angle-glaucoma acute-angle-closure"
)
# Pharmacology that any formulary gives; the second word is an ancestor, not always the parent.
CLASSES = [
    ("ibuprofen", "nsaid"), ("naproxen", "nsaid"), ("ramipril", "ace-inhibitor"), ("losartan", "arb"),
    ("sacubitril-valsartan", "arb"), ("furosemide", "diuretic"), ("bendroflumethiazide", "diuretic"),
    ("spironolactone", "potassium-sparing-diuretic"), ("spironolactone", "diuretic"), ("amiloride", "diuretic"),
    ("bisoprolol", "beta-blocker"), ("propranolol", "beta-blocker"), ("timolol", "topical-beta-blocker"),
    ("apixaban", "anticoagulant"), ("warfarin", "anticoagulant"), ("enoxaparin", "anticoagulant"),
    ("aspirin", "antiplatelet"), ("clopidogrel", "antiplatelet"), ("dapagliflozin", "sglt2-inhibitor"),
    ("amoxicillin", "penicillin"), ("co-amoxiclav", "penicillin"), ("piperacillin-tazobactam", "penicillin"),
    ("cefuroxime", "cephalosporin"), ("cefalexin", "beta-lactam"), ("clarithromycin", "macrolide"),
    ("co-trimoxazole", "trimethoprim"), ("gentamicin", "aminoglycoside"), ("morphine", "opioid"),
    ("amitriptyline", "tricyclic"), ("amitriptyline", "anticholinergic"), ("oxybutynin", "anticholinergic"),
    ("ipratropium", "bronchodilator"), ("salbutamol", "bronchodilator"), ("prednisolone", "corticosteroid"),
    ("tropicamide", "mydriatic"), ("topiramate", "angle-closure-provoking-drug"), ("latanoprost", "glaucoma-drops"),
]  # fmt: skip
# Pairs that must not be related, or a safety rule would misfire.
UNRELATED = [
    ("timolol", "beta-blocker"), ("aspirin", "nsaid"), ("paracetamol", "nsaid"), ("amlodipine", "beta-blocker"),
    ("metformin", "diuretic"), ("clarithromycin", "penicillin"), ("cefalexin", "penicillin"),
    ("salbutamol", "anticholinergic"), ("bisoprolol", "potassium-raising-medicine"),
]  # fmt: skip
EVERYDAY = [
    "The patient slept well and enjoyed his breakfast.", "He walked around the garden and read a book.",
    "We discussed the plan and agreed to meet again next week.", "The weather was cold and he wore a red coat.",
    "She works in an office and likes to run before lunch.", "The bus was late, so they took the train.",
    "Please bring your glasses case and a list of questions.", "The room was warm, bright and full of flowers.",
    "He can see his house from the top of the hill.", "The nurse changed the bed and opened the window.",
    "Her brother plays the piano on Sundays.", "They had a long talk about the new school.",
    "The letter came on a Monday in early spring.", "It takes about twenty minutes to drive there.",
    "The result will be sent to the family by post.", "Nothing else was said and the visit ended at noon.",
    "The score was two to one after the second half.", "He left a note on the table near the door.",
    "She sat on the left side of the large hall.", "The point of the story is easy to miss.",
    "Lunch was soup, bread and a small apple.", "Their daughter is a teacher in a small town.",
    "The heavy rain stopped in the afternoon.", "The doctor was kind and explained each step.",
]  # fmt: skip


def _rows() -> list[dict[str, Any]]:
    folder = resources.files("core.retrieval.starter") / "concepts"
    tables = [tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in FILES]
    return [row for table in tables for row in table["concept"]]


ROWS = _rows()
BY_ID = {row["id"]: row for row in ROWS}


def _names(row: dict[str, Any]) -> list[str]:
    return [row["name"], *row.get("surfaces", [])]


def _norm(surface: str, *, american: bool = False) -> str:
    text = " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", surface).casefold()))
    return text.replace("oe", "e").replace("ae", "e") if american else text


def _ancestors(concept: str) -> set[str]:
    found: set[str] = set()
    waiting = list(BY_ID[concept].get("parents", []))
    while waiting:
        parent = waiting.pop()
        if parent not in found:
            found.add(parent)
            waiting += BY_ID[parent].get("parents", [])
    return found


def _is_abbreviation(surface: str) -> bool:
    letters = [character for character in surface if character.isalpha()]
    return " " not in surface and 0 < len(letters) <= 5 and all(letter.isupper() for letter in letters)


def test_the_folder_holds_these_files_and_enough_concepts() -> None:
    folder = resources.files("core.retrieval.starter") / "concepts"
    assert sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml")) == [f"{n}.toml" for n in FILES]
    counts = Counter(row["kind"] for row in ROWS)
    assert len(ROWS) >= 380
    assert counts["drug"] >= 90
    assert set(counts) <= KINDS


def test_ids_are_slugs_and_unique() -> None:
    assert [row["id"] for row in ROWS if not re.fullmatch(r"WR:[a-z0-9]+(-[a-z0-9]+)*", row["id"])] == []
    assert [item for item, n in Counter(row["id"] for row in ROWS).items() if n > 1] == []


def test_rows_have_only_known_keys() -> None:
    known = set(Concept.__struct_fields__)
    assert {row["id"]: sorted(set(row) - known) for row in ROWS if set(row) - known} == {}


@pytest.mark.parametrize("american", [False, True])
def test_a_surface_belongs_to_one_concept(american: bool) -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        for surface in _names(row):
            owners[_norm(surface, american=american)].add(row["id"])
    assert {surface: ids for surface, ids in owners.items() if len(ids) > 1} == {}


def test_surfaces_are_clean() -> None:
    bad = [s for row in ROWS for s in _names(row) if s != " ".join(s.split()) or len(_norm(s).split()) > 12]
    assert bad == []
    # without letters nothing holds: "6/6" would also be a potassium of 6.6
    weak = [s for row in ROWS for s in _names(row) if sum(character.isalpha() for character in s) < 2]
    assert weak == []


def test_parents_exist_and_nobody_is_an_ancestor_of_itself() -> None:
    assert [(row["id"], p) for row in ROWS for p in row.get("parents", []) if p not in BY_ID] == []
    assert [row["id"] for row in ROWS if row["id"] in _ancestors(row["id"])] == []


def test_derived_concepts_and_conditions_are_there() -> None:
    assert [slug for slug in DERIVED + CONDITIONS if f"WR:{slug}" not in BY_ID] == []
    assert [slug for slug in CONDITIONS if BY_ID[f"WR:{slug}"]["kind"] != "disease"] == []
    assert "WR:acute-kidney-injury" in _ancestors("WR:aki-stage-3")
    assert "WR:egfr-below-60" in _ancestors("WR:egfr-below-30")


@pytest.mark.parametrize(("drug", "group"), CLASSES)
def test_drugs_reach_their_class(drug: str, group: str) -> None:
    assert f"WR:{group}" in _ancestors(f"WR:{drug}")


@pytest.mark.parametrize(("drug", "group"), UNRELATED)
def test_drugs_do_not_reach_a_wrong_class(drug: str, group: str) -> None:
    assert f"WR:{group}" not in _ancestors(f"WR:{drug}")


def test_a_parent_of_a_drug_is_a_class_or_a_drug() -> None:
    drugs = [row for row in ROWS if row["kind"] in {"drug", "drug-class"}]
    wrong = [
        (row["id"], parent)
        for row in drugs
        for parent in row.get("parents", [])
        if BY_ID[parent]["kind"] not in {"drug", "drug-class"}
    ]
    assert wrong == []


def test_laboratory_ties_name_an_analyte_and_a_flag_once() -> None:
    text = (resources.files("core.retrieval.resources") / "analytes.toml").read_text("utf-8")
    analytes = {row["id"] for row in tomllib.loads(text)["analyte"]}
    ties = [(row["lab"], row["id"]) for row in ROWS if "lab" in row]
    assert [tie for tie in ties if not re.fullmatch(r"[a-z0-9_]+:(high|low|normal)", tie[0])] == []
    assert [tie for tie in ties if tie[0].split(":")[0] not in analytes] == []
    assert [tie for tie, n in Counter(tie for tie, _ in ties).items() if n > 1] == []
    tied = dict(ties)
    assert tied["potassium:high"] == "WR:raised-potassium"
    assert tied["d_dimer:normal"] == "WR:normal-d-dimer"
    assert "WR:raised-troponin" in _ancestors(tied["troponin_i:high"])


def test_codes_have_the_form_of_their_vocabulary() -> None:
    assert [r["id"] for r in ROWS if "hpo" in r and not re.fullmatch(r"HP:\d{7}", r["hpo"])] == []
    assert [r["id"] for r in ROWS if "icd10" in r and not re.fullmatch(r"[A-Z]\d\d(\.\d{1,2})?", r["icd10"])] == []


def test_every_abbreviation_is_listed_with_its_concept() -> None:
    text = (resources.files("core.retrieval.resources") / "abbreviations.toml").read_text("utf-8")
    listed = {row["text"]: row.get("concept") for row in tomllib.loads(text)["abbreviation"]}
    own = {s: row["id"] for row in ROWS for s in _names(row) if _is_abbreviation(s)}
    assert {s: concept for s, concept in own.items() if listed.get(s) != concept} == {}
    assert {s: concept for s, concept in listed.items() if concept and own.get(s) != concept} == {}


def _matcher() -> Matcher:
    return Matcher(
        Concept(id=row["id"], name=row["name"], kind=row["kind"], surfaces=tuple(row.get("surfaces", ())))
        for row in ROWS
    )


def test_everyday_sentences_hold_no_concept() -> None:
    matcher = _matcher()
    assert [(text, matcher.find(text)) for text in EVERYDAY if matcher.find(text)] == []
    assert matcher.find("He coughed up blood and was breathless.")  # the control: it does find


def test_specific_wording_wins_over_the_general_one() -> None:
    matcher = _matcher()
    text = "Painful red eye, haloes around lights, T wave inversion V1-V4, no previous DVT, potassium 6.6."
    found = [mention.concept for mention in matcher.find(text)]
    assert found == [
        "WR:painful-red-eye",
        "WR:haloes",
        "WR:right-precordial-t-inversion",
        "WR:previous-venous-thromboembolism",
    ]
    assert {"WR:red-eye", "WR:eye-pain"} <= _ancestors("WR:painful-red-eye")
