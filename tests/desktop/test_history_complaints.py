"""What users of peer programs complained of about their history (product.md 7.3, C4), in the window.

The profile is the database that the first release left: one case with a finished run of five events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QDialog, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from desktop.app import Session
from desktop.state.run_items import VALUE
from desktop.views.window import CASE, REPORT, RUN, Window
from tests.helpers.sitting import PATIENCE, open_case

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
GOLDEN = Path(__file__).parents[1] / "golden" / "workbench-0001.sql"
TABLES = ("case", "case_item", "artifact", "run", "event")
Opener = Callable[..., Session]


@pytest.fixture
def history(place: Path) -> Path:
    """The golden database in place of the empty one."""
    path = place / "workbench.db"
    for old in place.glob("workbench.db*"):
        old.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(GOLDEN.read_text(encoding="utf-8"))
    return path


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {table: connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in TABLES}


def operated(window: Window) -> Iterator[QWidget]:
    """What can have the focus on each page and is no field for text."""
    for page in (CASE, RUN, REPORT):
        window.turn_to(page)
        QApplication.processEvents()
        for widget in window.findChildren(QWidget):
            if isinstance(widget, QAbstractItemView | QAbstractButton | QTextBrowser) and widget.isVisible():
                yield widget


def test_complaint_C4_backspace_deletes_nothing(qtbot: QtBot, open_window: Opener, history: Path) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#983: Backspace with the list in focus deleted the chat, unasked."""
    session = open_window()
    window = session.window
    open_case(qtbot, session, "golden")
    before = content(history)
    assert [len(rows) for rows in before.values()] == [1, 1, 0, 1, 5]
    pressed = set()
    for widget in operated(window):
        widget.setFocus()
        for key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier):
                QTest.keyClick(widget, key, modifier)
        pressed.add(type(widget).__name__)
    assert len(pressed) >= 3
    assert [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()] == []
    assert window.cases.rowCount() == 1
    assert content(history) == before
    window.search()  # the control: the key arrives where it has a meaning
    QTest.keyClicks(window.pane.search, "ab")
    QTest.keyClick(window.pane.search, Qt.Key.Key_Backspace)
    assert window.pane.search.text() == "a"


def test_complaint_C4_one_damaged_event_leaves_the_others(qtbot: QtBot, open_window: Opener, history: Path) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#872: one null in the file made the whole chat unopenable.

    The damaged row is a line of the journal that says so, the four others and the report are shown as they were.
    """
    with closing(sqlite3.connect(history)) as connection, connection:
        connection.execute("UPDATE event SET payload = 'null' WHERE n = 2")
    session = open_window()
    window = session.window
    open_case(qtbot, session, "golden")
    steps = [window.run_page.steps.model().index(n, 0).data(VALUE) for n in range(4)]
    assert [step.text for step in steps] == [
        "Case opened: revision 1, 1 item",
        "Event 2 is damaged in the file and cannot be shown",
        "Question to the clinician: 1 item",
        "Assessment ready",
    ]
    assert [step.failed for step in steps] == [False, True, False, False]
    window.turn_to(REPORT)
    qtbot.waitUntil(lambda: window.desk is not None and window.desk.shown is not None, timeout=PATIENCE)
    assert "Golden headline." in window.report_page.body.toPlainText()
    assert "event 2 of run rgolden does not fit the chain" in window.report_page.banner._lines.text()
