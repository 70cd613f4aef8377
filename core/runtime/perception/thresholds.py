"""When a number is a finding: one table of thresholds, each with its source, and its application.

Pure. The figures are from memory of the named sources and await review by a clinician. Present where the comparison
holds; absent otherwise, unless a row says that a normal number proves nothing ("hypertension").
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from core.domain import units
from core.runtime.perception.board import Board, derive_concept
from core.runtime.perception.drafts import Draft

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
NEWS = "Royal College of Physicians 2017 (NEWS2)"


class Threshold(msgspec.Struct, frozen=True):
    """`concept` is present where the quantity compares so with the limit, in the quantity's canonical unit."""

    concept: str
    quantity: str
    comparator: Literal[">", ">=", "<", "<="]
    limit: float
    citation: str
    excludes: bool = True


THRESHOLDS = (
    Threshold("WR:tachycardia", "heart_rate", ">", 100, "Page 2016 (ACC/AHA/HRS)"),
    Threshold("WR:bradycardia", "heart_rate", "<", 50, "Kusumoto 2019 (ACC/AHA/HRS)"),
    Threshold("WR:hypotension", "systolic_bp", "<", 90, "Konstantinides 2020 (ESC)"),
    Threshold("WR:hypotension", "mean_arterial_pressure", "<", 65, "Singer 2016 (Sepsis-3)", excludes=False),
    Threshold("WR:hypertension", "systolic_bp", ">=", 140, "Williams 2018 (ESC/ESH)", excludes=False),
    Threshold("WR:hypertension", "diastolic_bp", ">=", 90, "Williams 2018 (ESC/ESH)", excludes=False),
    Threshold("WR:severe-hypertension", "systolic_bp", ">=", 180, "Williams 2018 (ESC/ESH), grade 3", excludes=False),
    Threshold("WR:severe-hypertension", "diastolic_bp", ">=", 110, "Williams 2018 (ESC/ESH), grade 3", excludes=False),
    Threshold("WR:high-shock-index", "shock_index", ">", 0.9, "Allgower 1967"),
    Threshold("WR:tachypnoea", "respiratory_rate", ">", 20, NEWS),
    Threshold("WR:bradypnoea", "respiratory_rate", "<=", 8, NEWS),
    Threshold("WR:fever", "temperature", ">=", 38.0, "Bone 1992"),
    Threshold("WR:high-fever", "temperature", ">=", 39.1, NEWS),
    Threshold("WR:hypothermia", "temperature", "<=", 35.0, NEWS),
    Threshold("WR:reduced-consciousness", "gcs", "<", 15, "Teasdale 1974"),
    Threshold("WR:high-news2", "news2", ">=", 5, NEWS),
    Threshold("WR:raised-intraocular-pressure", "iop_max", ">", 21, "AAO Preferred Practice Pattern 2020"),
    Threshold("WR:very-high-intraocular-pressure", "iop_max", ">=", 40, "AAO Preferred Practice Pattern 2020"),
    Threshold("WR:low-intraocular-pressure", "iop_min", "<=", 5, "AAO Preferred Practice Pattern 2020"),
    Threshold("WR:raised-cup-disc-ratio", "cup_disc_max", ">=", 0.7, "Foster 2002 (ISGEO)"),
    Threshold("WR:low-pef", "pef_percent", "<=", 50, "BTS/SIGN 2019"),
    Threshold("WR:very-low-pef", "pef_percent", "<", 33, "BTS/SIGN 2019"),
    Threshold("WR:airflow-obstruction", "fev1_fvc", "<", 0.70, "GOLD 2024"),
    Threshold("WR:cardiomegaly", "cardiothoracic_ratio", ">", 0.50, "Danzer 1919"),
    Threshold("WR:reduced-ejection-fraction", "lvef", "<=", 40, "Bozkurt 2021"),
    Threshold("WR:below-normal-ejection-fraction", "lvef", "<", 52, "Lang 2015 (ASE/EACVI)"),
    Threshold("WR:preserved-ejection-fraction", "lvef", ">=", 50, "Bozkurt 2021"),
    Threshold("WR:reduced-urine-output", "urine_output", "<", 0.5, "KDIGO 2012"),
    Threshold("WR:high-anion-gap", "anion_gap", ">", 12, "Emmett 1977", excludes=True),
    Threshold("WR:normal-anion-gap", "anion_gap", "<=", 12, "Emmett 1977", excludes=False),
    Threshold("WR:raised-urea-creatinine-ratio", "urea_creatinine_ratio", ">", 20, "conventional, mg/mg of nitrogen"),
    Threshold("WR:severe-hyponatraemia", "sodium", "<", 125, "Spasovski 2014", excludes=False),
    Threshold("WR:raised-urine-sodium", "urine_sodium", ">", 30, "Spasovski 2014"),
    Threshold("WR:diabetic-range-glucose", "glucose", ">=", 11.1, "ADA 2024", excludes=False),
    Threshold("WR:very-high-glucose", "glucose", ">=", 33.3, "Umpierrez 2024", excludes=False),
    Threshold("WR:diabetic-range-hba1c", "hba1c", ">=", 48, "ADA 2024"),
    Threshold("WR:high-ketones", "ketones", ">=", 3.0, "Umpierrez 2024", excludes=False),
    Threshold("WR:markedly-raised-tsh", "tsh", ">", 10, "Garber 2012 (AACE/ATA)", excludes=False),
    Threshold("WR:fully-suppressed-tsh", "tsh", "<", 0.1, "Ross 2016 (ATA)", excludes=False),
    Threshold("WR:obesity", "body_mass_index", ">=", 30, "WHO 2000", excludes=False),
)
HYPOXIA, HYPOXIA_AT_RISK = 94.0, 88.0  # per cent
_BTS = "O'Driscoll 2017 (BTS oxygen guideline)"
BANDS = ("WR:age-over-{}", "WR:age-under-{}", "WR:egfr-below-{}")
_FULL = {"iop": "intraocular pressure", "gcs": "GCS", "egfr": "eGFR", "news2": "NEWS2", "fev1 fvc": "FEV1/FVC"}
_FULL |= {"lvef": "ejection fraction", "pef percent": "peak flow", "cup disc": "cup-disc ratio", "spo2": "SpO2"}
_UNNAMED = {"iop_min": "mm[Hg]", "urea_creatinine_ratio": "{ratio}", "body_mass_index": "kg/m2"}


