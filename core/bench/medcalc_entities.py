"""A MedCalc-Bench row as the question to a named calculator, and whether a result agrees with the row.

Units stay as printed and are read by core/domain/units.py; one that it does not know is left out, never guessed.
It must not know how a calculator computes, nor bend a value to an answer.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

import msgspec

from core.bench.loaders.medcalc import Given, MedCalcRow
from core.bench.medcalc_sheets import ANYWHERE, COUNTS, DOSE_UNITS, SHEETS, WITHOUT_UNIT, WORDS, Sheet, Value
from core.domain.units import find_unit

BLACK_FACTOR = 1.212  # the questions about MDRD ask for it (Levey 2006); the calculator of the product has none
A_DAY = " dose per day"


class Mapped(msgspec.Struct, frozen=True, kw_only=True):
    """A row as the question to a calculator. The result is multiplied by `scale`; `left_out` says what and why."""

    calculator: str
    values: tuple[Value, ...]
    scale: float = 1.0
    left_out: tuple[str, ...] = ()


def map_row(row: MedCalcRow) -> Mapped:
    """The row's given values as inputs of its calculator. A key that the table lacks is left out, and said."""
    sheet = SHEETS[row.calculator]
    a_day = {one.name.lower().removesuffix(A_DAY): float(one.value) for one in row.given if _is_a_day(one)}
    values: dict[str, Value] = {fixed.name: fixed for fixed in sheet.fixed}
    left_out = []
    for one in row.given:
        name = _input(sheet, one)
        if name in ("", "-") or _is_a_day(one):
            left_out += [f"{one.name}: no input"] if not name and not _is_a_day(one) else []
            continue
        for value in _values(name, one, a_day):
            if value.unit and find_unit(value.unit) is None:
                left_out.append(f"{one.name}: unknown unit {value.unit}")
            elif value.name not in values or values[value.name].value is not True:  # of two keys, yes wins
                values[value.name] = value
    black = any(one.name == "Race" and one.value == "Black" for one in row.given)
    return Mapped(
        calculator=sheet.calculator,
        values=tuple(values.values()),
        scale=BLACK_FACTOR if black else 1.0,
        left_out=tuple(left_out),
    )


def agrees(row: MedCalcRow, value: float) -> bool:
    """Whether a value lies within the row's limits: a number, a day number, or a number of days."""
    low, high = sorted((_gold(row.low), _gold(row.high)))
    return low - 1e-9 <= value <= high + 1e-9


def _is_a_day(one: Given) -> bool:
    return one.name.lower().endswith(A_DAY)


def _input(sheet: Sheet, one: Given) -> str:
    key = one.name.lower()
    return sheet.keys.get(key) or ANYWHERE.get(key, "")


def _values(name: str, one: Given, a_day: dict[str, float]) -> Iterator[Value]:
    if one.drug:
        yield Value("dose", float(one.value), one.unit)
        yield Value(name, one.drug.split()[0].lower())
    elif name == "to_drug":
        yield Value(name, str(one.value).split()[0].lower())
    elif one.name.lower().endswith(" dose"):
        times = a_day.get(one.name.lower().removesuffix(" dose"), 1.0)
        yield Value(name, float(one.value) * times, DOSE_UNITS.get(name, "mg/day"))
    elif isinstance(one.value, bool | str):
        yield Value(name, _word(name, one.value))
    else:
        yield Value(name, float(one.value), _unit(name, one.unit))


def _word(name: str, value: bool | str) -> bool | str:
    text = str(value).strip().lower()
    found = WORDS.get(name, {}).get(text)
    if found is not None:
        return found
    if isinstance(value, bool):
        return value
    if re.fullmatch(r"\d\d/\d\d/\d{4}", text):
        return _day(text).isoformat()
    return text


def _unit(name: str, unit: str) -> str:
    if name in COUNTS and unit:
        return f"/{unit}"
    return unit or WITHOUT_UNIT.get(name, "")


def _day(text: str) -> datetime.date:
    return datetime.datetime.strptime(text, "%m/%d/%Y").date()


def _gold(text: str) -> float:
    weeks = re.fullmatch(r"\('(\d+) weeks?', '(\d+) days?'\)", text)
    if weeks:
        return 7.0 * int(weeks[1]) + int(weeks[2])
    return float(_day(text).toordinal()) if "/" in text else float(text)
