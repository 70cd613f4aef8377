"""The left pane: search, import, the case list, and the import under way."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, Signal
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QMenu, QProgressBar, QWidget

from core.domain.case import CaseSummary, Unread
from desktop.i18n import tr
from desktop.state import words
from desktop.state.case_list import SUMMARY, CaseFilter, CaseList
from desktop.state.jobs import EXAMPLES
from desktop.views import pieces, rows
from desktop.views.look import look
from desktop.views.pieces import Picture, text

MOST_SHOWN = 4  # unread files named in the pane; the case page lists all


class ImportCard(QFrame):
    """What an import is doing; afterwards what it could not read, and why."""

    cancelled = Signal()
    details = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._words = text("", "strong")
        self._file = text("", "small", wrap=False)
        self._file.setMinimumWidth(40)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Import progress"))
        self._failures: QLabel = text("", "small")
        self.cancel = pieces.button(tr("Cancel"), self.cancelled.emit)
        self.more = pieces.button(tr("Show all"), self.details.emit, kind="link")
        self.close_button = pieces.icon_button("close", tr("Close the import message"), self.hide)
        head = pieces.row(None, self._words, self.close_button, stretch=self._words)
        foot = pieces.row(None, self.more, None, self.cancel)
        pieces.column(self, head, self.bar, self._file, self._failures, foot, margins=(12, 8, 8, 8), gap=6)
        self.hide()

    def start(self, said: str) -> None:
        self._show(said, under_way=True)
        self.bar.setRange(0, 0)
        self._file.setText("")
        self.show()

    def move_on(self, done: int, total: int, name: str) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self._file.setText(name[-48:])
        if total:
            self._words.setText(tr("Reading {done} of {total}", done=min(done + 1, total), total=total))

    def finish(self, read: int, unread: tuple[Unread, ...]) -> None:
        """Say what came in; hide when every file was read."""
        if not unread:
            self.hide()
            return
        self._show(
            tr("{n} read, {k} not read", n=words.counted(read, "item"), k=words.counted(len(unread), "file")),
            under_way=False,
        )
        shown = [f"{entry.name}: {entry.reason}" for entry in unread[:MOST_SHOWN]]
        self._failures.setText("\n".join(shown))
        self.more.setVisible(True)

    def fail(self, sentence: str) -> None:
        self._show(tr("Import did not succeed"), under_way=False)
        self._failures.setText(sentence)
        self.more.setVisible(False)
        self.show()

    def _show(self, said: str, *, under_way: bool) -> None:
        self._words.setText(said)
        self.setAccessibleName(said)
        self.bar.setVisible(under_way)
        self._file.setVisible(under_way)
        self.cancel.setVisible(under_way)
        self.close_button.setVisible(not under_way)
        self._failures.setVisible(not under_way)
        self.more.setVisible(not under_way)


class CasePane(QFrame):
    """All cases of the profile, newest first."""

    chosen = Signal(str)
    wanted_files = Signal()
    wanted_folder = Signal()
    wanted_more = Signal()
    wanted_example = Signal(str)

    def __init__(self, cases: CaseList) -> None:
        super().__init__()
        self.setProperty("kind", "pane")
        self._cases = cases
        self._filter = CaseFilter(cases, self)
        self.menu_button = pieces.icon_button("menu", tr("Menu"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search cases"))
        self.search.setAccessibleName(tr("Search cases"))
        self.search.setClearButtonEnabled(False)
        self.search.textChanged.connect(self._on_search)
        self.list = rows.listed(tr("Cases"), SUMMARY, rows.case_row)
        self.list.setModel(self._filter)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.card = ImportCard()
        self._empty = text(tr("No case yet. Import a folder, or open an example."), "muted")
        self._build()
        self._filter.modelReset.connect(self._count)
        self._filter.rowsInserted.connect(self._count)
        self._filter.rowsRemoved.connect(self._count)

    def _build(self) -> None:
        self.import_button = pieces.button(tr("Import…"), self._open_import, icon="import", kind="primary")
        self.import_menu = QMenu(self)
        self.import_menu.addAction(tr("Files…"), self.wanted_files.emit)
        self.import_menu.addAction(tr("Folder…"), self.wanted_folder.emit)
        self.import_menu.addSeparator()
        self.more_action = self.import_menu.addAction(tr("Add files to this case…"), self.wanted_more.emit)
        self.more_action.setEnabled(False)
        self.example_button = pieces.button(tr("Open example"), self._open_examples)
        self.example_menu = QMenu(self)
        for letter, title in EXAMPLES.items():
            action = self.example_menu.addAction(f"({letter})  {tr(title)}")
            action.triggered.connect(lambda _on, key=letter: self.wanted_example.emit(key))
        mark = text("Wardround", "title", wrap=False)
        head = pieces.row(None, Picture("mark", "accent", 22), mark, None, self.menu_button)
        acts = pieces.row(None, self.import_button, self.example_button, stretch=self.import_button)
        top = QWidget()
        pieces.column(top, head, self.search, acts, self.card, self._empty, margins=(12, 12, 12, 8), gap=8)
        pieces.column(self, top, self.list, margins=(0, 0, 0, 8), gap=0, stretch=self.list)

    def sizeHint(self) -> QSize:
        return QSize(look().px(292), 400)

    def select(self, case_id: str) -> None:
        """Make a case the current row without asking for it again."""
        index = self._filter.mapFromSource(self._cases.find(case_id))
        blocked = self.list.selectionModel().blockSignals(True)
        self.list.setCurrentIndex(index)
        self.list.selectionModel().blockSignals(blocked)
        self.list.viewport().update()

    def _open_import(self) -> None:
        self.import_menu.popup(self.import_button.mapToGlobal(self.import_button.rect().bottomLeft()))

    def _open_examples(self) -> None:
        self.example_menu.popup(self.example_button.mapToGlobal(self.example_button.rect().bottomLeft()))

    def _on_search(self, wanted: str) -> None:
        self._filter.search(wanted)
        self._count()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        summary: CaseSummary | None = current.data(SUMMARY)
        if summary is not None:
            self.chosen.emit(summary.id)

    def _count(self) -> None:
        none = self._filter.rowCount() == 0
        searching = bool(self.search.text())
        self._empty.setText(
            tr("No case matches.") if searching else tr("No case yet. Import a folder, or open an example.")
        )
        self._empty.setVisible(none)
