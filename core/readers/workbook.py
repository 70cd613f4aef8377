"""Laboratory tables in spreadsheets (.xlsx, .xlsm): every sheet that is one, with the values that the file has stored.

Formulas are not computed: the last stored value counts, and a cell without one is said. A merged cell stands for all
that it covers. Knows no store and no medicine.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any

import msgspec

from core.domain.case import LabRow
from core.errors import UserError
from core.readers import office, table, xml
from core.readers.office import Package
from core.readers.table import TableDocument
from core.readers.text import listed

COLUMNS = 100
LINES = 30_000
MERGED_CELLS = 5_000  # of one merged range that are filled
# What openpyxl raises on damaged input; its XML parser's error is a SyntaxError.
FOREIGN = (KeyError, ValueError, TypeError, AttributeError, IndexError, OSError, SyntaxError, zipfile.BadZipFile)
ROW = re.compile(rb"<row [^>]*?\br=\"(\d{1,9})\"")
RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")


class _Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A sheet's name, whether it is hidden, its cells as text, and what is to be said of it."""

    name: str
    is_hidden: bool
    lines: list[list[str]]
    remarks: tuple[str, ...] = ()


def read(data: bytes, *, limit_bytes: int) -> TableDocument:
    """The results of all sheets that are laboratory tables, one after the other; `row` counts through.

    Raises:
        UserError: "size", "damaged", "entity", "not labs" (no sheet is a laboratory table), "no rows", or a code of
            `core.readers.archive`.
    """
    package = office.unpacked(data, limit_bytes=limit_bytes)
    rows: list[LabRow] = []
    remarks: list[str] = list(package.remarks)
    passed: list[str] = []
    for sheet in _sheets(data, package):
        found = _table(sheet, passed)
        if found is None:
            continue
        first = len(rows) + 1
        moved = [msgspec.structs.replace(row, row=row.row + (rows[-1].row if rows else 0)) for row in found.rows]
        rows += moved
        where = f"Sheet {sheet.name}" + (" (hidden)" if sheet.is_hidden else "")
        remarks += [f"{where}: {remark}" for remark in (*sheet.remarks, *found.remarks)]
        if first > 1 or sheet.is_hidden:
            remarks.append(f"{where} gave the rows {moved[0].row} to {moved[-1].row}.")
    if not rows:
        raise UserError(f"No sheet is a laboratory table ({listed(passed)}).", code="not labs")
    if len(rows) > table.ROWS:
        raise UserError(f"The table has more than {table.ROWS:,} rows; split it.", code="size")
    if passed:
        remarks.append(f"Sheets that are no laboratory table were not read: {listed(passed)}.")
    return TableDocument(rows=tuple(rows), remarks=tuple(remarks))


def _table(sheet: _Sheet, passed: list[str]) -> TableDocument | None:
    """The sheet as a laboratory table; None, and its name in `passed`, where it is none."""
    try:
        return table.assembled(sheet.lines)
    except UserError as error:
        if error.code not in ("not labs", "no rows"):
            raise
        if any(cell for line in sheet.lines for cell in line):
            passed.append(sheet.name)
        return None


def _sheets(data: bytes, package: Package) -> Iterator[_Sheet]:
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    except FOREIGN as error:
        raise _damaged() from error
    try:
        for sheet in book.worksheets:
            yield _sheet(sheet, package)
    finally:
        book.close()


def _sheet(sheet: Any, package: Package) -> _Sheet:
    raw = package.part(str(sheet._worksheet_path).lstrip("/")) or b""  # read-only sheets offer no merged cells
    if _last_line(raw) > LINES:
        raise UserError(f"A sheet has more than {LINES:,} lines; split it.", code="size")
    try:
        sheet.reset_dimensions()
        lines = _padded(sheet.iter_rows(max_row=LINES, max_col=COLUMNS, values_only=True))
    except FOREIGN as error:
        raise _damaged() from error
    _fill_merged(lines, raw)
    unstored = _unstored(raw)
    said = (f"Cells {listed(unstored)} hold a formula without a stored value.",) if unstored else ()
    return _Sheet(name=sheet.title, is_hidden=sheet.sheet_state != "visible", lines=lines, remarks=said)


def _last_line(raw: bytes) -> int:
    """Number of the last row with a value; formatted blanks below it do not count."""
    value = max(raw.rfind(b"<v>"), raw.rfind(b"<is>"))
    match = ROW.search(raw, raw.rfind(b"<row ", 0, max(value, 0))) if value > 0 else None
    return int(match[1]) if match else 0


def _padded(rows: Iterable[tuple[object, ...]]) -> list[list[str]]:
    """The cells as text, every line as wide as the widest."""
    lines: list[list[str]] = []
    for values in rows:
        line = [_text(value) for value in values]
        while line and not line[-1]:
            line.pop()
        lines.append(line)
    width = max(map(len, lines), default=0)
    return [line + [""] * (width - len(line)) for line in lines]


def _text(value: object) -> str:
    """A cell as text: dates in ISO 8601, numbers with at most 15 digits."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            return value.isoformat(sep="T", timespec="minutes") if value.time() != time() else value.date().isoformat()
        case date():
            return value.isoformat()
        case time():
            return value.isoformat(timespec="minutes")
        case int() | float():
            return f"{value:.15g}"
    return str(value).strip()


def _fill_merged(lines: list[list[str]], raw: bytes) -> None:
    """Give every cell of a merged range the value of its first."""
    if b"mergeCell" not in raw:
        return
    for element in xml.records(io.BytesIO(raw), *_named("mergeCell")):
        if match := RANGE.fullmatch(element.get("ref", "")):
            left, right = _column(match[1]), _column(match[3])
            top, bottom = int(match[2]) - 1, int(match[4]) - 1
            if top < len(lines) and (bottom - top + 1) * (right - left + 1) <= MERGED_CELLS:
                _fill(lines[top : bottom + 1], left, right)


def _fill(lines: list[list[str]], left: int, right: int) -> None:
    value = lines[0][left] if left < len(lines[0]) else ""
    for line in lines:
        for column in range(left, min(right + 1, len(line))):
            line[column] = value


def _unstored(raw: bytes) -> list[str]:
    """Cells with a formula and no value."""
    if b"<f" not in raw and b":f" not in raw:
        return []
    found = []
    for cell in xml.records(io.BytesIO(raw), *_named("c")):
        parts = {child.tag.rsplit("}", 1)[-1]: child.text for child in cell}
        if "f" in parts and not parts.get("v"):
            found.append(cell.get("r", "?"))
    return found


def _named(name: str) -> tuple[str, str]:
    """A name in the spreadsheet's namespace, transitional and strict."""
    return (
        f"{{http://schemas.openxmlformats.org/spreadsheetml/2006/main}}{name}",
        f"{{http://purl.oclc.org/ooxml/spreadsheetml/main}}{name}",
    )


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _damaged() -> UserError:
    return UserError("The spreadsheet is damaged and could not be read.", code="damaged")
