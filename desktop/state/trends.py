"""Results of one analyte over time, across all tables of a case, in one unit. Pure; knows no Qt.

A value is converted by the closed table of units or left out, and what is left out is said. A trend describes printed
numbers; it judges nothing beyond the flags and ranges of the rows themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from core.domain import units
from core.domain.case import Case, LabRow, LabTable
from core.domain.units import WrongDimension
from desktop.i18n import tr
from desktop.state import words

LEAST = 2  # points that make a trend
CHANGE = 0.1  # a change below this part of the first value (or of the mean, for a spread) is called steady
NO_NUMBER = "{n} printed without a number"
NO_TIME = "{n} without a time"
OTHER_UNIT = "{n} in {unit}, which cannot be converted to {to}"


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One value in the trend's unit, with its range; `side` as `words.direction`, `printed` as the row has it."""

    at: datetime
    value: float
    printed: str
    low: float | None = None
    high: float | None = None
    side: str = ""
    table: str = ""
    row: int = 0


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """An analyte's points, oldest first; `left_out` says in words which of its rows are not among them."""

    name: str
    unit: str
    points: tuple[Point, ...]
    left_out: tuple[str, ...] = ()

    @property
    def band(self) -> tuple[float | None, float | None]:
        """The reference range of the newest value that has one."""
        for point in reversed(self.points):
            if point.low is not None or point.high is not None:
                return point.low, point.high
        return None, None

    @property
    def course(self) -> str:
        """rising, falling, steady or varying: first against last value, else the spread (10 %)."""
        values = [point.value for point in self.points]
        change, scale = values[-1] - values[0], abs(values[0]) or 1.0
        if abs(change) > CHANGE * scale:
            return "rising" if change > 0 else "falling"
        mean = abs(sum(values) / len(values)) or 1.0
        return "varying" if max(values) - min(values) > CHANGE * mean else "steady"

    @property
    def spoken(self) -> str:
        """The trend in one line: "Creatinine, 5 values, 88 to 240 umol/L, rising"."""
        values = [point.value for point in self.points]
        number = words.counted(len(values), "value")
        span = tr("{a} to {b}", a=figure(min(values)), b=figure(max(values)))
        return f"{self.name}, {number}, {' '.join(filter(None, (span, self.unit)))}, {tr(self.course)}"


Key = tuple[str, int]  # id of a table, printed row
Trends = Mapping[Key, Trend]


def figure(value: float) -> str:
    """A number as short as it may be: four significant digits."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"


def trends(case: Case) -> dict[Key, Trend]:
    """For every row that has one: the trend it belongs to."""
    from core.runtime.perception.analytes import packaged  # reads tables: not before a case is opened

    known = packaged()
    grouped: dict[str, list[tuple[LabTable, LabRow]]] = {}
    names: dict[str, str] = {}
    for table in case.tables:
        for row in table.rows:
            analyte = known.of_row(row.test, row.loinc)
            key = analyte.id if analyte is not None else f"= {row.test.casefold().strip()}"
            names.setdefault(key, analyte.name if analyte is not None else row.test)
            grouped.setdefault(key, []).append((table, row))
    found: dict[Key, Trend] = {}
    for key, rows in grouped.items():
        made = _trend(key, names[key], rows)
        if made is not None:
            found |= dict.fromkeys(((point.table, point.row) for point in made.points), made)
    return found


def _trend(key: str, name: str, rows: Sequence[tuple[LabTable, LabRow]]) -> Trend | None:
    """The rows of one analyte; None where fewer than two values can be joined."""
    dated = [(moment, table, row) for table, row in rows if (moment := _moment(row.collected_at)) is not None]
    undated = sum(1 for _, row in rows if _moment(row.collected_at) is None)
    numbered = sorted((entry for entry in dated if entry[2].number is not None), key=lambda entry: entry[0])
    if len(numbered) < LEAST:
        return None
    unit = numbered[-1][2].unit
    points, others = [], []
    for moment, table, row in numbered:
        value = _in_unit(key, row.number, row.unit, unit)
        if value is None:
            others.append(row.unit or tr("no unit"))
            continue
        points.append(_point(key, table, row, at=moment, value=value, unit=unit))
    if len(points) < LEAST:
        return None
    left = _left_out(len(dated) - len(numbered), undated, others, to=unit or tr("no unit"))
    return Trend(name=name, unit=unit, points=tuple(points), left_out=left)


def _left_out(no_number: int, no_time: int, others: list[str], *, to: str) -> tuple[str, ...]:
    said = []
    for unit in dict.fromkeys(others):
        said.append(tr(OTHER_UNIT, n=words.counted(others.count(unit), "value"), unit=unit, to=to))
    for number, words_ in ((no_number, NO_NUMBER), (no_time, NO_TIME)):
        if number:
            said.append(tr(words_, n=words.counted(number, "value")))
    return tuple(said)


def _point(key: str, table: LabTable, row: LabRow, *, at: datetime, value: float, unit: str) -> Point:
    return Point(
        at=at,
        value=value,
        printed=" ".join(filter(None, (row.value, row.unit))),
        low=_in_unit(key, row.low, row.unit, unit),
        high=_in_unit(key, row.high, row.unit, unit),
        side=words.direction(row),
        table=table.id,
        row=row.row,
    )


def _in_unit(key: str, value: float | None, from_: str, to: str) -> float | None:
    """A value in another printed unit; None where there is none, or the closed table does not lead there."""
    if value is None or from_.strip() == to.strip():
        return value
    first, second = units.find_unit(from_), units.find_unit(to)
    if first is None or second is None:
        return None
    try:
        return units.convert_analyte(key, value, first, second)
    except WrongDimension:
        return None


def _moment(at: str) -> datetime | None:
    """A printed time without its zone: rows of one case are compared as they are written."""
    try:
        return datetime.fromisoformat(at.strip()).replace(tzinfo=None)
    except ValueError:
        return None
