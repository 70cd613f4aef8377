"""The named calculators against the public rows of MedCalc-Bench, from the given values of each row.

What is not given counts as absent. No calculator is bent to an answer: every row that disagrees stands here with its
reason, and the test fails if one of them begins to agree or another stops.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bench.loaders.medcalc import MedCalcRow, load_medcalc, load_one_shot
from core.bench.loaders.medcalc_golds import WRONG_GOLDS, score_rows
from core.bench.medcalc_entities import agrees, map_row
from core.bench.medcalc_sheets import SHEETS
from tools.calculators import CALCULATORS
from tools.calculators.evaluation import compute
from tools.calculators.reading import Given, Refused

# Rows whose unit this program refuses, or whose value it holds impossible; the answers took them as they stand.
REFUSED = {
    "600": "white cells per m^3: no unit of the table, and left out",
    "830": "a temperature in misspelt degrees: left out, so a fever of 42 does not count",
    "772": "albumin of 17.1 g/dL (g/L is meant): impossible",
    "824": "albumin of 3.5 mg/dL (g/dL is meant): impossible",
}
# Answers of the six calculators that were not recomputed when the list of wrong golds was made.
WRONG_TOO = {
    "glasgow_coma": "the verbal response is added twice: sums of 16 and 18",
    "caprini_2005": "the running total is not kept: most items are dropped",
    "apache2": "the coma score is added instead of 15 less it, and cells per microlitre are read as 10^9/L",
    "sofa": "a low dose of dopamine hides noradrenaline, and creatinine counts only where no urine is given",
    "charlson": "diabetes by diet counts 1, end-organ damage, severe liver disease and metastases count 1",
}
WRONG_TOO_ROWS = {
    "glasgow_coma": "850 851 852 854 855 860 862 865 866 867",
    "caprini_2005": "908 910 911 912 916 920 922 923 924 926",
    "apache2": "869 870 872 878 879 880 881 884 886",
    "sofa": "895 898 899 900 905 907",
    "charlson": "427 431 433 439",
}
EXPLAINED = REFUSED | {row: WRONG_TOO[name] for name, rows in WRONG_TOO_ROWS.items() for row in rows.split()}
ONE_SHOT = {"17": "no cough is counted where the cough is not mentioned; an item that is not given counts nothing here"}


def agreeing(rows: tuple[MedCalcRow, ...]) -> set[str]:
    """The rows whose value lies within their limits."""
    return {row.id for row in rows if (value := computed(row)) is not None and agrees(row, value)}


def computed(row: MedCalcRow) -> float | None:
    mapped = map_row(row)
    given = tuple(Given(one.name, one.value, one.unit) for one in mapped.values)
    try:
        found = compute(CALCULATORS[mapped.calculator], given, assume_absent=True)
    except Refused:
        return None
    assert found.low == found.high
    return found.low * mapped.scale


def test_every_calculator_has_its_sheet() -> None:
    assert {sheet.calculator for sheet in SHEETS.values()} == set(CALCULATORS)
    inputs = {name: {one.name for one in each.inputs} for name, each in CALCULATORS.items()}
    for sheet in SHEETS.values():
        assert {*sheet.keys.values(), *(one.name for one in sheet.fixed)} - {"-"} <= inputs[sheet.calculator]


@pytest.mark.data
def test_one_shot_rows(data: Path) -> None:
    """At least 53 of 55 within their limits; each miss has its reason."""
    rows = load_one_shot(data)
    right = agreeing(rows)
    assert {row.id for row in rows} - right == set(ONE_SHOT)
    assert len(right) >= 53
    assert [left for row in rows for left in map_row(row).left_out] == []


@pytest.mark.data
def test_development_rows(data: Path) -> None:
    """The disagreeing rows are the list of wrong golds and the explained ones, no other."""
    rows = load_medcalc(data)
    right = agreeing(rows)
    listed = {row for wrong in WRONG_GOLDS for row in wrong.rows}
    assert {row.id for row in rows} - right == listed | set(EXPLAINED)
    assert not listed & set(EXPLAINED)
    names = {row.id: SHEETS[row.calculator].calculator for row in rows}
    assert all(names[row] == name for name, found in WRONG_TOO_ROWS.items() for row in found.split())
    corrected = [row.id for row in score_rows(rows).corrected if row.id not in EXPLAINED or row.id in REFUSED]
    assert len(right & set(corrected)) / len(corrected) >= 0.98


@pytest.mark.data
def test_only_units_that_are_none_are_left_out(data: Path) -> None:
    left_out = {text.partition(": ")[2] for row in load_medcalc(data) for text in map_row(row).left_out}
    assert left_out == {
        "unknown unit degrees celsisus", "unknown unit degrees fahreinheit", "unknown unit /m^3"
    }  # fmt: skip
