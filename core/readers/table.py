"""Laboratory tables (.csv, .tsv): one result a row, header by synonyms, units and ranges kept as printed.

Comma, semicolon, tab or bar; decimal comma or point (`core.readers.numbers`). A row is never repaired in silence: what
could not be understood stays as text and is said in the remarks. Knows no store, units or reference ranges of its own.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

import msgspec

from core.domain.case import LabRow
from core.errors import UserError
from core.readers import dates, numbers, text

SEPARATORS = (",", ";", "\t", "|")
DECLARED = re.compile(r"\s*sep=(.)\s*\n", re.IGNORECASE)  # the first line of a table that Excel wrote
HEADER_WITHIN = 20
ROWS = 20_000
LINES = 5 * ROWS  # empty ones included; what follows is not even split
# Header words by meaning, in English and German, after everything but letters became a blank.
NAMES = {
    "test": """test, tests, test name, analyte, name, parameter, investigation, component, observation, lab test,
        examination, assay, analyse, analyt, untersuchung""",
    "value": "value, result, results, test result, measurement, reading, numeric result, wert, ergebnis, messwert",
    "unit": "unit, units, uom, unit of measure, einheit, einheiten",
    "range": """range, reference, reference range, ref range, ref, normal, normals, normal range, reference interval,
        ref interval, reference values, referenz, referenzbereich, normbereich""",
    "low": """low, lower, min, minimum, reference low, ref low, range low, normal low, lower limit, low limit, ref min,
        reference lower, reference range low, lln""",
    "high": """high, upper, max, maximum, reference high, ref high, range high, normal high, upper limit, high limit,
        ref max, reference upper, reference range high, uln""",
    "flag": "flag, flags, abnormal, abnormal flag, abn, interpretation, h l, markierung, kennzeichen",
    "date": """date, datetime, date time, collected, collected at, collected on, collection date, collection time,
        sampled, sampled at, sample date, specimen date, taken, taken at, drawn, drawn at, timestamp, datum, entnahme,
        abnahme""",
    "time": "time, sample time, uhrzeit, zeit",
}
COLUMNS = {meaning: frozenset(" ".join(name.split()) for name in names.split(",")) for meaning, names in NAMES.items()}
FLAG = re.compile(r"(?:\(?(?:HH?|LL?|[*!+-]{1,3}|high|low|critical)\)?)", re.IGNORECASE)


class TableDocument(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """The rows in the file's order (`row` is the line's number among the data rows, from 1), and remarks."""

    rows: tuple[LabRow, ...]
    remarks: tuple[str, ...] = ()


class _Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Where what stands, and how this file writes numbers and dates."""

    columns: dict[str, int]
    width: int
    mark: numbers.Mark
    day_first: bool | None


def read(data: bytes, *, limit_bytes: int) -> TableDocument:
    """Read a laboratory table.

    Raises:
        UserError: too large ("size"), binary ("binary"), broken quoting ("csv"), no laboratory table ("not labs"),
            no result in it ("no rows"), or more than 20,000 rows ("size").
    """
    content, _, remarks = text.decode(data, limit_bytes=limit_bytes)
    separator, lines = _parsed(content)
    found = assembled(lines, semicolons=separator == ";")
    return msgspec.structs.replace(found, remarks=remarks + found.remarks)


def assembled(lines: list[list[str]], *, semicolons: bool = False) -> TableDocument:
    """A laboratory table from its cells. Raises UserError: "not labs", "no rows", "size" (more than 20,000 rows)."""
    start = _header_line(lines)
    body = [line for line in lines[start + 1 :] if any(cell.strip() for cell in line)]
    if len(body) > ROWS or len(lines) == LINES:
        raise UserError(f"The table has more than {ROWS:,} rows; split it.", code="size")
    layout = _layout(lines[start], body, semicolons=semicolons)
    rows = [_row(number, cells, layout) for number, cells in enumerate(body, start=1)]
    kept = tuple(row for row in rows if row.test and row.value)
    if not kept:
        raise UserError("The table has a header but no result in it.", code="no rows")
    return TableDocument(rows=kept, remarks=_remarks(rows, body, layout))


# ------------------------------------------------------------------------------------------------ lines and columns


def _parsed(content: str) -> tuple[str, list[list[str]]]:
    """The separator under which a header is found, and the lines; the first separator where none is."""
    if match := DECLARED.match(content):
        return match[1], _split(content[match.end() :], match[1])
    tried = {separator: _split(content, separator) for separator in SEPARATORS}
    for separator, lines in tried.items():
        if _find_header(lines) is not None:
            return separator, lines
    return max(tried.items(), key=lambda item: max((len(line) for line in item[1][:HEADER_WITHIN]), default=0))


def _split(content: str, separator: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(io.StringIO(content, newline=""), delimiter=separator), LINES))
    except csv.Error as error:
        long = f"one is longer than {csv.field_size_limit():,} characters; is a quotation mark missing?"
        why = long if "field limit" in str(error) else f"{error}."
        raise UserError(f"The table cannot be parted into cells: {why}", code="csv") from error


