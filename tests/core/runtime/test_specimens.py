"""Whose number a result is: blood, another fluid, a strip's grade; and drugs that only a culture names."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.case import Note
from core.retrieval.knowledge import packaged
from core.runtime import findings as reading
from core.runtime.perception import analytes
from core.runtime.perception.results import written_results
from tests.helpers import workup

KNOWLEDGE = packaged()
TABLES = analytes.packaged()


def blood(text: str) -> list[tuple[str, float | None]]:
    """The results of blood that a note holds, each with its number."""
    note = Note(id="n", title="Note", text=text, sha256="0" * 64)
    return [(result.analyte.id if result.analyte else "", result.number) for result in written_results(note, TABLES)]


# ------------------------------------------------------------------------------------------------------ fluids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # of another fluid
        ("LP: OP 28, cloudy, WCC 1200, protein 2.2, glucose 1.4", []),
        ("Lumbar puncture OP 28, cloudy, glucose 1.4", []),
        ("Ascites: WCC 900, albumin 9, glucose 1.2", []),
        ("Paracentesis today, cloudy, WCC 900, glucose 1.2", []),
        ("Knee aspirate turbid, WCC 80, glucose 0.9", []),
        ("Pleural fluid: pH 7.05; glucose 1.0; LDH 1400 U/L", []),
        ("Drain fluid amylase 8000 U/L, glucose 1.3", []),
        ("Dialysate glucose 1.5, potassium 2.0", []),
        ("CSF:\nWCC 200\nprotein 1.9\nglucose 1.2", []),
        ("LP results\nWCC 200\nglucose 1.2", []),
        ("CSF white blood cells 120, red blood cells 4, glucose 1.1", []),
        ("No LP until the scan is back, then at noon: cloudy, WCC 1200, glucose 1.2", []),
        ("No tap till INR known, opening pressure 31, glucose 1.2", []),
        # named behind it
        ("White cells 450 in the ascitic fluid", []),
        ("WCC 1850 /mm3, 92% neutrophils, protein 2.1 g/L and glucose 1.1 on LP", []),
        ("Glucose 1.2 and LDH 1400 U/L in the pleural aspirate, CRP 80", [("crp", 80.0)]),
        ("Sodium 12 in the urine", []),
        ("Glucose 1.1, white cells in the urine", [("glucose", 1.1)]),
        ("Glucose 1.1, protein 3+ in the urine", [("glucose", 1.1)]),
        ("Potassium 6.9, glucose 20 in the urine", [("potassium", 6.9)]),
        ("Potassium 6.9 on a gas, then tap", [("potassium", 6.9)]),
        # blood inside, beside and behind it
        ("LP: glucose 1.4 (serum 6.1), lactate 5", [("glucose", 6.1)]),
        ("Ascitic tap: glucose 1.2 (plasma glucose 6.6 mmol/L), albumin 8", [("glucose", 6.6)]),
        ("CSF glucose 0.9; serum glucose 6.0", [("glucose", 6.0)]),
        ("Ascitic tap: polys 480, glucose 1.9, blood glucose 7.0, WCC 19", [("glucose", 7.0), ("white_cells", 19.0)]),
        ("LP clear. Glucose 1.1", [("glucose", 1.1)]),
        ("LP clear\nGlucose 1.1", [("glucose", 1.1)]),
        ("LP done; gas K 6.9, glucose 1.2", [("potassium", 6.9), ("glucose", 1.2)]),
        ("## Pleural fluid\n- pH 7.1\n- glucose 1.2\nBloods:\n- glucose 1.9", [("glucose", 1.9)]),
        ("CSF:\nWCC 200\nglucose 1.2\n\nGlucose 7.1", [("glucose", 7.1)]),
        # what is never measured in such a fluid stays blood, and so does what follows it
        ("LP done, CRP 145, platelets 12, glucose 1.1", [("crp", 145.0), ("platelets", 12.0), ("glucose", 1.1)]),
        # no fluid was had
        ("Too drowsy for LP, glucose 1.1", [("glucose", 1.1)]),
        ("No LP until the scan is back, glucose 1.1", [("glucose", 1.1)]),
        ("No LP, then 08:15 glucose 1.1", [("glucose", 1.1)]),
        ("LP deferred, glucose 1.1", [("glucose", 1.1)]),
        ("CSF sent, glucose 1.1", [("glucose", 1.1)]),
        ("Meningitis (LP 3 days ago), glucose 1.1", [("glucose", 1.1)]),
        ("Moderate ascites, creatinine 280, glucose 1.9", [("creatinine", 280.0), ("glucose", 1.9)]),
        ("Pleural effusion, glucose 1.2", [("glucose", 1.2)]),
        ("Peritoneal signs, glucose 1.2", [("glucose", 1.2)]),
        ("Aspiration pneumonia, glucose 1.2", [("glucose", 1.2)]),
        ("Chest drain in, K 6.7, glucose 1.1", [("potassium", 6.7), ("glucose", 1.1)]),
        ("Only drinks tap water, glucose 1.1", [("glucose", 1.1)]),
    ],
)
def test_a_result_is_of_the_specimen_named_before_it(text: str, expected: list[tuple[str, float]]) -> None:
    assert blood(text) == expected


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("A 40 year old man. LP: OP 28, cloudy, protein 2.2, glucose 1.4 (serum 6.1).", False),
        ("A 40 year old man. LP: OP 28, cloudy, protein 2.2, glucose 1.0 (serum 1.4).", True),
        ("A 40 year old man. LP deferred. Glucose 1.4.", True),
        ("A 40 year old man. Urine dipstick: ketones 2+, glucose 1+.", False),
    ],
)
def test_low_glucose_is_flagged_in_blood_alone(text: str, fires: bool, profile: Path) -> None:
    done = workup.work_up(profile, workup.case_of(workup.note(text))).done
    assert ("critical-glucose-low" in {flag.rule for flag in done.flags}) is fires


# ------------------------------------------------------------------------------------------------------ grades


@pytest.mark.parametrize(
    "text",
    ["glucose 1+", "Glucose: 2+", "glucose 1 +, ketones 2 +", "glucose +2", "glucose ++", "glucose (2+)",
     "albumin +++ 3", "ketones was 4+", "CRP 2++"],
)  # fmt: skip
def test_a_grade_is_no_number(text: str) -> None:
    assert blood(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("K+ 6.8", ("potassium", 6.8)),
        ("K 6.8+", ("potassium", 6.8)),
        ("K 6.8 + fluids", ("potassium", 6.8)),
        ("Na+ 140", ("sodium", 140.0)),
        ("Ca2+ 2.3", ("calcium", 2.3)),
        ("Ca 2+ 2.3", ("calcium", 2.3)),  # once read as 2
        ("Ca++ 2.3 mmol/L", ("calcium", 2.3)),
        ("Mg2+ 0.5", ("magnesium", 0.5)),
        ("HCO3- 18", ("bicarbonate", 18.0)),
        ("Cl- 104", ("chloride", 104.0)),
        ("glucose 1.1 +ve control", ("glucose", 1.1)),
        ("ketones 4.1, glucose 1+", ("ketones", 4.1)),
    ],
)
def test_a_charge_or_a_plus_behind_a_number_is_no_grade(text: str, expected: tuple[str, float]) -> None:
    assert blood(text) == [expected]


def test_a_grade_of_cells_in_spinal_fluid_counts_no_cells() -> None:
    found = reading.perceive(workup.case_of(workup.note("CSF: leucocytes 3+.")), KNOWLEDGE)
    assert "WR:csf-pleocytosis" not in {finding.concept for finding in found}


# ------------------------------------------------------------------------------------------- susceptibility


def drugs(text: str) -> set[tuple[str, str]]:
    """The drugs of a note: what of it, and as what ("medication" or "allergy")."""
    found = reading.perceive(workup.case_of(workup.note(text)), KNOWLEDGE)
    named = ((finding, KNOWLEDGE.concept(finding.concept)) for finding in found)
    return {(c.id[3:], f.extractor.partition("-")[0]) for f, c in named if c is not None and c.kind.startswith("drug")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Urine grew Klebsiella, resistant to trimethoprim and amoxicillin, sensitive to nitrofurantoin.", set()),
        ("MSU: Proteus, sensitive to gentamicin.", set()),
        ("Urine culture: E. coli.\nSensitivities:\n- Trimethoprim R\n- Nitrofurantoin S", set()),
        ("CSU: coliforms, growth heavy. R: amoxicillin, trimethoprim. S: gentamicin.", set()),
        ("Rifampicin-resistant tuberculosis.", set()),
        # the same drug also taken
        (
            "Blood culture: S. aureus (R: penicillin; S: flucloxacillin). Started flucloxacillin 2 g qds.",
            {("flucloxacillin", "medication")},
        ),
        ("Culture grew E. coli, trimethoprim resistant, so started gentamicin.", {("gentamicin", "medication")}),
        ("MSU: E. coli, R trimethoprim. Takes trimethoprim 200 mg at night.", {("trimethoprim", "medication")}),
        ("Amoxicillin-resistant E. coli treated with gentamicin.", {("gentamicin", "medication")}),
        # an illness resists, a patient is sensitive, a letter is a side
        ("Hypertension resistant to amlodipine.", {("amlodipine", "medication")}),
        ("Asthma, sensitive to aspirin.", {("aspirin", "allergy")}),
        ("Culture negative. He is sensitive to penicillin.", {("penicillin", "allergy")}),
        ("Staph infection, patient is sensitive to penicillin.", {("penicillin", "allergy")}),
        ("Urine culture sent. Sensitive to co-amoxiclav (rash).", {("co-amoxiclav", "allergy")}),
        ("Sensitivities: penicillin, codeine.", {("penicillin", "allergy"), ("codeine", "allergy")}),
        ("Culture taken from R eye. R chloramphenicol drops qds.", {("chloramphenicol", "medication")}),
    ],
)
def test_a_drug_that_a_germ_was_tested_against_is_not_taken(text: str, expected: set[tuple[str, str]]) -> None:
    assert drugs(text) == expected


@pytest.mark.parametrize(
    ("culture", "fires"),
    [
        ("MSU: coliform, R amoxicillin, S nitrofurantoin.", False),
        ("MSU: coliform, S amoxicillin. Started amoxicillin 500 mg tds.", True),
    ],
)
def test_an_allergy_is_flagged_for_what_is_taken_alone(culture: str, fires: bool, profile: Path) -> None:
    text = f"A 50 year old woman. Allergic to penicillin (hives). {culture}"
    done = workup.work_up(profile, workup.case_of(workup.note(text))).done
    assert ("drug-allergy" in {flag.rule for flag in done.flags}) is fires
