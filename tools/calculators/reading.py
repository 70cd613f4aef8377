"""From what was given to the values that a calculator computes with: words, units, ranges, days.

Units are read by core/domain/units.py alone; nothing is guessed. It must not know formulas or points.
"""

from __future__ import annotations

import datetime
import math

import msgspec

from core.domain.units import UnknownUnit, WrongDimension, convert_analyte, format_value, parse_unit
from tools.calculators.record import Calculator, Input, Range

UNITLESS = {"{score}", "{ratio}"}
DIGITS = 10  # after a conversion: 100.4 °F is 38 °C, not 38.00000000000006, so that a cut-off met exactly is met
EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
TRUTHS = {"yes": True, "no": False, "true": True, "false": False}


class Refused(ValueError):
    """What a calculator does not compute. `code`: unknown input, given twice, unit, number, impossible, option, date,
    missing, not defined, out of scope."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Given(msgspec.Struct, frozen=True):
    """A value as given: a number with its unit, yes or no, a word, or a day as 2026-11-30."""

    name: str
    value: float | bool | str
    unit: str = ""


class Reading(msgspec.Struct, frozen=True):
    """Values by name (numbers in the inputs' units, words as their numbers), how each is shown, and warnings."""

    values: dict[str, float]
    shown: dict[str, str]
    warnings: tuple[str, ...]
    defaults: tuple[str, ...]


def constants(calculator: Calculator) -> dict[str, float]:
    """The number that stands for each word; equal words are equal."""
    words = sorted({word for each in calculator.inputs for word in each.options} - {"yes", "no"})
    return {"no": 0.0, "yes": 1.0} | {word: 10.0 + at for at, word in enumerate(words)}


def read(calculator: Calculator, given: tuple[Given, ...]) -> Reading:
    """The values of what is given and of the defaults. Raises Refused."""
    inputs = {each.name: each for each in calculator.inputs}
    words = constants(calculator)
    values: dict[str, float] = {}
    shown: dict[str, str] = {}
    warnings: list[str] = []
    for one in given:
        wanted = inputs.get(one.name)
        if wanted is None:
            raise Refused("unknown input", f"{calculator.id} has no input {one.name}; it reads {', '.join(inputs)}")
        if one.name in values:
            raise Refused("given twice", f"{one.name} is given twice")
        values[one.name], shown[one.name] = _value(wanted, one, words)
        warnings += _implausible(wanted, values[one.name])
    defaults = [each for each in calculator.inputs if each.default is not None and each.name not in values]
    for each in defaults:
        values[each.name], shown[each.name] = _default(each, words)
    return Reading(values, shown, tuple(warnings), tuple(each.name for each in defaults))


def show(wanted: Input, value: float) -> str:
    """A number as a person reads it."""
    return format_value(value, parse_unit(wanted.unit))


def _default(wanted: Input, words: dict[str, float]) -> tuple[float, str]:
    if isinstance(wanted.default, str):
        return words[wanted.default], wanted.default
    value = float(wanted.default or 0.0)
    return value, show(wanted, value)


def _value(wanted: Input, one: Given, words: dict[str, float]) -> tuple[float, str]:
    if wanted.kind == "number":
        value = _number(wanted, one)
        return value, show(wanted, value)
    if wanted.kind == "date":
        found = _day(wanted, one)
        return float(found.toordinal()), found.isoformat()
    word = _word(wanted, one)
    return words[word], word


def _word(wanted: Input, one: Given) -> str:
    value = TRUTHS.get(one.value.strip().lower(), one.value) if isinstance(one.value, str) else one.value
    word = ("no", "yes")[value] if isinstance(value, bool) else value
    if not isinstance(word, str) or word not in wanted.options:
        raise Refused("option", f"{wanted.name} is one of {', '.join(wanted.options)}")
    return word


def _day(wanted: Input, one: Given) -> datetime.date:
    try:
        found = datetime.date.fromisoformat(one.value) if isinstance(one.value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise Refused("date", f"{wanted.name} is a day, written as 2026-11-30")
    if not EARLIEST <= found <= LATEST:
        raise Refused("impossible", f"{wanted.name} lies outside {EARLIEST.year} to {LATEST.year}")
    return found


def _number(wanted: Input, one: Given) -> float:
    if isinstance(one.value, bool | str) or not math.isfinite(one.value):
        raise Refused("number", f"{wanted.name} is a number in {wanted.unit}")
    value = _converted(wanted, one)
    if wanted.possible and not _within(value, wanted.possible):
        limits = f"{wanted.possible.low:g} to {wanted.possible.high:g} {wanted.unit}"
        raise Refused("impossible", f"{wanted.name} {show(wanted, value)} is impossible: it lies within {limits}")
    return value


def _converted(wanted: Input, one: Given) -> float:
    value = float(one.value)
    if not one.unit.strip():
        if wanted.unit in UNITLESS:
            return value
        raise Refused("unit", f"the unit of {wanted.name} is missing; it is read in {wanted.unit}")
    try:
        from_, to = parse_unit(one.unit), parse_unit(wanted.unit)
        converted = value if from_ == to else convert_analyte(wanted.analyte, value, from_, to)
    except (UnknownUnit, WrongDimension) as error:
        raise Refused("unit", f"{wanted.name}: {error}") from error
    return converted if from_ == to else float(f"{converted:.{DIGITS}g}")


def _within(value: float, limits: Range) -> bool:
    return limits.low <= value <= limits.high


def _implausible(wanted: Input, value: float) -> list[str]:
    if wanted.plausible is None or _within(value, wanted.plausible):
        return []
    usual = f"{wanted.plausible.low:g} to {wanted.plausible.high:g} {wanted.unit}"
    return [f"{wanted.label} {show(wanted, value)} is unusual (expected {usual}): check the value and its unit"]
