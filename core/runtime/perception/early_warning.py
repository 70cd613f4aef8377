"""The National Early Warning Score 2 where all its parts are known (Royal College of Physicians 2017, chart 1).

Pure. Saturation scale 1 only: scale 2 is a clinician's decision.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from core.runtime.perception.board import Board, derive_value
from core.runtime.perception.drafts import Draft

# Upper ends of the bands and their points; above the last end comes the last figure.
_BANDS: dict[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "respiratory_rate": ((8, 11, 20, 24), (3, 1, 0, 2, 3)),
    "spo2": ((91, 93, 95), (3, 2, 1, 0)),
    "systolic_bp": ((90, 100, 110, 219), (3, 2, 1, 0, 3)),
    "heart_rate": ((40, 50, 90, 110, 130), (3, 1, 0, 1, 2, 3)),
    "temperature": ((35.0, 36.0, 38.0, 39.0), (3, 1, 0, 1, 2)),
}
_CONSCIOUSNESS = (("WR:confusion", False), ("WR:reduced-consciousness", False), ("WR:alert-orientated", True))
OXYGEN_POINTS, NOT_ALERT_POINTS = 2, 3
_SOURCE = "RCP 2017, saturation scale 1"


def points(quantity: str, value: float) -> int:
    """Points of one vital sign in its canonical unit."""
    ends, figures = _BANDS[quantity]
    rounded = round(value, 1) if quantity == "temperature" else round(value)
    return figures[bisect_left(ends, rounded)]


def early_warning(board: Board) -> Iterator[Draft]:
    """NEWS2, unless a note states it or a part is missing."""
    values = board.known(*_BANDS)
    flow, alert = board.value("oxygen_flow"), _alert(board)
    if board.latest("news2") is not None or values is None or flow is None or alert is None:
        return
    is_alert, sources = alert
    total = sum(points(quantity, value) for quantity, value in zip(_BANDS, values, strict=True))
    total += (OXYGEN_POINTS if flow > 0 else 0) + (0 if is_alert else NOT_ALERT_POINTS)
    yield derive_value(
        "news2",
        "NEWS2",
        float(total),
        formula=f"sum of seven parts ({_SOURCE})",
        inputs=(*board.inputs(*_BANDS, "oxygen_flow"), *sources),
    )


def _alert(board: Board) -> tuple[bool, tuple[Draft, ...]] | None:
    """Whether the patient is alert, and by what; None where nothing says so."""
    scale = board.value("gcs")
    if scale is not None:
        return scale >= 15, board.inputs("gcs")
    for concept, answer in _CONSCIOUSNESS:
        held = board.holding(concept)
        if held:
            return answer, (held[0],)
    return None
