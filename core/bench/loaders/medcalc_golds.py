"""The published answers of MedCalc-Bench v1.0 that are wrong, and the two sets of rows that are scored.

Found by recomputing the rows from their own given values (data.md 4.1). A calculator is never bent to one of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from core.bench.loaders.medcalc import MedCalcRow


class WrongGold(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of one calculator whose published answer is wrong, and how."""

    calculator: int
    rows: tuple[str, ...]
    reason: str


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """Both scores' rows: against the answers as published, and without those known to be wrong."""

    published: tuple[MedCalcRow, ...]
    corrected: tuple[MedCalcRow, ...]


def _wrong(calculator: int, rows: str, reason: str) -> WrongGold:
    return WrongGold(calculator=calculator, rows=tuple(rows.split()), reason=reason)


WRONG_GOLDS = (
    _wrong(7, "114 117", "mmol/L of calcium are converted wrongly"),
    _wrong(13, "929 931 937 940 943 944 946", "a cycle shorter than 28 days adds the difference, not subtracts it"),
    _wrong(15, "202 208 209 210 212 214", "the points of the ascites are left out, or another item is mis-scored"),
    _wrong(17, "241 242 246 249 253 255", "two keys for a stroke in the past disagree, and the true one is ignored"),
    _wrong(23, "341 343", "the floors of creatinine, bilirubin and INR are applied differently"),
    _wrong(27, "389 399", "haemoglobin at the very edge (man 13.0, woman 12.0) is put into the worse band"),
    _wrong(29, "829 831", "a misspelt unit makes a normal temperature score 15"),
    _wrong(44, "521", "triglycerides in mmol/L are converted with another molar mass"),
    _wrong(46, "552 553 554 558 559 561 562 563 565", "it is not the per-cent risk of the published equation"),
    _wrong(51, "598 606", "the cell count has the value per microlitre and the unit of a litre or cubic metre"),
)


def score_rows(rows: Iterable[MedCalcRow]) -> Scored:
    """The rows of both scores; of each, only what is among `rows` counts."""
    known = {(wrong.calculator, row) for wrong in WRONG_GOLDS for row in wrong.rows}
    published = tuple(rows)
    return Scored(
        published=published,
        corrected=tuple(row for row in published if (row.calculator, row.id) not in known),
    )
