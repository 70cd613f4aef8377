"""Findings that only several numbers give: repeated pressures, pressure in pregnancy, enzymes against their limit.

Pure. The figures are from memory of the named sources and await review by a clinician.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.runtime.perception.board import Board, derive_concept, in_canonical_unit, usable
from core.runtime.perception.drafts import Draft, canonical_key

SYSTOLIC, DIASTOLIC = 140.0, 90.0  # mmHg; Williams 2018 (ESC/ESH)
SEVERE_SYSTOLIC, SEVERE_DIASTOLIC = 160.0, 110.0  # mmHg; ACOG 222
TIMES = 3.0  # of the upper limit; Banks 2013 (Atlanta)
_UPPER = re.compile(r"(?:\bto|[-\u2013<\u2264])\s*(\d+(?:[.,]\d+)?)")
# In pregnancy no adult interval is compared; these limits are published for it (ACOG 222, NICE NG133).
_IN_PREGNANCY = (
    ("WR:thrombocytopenia", "platelets", -1, 100.0, "10*9/L"),
    ("WR:raised-creatinine", "creatinine", 1, 97.0, "umol/L"),
    ("WR:raised-alt", "alt", 1, 70.0, "U/L"),
    ("WR:raised-ast", "ast", 1, 70.0, "U/L"),
)
_LATE, _HYPERTENSION, _GESTATIONAL = "WR:late-pregnancy", "WR:hypertension", "WR:gestational-hypertension"


def combined(board: Board) -> Iterator[Draft]:
    """Every such finding of a case."""
    yield from _repeated(board)
    yield from _pregnancy(board)
    yield from _enzymes(board)


def _repeated(board: Board) -> Iterator[Draft]:
    """Two or more different readings of 140/90 or more; the same figures count again only on another date."""
    readings: dict[tuple[object, ...], Draft] = {}
    for draft in sorted(_raised(board), key=canonical_key):
        finding = draft.finding
        place = (finding.provenance.sha256, finding.provenance.start, finding.provenance.row)
        readings.setdefault(place, draft)
    distinct = {(draft.finding.collected_at or "", _figures(draft)): draft for draft in readings.values()}
    undated = {figures for at, figures in distinct if not at}
    counted = [draft for (at, figures), draft in distinct.items() if not at or figures not in undated]
    if len(counted) >= 2:
        formula = f"{len(counted)} readings of {SYSTOLIC:g}/{DIASTOLIC:g} mmHg or more (Williams 2018, ESC/ESH)"
        yield derive_concept(
            "WR:repeated-raised-readings", "present", formula=formula, inputs=counted, knowledge=board.knowledge
        )


def _figures(draft: Draft) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", draft.finding.text))


def _raised(board: Board) -> Iterator[Draft]:
    """Raised pressures of now or of the past, the patient's and plausible."""
    limits = {"systolic_bp": SYSTOLIC, "diastolic_bp": DIASTOLIC}
    for quantity, limit in limits.items():
        current = [draft for draft in board.drafts if draft.finding.quantity == quantity and usable(draft.finding)]
        for draft in (*current, *board.earlier(quantity)):
            value = in_canonical_unit(draft.finding)
            if value is not None and value >= limit:
                yield draft


def _pregnancy(board: Board) -> Iterator[Draft]:
    """Raised pressure after 20 weeks (ACOG 222), and blood results against limits published for pregnancy."""
    weeks, pressure = board.holding(_LATE), board.holding(_HYPERTENSION)
    if not weeks:
        return
    if pressure:
        inputs = [weeks[0], pressure[0]]
        formula = "raised blood pressure, pregnancy of 20 weeks or more (ACOG 222)"
        yield derive_concept(_GESTATIONAL, "present", formula=formula, inputs=inputs, knowledge=board.knowledge)
    for quantity, limit in (("systolic_bp", SEVERE_SYSTOLIC), ("diastolic_bp", SEVERE_DIASTOLIC)):
        value = board.value(quantity)
        if value is not None and value >= limit:
            yield derive_concept(
                "WR:severe-gestational-hypertension",
                "present",
                formula=f"{value:g} mmHg, threshold >= {limit:g} in pregnancy (ACOG 222)",
                inputs=[weeks[0], *board.inputs(quantity)],
                knowledge=board.knowledge,
            )
    yield from _organs(board, weeks[0])


def _organs(board: Board, weeks: Draft) -> Iterator[Draft]:
    for concept, quantity, sign, limit, unit in _IN_PREGNANCY:
        value = board.value(quantity)
        if value is not None and sign * value > sign * limit:
            yield derive_concept(
                concept,
                "present",
                formula=f"{value:g} {unit}, threshold {'>' if sign > 0 else '<'} {limit:g} in pregnancy (ACOG 222)",
                inputs=[weeks, *board.inputs(quantity)],
                knowledge=board.knowledge,
            )


def _enzymes(board: Board) -> Iterator[Draft]:
    """Lipase or amylase at least three times the upper limit that it was compared with (Banks 2013)."""
    times = [
        (draft, ratio) for name in ("lipase", "amylase") if (draft := board.latest(name)) and (ratio := _of(draft))
    ]
    if times:
        draft, ratio = max(times, key=lambda pair: (pair[1], pair[0].finding.text))
        yield derive_concept(
            "WR:pancreatic-enzymes-high",
            "present" if ratio >= TIMES else "absent",
            formula=f"{draft.finding.name} {ratio:.1f} x the upper limit, threshold >= {TIMES:g} (Banks 2013)",
            inputs=[draft],
            knowledge=board.knowledge,
        )


def _of(draft: Draft) -> float | None:
    """The value as multiple of its printed, or the program's, upper limit."""
    upper = _UPPER.search(draft.finding.reference_range)
    if upper is None or draft.finding.value is None:
        return None
    limit = float(upper[1].replace(",", "."))
    return draft.finding.value.value / limit if limit else None
