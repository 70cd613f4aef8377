"""How case reports tell their values and findings: sentences of our own, in the forms that published notes taught us.

Each was once misread. The sentences are invented; none is taken from a data set.
"""

from __future__ import annotations

import pytest

from core.domain import units
from core.domain.evidence import Finding
from core.runtime.findings import perceive, quantities
from tests.helpers import workup


def seen(text: str) -> tuple[Finding, ...]:
    return perceive(workup.case_of(workup.note(text)), workup.known())


def stands(text: str, concept: str) -> set[tuple[str, str]]:
    """Polarity and time of every finding of a concept."""
    return {(finding.polarity, finding.time) for finding in seen(text) if finding.concept == concept}


@pytest.mark.parametrize(
    "text",
    [
        "A 71-year-old woman (weight 63 kg) was admitted.",
        "A 71 year old woman with a weight of 63 kg was admitted.",
    ],
)
def test_the_years_of_a_person_make_no_value_old(text: str) -> None:
    assert quantities(seen(text))["weight"].time == "current"


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("Creatinine was 2.4 mg/dL (baseline was 0.9 mg/dL).", 2.4),
        ("Creatinine 2.4 mg/dL, up from a baseline of 0.9 mg/dL.", 2.4),
        ("His creatinine rose to 2.4 mg/dL from the usual 0.9 mg/dL.", 2.4),
    ],
)
def test_a_named_baseline_does_not_make_the_new_value_old(text: str, now: float) -> None:
    creatinine = quantities(seen(text))["creatinine"]
    assert creatinine.value is not None and creatinine.value.value == now


@pytest.mark.parametrize(
    ("text", "analyte"),
    [
        ("Urine electrolytes showed sodium 41 mmol/L, potassium 22 mmol/L and chloride 60 mmol/L.", "potassium"),
        ("Urine sodium was 120 mmol/L, creatinine 61 mg/dL.", "creatinine"),
        ("Urinalysis: specific gravity 1.012, pH 5.5, no blood.", "ph"),
        ("The ascitic fluid was clear, with a white cell count of 210/uL.", "white_cells"),
        ("Microscopy found 6 white blood cells, 4 hyaline casts per field.", "white_cells"),
        ("Direct bilirubin was 0.2 mg/dL.", "bilirubin"),
        ("Ionized calcium 1.15 mmol/L.", "calcium"),
        ("CA-125 was raised.", "calcium"),
    ],
)
def test_what_is_of_another_fluid_or_fraction_is_no_result_of_the_blood(text: str, analyte: str) -> None:
    assert analyte not in quantities(seen(text))
    assert not [finding for finding in seen(text) if finding.concept == f"LAB:{analyte}"]


@pytest.mark.parametrize(
    ("text", "analyte", "value"),
    [
        ("Urine sodium was 18 mmol/L, serum potassium 6.1 mmol/L.", "potassium", 6.1),
        ("Urinalysis showed protein, creatinine was 2.2 mg/dL.", "creatinine", 2.2),
        ("Pleural effusion on the left, haemoglobin 11.2 g/dL.", "haemoglobin", 11.2),
        ("Reduced urine output. Creatinine 2.2 mg/dL.", "creatinine", 2.2),
    ],
)
def test_blood_is_read_beside_urine(text: str, analyte: str, value: float) -> None:
    found = quantities(seen(text))[analyte]
    assert found.value is not None and found.value.value == value


@pytest.mark.parametrize(
    ("text", "analyte", "abnormal", "shown"),
    [
        (
            "A 4-year-old boy. Serum potassium was 3.0 mmol/L (normal range: 3.5–5.0 mmol/L).",
            "potassium",
            "low",
            "3.5-5.0",
        ),
        ("A 40-year-old woman. CRP 6 mg/L (normal <8 mg/L).", "crp", "normal", "<8"),
        ("A 40-year-old woman. ALT 70 U/L (10-80).", "alt", "normal", "10-80"),
        ("A 40-year-old woman. Creatinine 2.0 (0.6-1.2 mg/dL).", "creatinine", "high", "0.6-1.2"),
    ],
)
def test_a_printed_range_goes_before_the_programs(text: str, analyte: str, abnormal: str, shown: str) -> None:
    found = quantities(seen(text))[analyte]
    assert (found.abnormal, found.reference_range) == (abnormal, shown)


