"""What a link leads to is seen: the mark lies in the view, whatever size the view gets after it was marked."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QAbstractSlider, QTableView
from pytestqt.qtbot import QtBot

from core.domain.case import LabRow, LabTable
from desktop.views.viewers import LabView, NoteView

LINES = [f"Line {number} of a long letter that says little." for number in range(400)]


@pytest.fixture
def note(qtbot: QtBot) -> NoteView:
    view = NoteView()
    qtbot.addWidget(view)
    view.show_text("\n".join(LINES), "letter")
    return view


def seen(view: NoteView) -> bool:
    return view.viewport().rect().intersects(view.cursorRect())


@pytest.mark.parametrize("line", [50, 399])
def test_a_mark_made_before_the_view_has_its_size_is_seen(qtbot: QtBot, note: NoteView, line: int) -> None:
    start = sum(len(words) + 1 for words in LINES[:line])
    note.mark(start, start + 6)
    note.resize(300, 400)
    note.show()
    qtbot.waitExposed(note)
    assert note.marked == "Line " + str(line)[0] and seen(note)
    note.resize(120, 200)  # lines break anew
    assert seen(note)
    note.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    note.resize(130, 210)
    assert not seen(note)  # who scrolls away is not brought back


def test_a_row_marked_before_the_table_has_its_size_is_seen(qtbot: QtBot) -> None:
    rows = tuple(LabRow(row=number, test="Sodium", value="140") for number in range(2, 302))
    table = LabView(LabTable(id="t1", title="t", sha256="0", rows=rows))
    qtbot.addWidget(table)
    table.mark(280)
    table.resize(500, 300)
    table.show()
    qtbot.waitExposed(table)
    assert isinstance(table, QTableView)
    assert table.viewport().rect().contains(table.visualRect(table.currentIndex()).center())
