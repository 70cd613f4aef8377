"""Files appear while they are read: at once, in batches, with the window alive, and a stop that is heard."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel
from pytestqt.qtbot import QtBot

from core.domain.case import Case, Note, Unread
from desktop.app import Session
from desktop.state.incoming import FILE, Incoming, IncomingRows, said
from desktop.state.processes import look_at
from desktop.views.incoming_page import IncomingPage
from desktop.views.overview import Overview
from desktop.views.viewers import UnreadView

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
FILES = 3000
ROOM = (400 - 160) << 20  # what an import may add to a window that begins with 160 MiB at most
PATIENCE = 30_000
Opener = Callable[..., Session]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 small notes, every hundredth of them empty."""
    root = tmp_path_factory.mktemp("crowd") / "crowd"
    root.mkdir()
    for number in range(FILES):
        (root / f"n{number:04}.txt").write_text(f"Note {number}.\n" if number % 100 else "", encoding="utf-8")
    return root


def busy() -> float:
    """How much slower this machine may be: four times, and as often as its cores are wanted by others at this moment.

    What is guarded against is rows that come at the end (ten times later) and a window that stands still meanwhile.
    """
    return 4 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Gaps:
    """The longest time, in seconds, in which the window's thread did not come round."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.monotonic()
        self.timer = QTimer(interval=10)
        self.timer.timeout.connect(self._round)
        self.timer.start()

    def _round(self) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, now - self._last)
        self._last = now


def test_rows_appear_at_once_and_a_stop_is_heard(qtbot: QtBot, open_window: Opener, crowd: Path, example: Path) -> None:
    """3,000 files: first rows within 1 s, in batches, the window comes round, a stop ends it within 300 ms."""
    session = open_window()
    window, desk = session.window, session.window.desk
    batches: list[int] = []
    desk.incoming.rowsInserted.connect(lambda _parent, first, last: batches.append(last - first + 1))
    over: list[str] = []
    desk.import_over.connect(lambda _case, sentence: over.append(sentence))
    before = look_at(os.getpid()).resident
    gaps, begun = Gaps(), time.monotonic()
    window.arrivals.take([crowd])
    page = window.room.currentWidget()
    assert isinstance(page, IncomingPage)
    qtbot.waitUntil(lambda: desk.incoming.rowCount() > 0, timeout=PATIENCE)
    assert time.monotonic() - begun < 1 * busy()
    qtbot.waitUntil(lambda: len(batches) >= 4, timeout=PATIENCE)
    assert desk.importing
    assert max(batches) > 1
    stopped = time.monotonic()
    page.cancel.click()
    qtbot.waitUntil(lambda: bool(over), timeout=PATIENCE)
    assert time.monotonic() - stopped < 0.3 * busy()
    assert gaps.longest < 0.25 * busy()
    assert look_at(os.getpid()).resident - before < ROOM
    rows = [desk.incoming.index(line).data(FILE) for line in range(desk.incoming.rowCount())]
    assert [row.name for row in rows] == [f"n{number:04}.txt" for number in range(len(rows))]
    assert [said(row) for row in rows[:2]] == ["The file is empty (0 bytes).", "read"]
    assert over == ["Cancelled; nothing was added."]
    assert page.count.text() == over[0]
    assert not page.cancel.isVisible()
    stay_out_of_the_way_of_an_open_case(qtbot, session, example)


def stay_out_of_the_way_of_an_open_case(qtbot: QtBot, session: Session, example: Path) -> None:
    """Where a case is open the rows are a click away."""
    window, desk = session.window, session.window.desk
    window.arrivals.take([example / "01-gp-letter.txt"])
    qtbot.waitUntil(lambda: desk.case is not None, timeout=PATIENCE)
    assert window.room.currentIndex() == 1
    with qtbot.waitSignal(desk.import_over, timeout=PATIENCE):
        window.arrivals.take([example / "labs-1-admission.csv"], into=desk.case.id)
        assert window.room.currentIndex() == 1
        window.pane.card.files.click()
        assert isinstance(window.room.currentWidget(), IncomingPage)
    assert [desk.incoming.index(0).data(FILE).name, desk.incoming.rowCount()] == ["labs-1-admission.csv", 1]


def test_a_case_of_thousands_is_shown_in_few_cards_and_loses_no_name(qtbot: QtBot) -> None:
    """A card for each of 3,000 documents stopped the window for 21 s."""
    notes = tuple(Note(id=f"n{n}", title=f"n{n}.txt", text="Cough.", sha256="0" * 64) for n in range(FILES))
    unread = tuple(Unread(f"u{n}.txt", "The file is empty (0 bytes).") for n in range(FILES))
    case = Case(id="c", title="Many", revision=1, created_at="2026-11-30T08:00:00+00:00", items=notes, unread=unread)
    overview, refused = Overview(case), UnreadView(unread)
    qtbot.addWidget(overview)
    qtbot.addWidget(refused)
    said = [label.text() for label in overview.findChildren(QLabel)]
    assert "and 2970 more in the contents at the left" in said
    assert len(overview.findChildren(QFrame)) < 200
    assert len(refused.findChildren(QFrame)) < 400
    lines = " ".join(label.text() for label in refused.findChildren(QLabel))
    assert [entry.name for entry in unread if entry.name not in lines] == []


def test_a_file_told_of_twice_keeps_its_row(qtbot: QtBot) -> None:
    """Read, then found to belong to another patient."""
    incoming, rows = Incoming(), IncomingRows()
    for name in ("a.txt", "b.txt"):
        incoming.told(name, "")
    rows.add(incoming.take())
    incoming.told("a.txt", "It names another patient.")
    incoming.told("c.txt", "")
    rows.add(incoming.take())
    assert [rows.index(line).data() for line in range(rows.rowCount())] == ["a.txt", "b.txt", "c.txt"]
    assert rows.refused == 1
    assert rows.index(0).data(int(Qt.ItemDataRole.AccessibleTextRole)) == "a.txt: It names another patient."
    assert incoming.take() == ()
    rows.start()
    assert (rows.rowCount(), rows.refused) == (0, 0)
