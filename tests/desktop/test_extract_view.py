"""An EHR extract in the window: its line in the contents, the sortable list of its tables."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from core.domain.case import EhrDatabase, EhrTable
from desktop.state import words
from desktop.state.extract_tables import ExtractTables
from desktop.views.extract_view import ExtractView
from desktop.views.look import Look, set_look
from desktop.views.viewers import item_view

EXTRACT = EhrDatabase(
    id="e1",
    title="ward.db",
    sha256="0" * 64,
    tables=(
        EhrTable(name="patients", columns=("subject_id", "gender"), rows=9),
        EhrTable(name="Labevents", columns=("subject_id", "itemid", "valuenum"), rows=10_253),
        EhrTable(name="admissions", columns=("hadm_id",), rows=12),
    ),
)


def test_contents_count_tables_and_rows() -> None:
    assert words.item_words(EXTRACT) == ("database", "EHR extract · 3 tables, 10274 rows")


def test_tables_are_listed_as_they_stand(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    model = ExtractTables(EXTRACT)
    qtmodeltester.check(model)
    assert [model.index(1, column).data() for column in range(3)] == [
        "Labevents", "subject_id, itemid, valuenum", "10,253",
    ]  # fmt: skip
    assert model.index(1, 2).data(Qt.ItemDataRole.AccessibleTextRole) == "Rows: 10,253"


def test_a_click_on_a_head_sorts_rows_as_numbers(qtbot: QtBot) -> None:
    set_look(Look())
    view = item_view(EXTRACT, lambda *_: None)
    assert isinstance(view, ExtractView)
    qtbot.addWidget(view)
    names = lambda: [view.tables.model().index(n, 0).data() for n in range(3)]  # noqa: E731
    assert names() == ["patients", "Labevents", "admissions"]
    view.tables.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert names() == ["Labevents", "admissions", "patients"]
    view.tables.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert names() == ["admissions", "Labevents", "patients"]