@pytest.mark.parametrize("behind", ["(1.8-2.5 over the week)", "(50-110 umol/L)", "(2-1)", "(day 3-5)"])
def test_other_brackets_are_no_range(behind: str) -> None:
    found = quantities(seen(f"A 40-year-old man. Creatinine 2.0 mg/dL {behind}."))["creatinine"]
    assert "reference of the program" in found.reference_range


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("Nitrate spray did not relieve her chest pain.", "WR:chest-pain", ("present", "current")),
        ("He has diabetes, not on insulin, depression and gout.", "WR:depression", ("present", "current")),
        ("No haematuria since the nephrectomy.", "WR:haematuria", ("absent", "current")),
        ("There was no wheeze besides stridor.", "WR:stridor", ("present", "current")),
        ("She recovered without fever and was found to have anaemia.", "WR:anaemia", ("present", "current")),
        ("After a week of antibiotics, blood cultures were negative.", "WR:antibiotic", ("present", "current")),
        ("Pneumonia, sepsis and asthma were excluded.", "WR:pneumonia", ("absent", "current")),
        (
            "Acute kidney injury was managed with dialysis until tachypnoea resolved.",
            "WR:tachypnoea",
            ("absent", "current"),
        ),
        (
            "Acute kidney injury was managed with dialysis until tachypnoea resolved.",
            "WR:acute-kidney-injury",
            ("present", "current"),
        ),
        ("Pneumonia after the operation cannot be excluded.", "WR:pneumonia", ("possible", "current")),
        ("Apixaban was prescribed, but she stopped it on Monday.", "WR:apixaban", ("present", "past")),
        ("He had been given codeine and ibuprofen, but stopped it.", "WR:codeine", ("present", "current")),
        ("Her vomiting and diarrhoea resolved.", "WR:vomiting", ("absent", "current")),
        ("He was tested for influenza.", "WR:influenza-positive", ("possible", "current")),
    ],
)
def test_what_the_words_around_a_finding_say(text: str, concept: str, expected: tuple[str, str]) -> None:
    assert stands(text, concept) == {expected}


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Her HAS-BLED score was 3.", "WR:bleeding"),
        ("Acidosis and a low potassium suggested a distal RTA.", "WR:recent-trauma"),
        ("Apo A1 and APO B were measured.", "WR:pulmonary-oedema"),
        ("The results of antibiotic susceptibility testing came on Monday.", "WR:antibiotic"),
    ],
)
def test_names_that_are_no_finding(text: str, concept: str) -> None:
    assert not stands(text, concept)


@pytest.mark.parametrize(
    ("text", "is_allergy"),
    [
        ("Allergic to penicillin.", True),
        ("Allergies: codeine, penicillin.", True),
        ("The culture grew Klebsiella, sensitive to gentamicin.", False),
        ("For an allergic reaction hydrocortisone 100 mg was injected.", False),
        ("To treat the allergic reaction, oral prednisolone was used.", False),
    ],
)
def test_what_is_an_allergy(text: str, is_allergy: bool) -> None:
    assert bool([finding for finding in seen(text) if finding.extractor == "allergy"]) is is_allergy


@pytest.mark.parametrize(
    ("written", "per_litre"),
    [
        ("2.4 × 105 cells/μL", 240.0),
        ("8.1 x 10^4/uL", 81.0),
        ("240 × 103/mm3", 240.0),
        ("240 × 109/L", 240.0),
        ("2.4 lakh cells/cu mm", 240.0),
        ("2.4 lakhs/mm3", 240.0),
        ("240 x 103 per microliter", 240.0),
    ],
)
def test_powers_of_ten_are_read(written: str, per_litre: float) -> None:
    """1 per uL is 10^6 per L; a lakh is 10^5."""
    found = quantities(seen(f"A 50-year-old man. Platelet count of {written}."))["platelets"]
    assert found.value is not None
    value = units.convert(found.value.value, units.parse_unit(found.value.unit), units.parse_unit("10*9/L"))
    assert value == pytest.approx(per_litre)
    assert found.abnormal in ("normal", "low")


def test_a_power_of_something_unknown_is_not_interpreted() -> None:
    text = "A 50-year-old man. Platelets 2.4 × 105 copies/ng."
    assert "platelets" not in quantities(seen(text))
