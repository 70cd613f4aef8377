"""Where slices lie: places along the normal of a stack, steps between them, shear. Pure numbers, mm, LPS."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = tuple[float, float, float]
SAME_PLACE_MM = 1e-3


def normal(orientation: Sequence[float]) -> Vector | None:
    """Row cosine x column cosine (PS3.3 C.7.6.2.1.1); None where it is not given, or the two are parallel."""
    if len(orientation) != 6:
        return None
    a, b, c, d, e, f = orientation
    found = (b * f - c * e, c * d - a * f, a * e - b * d)
    return found if math.hypot(*found) > 1e-6 else None


def place(position: Sequence[float], orientation: Sequence[float]) -> float | None:
    """Position along the normal, mm; None where either is missing."""
    found = normal(orientation)
    if found is None or len(position) != 3:
        return None
    return sum(n * p for n, p in zip(found, position, strict=True))


def steps(places: Sequence[float]) -> list[float]:
    """Distances between neighbouring places, mm, those at the same place left out."""
    ordered = sorted(places)
    return [b - a for a, b in zip(ordered, ordered[1:], strict=False) if b - a >= SAME_PLACE_MM]


def shear_deg(first: Sequence[float], last: Sequence[float], orientation: Sequence[float]) -> float:
    """Angle between the way from the first to the last slice and the normal, 0 to 90 degrees; 0 where there is none."""
    found = normal(orientation)
    way = [b - a for a, b in zip(first, last, strict=True)]
    length = math.hypot(*way) * (math.hypot(*found) if found else 0)
    if found is None or length == 0:
        return 0.0
    return math.degrees(math.acos(min(1.0, abs(sum(n * w for n, w in zip(found, way, strict=True))) / length)))
