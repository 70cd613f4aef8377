"""Laboratory rows: units, own and program's ranges, censored and worded values, latest and change; prose results."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from core.domain.case import LabRow, LabTable, Note
from core.domain.evidence import Finding
from core.retrieval.knowledge import StarterKnowledge, packaged
from core.runtime.ledger import Patient
from core.runtime.perception import analytes
from core.runtime.perception.drafts import numbered
from core.runtime.perception.laboratory import NO_UNIT, NOT_UNDERSTOOD, OWN_REFERENCE, interpret, of_table
from core.runtime.perception.numbers import IMPLAUSIBLE
from core.runtime.perception.results import written_results

DATA = tomllib.loads((Path(__file__).parents[2] / "data/labs/units.toml").read_text("utf-8"))
ADULT = Patient(age=50, sex="female")


@lru_cache(maxsize=1)
def knowledge() -> StarterKnowledge:
    return packaged()


def row(test: str, value: str, unit: str = "", **more: Any) -> LabRow:
    try:
        number: float | None = float(value)
    except ValueError:
        number = None
    return LabRow(row=more.pop("row", 1), test=test, value=value, number=number, unit=unit, **more)


def read(*rows: LabRow, patient: Patient = ADULT) -> tuple[Finding, ...]:
    table = LabTable(id="t", title="Bloods", rows=rows, sha256="0" * 64)
    return numbered(interpret(of_table(table, analytes.packaged()), patient, analytes.packaged(), knowledge()))


def one(*rows: LabRow, patient: Patient = ADULT) -> Finding:
    """The finding of the last row's result."""
    text = f"{rows[-1].test} {rows[-1].value} {rows[-1].unit}".strip()
    return next(f for f in read(*rows, patient=patient) if f.text == text and f.extractor.startswith("laboratory"))


def side(test: str, given: dict[str, Any]) -> LabRow:
    return row(test, str(given["value"]), given["unit"], low=given.get("low"), high=given.get("high"))


@pytest.mark.parametrize("pair", DATA["pair"], ids=lambda pair: f"{pair['test']}-{pair['conventional']['value']}")
def test_conventional_and_si_units_are_read_alike(pair: dict[str, Any]) -> None:
    conventional, si = one(side(pair["test"], pair["conventional"])), one(side(pair["test"], pair["si"]))
    assert conventional.abnormal == si.abnormal == pair["expected"]
    assert conventional.concept == si.concept
    assert conventional.quantity == si.quantity


def test_there_are_thirty_pairs_and_ten_refusals() -> None:
    assert (len(DATA["pair"]), len(DATA["refused"])) == (30, 10)


@pytest.mark.parametrize("refused", DATA["refused"], ids=lambda r: f"{r['test']}-{r['unit']}")
def test_impossible_units_are_shown_and_not_interpreted(refused: dict[str, Any]) -> None:
    finding = one(row(refused["test"], str(refused["value"]), refused["unit"], low=1.0, high=2.0, flag="H"))
    assert finding.abnormal == "unknown"
    assert finding.note in (NOT_UNDERSTOOD, NO_UNIT)
    assert finding.quantity == ""
    assert finding.value is not None
    assert finding.value.value == refused["value"]
    assert not finding.concept.startswith("WR:")


def test_own_range_goes_before_the_programs() -> None:
    own = one(row("Potassium", "5.2", "mmol/L", low=3.5, high=5.0))
    assert (own.abnormal, own.reference_range, own.note) == ("high", "3.5 to 5", "")
    program = one(row("Potassium", "5.2", "mmol/L"))
    assert program.abnormal == "normal"
    assert OWN_REFERENCE in program.reference_range


@pytest.mark.parametrize(
    ("patient", "why"),
    [
        (Patient(age=12, sex="male"), "adults"),
        (Patient(age=30, sex="female", pregnant=True), "pregnancy"),
        (Patient(age=30), "sex not known"),
    ],
)
def test_the_programs_range_is_not_used_where_it_does_not_apply(patient: Patient, why: str) -> None:
    finding = one(row("Haemoglobin", "108", "g/L"), patient=patient)
    assert finding.abnormal == "unknown"
    assert why in finding.note
    assert one(row("Haemoglobin", "108", "g/L", low=115.0, high=165.0), patient=patient).abnormal == "low"


