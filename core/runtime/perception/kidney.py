"""Filtration rate, and stages of acute kidney injury from creatinine values (CKD-EPI 2021; KDIGO 2012).

Pure. Creatinine in umol/L. It must not know drugs or conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from core.domain import units
from core.runtime.perception.board import Board, derive_concept, derive_value, in_canonical_unit
from core.runtime.perception.drafts import Draft

UMOL_PER_MG_DL = 88.42
RISE_UMOL = 26.5  # 0.3 mg/dL (KDIGO 2012, section 2.1)
STAGE_3_UMOL = 353.6  # 4.0 mg/dL
ADULT = 18
_DAY, _WINDOW_H, _BASELINE_DAYS = 24.0, 48.0, 365.0
_KDIGO = "KDIGO 2012, creatinine criteria"
_STAGES = {1: "WR:aki", 2: "WR:aki-stage-2", 3: "WR:aki-stage-3"}


def filtration(creatinine: float, age: float, sex: str) -> float:
    """eGFR in mL/min/1.73m2 from creatinine in umol/L, age in years, sex "male" or "female" (Inker 2021, CKD-EPI)."""
    mg_dl = creatinine / UMOL_PER_MG_DL
    kappa, alpha, factor = (0.7, -0.241, 1.012) if sex == "female" else (0.9, -0.302, 1.0)
    ratio = mg_dl / kappa
    return float(142 * min(ratio, 1) ** alpha * max(ratio, 1) ** -1.2 * 0.9938**age * factor)


def stage(latest: float, baseline: float, rise_48h: float | None) -> int:
    """KDIGO stage 0 to 3 of a creatinine against its baseline and its rise within 48 hours, all umol/L."""
    ratio = latest / baseline
    injured = ratio >= 1.5 or (rise_48h is not None and rise_48h >= RISE_UMOL)
    if not injured:
        return 0
    if ratio >= 3 or latest >= STAGE_3_UMOL:
        return 3
    return 2 if ratio >= 2 else 1


def kidney(board: Board) -> Iterator[Draft]:
    """eGFR, ratio and rise of creatinine, stage."""
    yield from _egfr(board)
    latest = board.latest("creatinine")
    value = board.value("creatinine")
    if latest is None or value is None:
        return
    earlier = [(draft, number) for draft in board.earlier("creatinine") if (number := in_canonical_unit(draft.finding))]
    usual = [pair for pair in earlier if _within(pair[0], latest, _BASELINE_DAYS * _DAY, undated=True)]
    recent = [pair for pair in earlier if _within(pair[0], latest, _WINDOW_H, undated=False)]
    rise = None
    if recent:
        lowest = min(recent, key=lambda pair: pair[1])
        rise = round(value - lowest[1], 1)
        yield derive_value(
            "creatinine_rise_48h",
            "Creatinine rise within 48 hours",
            rise,
            formula=f"{value:.0f} - {lowest[1]:.0f} umol/L",
            inputs=[latest, lowest[0]],
        )
    if usual:
        yield from _against_baseline(board, latest, value, usual, rise=rise)


def _egfr(board: Board) -> Iterator[Draft]:
    """CKD-EPI 2021, where the report gives none and age and sex are known."""
    known, sex = board.known("creatinine", "age"), board.patient.sex
    if board.latest("egfr") is not None or known is None or not sex or known[1] < ADULT:
        return
    rate = round(filtration(known[0], known[1], sex))
    yield derive_value(
        "egfr",
        "eGFR",
        float(rate),
        formula=f"CKD-EPI 2021, creatinine {known[0]:.0f} umol/L, age {known[1]:.0f}, {sex} (Inker 2021)",
        inputs=(*board.inputs("creatinine", "age"), *_sex_drafts(board)),
    )


def _sex_drafts(board: Board) -> Sequence[Draft]:
    return [*board.holding("WR:male-sex"), *board.holding("WR:female-sex")][:1]


def _against_baseline(
    board: Board, latest: Draft, value: float, usual: Sequence[tuple[Draft, float]], *, rise: float | None
) -> Iterator[Draft]:
    baseline = min(usual, key=lambda pair: (pair[1], pair[0].finding.collected_at or ""))
    ratio = round(value / baseline[1], 2)
    inputs = [latest, baseline[0]]
    text = f"{_plain(value)} / {_plain(baseline[1])} umol/L"
    yield derive_value("creatinine_ratio", "Creatinine over baseline", ratio, formula=text, inputs=inputs)
    reached = stage(value, baseline[1], rise)
    formula = f"creatinine {ratio:g} times baseline"
    formula += "" if rise is None else f", rise {rise:g} umol/L within 48 h"
    name = "KDIGO stage of acute kidney injury"
    yield derive_value("aki_stage", name, float(reached), formula=f"{formula} ({_KDIGO})", inputs=inputs)
    for number, concept in _STAGES.items():
        fits = number == reached or (number == 1 and reached > 0)
        if fits or reached == 0:
            yield derive_concept(
                concept,
                "present" if fits else "absent",
                formula=f"{formula}: stage {reached} ({_KDIGO})",
                inputs=inputs,
                knowledge=board.knowledge,
            )
    for concept, holds in (("WR:creatinine-rise", reached > 0), ("WR:stable-creatinine", reached == 0)):
        yield derive_concept(
            concept,
            "present" if holds else "absent",
            formula=f"{formula} ({_KDIGO})",
            inputs=inputs,
            knowledge=board.knowledge,
        )


def _plain(value: float) -> str:
    return units.format_value(value, units.canonical("creatinine"), decimals=0).split()[0]


def _within(earlier: Draft, latest: Draft, hours: float, *, undated: bool) -> bool:
    """Whether one result lies at most so long before another; `undated` is the answer where a date is missing."""
    before, after = _moment(earlier), _moment(latest)
    if before is None or after is None:
        return undated
    return 0 < (after - before).total_seconds() / 3600 <= hours


def _moment(draft: Draft) -> datetime | None:
    try:
        moment = datetime.fromisoformat(draft.finding.collected_at or "")
    except ValueError:
        return None
    return moment.replace(tzinfo=None)
