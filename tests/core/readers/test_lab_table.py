"""Laboratory tables: separators, header words, ranges, flags, dates, ragged rows; and tables that are none."""

import pytest

from core.domain.case import LabRow
from core.errors import UserError
from core.readers import table
from core.readers.table import TableDocument

LIMIT = 1_000_000


def read(content: str) -> TableDocument:
    return table.read(content.encode(), limit_bytes=LIMIT)


def test_the_plain_form_with_two_range_columns() -> None:
    found = read(
        "test,value,unit,reference_low,reference_high,flag,collected_at\n"
        "Potassium,6.1,mmol/L,3.5,5.3,H,2026-11-23T14:50\n"
        "CRP,<5,mg/L,,5,,2026-11-23\n"
        "eGFR,22,mL/min,60,,L,\n"
    )
    assert found.remarks == ()
    assert found.rows == (
        LabRow(
            row=1, test="Potassium", value="6.1", number=6.1, unit="mmol/L", low=3.5, high=5.3, range_text="3.5-5.3",
            flag="H", collected_at="2026-11-23T14:50",
        ),
        LabRow(
            row=2, test="CRP", value="<5", number=None, unit="mg/L", low=None, high=5.0, range_text="\u2264 5",
            collected_at="2026-11-23",
        ),
        LabRow(
            row=3, test="eGFR", value="22", number=22.0, unit="mL/min", low=60.0, high=None, range_text="\u2265 60",
            flag="L",
        ),
    )  # fmt: skip


def test_semicolons_with_decimal_commas_in_german() -> None:
    found = read(
        "Analyse;Ergebnis;Einheit;Referenzbereich;Datum\n"
        "Kalium;6,1;mmol/l;3,5 \u2013 5,1;14.09.2026 09:05\n"
        "Troponin;0,014;ug/l;<0,040;14.09.2026\n"
        "Leukozyten;12.500,5;/ul;4.000,0-11.000,0;\n"
    )
    facts = [(row.test, row.number, row.low, row.high, row.collected_at) for row in found.rows]
    assert facts == [
        ("Kalium", 6.1, 3.5, 5.1, "2026-09-14T09:05"),
        ("Troponin", 0.014, None, 0.04, "2026-09-14"),
        ("Leukozyten", 12500.5, 4000.0, 11000.0, ""),
    ]
    assert found.rows[0].range_text == "3,5 \u2013 5,1"  # as printed


def test_tabs_preamble_and_synonyms() -> None:
    found = read(
        "Northbrook General Hospital\n\n"
        "Investigation\tResult\tUnits\tRef. range\tFlag\tCollection date\tTime\n"
        "Sodium\t132\tmmol/L\t133-146\tL\t23/11/2026\t14:50\n"
    )
    (row,) = found.rows
    assert (row.test, row.number, row.low, row.high, row.flag, row.collected_at) == (
        "Sodium", 132.0, 133.0, 146.0, "L", "2026-11-23T14:50",
    )  # fmt: skip


def test_a_quoted_thousands_comma_a_flag_and_a_unit_inside_the_value() -> None:
    found = read('test,value\nD-dimer,"2,450"\nPotassium,6.1 H\nSodium,139 mmol/L\n')
    assert [(row.number, row.unit, row.flag) for row in found.rows] == [
        (2450.0, "", ""),
        (6.1, "", "H"),
        (139.0, "mmol/L", ""),
    ]


def test_a_column_settles_its_slashed_dates() -> None:
    found = read("test,value,date\nA,1,03/11/2026\nB,2,23/11/2026\n")
    assert [row.collected_at for row in found.rows] == ["2026-11-03", "2026-11-23"]
    american = read("test,value,date\nA,1,11/03/2026\nB,2,11/23/2026\n")
    assert [row.collected_at for row in american.rows] == ["2026-11-03", "2026-11-23"]


def test_an_unsettled_date_stays_as_printed_and_is_said() -> None:
    found = read("test,value,date\nA,1,03/11/2026\n")
    assert found.rows[0].collected_at == "03/11/2026"
    assert found.remarks == ("Row 1 has a date whose day and month cannot be told apart and keeps it as printed.",)


def test_an_ambiguous_number_stays_text_and_is_said() -> None:
    found = read("test;value\nPlatelets;250.000\nPotassium;4,2\n")
    assert [(row.value, row.number) for row in found.rows] == [("250.000", None), ("4,2", 4.2)]
    assert found.remarks == ("Row 1 has a number whose comma or point is ambiguous and is kept as text.",)


def test_ragged_rows_are_kept_and_rows_without_result_are_left_out() -> None:
    found = read("test,value,unit\nSodium,139\nPotassium,4.2,mmol/L,extra\n,5,mg/L\nUrea,,mmol/L\n\nCRP,8,mg/L\n")
    assert [(row.row, row.test, row.unit) for row in found.rows] == [
        (1, "Sodium", ""),
        (2, "Potassium", "mmol/L"),
        (5, "CRP", "mg/L"),
    ]
    assert found.remarks == (
        "Rows 1, 2 have more or fewer cells than the header and were read as far as they go "
        "(row 1 has 2 cells, expected 3).",
        "Rows 3, 4 have no test or no result and were left out.",
    )


def test_many_ragged_rows_are_summed_up() -> None:
    lines = "".join(f"T{n},1\n" for n in range(8))
    assert read(f"test,value,unit\n{lines}").remarks == (
        "Rows 1, 2, 3, 4, 5 and 3 more have more or fewer cells than the header and were read as far as they go "
        "(row 1 has 2 cells, expected 3).",
    )


@pytest.mark.parametrize(
    "content",
    ["test|value|unit\nCRP|5,5|mg/L\n", "sep=;\ntest;value;unit\nCRP;5,5;mg/L\n", "test\tvalue\tunit\nCRP\t5,5\tmg/L"],
    ids=["bars", "declared", "tabs"],
)  # fmt: skip
def test_other_separators(content: str) -> None:
    (row,) = read(content).rows
    assert (row.test, row.number, row.unit) == ("CRP", 5.5, "mg/L")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings_of_tables(encoding: str) -> None:
    content = "Analyse;Ergebnis;Einheit\nH\u00e4moglobin;8,2;\u00b5mol/l\n"
    (row,) = table.read(content.encode(encoding), limit_bytes=LIMIT).rows
    assert (row.test, row.number, row.unit) == ("H\u00e4moglobin", 8.2, "\u00b5mol/l")


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("name,address,telephone\nA,B,C\n", "not labs", "no column for the results"),
        ("Datum;Betrag\n1.1.2026;5\n", "not labs", "no column for the names of the tests"),
        ("just a sentence without any table", "not labs", "not a laboratory table"),
        ("test,value\n", "no rows", "no result in it"),
        ("test,value\nA,\n", "no rows", "no result in it"),
        ("test,value\n" + "A,1\n" * 20_001, "size", "more than 20,000 rows"),
        ('test,value\n"' + "a" * 200_000 + "\n", "csv", "is a quotation mark missing?"),
        ("test,value\nA,1\n" + "\n" * 100_000, "size", "more than 20,000 rows"),
    ],
    ids=[
        "address list",
        "accounts",
        "prose",
        "header only",
        "no result",
        "too long",
        "open quote",
        "lines without end",
    ],
)
def test_what_is_refused(content: str, code: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        read(content)
    assert refused.value.code == code
    assert words in refused.value.text
