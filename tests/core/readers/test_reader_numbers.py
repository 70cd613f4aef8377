"""Numbers and ranges as printed: decimal and thousands marks, flags after values, what stays text."""

import pytest

from core.readers import numbers
from core.readers.numbers import Mark


@pytest.mark.parametrize(
    ("text", "mark", "number"),
    [
        ("6.1", "point", 6.1),
        ("6,1", "comma", 6.1),
        ("6,1", "unknown", 6.1),
        ("-3.2", "point", -3.2),
        ("\u22123.2", "point", -3.2),  # a typographic minus
        ("0,014", "unknown", 0.014),  # nobody writes thousands as 0
        ("0.014", "comma", 0.014),
        ("2,450", "unknown", 2450.0),
        ("2,450", "point", 2450.0),
        ("2,450", "comma", 2.45),
        ("2,450", "mixed", None),
        ("1.234", "unknown", 1.234),
        ("1.234", "point", 1.234),
        ("1.234", "comma", None),
        ("1.234,5", "unknown", 1234.5),
        ("1,234.5", "unknown", 1234.5),
        ("1,234,567", "unknown", 1234567.0),
        ("12 500", "unknown", 12500.0),
        ("12\u00a0500,5", "comma", 12500.5),
        ("1e3", "unknown", 1000.0),
        ("1.2.3", "unknown", None),
        ("12,34,5", "unknown", None),
        ("positive", "unknown", None),
        ("<5", "unknown", None),
        ("", "unknown", None),
        ("9" * 200, "unknown", None),
    ],
)
def test_number(text: str, mark: Mark, number: float | None) -> None:
    assert numbers.number(text, mark) == number


@pytest.mark.parametrize(
    ("cells", "semicolons", "mark"),
    [
        (["6.1", "240"], False, "point"),
        (["6,1", "240"], False, "comma"),
        (["3,5-5,1"], False, "comma"),
        (["6.1", "4,2"], False, "mixed"),
        (["2,450"], False, "unknown"),
        (["2,450"], True, "comma"),
        (["1.234,5", "2,450"], False, "comma"),
        (["1,234.5", "1.234"], False, "point"),
        ([], False, "unknown"),
    ],
)
def test_decimal_mark(cells: list[str], semicolons: bool, mark: Mark) -> None:
    assert numbers.decimal_mark(cells, semicolons=semicolons) == mark


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("6.1 H", (6.1, "H")),
        ("6.1H", (6.1, "H")),
        ("4.1 mmol/L", (4.1, "mmol/L")),
        ("7", (7.0, "")),
        ("<5", (None, "")),
        ("1:80", (None, "")),
        ("3+", (3.0, "+")),
        ("negative", (None, "")),
        ("2026-11-18", (None, "")),
        ("120/80", (None, "")),
        ("5-10", (None, "")),
        ("4.1 x10^9/L", (4.1, "x10^9/L")),
    ],
)
def test_value(text: str, found: tuple[float | None, str]) -> None:
    assert numbers.value(text, "point") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3.5-5.1", (3.5, 5.1)),
        ("3.5 \u2013 5.1", (3.5, 5.1)),
        ("3.5 to 5.1", (3.5, 5.1)),
        ("(3.5 - 5.1)", (3.5, 5.1)),
        ("[3.5-5.1] mmol/L", (3.5, 5.1)),
        ("3.5-5.1 mmol/L", (3.5, 5.1)),
        ("-2 - 2", (-2.0, 2.0)),
        ("-2 to +2", (-2.0, 2.0)),
        ("<0.5", (None, 0.5)),
        ("< 0.5 ug/L", (None, 0.5)),
        ("<=5", (None, 5.0)),
        ("\u2264 5", (None, 5.0)),
        ("up to 5", (None, 5.0)),
        (">60", (60.0, None)),
        ("\u2265 60 mL/min", (60.0, None)),
        ("5.1-3.5", (None, None)),
        ("negative", (None, None)),
        ("", (None, None)),
    ],
)
def test_interval(text: str, found: tuple[float | None, float | None]) -> None:
    assert numbers.interval(text, "point") == found
