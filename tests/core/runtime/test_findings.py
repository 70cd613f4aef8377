"""A case as findings: annotated notes, order, allergies, the person, contradictions, instruction-like text."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.domain.case import Case, ImageRef, LabRow, LabTable, Note, Patient
from core.domain.evidence import Finding
from core.retrieval.knowledge import packaged
from core.retrieval.sentences import split
from core.runtime import contradictions
from core.runtime import findings as reading
from core.runtime.ledger import Ledger
from core.runtime.perception.drafts import ALLERGY, MEDICATION, NOTES

DATA = Path(__file__).parents[2] / "data"
KNOWLEDGE = packaged()


def note(text: str, identifier: str = "n", title: str = "Note") -> Note:
    return Note(id=identifier, title=title, text=text, sha256=identifier * 8)


def case(*items: Any, patient: Patient | None = None) -> Case:
    person = patient or Patient()
    return Case(id="c", title="c", revision=1, created_at="2026-11-30T08:00:00", items=items, patient=person)


def perceive(text: str) -> tuple[Finding, ...]:
    return reading.perceive(case(note(text)), KNOWLEDGE)


def has(findings: tuple[Finding, ...], concept: str) -> bool | None:
    """Present, absent or unknown, as the work-up counts it."""
    state = Ledger(findings, KNOWLEDGE, reading.patient(findings)).standing(concept).state
    return {"present": True, "absent": False}.get(state)


def named(findings: tuple[Finding, ...], extractor: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings if finding.extractor == extractor}


# ------------------------------------------------------------------------------------- twenty annotated notes


def spans(text: str, rows: list[dict[str, Any]]) -> list[tuple[int, int, dict[str, Any]]]:
    found = []
    for row in rows:
        at = -1
        for _ in range(row["occurrence"]):
            at = text.index(row["text"], at + 1)
        found.append((at, at + len(row["text"]), row))
    return found


def counts() -> tuple[int, int, int, list[str]]:
    """Present findings found, missed and wrong; an extracted one is right if it overlaps a present one."""
    hit = missed = 0
    wrong: list[str] = []
    for path in sorted((DATA / "notes").glob("note-*.toml")):
        content = tomllib.loads(path.read_text("utf-8"))
        text = content["text"]
        gold = [
            (a, b)
            for a, b, row in spans(text, content["mention"])
            if (row["polarity"], row["time"], row["who"]) == ("present", "current", "patient")
        ]
        got = [
            (f.provenance.start or 0, f.provenance.end or 0)
            for f in perceive(text)
            if f.holds and f.extractor in (NOTES, MEDICATION)
        ]
        for a, b in gold:
            found = any(x < b and a < y for x, y in got)
            hit, missed = hit + found, missed + (not found)
        wrong += [f"{path.stem}: {text[x:y]}" for x, y in got if not any(x < b and a < y for a, b in gold)]
    return hit, missed, len(wrong), wrong


def test_recall_and_precision_of_present_findings() -> None:
    hit, missed, wrong, names = counts()
    print(f"present findings: recall {hit / (hit + missed):.1%}, precision {hit / (hit + wrong):.1%}")
    assert hit + missed >= 300
    assert hit / (hit + missed) >= 0.85
    assert hit / (hit + wrong) >= 0.90, names


def test_no_recorded_allergy_counts_as_a_drug_taken() -> None:
    for path in sorted((DATA / "notes").glob("note-*.toml")):
        content = tomllib.loads(path.read_text("utf-8"))
        found = perceive(content["text"])
        for start, end, row in spans(content["text"], content.get("allergy", [])):
            over = [f for f in found if (f.provenance.start or 0) < end and start < (f.provenance.end or 0)]
            assert [f.extractor for f in over if f.provenance.kind == "document"] == [ALLERGY], (path.stem, row)


# --------------------------------------------------------------------------------------------------- the order


def vignette_lines(name: str) -> list[str]:
    text = tomllib.loads((DATA / f"vignettes/{name}.toml").read_text("utf-8"))["note"]
    return [text[a:b] for a, b in split(text)]


def shuffled(seed: int) -> Case:
    """Three documents and a table; seed 0 is unshuffled. A sentence a line, so that a line is a unit of meaning."""
    rng = random.Random(seed)
    documents = [vignette_lines(name) for name in ("sepsis-1", "acute-kidney-injury-1", "open-angle-glaucoma-1")]
    rows = [
        LabRow(row=i, test=test, value=str(v), number=v, unit=unit, low=low, high=high, collected_at=at)
        for i, (test, v, unit, low, high, at) in enumerate(
            [
                ("Creatinine", 312.0, "umol/L", 59.0, 104.0, "2026-10-27T14:30"),
                ("Creatinine", 98.0, "umol/L", 59.0, 104.0, "2026-05-12T08:50"),
                ("Potassium", 5.9, "mmol/L", 3.5, 5.3, "2026-10-27T14:30"),
                ("Potassium", 6.4, "mmol/L", 3.5, 5.3, ""),
                ("Sodium", 133.0, "mmol/L", 133.0, 146.0, "2026-10-27T14:30"),
                ("Sodium", 131.0, "bananas", None, None, "2026-10-27T14:30"),
                ("Lactate", 4.1, "mmol/L", None, 2.0, ""),
            ]
        )
    ]
    for lines in documents if seed else ():
        rng.shuffle(lines)
    items: list[Any] = [note("\n".join(lines), f"{i}", f"Document {i}") for i, lines in enumerate(documents)]
    if seed:
        rng.shuffle(rows)
    items.append(LabTable(id="t", title="Bloods", rows=tuple(rows), sha256="9" * 64))
    if seed:
        rng.shuffle(items)
    return case(*items)


def said(finding: Finding) -> Finding:
    """A finding without its place in the case."""
    place = finding.provenance
    bare = msgspec.structs.replace(place, start=None, end=None, row=None, label="", sha256="", reference="r")
    return msgspec.structs.replace(finding, provenance=bare)


def test_twenty_shuffles_give_the_same_findings_with_the_same_ids() -> None:
    expected = [said(finding) for finding in reading.perceive(shuffled(0), KNOWLEDGE)]
    assert [finding.id for finding in expected] == [f"f{n}" for n in range(1, len(expected) + 1)]
    assert len(expected) > 150
    for seed in range(1, 21):
        assert [said(finding) for finding in reading.perceive(shuffled(seed), KNOWLEDGE)] == expected


# ----------------------------------------------------------------------------------------- drugs and allergies


@pytest.mark.parametrize(
    ("text", "name", "quantity"),
    [
        ("DH: ramipril 10 mg od, aspirin.", "Ramipril", (10.0, "mg")),
        ("levothyroxine 75 mcg daily", "Levothyroxine", (75.0, "ug")),
        ("metformin 1 g bd", "Metformin", (1.0, "g")),
        ("latanoprost 0.005% nocte", "Latanoprost", (0.005, "%")),
        ("furosemide IV given", "Furosemide", None),
    ],
)
def test_a_drug_with_its_dose(text: str, name: str, quantity: tuple[float, str] | None) -> None:
    finding = named(perceive(text), MEDICATION)[name]
    assert finding.holds
    assert (None if finding.value is None else (finding.value.value, finding.value.unit)) == quantity


def test_route_and_frequency_are_quoted() -> None:
    assert named(perceive("ramipril 10 mg po od, aspirin"), MEDICATION)["Ramipril"].text == "ramipril 10 mg po od"


@pytest.mark.parametrize("text", ["Naproxen stopped in June.", "Previously took naproxen.", "Stopped: naproxen."])
def test_a_stopped_drug_is_not_current(text: str) -> None:
    assert has(perceive(text), "WR:nsaid") is not True


@pytest.mark.parametrize(
    ("text", "allergies", "taken"),
    [
        ("Allergies: penicillin (rash), sulfonamides. DH: metformin.", {"Penicillin", "Sulfonamide"}, {"Metformin"}),
        ("Allergic to penicillin, takes clarithromycin instead.", {"Penicillin"}, {"Clarithromycin"}),
        ("Codeine caused itching. Takes paracetamol.", {"Codeine"}, {"Paracetamol"}),
        ("Penicillin allergy recorded.", {"Penicillin"}, set()),
        ("NKDA. Meds: warfarin.", set(), {"Warfarin"}),
    ],
)
def test_allergies(text: str, allergies: set[str], taken: set[str]) -> None:
    found = perceive(text)
    recorded = {f.name for f in found if f.extractor == ALLERGY and f.polarity == "present"}
    assert {name for name in recorded if name.startswith(tuple(allergies) or ("-",))} == recorded
    assert len(recorded) == len(allergies)
    assert {f.name for f in found if f.extractor == MEDICATION and f.holds} == taken


def test_an_allergy_is_no_drug_taken_and_its_reaction_is_past() -> None:
    found = perceive("Allergies: aspirin (wheeze).")
    assert has(found, "WR:aspirin") is None
    assert has(found, "WR:wheeze") is None


# --------------------------------------------------------------------------------------------------- the person


@pytest.mark.parametrize(
    ("text", "age", "sex"),
    [
        ("76-year-old retired farmer, he lives alone. His wife died.", 76, "male"),
        ("82F, nursing home resident.", 82, "female"),
        ("67 yo man with cough, father died at 49.", 67, "male"),
        ("Mr Bell, 69, is better.", 69, "male"),
        ("Age: 45. Sex: F.", 45, "female"),
        ("Asthma since age 6.", None, ""),
        ("His 45-year-old sister has asthma.", None, ""),
        ("A 4-month-old girl with fever.", 0.33, ""),
        ("30-year-old woman; the donor was a 20-year-old man.", 30, "female"),
        ("Feels unwell.", None, ""),
        ("Man of 60 with cough.", 60, "male"),
        ("Woman of 34. Fever.", 34, "female"),
        ("Seen today: a lady aged 81, breathless.", 81, "female"),
        ("A woman of 60 kg.", None, ""),
        ("His father, a man of 60, died.", None, ""),
    ],
)
def test_age_and_sex(text: str, age: float | None, sex: str) -> None:
    person = reading.patient(perceive(text))
    assert (person.age, person.sex) == (age, sex)


def test_the_file_goes_before_the_notes() -> None:
    given = case(note("A 70-year-old woman."), patient=Patient(birth_date="1990-12-01", sex="M"))
    person = reading.patient(reading.perceive(given, KNOWLEDGE))
    assert (person.age, person.sex, person.pregnant) == (35, "male", False)


@pytest.mark.parametrize(
    "texts",
    [
        ("Male, 30. Cough.", "Female, 80. Cough."),
        ("Male, age 30.", "Female, age 80."),
        ("30-year-old man.", "An 80-year-old woman."),
        ("30-year-old man. Cough. 80-year-old woman. Cough.",),
    ],
)
def test_different_ages_and_sexes_count_as_unknown_and_stay(texts: tuple[str, ...]) -> None:
    found = reading.perceive(case(*(note(text, f"{n}") for n, text in enumerate(texts))), KNOWLEDGE)
    person = reading.patient(found)
    assert (person.age, person.sex) == (None, "")
    assert sorted(f.value.value for f in found if f.concept == "PT:age" and f.value) == [30, 80]
    assert "age" not in reading.quantities(found)
    assert {f.concept for f in found if f.holds} <= {"WR:cough"}  # no band of age either


def test_a_birthday_between_two_notes_and_an_old_letter_are_no_difference() -> None:
    near = reading.perceive(case(note("A 69-year-old man.", "a"), note("A 70-year-old man.", "b")), KNOWLEDGE)
    assert (reading.patient(near).age, reading.patient(near).sex) == (70, "male")
    old = msgspec.structs.replace(note("A 60-year-old man.", "a"), written_on="2016-05-01")
    new = msgspec.structs.replace(note("A 70-year-old man.", "b"), written_on="2026-05-01")
    assert reading.patient(reading.perceive(case(old, new), KNOWLEDGE)).age == 70
    wrong = msgspec.structs.replace(new, text="A 85-year-old man.")
    assert reading.patient(reading.perceive(case(old, wrong), KNOWLEDGE)).age is None


def test_pregnancy() -> None:
    assert reading.patient(perceive("30-year-old woman, pregnant.")).pregnant is True
    assert reading.patient(perceive("30-year-old woman. Not pregnant.")).pregnant is False
    assert reading.patient(perceive("30-year-old woman.")).pregnant is None


# ------------------------------------------------------------------------------- what holds, and what contradicts


def test_has() -> None:
    found = perceive("Left calf swelling. No chest pain. Possible pneumonia. Mother had glaucoma.")
    assert has(found, "WR:leg-swelling") is True  # a special form holds
    assert has(found, "WR:pleuritic-chest-pain") is False  # its general form is absent
    assert has(found, "WR:pneumonia") is None
    assert has(found, "WR:glaucoma") is None
    assert has(found, "WR:haemoptysis") is None


def test_contradictions_are_of_current_text() -> None:
    both = reading.perceive(case(note("No haemoptysis.", "a"), note("Haemoptysis twice.", "b")), KNOWLEDGE)
    assert contradictions.denied(both, KNOWLEDGE) == ("WR:haemoptysis",)
    assert [f.polarity for f in both if f.concept == "WR:haemoptysis"] == ["absent", "present"]
    assert contradictions.denied(perceive("Haemoptysis in 2012. No haemoptysis."), KNOWLEDGE) == ()
    assert contradictions.denied(perceive("Fever for three days. T 36.8."), KNOWLEDGE) == ()


def test_quantities_are_current_plausible_and_the_gravest_of_one_moment() -> None:
    found = reading.quantities(perceive("BP 110/70, later BP 84/50. Usual BP 150/90. HR 400."))
    assert found["systolic_bp"].value is not None
    assert found["systolic_bp"].value.value == 84
    assert "heart_rate" not in found


def test_a_picture_is_present_and_not_analysed() -> None:
    hashes = {"sha256": "1" * 64, "preview_sha256": "2" * 64}
    picture = ImageRef(id="i", title="Chest film", width=10, height=10, modality="DX", view="PA", **hashes)
    (finding,) = reading.perceive(case(picture), KNOWLEDGE)
    assert (finding.note, finding.text, finding.provenance.kind) == ("present, not analysed", "DX, PA", "image")


# ------------------------------------------------------------------------------------------ instruction-like text

INJECTIONS = tomllib.loads((DATA / "injections.toml").read_text("utf-8"))


@pytest.mark.parametrize("row", INJECTIONS["injection"], ids=lambda row: row["kind"])
def test_instruction_like_text_is_listed_and_changes_nothing(row: dict[str, str]) -> None:
    before, after = "58-year-old man with chest pain.", "HR 92."
    plain = perceive(f"{before}\n{after}")
    given = case(note(f"{before}\n{row['text']}\n{after}"))
    assert reading.instructions(given)
    if row["kind"] != "disguised":  # that one wraps real history around its instruction
        assert [said(f) for f in reading.perceive(given, KNOWLEDGE)] == [said(f) for f in plain]


@pytest.mark.parametrize("row", INJECTIONS["benign"], ids=lambda row: row["why"])
def test_ordinary_prose_is_not_listed(row: dict[str, str]) -> None:
    assert reading.instructions(case(note(row["text"]))) == ()


def test_the_annotated_notes_hold_no_instructions() -> None:
    for path in (DATA / "notes").glob("note-*.toml"):
        assert reading.instructions(case(note(tomllib.loads(path.read_text("utf-8"))["text"]))) == ()


def test_what_a_document_says_over_and_over_is_kept_three_times_and_counted() -> None:
    text = "Sudden dyspnoea. HR 114. No fever. Potassium 6.1 mmol/L.\n" * 40
    found = perceive(text)
    by_concept = [f for f in found if f.concept == "WR:sudden-dyspnoea"]
    assert [f.note for f in by_concept] == ["", "", "said in this document further 37 times"]
    assert [f.provenance.start for f in by_concept] == [0, 57, 114]
    assert len([f for f in found if f.quantity == "heart_rate"]) == 3
    assert len([f for f in found if f.concept == "WR:fever"]) == 3
    assert len(found) < 30
    once = {f.concept for f in perceive(text[: len(text) // 40])}
    assert {f.concept for f in found} - {"LAB:potassium"} == once  # values written again stand for nothing


def test_other_times_and_other_documents_are_not_folded() -> None:
    found = perceive("Cough. Cough. Cough. Cough. No cough. Cough in 2019. Mother had a cough.")
    kept = [(f.polarity, f.time, f.who) for f in found if f.concept == "WR:cough"]
    assert len(kept) == 6 and len(set(kept)) == 4
    two = reading.perceive(case(note("Cough. " * 4, "a"), note("Cough. " * 4, "b")), KNOWLEDGE)
    assert [f.note for f in two].count("said in this document further once") == 2 and len(two) == 6


def test_an_empty_case_has_no_findings() -> None:
    assert reading.perceive(case(), KNOWLEDGE) == ()
    assert perceive("") == ()