def crossed(board: Board) -> Iterator[Draft]:
    """Every concept that a number makes present or absent."""
    for row in THRESHOLDS:
        value = board.value(row.quantity)
        if value is not None and board.knowledge.concept(row.concept) is not None:
            yield from _judged(board, row, value)
    yield from _hypoxia(board)
    yield from _bands(board)


def _judged(board: Board, row: Threshold, value: float) -> Iterator[Draft]:
    present = _COMPARE[row.comparator](value, row.limit)
    if present or row.excludes:
        yield derive_concept(
            row.concept,
            "present" if present else "absent",
            formula=f"{named(row.quantity)} {shown(row.quantity, value)}, threshold {row.comparator} {row.limit:g} "
            f"({row.citation})",
            inputs=board.inputs(row.quantity),
            knowledge=board.knowledge,
        )


def _hypoxia(board: Board) -> Iterator[Draft]:
    """Low saturation; with chronic obstructive disease below the lower target. Oxygen hides, so it excludes nothing."""
    value = board.value("spo2")
    if value is None:
        return
    at_risk = bool(board.holding("WR:copd"))
    limit = HYPOXIA_AT_RISK if at_risk else HYPOXIA
    flow = board.value("oxygen_flow")
    present = value < limit
    if present or not flow:
        why = ", target of chronic obstructive disease" if at_risk else ""
        yield derive_concept(
            "WR:hypoxia",
            "present" if present else "absent",
            formula=f"oxygen saturation {value:g}%, threshold < {limit:g}%{why} ({_BTS})",
            inputs=board.inputs("spo2", "oxygen_flow"),
            knowledge=board.knowledge,
        )


def _bands(board: Board) -> Iterator[Draft]:
    """Bands of age and of filtration rate, as many as the concept table has."""
    for quantity, template, compare in (
        ("age", BANDS[0], operator.ge),
        ("age", BANDS[1], operator.lt),
        ("egfr", BANDS[2], operator.lt),
    ):
        value = board.value(quantity)
        for limit in range(1, 121) if value is not None else ():
            concept = template.format(limit)
            if value is not None and board.knowledge.concept(concept) is not None:
                yield derive_concept(
                    concept,
                    "present" if compare(value, limit) else "absent",
                    formula=f"{named(quantity)} {shown(quantity, value)}",
                    inputs=board.inputs(quantity),
                    knowledge=board.knowledge,
                )


def named(quantity: str) -> str:
    """A quantity in words."""
    words = quantity.replace("_", " ")
    for short, full in _FULL.items():
        words = words.replace(short, full)
    return words.replace(" max", ", higher eye").replace(" min", ", lower eye").replace(" bp", " pressure")


def shown(quantity: str, value: float) -> str:
    """A canonical value as a person reads it."""
    unit = units.parse_unit(_UNNAMED[quantity]) if quantity in _UNNAMED else units.canonical(quantity)
    return units.format_value(round(value, 2), unit)
