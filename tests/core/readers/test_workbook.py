"""Spreadsheets against workbooks of a library: dates, merged cells, formulas, several sheets, hidden ones."""

import io
from collections.abc import Callable
from datetime import date, datetime, time

import openpyxl
import pytest

from core.errors import UserError
from core.readers import workbook
from core.readers.table import TableDocument
from tests.helpers import office, packed

LIMIT = 50_000_000
Fill = Callable[["openpyxl.Workbook"], None]


def made(fill: Fill) -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Chemistry"
    fill(book)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def rows(*lines: list[object]) -> bytes:
    return made(lambda book: [book.active.append(line) for line in lines] and None)


def read(data: bytes) -> TableDocument:
    return workbook.read(data, limit_bytes=LIMIT)


def test_cells_become_text_as_a_laboratory_would_print_them() -> None:
    found = read(rows(
        ["Northbrook General Hospital"], [],
        ["Investigation", "Result", "Units", "Ref range", "Collection date", "Time"],
        ["Potassium", 6.1, "mmol/L", "3.5-5.3", date(2026, 11, 23), time(14, 50)],
        ["Sodium", 132, "mmol/L", "133-146", datetime(2026, 11, 23, 14, 50), None],
        ["Troponin", 0.1 + 0.2, "ng/L", "<14", "23.11.2026", None],
        ["H\u00e4m\u80ba", "positive", None, None, None, None],
    ))  # fmt: skip
    assert [(row.test, row.value, row.number, row.collected_at) for row in found.rows] == [
        ("Potassium", "6.1", 6.1, "2026-11-23T14:50"),
        ("Sodium", "132", 132.0, "2026-11-23T14:50"),
        ("Troponin", "0.3", 0.3, "2026-11-23"),
        ("H\u00e4m\u80ba", "positive", None, ""),
    ]
    assert found.remarks == ()


def test_a_merged_cell_stands_for_all_that_it_covers() -> None:
    def fill(book: "openpyxl.Workbook") -> None:
        sheet = book.active
        for line in (["Test", "Value", "Date"], ["CRP", 8, "2026-11-22"], [None, 12, None], [None, 5, None]):
            sheet.append(line)
        sheet.merge_cells("A2:A4")
        sheet.merge_cells("C2:C3")

    found = read(made(fill))
    assert [(row.test, row.number, row.collected_at) for row in found.rows] == [
        ("CRP", 8.0, "2026-11-22"), ("CRP", 12.0, "2026-11-22"), ("CRP", 5.0, ""),
    ]  # fmt: skip


def test_every_sheet_that_is_a_table_is_read_and_the_others_are_named() -> None:
    def fill(book: "openpyxl.Workbook") -> None:
        for line in (["Test", "Value"], ["CRP", 8]):
            book.active.append(line)
        book.create_sheet("Addresses").append(["Name", "Street"])
        book.create_sheet("Empty")
        hidden = book.create_sheet("Blood")
        hidden.sheet_state = "hidden"
        for line in (["Analyte", "Result"], ["Hb", 140], ["WBC", 7.5]):
            hidden.append(line)

    found = read(made(fill))
    assert [(row.row, row.test) for row in found.rows] == [(1, "CRP"), (2, "Hb"), (3, "WBC")]
    assert found.remarks == (
        "Sheet Blood (hidden) gave the rows 2 to 3.",
        "Sheets that are no laboratory table were not read: Addresses.",
    )


def test_a_formula_counts_by_its_stored_value() -> None:
    stored = rows(["Test", "Value"], ["Gap", "=140-104-24"], ["CRP", 8])
    sheet = "xl/worksheets/sheet1.xml"
    parts = {name: data for name, data in _parts(stored) if name != sheet}
    (content,) = [data for name, data in _parts(stored) if name == sheet]
    assert read(stored).remarks == (
        "Sheet Chemistry: Cells B2 hold a formula without a stored value.",
        "Sheet Chemistry: Row 1 has no test or no result and was left out.",
    )
    computed = content.replace(b"<v></v>", b"<v>12</v>").replace(b"<v />", b"<v>12</v>").replace(b"<v/>", b"<v>12</v>")
    found = read(office.packed({**parts, sheet: computed}))
    assert [(row.test, row.number) for row in found.rows] == [("Gap", 12.0), ("CRP", 8.0)]
    assert found.remarks == ()


def _parts(data: bytes) -> list[tuple[str, bytes]]:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: rows(["Name", "Street"]), "not labs", "No sheet is a laboratory table (Chemistry)."),
        (lambda: rows(["Test", "Value"]), "not labs", "No sheet is a laboratory table (Chemistry)."),
        (lambda: rows(["Test", "Value"])[:2000], "damaged", "damaged or cut short"),
        (lambda: packed.zipped([("xl/workbook.xml", b"<workbook/>")]), "damaged", "The spreadsheet is damaged"),
        (
            lambda: made(lambda book: book.active.cell(30_001, 1, "far below") and None),
            "size",
            "more than 30,000 lines",
        ),
    ],
    ids=["addresses", "header only", "cut", "hollow", "long"],
)
def test_what_is_refused(make: Callable[[], bytes], code: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        read(make())
    assert refused.value.code == code
    assert words in refused.value.text