def test_a_value_that_is_not_compared_denies_nothing() -> None:
    """A haemoglobin of 88 g/L without a known sex is no absence of anaemia; with one it is anaemia."""
    unknown = read(row("Haemoglobin", "88", "g/L"), patient=Patient(age=60))
    assert [(finding.concept, finding.polarity) for finding in unknown] == [("LAB:haemoglobin", "present")]
    known = read(row("Haemoglobin", "88", "g/L"), patient=Patient(age=60, sex="male"))
    said = {finding.concept: finding.polarity for finding in known}
    assert (said["WR:anaemia"], said["WR:polycythaemia"]) == ("present", "absent")


def test_sex_chooses_the_interval() -> None:
    assert one(row("Haemoglobin", "125", "g/L"), patient=Patient(age=40, sex="male")).abnormal == "low"
    assert one(row("Haemoglobin", "125", "g/L"), patient=Patient(age=40, sex="female")).abnormal == "normal"


@pytest.mark.parametrize(
    ("test", "value", "unit", "low", "high", "abnormal"),
    [
        ("CRP", "<5", "mg/L", None, 5.0, "normal"),
        ("D-dimer", "<0.27", "mg/L FEU", None, 0.5, "normal"),
        ("CRP", "<10", "mg/L", None, 5.0, "unknown"),  # may be 7
        ("eGFR", ">90", "mL/min/1.73m2", 60.0, None, "normal"),
        ("Troponin T", ">1000", "ng/L", None, 14.0, "high"),
        ("Potassium", "<2.5", "mmol/L", 3.5, 5.1, "low"),
        ("Potassium", "6.8*", "mmol/L", 3.5, 5.1, "high"),
        ("Potassium", "6,8", "mmol/L", 3.5, 5.1, "high"),
    ],
)
def test_censored_and_marked_numbers(
    test: str, value: str, unit: str, low: float | None, high: float | None, abnormal: str
) -> None:
    finding = one(row(test, value, unit, low=low, high=high))
    assert finding.abnormal == abnormal
    assert ("reported as" in finding.note) == (value[0] in "<>")


def test_worded_results() -> None:
    assert one(row("Troponin T", "positive")).concept in ("WR:raised-troponin", "WR:raised-troponin-t")
    unread = one(row("Blood film", "see comment"))
    assert (unread.abnormal, unread.value, unread.quantity) == ("unknown", None, "")


def test_critical_only_by_the_laboratorys_own_flag() -> None:
    assert one(row("Potassium", "7.1", "mmol/L", low=3.5, high=5.1, flag="HH")).abnormal == "critical"
    assert one(row("Potassium", "7.1", "mmol/L", low=3.5, high=5.1, flag="H")).abnormal == "high"
    assert one(row("Potassium", "7.1", "mmol/L", flag="H")).abnormal == "high"


def test_the_latest_stands_and_says_its_change() -> None:
    findings = read(
        row("Creatinine", "180", "umol/L", row=1, low=45.0, high=84.0, collected_at="2026-03-02T08:00"),
        row("Creatinine", "1.02", "mg/dL", row=2, low=0.5, high=1.0, collected_at="2026-03-01T08:00"),
    )
    latest = next(f for f in findings if f.text.startswith("Creatinine 180"))
    earlier = next(f for f in findings if f.text.startswith("Creatinine 1.02"))
    assert (latest.time, earlier.time) == ("current", "past")
    assert latest.change == pytest.approx(180 - 1.02 * 88.42)
    assert latest.concept == "WR:raised-creatinine"
    assert earlier.concept == "LAB:creatinine"


def test_of_two_values_of_one_moment_the_more_abnormal_counts() -> None:
    findings = read(row("Potassium", "4.9", "mmol/L", row=1), row("Potassium", "6.6", "mmol/L", row=2))
    assert {f.value.value for f in findings if f.quantity == "potassium" and f.value} == {6.6}
    assert any(f.concept == "WR:raised-potassium" for f in findings)


def test_a_normal_value_denies_high_and_low_and_names_its_input() -> None:
    findings = read(row("Potassium", "4.4", "mmol/L", low=3.5, high=5.1))
    source = next(f for f in findings if f.quantity == "potassium")
    denied = {f.concept: f for f in findings if f.polarity == "absent"}
    assert {"WR:raised-potassium", "WR:hypokalaemia"} <= set(denied)
    assert denied["WR:hypokalaemia"].inputs == (source.id,)
    assert denied["WR:hypokalaemia"].formula == "Potassium is normal"


