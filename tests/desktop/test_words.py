"""Short words of the pages: ages, laboratory flags, identity, and the models that show them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from core.domain.case import Case, CaseSummary, LabRow, LabTable, Note, Patient, Unread
from core.domain.memory import StepLine
from desktop.state import words
from desktop.state.case_items import ENTRY, Contents, LabResults
from desktop.state.case_list import CaseList, CaseRows
from desktop.state.run_items import VALUE, Steps
from desktop.views.overview import excerpt, latest_abnormal

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "age"),
    [
        ("2026-11-30T11:59:30+00:00", "now"),
        ("2026-11-30T11:15:00+00:00", "45 min"),
        ("2026-11-30T05:00:00", "7 h"),
        ("2026-11-20T12:00:00+00:00", "10 d"),
        ("2025-01-05T12:00:00+00:00", "2025-01-05"),
        ("yesterday", ""),
        ("2026-12-01T00:00:00+00:00", "now"),
    ],
)
def test_age(at: str, age: str) -> None:
    assert words.age(at, NOW) == age


@pytest.mark.parametrize(
    ("born", "years"), [("1958-03-22", 68), ("1958-11-30", 68), ("1958-12-01", 67), ("1958", None), ("", None)]
)
def test_completed_years(born: str, years: int | None) -> None:
    assert words.years(born, date(2026, 11, 30)) == years


def test_identity_says_what_is_not_stated() -> None:
    name, facts = words.identity(Patient())
    assert name == "Name not stated in the files"
    assert facts.count("not stated") == 2
    name, facts = words.identity(Patient(name="Doe, Jane", patient_id="77", birth_date="1958-03-22", sex="F"))
    assert name == "Doe, Jane"
    assert all(part in facts for part in ("1958-03-22", "F", "ID 77"))


@pytest.mark.parametrize(
    ("flag", "number", "side"),
    [
        ("H", 5.0, "high"),
        ("ll", 5.0, "critical low"),
        ("HH", 5.0, "critical high"),
        ("", 9.0, "high"),
        ("", 1.0, "low"),
        ("", 5.0, ""),
        ("", None, ""),
        ("critical", 5.0, "critical"),
    ],
)
def test_direction_of_a_result(flag: str, number: float | None, side: str) -> None:
    row = LabRow(row=1, test="Potassium", value=str(number), number=number, low=3.5, high=5.3, flag=flag)
    assert words.direction(row) == side


def table() -> LabTable:
    rows = (
        LabRow(row=2, test="Potassium", value="6.1", number=6.1, unit="mmol/L", high=5.3, low=3.5, collected_at="a"),
        LabRow(row=3, test="Potassium", value="4.1", number=4.1, unit="mmol/L", high=5.3, low=3.5, collected_at="b"),
        LabRow(row=4, test="Lactate", value="<0.5", unit="mmol/L", range_text="<2.0"),
        LabRow(row=5, test="CRP", value="80", number=80, unit="mg/L", high=5, flag="HH", collected_at="b"),
    )
    return LabTable(id="t1", title="labs.csv", rows=rows, sha256="0")


def test_abnormal_result_has_arrow_and_word(qtbot: QtBot) -> None:
    model = LabResults(table())
    assert [model.index(0, column).data() for column in range(5)] == [
        "Potassium",
        "6.1",
        "mmol/L",
        "↑ high",
        "3.5 – 5.3",
    ]
    assert model.index(1, 3).data() == ""
    assert model.index(2, 4).data() == "<2.0"
    assert model.index(3, 3).data() == "↑ critical high"
    assert model.line_of(4) == 2
    assert model.line_of(99) == -1


def test_overview_shows_the_latest_value_of_each_test_critical_first() -> None:
    case = Case(id="c", title="T", revision=1, created_at="", items=(table(),))
    assert [(row.test, row.value) for _, row in latest_abnormal(case)] == [("CRP", "80")]


def test_excerpt_has_no_mark_up_and_ends_at_a_word() -> None:
    assert excerpt("# Title\n**bold** | cell |---| x") == "Title bold cell x"
    long = excerpt("word " * 200)
    assert long.endswith(" …")
    assert len(long) <= 222


def summary(identifier: str, title: str, state: str = "new data") -> CaseSummary:
    return CaseSummary(id=identifier, title=title, revision=1, created_at="", items=3, unread=1, state=state)


def test_case_list_is_filtered_by_every_word(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    cases = CaseList()
    shown = CaseRows(cases)
    qtmodeltester.check(shown)
    cases.show((summary("a", "Acute dyspnoea"), summary("b", "Kidney injury", "running")))
    assert shown.rowCount() == 2
    shown.search("INJURY runn")
    assert [shown.index(row, 0).data() for row in range(shown.rowCount())] == ["Kidney injury"]
    shown.search("injury acute")
    assert shown.rowCount() == 0
    spoken = cases.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "running" in spoken
    assert "1 not read" in spoken


def test_contents_begin_with_the_overview_and_end_with_what_was_not_read(qtbot: QtBot) -> None:
    note = Note(id="n1", title="letter.txt", text="x", sha256="0")
    case = Case(id="c", title="T", revision=2, created_at="", items=(note, table()), unread=(Unread("x.zip", "why"),))
    contents = Contents()
    contents.show(case)
    kinds = [contents.index(row).data(ENTRY).kind for row in range(contents.rowCount())]
    assert kinds == ["overview", "item", "item", "unread"]
    assert contents.find("t1").row() == 2
    assert not contents.find("t9").isValid()


def test_growing_list_tells_what_changed_and_what_came(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    steps = Steps()
    qtmodeltester.check(steps)
    open_step = StepLine(n=1, kind="model", text="Model ranks", at="", done=False)
    done = StepLine(n=1, kind="model", text="Model ranks", at="", seconds=1.25, tokens=30)
    steps.show((open_step,))
    changed: list[int] = []
    inserted: list[tuple[int, int]] = []
    steps.dataChanged.connect(lambda first, last: changed.append(first.row()))
    steps.rowsInserted.connect(lambda _parent, first, last: inserted.append((first, last)))
    steps.show((done, StepLine(n=2, kind="run", text="Ready", at="")))
    assert changed == [0]
    assert inserted == [(1, 1)]
    assert steps.index(0).data(VALUE) == done
    assert steps.index(0).data() == "Model ranks, 1.2 s  30 tokens"
    steps.show(())
    assert steps.rowCount() == 0