def _find_header(lines: list[list[str]]) -> int | None:
    """The first of the leading lines that names both the test and the result."""
    for number, line in enumerate(lines[:HEADER_WITHIN]):
        found = _named(line)
        if "test" in found and "value" in found:
            return number
    return None


def _header_line(lines: list[list[str]]) -> int:
    if (found := _find_header(lines)) is not None:
        return found
    names = set().union(*(_named(line) for line in lines[:HEADER_WITHIN])) if lines else set()
    lacks = "the results" if "test" in names else "the names of the tests"
    raise UserError(f"This is not a laboratory table: it has no column for {lacks}.", code="not labs")


def _named(line: list[str]) -> dict[str, int]:
    """Column by meaning; the first column of a meaning counts."""
    found: dict[str, int] = {}
    for index, cell in enumerate(line):
        name = " ".join(re.sub(r"[^a-zäöü]+", " ", cell.lower()).split())
        for meaning, synonyms in COLUMNS.items():
            if name in synonyms and meaning not in found:
                found[meaning] = index
    return found


def _layout(header: list[str], body: list[list[str]], *, semicolons: bool) -> _Layout:
    columns = _named(header)
    numeric = [_cell(line, columns, key) for line in body for key in ("value", "range", "low", "high")]
    days = [_cell(line, columns, "date") for line in body]
    return _Layout(
        columns=columns,
        width=len(header),
        mark=numbers.decimal_mark(numeric, semicolons=semicolons),
        day_first=dates.day_first(days),
    )


def _cell(line: list[str], columns: dict[str, int], key: str) -> str:
    index = columns.get(key, -1)
    return line[index].strip() if 0 <= index < len(line) else ""


# ------------------------------------------------------------------------------------------------ one row


def _row(number: int, line: list[str], layout: _Layout) -> LabRow:
    def cell(key: str) -> str:
        return _cell(line, layout.columns, key)

    found, rest = numbers.value(cell("value"), layout.mark)
    is_flag = FLAG.fullmatch(rest) is not None
    low, high, printed = _range(cell("range"), cell("low"), cell("high"), layout.mark)
    return LabRow(
        row=number,
        test=cell("test"),
        value=cell("value"),
        number=found,
        unit=cell("unit") or ("" if is_flag else rest),
        low=low,
        high=high,
        range_text=printed,
        flag=cell("flag") or (rest if is_flag else ""),
        collected_at=_collected(cell("date"), cell("time"), layout.day_first),
    )


def _range(whole: str, low: str, high: str, mark: numbers.Mark) -> tuple[float | None, float | None, str]:
    """Low, high and the text, from one column or from two."""
    if whole:
        return *numbers.interval(whole, mark), whole
    printed = f"{low}-{high}" if low and high else f"\u2264 {high}" if high else f"\u2265 {low}" if low else ""
    return numbers.number(low, mark), numbers.number(high, mark), printed


def _collected(day: str, time: str, day_first: bool | None) -> str:
    """ISO 8601 where the cell can be understood, else as printed."""
    printed = dates.joined(day, time) if time else day
    return dates.iso(printed, day_first=day_first) or printed


# ------------------------------------------------------------------------------------------------ what is said


def _remarks(rows: list[LabRow], body: list[list[str]], layout: _Layout) -> tuple[str, ...]:
    ragged = [row.row for row, line in zip(rows, body, strict=True) if len(line) != layout.width]
    counted = _counted(body, layout.width)
    empty = [row.row for row in rows if not (row.test and row.value)]
    unclear = [row.row for row in rows if row.number is None and numbers.NUMBER.fullmatch(numbers.tidy(row.value))]
    days = [row.row for row in rows if layout.day_first is None and dates.is_ambiguous(row.collected_at)]
    said = (
        (ragged, f"has more or fewer cells than the header and was read as far as it goes{counted}",
         f"have more or fewer cells than the header and were read as far as they go{counted}"),
        (empty, "has no test or no result and was left out", "have no test or no result and were left out"),
        (unclear, "has a number whose comma or point is ambiguous and is kept as text",
         "have a number whose comma or point is ambiguous and are kept as text"),
        (days, "has a date whose day and month cannot be told apart and keeps it as printed",
         "have a date whose day and month cannot be told apart and keep it as printed"),
    )  # fmt: skip
    return tuple(
        f"Row {found[0]} {one}." if len(found) == 1 else f"Rows {text.listed(found)} {more}."
        for found, one, more in said
        if found
    )


def _counted(body: list[list[str]], width: int) -> str:
    """ " (row 12 has 3 cells, expected 6)": the first row of another width than the header's."""
    odd = next(((number, len(line)) for number, line in enumerate(body, start=1) if len(line) != width), None)
    return f" (row {odd[0]} has {odd[1]} cell{'s' * (odd[1] != 1)}, expected {width})" if odd else ""
