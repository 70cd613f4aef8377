"""Search in the window: results as one types, the place below its case, Return opens the case there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.case import Case, CaseSummary, LabRow, LabTable, Note, Patient, Unread
from core.domain.case_find import Hit
from desktop.app import Session
from desktop.state.case_list import ROW
from desktop.views.look import look
from desktop.views.viewers import LabView, NoteView
from desktop.views.window import CASE, REPORT, RUN, Window
from tests.helpers.sitting import AT, PATIENCE, finish_run, picture, put_cases

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
LETTER = "Dear colleague,\n\nbreathless since Monday after a long flight. Left calf swollen and tender."


def a_case(identifier: str, title: str, *, note: str = LETTER) -> Case:
    rows = (
        LabRow(row=2, test="Sodium", value="139", number=139.0, unit="mmol/L"),
        LabRow(row=3, test="Creatinine", value="188", number=188.0, unit="umol/L", low=60.0, high=105.0, flag="H"),
    )
    return Case(
        id=identifier,
        title=title,
        revision=1,
        created_at=AT,
        patient=Patient(name="Margaret Example", patient_id="H-4711", birth_date="1950-02-03"),
        items=(
            Note(id="n1", title="letter.txt", text=note, sha256="0"),
            LabTable(id="t1", title="labs.csv", rows=rows, sha256="0"),
        ),
        unread=(Unread("scan.xyz", "Not a known kind of file."),),
    )


def type_in(qtbot: QtBot, window: Window, words: str) -> list[CaseSummary | Hit]:
    """Type into the search field, wait for the answer, return the rows."""
    window.search()
    window.pane.search.clear()
    QTest.keyClicks(window.pane.search, words)
    qtbot.waitUntil(lambda: not window.finding.busy, timeout=PATIENCE)
    return [window.pane.rows.index(line).data(ROW) for line in range(window.pane.rows.rowCount())]


def enter(qtbot: QtBot, window: Window) -> None:
    with qtbot.waitSignal(window.finding.arrived, timeout=PATIENCE):
        QTest.keyClick(window.pane.search, Qt.Key.Key_Return)


def test_places_are_found_as_one_types_and_opened(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    window = session.window
    put_cases(session, a_case("c1", "Breathless after a flight"), a_case("c2", "Kidney injury", note="Anuric."))
    qtbot.waitUntil(lambda: window.cases.rowCount() == 2, timeout=PATIENCE)

    rows = type_in(qtbot, window, "calf swo")
    assert [type(row) for row in rows] == [CaseSummary, Hit]
    assert rows[1].title == "letter.txt"
    spoken = window.pane.rows.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("letter.txt: …")
    assert "calf swollen and tender" in spoken
    picture(window, "search")
    look().set_mode("dark")
    picture(window, "search-dark")
    look().set_mode("light")
    enter(qtbot, window)
    view = window.case_page.shown
    assert window.desk.case.id == "c1"
    assert window.pages.currentIndex() == CASE
    assert isinstance(view, NoteView)
    assert view.marked == "calf swo"

    rows = type_in(qtbot, window, "creatinine")
    assert [row.id for row in rows if isinstance(row, CaseSummary)] == ["c1", "c2"]
    enter(qtbot, window)
    table = window.case_page.shown
    assert isinstance(table, LabView)
    assert table.selectionModel().selectedRows()[0].row() == 1

    assert [row.kind for row in type_in(qtbot, window, "h-4711")[1::2]] == ["patient", "patient"]
    type_in(qtbot, window, "scan.xyz")
    enter(qtbot, window)
    assert window.case_page.list.currentIndex().row() == window.case_page.contents.rowCount() - 1


def test_the_list_comes_back_and_the_texts_are_let_go(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    window = session.window
    put_cases(session, a_case("c1", "Breathless after a flight"), a_case("c2", "Kidney injury", note="Anuric."))
    qtbot.waitUntil(lambda: window.cases.rowCount() == 2, timeout=PATIENCE)
    assert type_in(qtbot, window, "no such words") == []
    assert window.pane._empty.text() == "No case holds this."
    rows = type_in(qtbot, window, "anuric")
    assert rows[0].id == "c2"
    QTest.keyClick(window.pane.search, Qt.Key.Key_Down)
    assert window.pane.list.hasFocus()
    assert window.desk.case is None, "moving through what was found opens nothing"
    QTest.keyClick(window.pane.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.desk.case is not None, timeout=PATIENCE)
    assert window.desk.case.id == "c2"
    assert window.finding._finder is not None
    window.search()
    QTest.keyClick(window.pane.search, Qt.Key.Key_Escape)
    assert window.pane.search.text() == ""
    assert window.finding._finder is None
    assert window.pane.rows.rowCount() == 2
    QTest.mouseClick(
        window.pane.list.viewport(),
        Qt.MouseButton.LeftButton,
        pos=window.pane.list.visualRect(window.pane.rows.find("c1")).center(),
    )
    qtbot.waitUntil(lambda: window.desk.case.id == "c1", timeout=PATIENCE)


def test_questions_and_assessments_are_found_in_their_run(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    window = session.window
    put_cases(session, a_case("c1", "Breathless after a flight"), a_case("c2", "Another"))
    with qtbot.waitSignal(window.desk.opened, timeout=PATIENCE):
        window.desk.open_case("c1")
    run = finish_run(qtbot, session, question="Could an embolus explain this?")
    headline = session.space.live.memory.assessment.headline.text
    with qtbot.waitSignal(window.desk.opened, timeout=PATIENCE):
        window.desk.open_case("c2")
    rows = type_in(qtbot, window, "embolus explain")
    hit = next(row for row in rows if isinstance(row, Hit) and row.kind == "question")
    assert hit.run == run
    line = window.pane.rows.rowCount() - 1
    rows = type_in(qtbot, window, headline[:24])
    line, hit = next((n, row) for n, row in enumerate(rows) if isinstance(row, Hit) and row.kind == "report")
    window.pane.list.setCurrentIndex(window.pane.rows.index(line))
    enter(qtbot, window)
    assert window.pages.currentIndex() == REPORT
    qtbot.waitUntil(lambda: window.desk.shown is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: window.report_page.body.textCursor().hasSelection(), timeout=PATIENCE)
    assert headline in window.report_page.body.textCursor().selectedText()
    type_in(qtbot, window, "embolus explain")
    enter(qtbot, window)
    assert window.pages.currentIndex() == RUN
