"""Derived findings against hand calculations and published tables: eGFR, KDIGO, NEWS2, gaps, thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.case import Case, LabRow, LabTable, Note
from core.domain.evidence import Finding
from core.retrieval.knowledge import packaged
from core.runtime import findings as reading
from core.runtime.ledger import Ledger
from core.runtime.perception.early_warning import points
from core.runtime.perception.kidney import filtration, stage
from core.runtime.perception.thresholds import THRESHOLDS

KNOWLEDGE = packaged()


def row(number: int, test: str, value: float, unit: str, at: str = "") -> LabRow:
    return LabRow(row=number, test=test, value=str(value), number=value, unit=unit, collected_at=at)


def perceive(text: str = "", *rows: LabRow) -> tuple[Finding, ...]:
    items: list[Any] = [Note(id="n", title="Note", text=text, sha256="0" * 64)]
    if rows:
        items.append(LabTable(id="t", title="Bloods", rows=rows, sha256="1" * 64))
    case = Case(id="c", title="c", revision=1, created_at="2026-11-30T08:00:00", items=tuple(items))
    return reading.perceive(case, KNOWLEDGE)


def value(findings: tuple[Finding, ...], quantity: str) -> float | None:
    found = reading.quantities(findings).get(quantity)
    return found.value.value if found is not None and found.value is not None else None


def state(findings: tuple[Finding, ...], concept: str) -> bool | None:
    state = Ledger(findings, KNOWLEDGE, reading.patient(findings)).standing(concept).state
    return {"present": True, "absent": False}.get(state)


# ------------------------------------------------------------------------------------------------------ kidney


@pytest.mark.parametrize(
    ("mg_dl", "age", "sex", "expected"),
    [
        # 142 x (Cr/k)^-1.2 x 0.9938^age x 1.012 if female; below k with exponent alpha: by hand from Inker 2021
        (1.0, 50, "male", 91.7),
        (1.0, 50, "female", 68.6),
        (0.5, 30, "female", 129.3),
        (3.0, 76, "male", 20.8),
    ],
)
def test_filtration_rate(mg_dl: float, age: float, sex: str, expected: float) -> None:
    assert filtration(mg_dl * 88.42, age, sex) == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize(
    ("latest", "baseline", "rise", "expected"),
    [
        (100, 90, None, 0),
        (135, 90, None, 1),  # 1.5 times
        (134, 90, None, 0),
        (116.5, 90, 26.5, 1),  # 0.3 mg/dL within 48 h
        (116, 90, 26.0, 0),
        (180, 90, None, 2),
        (270, 90, None, 3),
        (354, 200, None, 3),  # 4.0 mg/dL, once the criteria are met
        (354, 340, None, 0),  # high, but not acute
    ],
)
def test_kdigo_stage(latest: float, baseline: float, rise: float | None, expected: int) -> None:
    assert stage(latest, baseline, rise) == expected


def test_two_creatinines_give_stage_ratio_and_rise() -> None:
    found = perceive(
        "76-year-old man.",
        row(1, "Creatinine", 312, "umol/L", "2026-10-27T14:30"),
        row(2, "Creatinine", 98, "umol/L", "2026-05-12T08:50"),
        row(3, "Creatinine", 250, "umol/L", "2026-10-26T14:30"),
    )
    assert value(found, "creatinine_ratio") == pytest.approx(312 / 98, abs=0.01)
    assert value(found, "creatinine_rise_48h") == pytest.approx(62)
    assert value(found, "aki_stage") == 3
    assert state(found, "WR:aki-stage-3") is True
    assert state(found, "WR:acute-kidney-injury") is True
    assert state(found, "WR:egfr-below-30") is True
    derived = next(f for f in found if f.concept == "WR:aki-stage-3")
    assert "KDIGO 2012" in derived.formula
    inputs = {f.id: f for f in found}
    assert {inputs[i].text for i in derived.inputs} == {"Creatinine 312 umol/L", "Creatinine 98 umol/L"}


def test_a_stated_baseline_counts() -> None:
    found = perceive("Baseline creatinine 90. Now creatinine 200 umol/L.")
    assert value(found, "aki_stage") == 2
    assert value(perceive("Creatinine 200 umol/L."), "aki_stage") is None


def test_an_old_value_is_no_baseline() -> None:
    found = perceive(
        "",
        row(1, "Creatinine", 180, "umol/L", "2026-10-27T14:30"),
        row(2, "Creatinine", 90, "umol/L", "2021-10-27T14:30"),
    )
    assert value(found, "creatinine_ratio") is None


def test_no_rate_without_age_or_sex_or_for_a_child() -> None:
    assert value(perceive("Creatinine 100 umol/L. A patient."), "egfr") is None
    assert value(perceive("9-year-old boy. Creatinine 100 umol/L."), "egfr") is None
    assert value(perceive("59-year-old man. Creatinine 100 umol/L."), "egfr") is not None


# ------------------------------------------------------------------------------------------------------- NEWS2


@pytest.mark.parametrize(
    ("quantity", "table"),
    [  # RCP 2017, chart 1: value and points at both edges of every band
        ("respiratory_rate", {8: 3, 9: 1, 11: 1, 12: 0, 20: 0, 21: 2, 24: 2, 25: 3}),
        ("spo2", {91: 3, 92: 2, 93: 2, 94: 1, 95: 1, 96: 0}),
        ("systolic_bp", {90: 3, 91: 2, 100: 2, 101: 1, 110: 1, 111: 0, 219: 0, 220: 3}),
        ("heart_rate", {40: 3, 41: 1, 50: 1, 51: 0, 90: 0, 91: 1, 110: 1, 111: 2, 130: 2, 131: 3}),
        ("temperature", {35.0: 3, 35.1: 1, 36.0: 1, 36.1: 0, 38.0: 0, 38.1: 1, 39.0: 1, 39.1: 2}),
    ],
)
def test_news2_points(quantity: str, table: dict[float, int]) -> None:
    assert {number: points(quantity, number) for number in table} == table


def test_news2_needs_all_parts() -> None:
    text = "T 38.9, HR 124, BP 92/50, RR 26, SpO2 93% on 2 L, GCS 14."
    # 1 + 2 + 2 + 3 + 2 + oxygen 2 + not alert 3
    assert value(perceive(text), "news2") == 15
    assert value(perceive(text.replace("GCS 14", "GCS 15")), "news2") == 12
    assert value(perceive(text.replace(", GCS 14", "")), "news2") is None
    assert value(perceive(text.replace(" on 2 L", "")), "news2") is None
    assert value(perceive(text + " NEWS2 9."), "news2") == 9  # a stated score stands


# ------------------------------------------------------------------------------------------------ other values


def test_computed_values() -> None:
    found = perceive(
        "BP 90/60, HR 120. Weight 100 kg, height 180 cm.",
        row(1, "Sodium", 140, "mmol/L"),
        row(2, "Chloride", 100, "mmol/L"),
        row(3, "Bicarbonate", 12, "mmol/L"),
        row(4, "Calcium", 2.0, "mmol/L"),
        row(5, "Albumin", 20, "g/L"),
        row(6, "BUN", 56.02, "mg/dL"),
    )
    assert value(found, "mean_arterial_pressure") == pytest.approx(70)
    assert value(found, "shock_index") == pytest.approx(120 / 90, abs=0.01)
    assert value(found, "body_mass_index") == pytest.approx(30.9)
    assert value(found, "anion_gap") == pytest.approx(28)
    assert value(found, "corrected_calcium") == pytest.approx(2.4)
    assert value(found, "urea") == pytest.approx(20.0)
    assert state(found, "WR:high-anion-gap") is True
    assert state(found, "WR:obesity") is True


def test_change_of_potassium_in_its_canonical_unit() -> None:
    found = perceive(
        "",
        row(1, "Potassium", 6.1, "mEq/L", "2026-10-27T14:30"),
        row(2, "Potassium", 4.9, "mmol/L", "2026-10-26T14:30"),
    )
    assert value(found, "potassium_change") == pytest.approx(1.2)


def test_rise_or_fall_of_troponin() -> None:
    at = ("2026-10-27T14:00", "2026-10-27T11:00")
    rising = perceive("", row(1, "Troponin T", 60, "ng/L", at[0]), row(2, "Troponin T", 30, "ng/L", at[1]))
    assert state(rising, "WR:troponin-rise-or-fall") is True
    flat = perceive("", row(1, "Troponin T", 31, "ng/L", at[0]), row(2, "Troponin T", 30, "ng/L", at[1]))
    assert state(flat, "WR:troponin-rise-or-fall") is False
    assert state(flat, "WR:raised-troponin") is True


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("HR 101", "WR:tachycardia", True),
        ("HR 100", "WR:tachycardia", False),
        ("HR 49", "WR:bradycardia", True),
        ("BP 89/60", "WR:hypotension", True),
        ("BP 90/60", "WR:hypotension", False),
        ("BP 150/95", "WR:hypertension", True),
        ("BP 120/70", "WR:hypertension", None),  # a normal pressure now denies no disease
        ("T 38.0", "WR:fever", True),
        ("T 100.4 F", "WR:fever", True),
        ("T 37.9", "WR:fever", False),
        ("RR 21", "WR:tachypnoea", True),
        ("GCS 14", "WR:reduced-consciousness", True),
        ("SpO2 93% on air", "WR:hypoxia", True),
        ("SpO2 94% on air", "WR:hypoxia", False),
        ("SpO2 97% on 4 L", "WR:hypoxia", None),  # oxygen hides it
        ("Known COPD. SpO2 91% on air", "WR:hypoxia", False),
        ("Known COPD. SpO2 87% on air", "WR:hypoxia", True),
        ("IOP right 22 mmHg, left 15", "WR:raised-intraocular-pressure", True),
        ("IOP right 21 mmHg, left 15", "WR:raised-intraocular-pressure", False),
        ("C/D 0.7 OD, 0.4 OS", "WR:raised-cup-disc-ratio", True),
        ("C/D 0.6 OD, 0.4 OS", "WR:cup-disc-asymmetry", True),
        ("C/D 0.5 OD, 0.4 OS", "WR:cup-disc-asymmetry", False),
        ("PEF 30% of best", "WR:very-low-pef", True),
        ("FEV1/FVC 0.69", "WR:airflow-obstruction", True),
        ("LVEF 40%", "WR:reduced-ejection-fraction", True),
        ("LVEF 55%", "WR:reduced-ejection-fraction", False),
        ("66-year-old man", "WR:age-over-65", True),
        ("64-year-old man", "WR:age-over-65", False),
        ("39-year-old man", "WR:age-under-40", True),
        ("HR 400", "WR:tachycardia", None),  # implausible as written
    ],
)
def test_thresholds(text: str, concept: str, expected: bool | None) -> None:
    assert state(perceive(text + "."), concept) is expected


def test_every_threshold_names_a_source_and_a_known_concept() -> None:
    for row_ in THRESHOLDS:
        assert row_.citation
        assert KNOWLEDGE.concept(row_.concept) is not None, row_.concept


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("Chest clear.", "WR:crackles", False),
        ("Chest clear. Crackles at the left base.", "WR:crackles", True),  # what is written stands
        ("JVP normal.", "WR:raised-jvp", False),
        ("No leg swelling.", "WR:unilateral-leg-swelling", False),
        ("Pulmonary embolism in 2010.", "WR:previous-venous-thromboembolism", True),
        ("Pulmonary embolism in 2010.", "WR:pulmonary-embolism", None),
        ("Mother had glaucoma.", "WR:family-history-glaucoma", True),
        ("Fever at home for three days. T 36.8.", "WR:fever", True),
        ("No fever. T 38.5.", "WR:fever", True),
    ],
)
def test_what_follows_from_words(text: str, concept: str, expected: bool | None) -> None:
    assert state(perceive(text), concept) is expected


def test_every_derived_finding_names_formula_and_inputs_that_exist() -> None:
    found = perceive(
        "82F, known COPD. T 39.1, HR 124, BP 82/44, RR 28, SpO2 85% on air, GCS 13. Chest clear. PE in 2010.",
        row(1, "Potassium", 4.2, "mmol/L"),
        row(2, "Lactate", 4.4, "mmol/L"),
    )
    ids = {finding.id for finding in found}
    derived = [finding for finding in found if finding.extractor.startswith("derived")]
    assert len(derived) > 15
    for finding in derived:
        assert finding.formula
        assert finding.inputs
        assert set(finding.inputs) <= ids
        assert finding.provenance.kind == "derived"
    assert state(found, "WR:shock") is True
