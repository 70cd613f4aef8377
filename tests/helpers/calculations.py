"""A short notation for what is given to a named calculator: "age 50 a; sex male; last_period 2024-02-29"."""

from __future__ import annotations

from tools.calculators import CALCULATORS
from tools.calculators.evaluation import Computed, compute
from tools.calculators.reading import Given


def given(text: str) -> tuple[Given, ...]:
    """Each part is a name, a value and, of a number, its unit."""
    return tuple(_one(part.split(maxsplit=2)) for part in text.split(";") if part.strip())


def calculated(calculator: str, text: str, *, absent: bool = False) -> Computed:
    """The result of a calculator for a text."""
    return compute(CALCULATORS[calculator], given(text), assume_absent=absent)


def _one(words: list[str]) -> Given:
    name, value, *unit = words
    try:
        return Given(name, float(value), *unit)
    except ValueError:
        return Given(name, value, *unit)