def test_implausible_is_kept_as_written() -> None:
    finding = one(row("Potassium", "68", "mmol/L", low=3.5, high=5.1))
    assert (finding.abnormal, finding.note) == ("unknown", IMPLAUSIBLE)
    assert finding.value is not None
    assert finding.value.value == 68


@pytest.mark.parametrize(
    ("name", "analyte"),
    [
        ("K+", "potassium"),
        ("Serum Sodium", "sodium"),
        ("White cell count", "white_cells"),
        ("Absolute neutrophil count", "neutrophils"),
        ("pCO2 (venous)", "pco2"),
        ("NT-proBNP", "nt_probnp"),
        ("hs-cTnT", "troponin_t"),
        ("BUN", "urea_nitrogen"),
        ("Sample comment", ""),
    ],
)
def test_names_as_printed(name: str, analyte: str) -> None:
    found = analytes.packaged().find(name)
    assert (found.id if found else "") == analyte


def test_at_least_sixty_analytes() -> None:
    assert len(analytes.packaged().by_id) >= 60


# ------------------------------------------------------------------------------------------------------ prose


def written(text: str) -> list[tuple[str, float | None, str, str]]:
    note = Note(id="n", title="Note", text=text, sha256="0" * 64)
    found = written_results(note, analytes.packaged())
    return [(r.analyte.id if r.analyte else "", r.number, r.unit, r.time) for r in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("K 6.8", [("potassium", 6.8, "mmol/L", "current")]),
        ("K+ 7.1 mmol/L", [("potassium", 7.1, "mmol/L", "current")]),
        ("CRP 145 mg/L", [("crp", 145.0, "mg/L", "current")]),
        ("troponin 45 ng/L", [("troponin_i", 45.0, "ng/L", "current")]),
        (
            "creatinine 2.3 mg/dL (baseline 1.0)",
            [("creatinine", 2.3, "mg/dL", "current"), ("creatinine", 1.0, "mg/dL", "past")],
        ),
        ("baseline creatinine 90", [("creatinine", 90.0, "umol/L", "past")]),
        (
            "Creatinine rose from 90 to 312 umol/L",
            [("creatinine", 90.0, "umol/L", "past"), ("creatinine", 312.0, "umol/L", "current")],
        ),
        ("D-dimer 2,400 ng/mL FEU", [("d_dimer", 2400.0, "ng/mL FEU", "current")]),
        ("WBC 14.2 x10^9/L", [("white_cells", 14.2, "10*9/L", "current")]),
        ("Hb 98, MCV 71 fL", [("haemoglobin", 98.0, "g/L", "current"), ("mcv", 71.0, "fL", "current")]),
        ("ALP 190 u/L", [("alp", 190.0, "U/L", "current")]),
        ("pH 7.21", [("ph", 7.21, "", "current")]),
        ("if K > 6.0 call", [("potassium", 6.0, "mmol/L", "future")]),
        ("lactate 4.2", [("lactate", 4.2, "", "current")]),  # two units are plausible: shown, not interpreted
        ("sodium 126 meq/dL", [("sodium", 126.0, "meq/dL", "current")]),  # a unit that is none stays as written
        # numbers that are no results
        ("CSF glucose 60 mg/dL", []),
        ("pleural fluid LDH 400 U/L", []),
        ("urea and creatinine of 37 and 2.32, respectively", []),
        ("BUN and creatinine were 37 and 2.3", []),
        ("very low density lipoprotein cholesterol 20 mg/dL", []),
        ("oxygen saturation 95 %", []),
        ("magnesium 2 g given", []),
        ("calcium gluconate 30 mL", []),
        ("iron 200 mg daily", []),
        ("glucose 3 times a day", []),
        ("Pt 45 years old, got 5 tablets", []),
        ("mg 3", []),
    ],
)
def test_results_in_prose(text: str, expected: list[tuple[str, float, str, str]]) -> None:
    assert written(text) == expected


def test_a_number_without_unit_says_how_it_was_read() -> None:
    note = Note(id="n", title="Note", text="K 6.8. CRP 20.", sha256="0" * 64)
    results = written_results(note, analytes.packaged())
    findings = numbered(interpret(results, ADULT, analytes.packaged(), knowledge()))
    read_as = {f.name: f.note for f in findings if f.value is not None}
    assert "no unit written; read as mmol/L" in read_as["Potassium"]
    assert read_as["C-reactive protein"] == NO_UNIT
