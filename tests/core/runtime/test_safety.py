"""Safety flags fire for the drugs and numbers they name, cite them, and stay silent one step below."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import workup

HEADER = "test,value,unit,reference_low,reference_high,flag,collected_at\n"


def flags(profile: Path, text: str, labs: str = "") -> set[str]:
    items = [workup.note(text)]
    case = workup.case_of(*items, *([workup.table(HEADER + labs)] if labs else []))
    assessment = workup.work_up(profile, case).assessment
    assert assessment is not None
    known = {item.id for item in assessment.evidence}
    for flag in assessment.flags:
        assert set(flag.evidence) <= known and len(flag.evidence) >= 2
    return {flag.rule for flag in assessment.flags}


K = "Potassium,{},mmol/L,3.5,5.3,,2026-11-01T08:00\n"
CREATININE = "Creatinine,88,umol/L,60,110,,2026-11-01T08:00\nCreatinine,{},umol/L,60,110,,2026-11-05T08:00\n"


@pytest.mark.parametrize(
    ("text", "labs", "rule", "fires"),
    [
        ("A 70 year old man.", K.format(6.5), "critical-potassium-high", True),
        ("A 70 year old man.", K.format(6.4), "critical-potassium-high", False),
        ("A 70 year old man. Takes ramipril 5 mg daily.", K.format(5.5), "potassium-raising-drug", True),
        ("A 70 year old man. Ramipril was stopped last year.", K.format(5.5), "potassium-raising-drug", False),
        ("A 70 year old man. Takes ramipril 5 mg daily.", K.format(5.4), "potassium-raising-drug", False),
        (
            "A 70 year old man. Takes ramipril 5 mg, ibuprofen 400 mg and furosemide 40 mg daily.",
            CREATININE.format(140),
            "triple-whammy",
            True,
        ),
        (
            "A 70 year old man. Takes ramipril 5 mg, paracetamol 1 g and furosemide 40 mg daily.",
            CREATININE.format(140),
            "triple-whammy",
            False,
        ),
        (
            "A 70 year old man. Takes ramipril 5 mg, ibuprofen 400 mg and furosemide 40 mg daily.",
            CREATININE.format(90),
            "triple-whammy",
            False,
        ),
        (
            "A 70 year old man. Allergic to penicillin (rash). Started on amoxicillin 500 mg three times a day.",
            "",
            "drug-allergy",
            True,
        ),
        (
            "A 70 year old man. Allergic to penicillin (rash). Started on doxycycline 100 mg once a day.",
            "",
            "drug-allergy",
            False,
        ),
        ("A 70 year old man.\n\n## Allergies\nPenicillin (widespread urticaria, 1998).", "", "drug-allergy", False),
        (
            "A 70 year old man.\n\nAllergies\n- Penicillin\n\nMedication\n- Amoxicillin 500 mg",
            "",
            "drug-allergy",
            True,
        ),
        ("A 30 year old woman with asthma. Takes propranolol 40 mg.", "", "beta-blocker-in-asthma", True),
        ("A 30 year old woman, her mother has asthma. Takes propranolol 40 mg.", "", "beta-blocker-in-asthma", False),
        ("BP 84/50, HR 120.", "", "critical-sbp-low", True),
        ("BP 94/50, HR 120.", "", "critical-sbp-low", False),
    ],
)
def test_a_rule_fires_exactly_where_it_should(text: str, labs: str, rule: str, fires: bool, profile: Path) -> None:
    assert (rule in flags(profile, text, labs)) is fires
