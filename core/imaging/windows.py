"""From numbers to 256 greys: windows and tables of PS3.3 C.11, and the window found for an image that brings none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Greys = npt.NDArray[np.uint8]
LOW, HIGH = 1.0, 99.0  # percentiles of the automatic window


def automatic(values: Numbers) -> tuple[float, float]:
    """Centre and width from the 1st to the 99th percentile; of the whole range where these coincide."""
    low, high = (float(x) for x in np.percentile(values, (LOW, HIGH)))
    if low == high:
        low, high = float(values.min()), float(values.max())
    return (low + high) / 2 + 0.5, max(1.0, high - low + 1)


def _linear(values: Numbers, centre: float, width: float) -> Numbers:
    """C.11.2.1.2.1: 0 up to c - 0.5 - (w - 1) / 2, 1 above c - 0.5 + (w - 1) / 2."""
    if width == 1:
        return (values > centre - 0.5).astype(np.float64)
    result: Numbers = (values - (centre - 0.5)) / (width - 1) + 0.5
    return result


def _linear_exact(values: Numbers, centre: float, width: float) -> Numbers:
    """C.11.2.1.3.2."""
    return (values - centre) / width + 0.5


def _sigmoid(values: Numbers, centre: float, width: float) -> Numbers:
    """C.11.2.1.3.1."""
    power = np.clip(-4 * (values - centre) / width, -700, 700)
    result: Numbers = 1 / (1 + np.exp(power))
    return result


FUNCTIONS: dict[str, Callable[[Numbers, float, float], Numbers]] = {
    "LINEAR": _linear,
    "LINEAR_EXACT": _linear_exact,
    "SIGMOID": _sigmoid,
}


def is_usable(width: float, function: str) -> bool:
    """A window without width shows nothing: below 1 for LINEAR, 0 or below for the others."""
    return function in FUNCTIONS and (width >= 1 if function == "LINEAR" else width > 0)


def apply(values: Numbers, *, centre: float, width: float, function: str = "LINEAR") -> Greys:
    """Values to 0-255, rounded half up."""
    scaled = np.clip(FUNCTIONS[function](values, centre, width), 0.0, 1.0) * 255
    return np.floor(scaled + 0.5).astype(np.uint8)


def look_up(values: Numbers, table: npt.NDArray[Any], *, first: int, bits: int) -> Greys:
    """Values through a VOI table (C.11.2.1.1): `first` is the value of its first entry, outside its ends go on."""
    index = np.clip(np.floor(values + 0.5) - first, 0, len(table) - 1).astype(np.int64)
    scaled: Numbers = table[index].astype(np.float64) * (255 / (2**bits - 1))
    return np.floor(np.clip(scaled, 0, 255) + 0.5).astype(np.uint8)
