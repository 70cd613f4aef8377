"""Trends of laboratory values: which rows are joined, in which unit, what is left out and said, what is spoken."""

from __future__ import annotations

import pytest

from core.domain.case import Case, LabRow, LabTable
from desktop.state.trends import Trend, trends


def row(number: int, test: str, value: str, unit: str = "", at: str = "", **more: object) -> LabRow:
    try:
        parsed: float | None = float(value)
    except ValueError:
        parsed = None
    return LabRow(row=number, test=test, value=value, number=parsed, unit=unit, collected_at=at, **more)  # type: ignore[arg-type]


def case(*tables: tuple[LabRow, ...]) -> Case:
    made = tuple(LabTable(id=f"t{n}", title=f"{n}.csv", rows=rows, sha256="0") for n, rows in enumerate(tables, 1))
    return Case(id="c", title="T", revision=1, created_at="", items=made)


def only(found: dict[tuple[str, int], Trend]) -> Trend:
    kinds = set(found.values())
    assert len(kinds) == 1
    return kinds.pop()


def test_rows_of_one_analyte_are_joined_across_tables_in_order_of_time() -> None:
    found = trends(
        case(
            (
                row(2, "Creatinine", "120", "umol/L", "2026-11-19T08:00", low=45.0, high=84.0, flag="H"),
                row(3, "Sodium", "138", "mmol/L", "2026-11-19T08:00"),
            ),
            (row(2, "S-Creatinine", "88", "umol/L", "2026-11-18"), row(3, "CREA", "240", "µmol/L", "2026-11-20 09:30")),
        )
    )
    assert set(found) == {("t1", 2), ("t2", 2), ("t2", 3)}
    trend = only(found)
    assert [point.value for point in trend.points] == [88.0, 120.0, 240.0]
    assert [point.side for point in trend.points] == ["", "high", ""]
    assert trend.spoken == "Creatinine, 3 values, 88 to 240 µmol/L, rising"
    assert trend.band == (45.0, 84.0)


def test_units_are_converted_by_the_closed_table() -> None:
    """1 mg/dL creatinine is 88.42 umol/L (molar mass 113.12 g/mol)."""
    trend = only(
        trends(
            case(
                (
                    row(2, "Creatinine", "1.0", "mg/dL", "2026-11-18", low=0.5, high=1.0),
                    row(3, "Creatinine", "180", "umol/L", "2026-11-19"),
                )
            )
        )
    )
    assert trend.unit == "umol/L"
    assert trend.points[0].value == pytest.approx(88.4, abs=0.05)
    assert trend.points[0].low == pytest.approx(44.2, abs=0.05)
    assert trend.points[0].printed == "1.0 mg/dL"
    assert trend.left_out == ()


def test_what_is_not_joined_is_said() -> None:
    trend = only(
        trends(
            case(
                (
                    row(2, "D-dimer", "500", "ng/mL DDU", "2026-11-17"),
                    row(3, "D-dimer", "<500", "ug/L FEU", "2026-11-18"),
                    row(4, "D-dimer", "900", "ug/L FEU", "2026-11-19"),
                    row(5, "D-dimer", "1.2", "mg/L FEU", "2026-11-20"),
                    row(6, "D-dimer", "1.4", "mg/L FEU"),
                )
            )
        )
    )
    assert [point.value for point in trend.points] == pytest.approx([0.9, 1.2])
    assert trend.left_out == (
        "1 value in ng/mL DDU, which cannot be converted to mg/L FEU",
        "1 value printed without a number",
        "1 value without a time",
    )


def test_different_tests_are_never_joined() -> None:
    at = "2026-11-18"
    rows = (
        row(2, "Creatinine", "88", "umol/L", at),
        row(3, "Urine creatinine", "9000", "umol/L", "2026-11-19"),
        row(4, "Zorbase", "1", "U/L", at),
        row(5, "zorbase", "2", "U/L", "2026-11-19"),
        row(6, "Zorbase 2", "2", "U/L", "2026-11-20"),
    )
    assert set(trends(case(rows))) == {("t1", 4), ("t1", 5)}


@pytest.mark.parametrize(
    ("values", "course"),
    [((88, 120, 240), "rising"), ((240, 88), "falling"), ((100, 105, 102), "steady"), ((100, 160, 101), "varying")],
)
def test_course_in_a_word(values: tuple[int, ...], course: str) -> None:
    rows = tuple(row(n, "Urea", str(v), "mmol/L", f"2026-11-{10 + n}") for n, v in enumerate(values))
    assert only(trends(case(rows))).course == course
