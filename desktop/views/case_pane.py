"""The left pane: search, import, the case list or what was found of it, and the import under way."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QMenu, QProgressBar, QWidget

from core.domain.case import CaseSummary, Unread
from core.domain.case_find import Found, Hit
from desktop.i18n import tr
from desktop.state import words
from desktop.state.case_list import ROW, CaseList, CaseRows
from desktop.state.jobs import EXAMPLES
from desktop.views import pieces, rows
from desktop.views.look import look
from desktop.views.pieces import Picture, text

MOST_SHOWN = 4  # unread files named in the pane; the case page lists all


class ImportCard(QFrame):
    """What an import is doing; afterwards what it could not read, and why."""

    cancelled = Signal()
    details = Signal()
    files_wanted = Signal()

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
        self.files = pieces.button(tr("Files"), self.files_wanted.emit, kind="link")
        self.files.setAccessibleName(tr("Show the files of this import"))
        self.close_button = pieces.icon_button("close", tr("Close the import message"), self.hide)
        head = pieces.row(None, self._words, self.close_button, stretch=self._words)
        foot = pieces.row(None, self.more, self.files, None, self.cancel)
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
        self.files.setVisible(under_way)
        self.close_button.setVisible(not under_way)
        self._failures.setVisible(not under_way)
        self.more.setVisible(not under_way)


class CasePane(QFrame):
    """All cases of the profile, newest first; while somebody searches, the cases found with the places in them."""

    chosen = Signal(str)
    place_chosen = Signal(object)  # Hit
    searched = Signal(str)
    wanted_files = Signal()
    wanted_folder = Signal()
    wanted_more = Signal()
    wanted_example = Signal(str)

    def __init__(self, cases: CaseList) -> None:
        super().__init__()
        self.setProperty("kind", "pane")
        self._cases = cases
        self.rows = CaseRows(cases, self)
        self.menu_button = pieces.icon_button("menu", tr("Menu"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search cases and their text"))
        self.search.setAccessibleName(tr("Search cases"))
        self.search.setClearButtonEnabled(False)
        self.search.textChanged.connect(self._on_search)
        self.search.installEventFilter(self)
        self.list = rows.listed(tr("Cases"), ROW, rows.found_row)
        self.list.setModel(self.rows)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.activated.connect(self._take)
        self.list.clicked.connect(self._take)
        self.card = ImportCard()
        self._empty = text(tr("No case yet. Import a folder, or open an example."), "muted")
        self._build()
        self.rows.modelReset.connect(self._count)

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
        """Make a case the current row without asking for it again; what was found stays chosen as it is."""
        if self.rows.searching:
            return
        blocked = self.list.selectionModel().blockSignals(True)
        self.list.setCurrentIndex(self.rows.find(case_id))
        self.list.selectionModel().blockSignals(blocked)
        self.list.viewport().update()

    def show_found(self, found: tuple[Found, ...]) -> None:
        """Show what the texts of the cases hold."""
        self.rows.show_found(found)

    def _open_import(self) -> None:
        self.import_menu.popup(self.import_button.mapToGlobal(self.import_button.rect().bottomLeft()))

    def _open_examples(self) -> None:
        self.example_menu.popup(self.example_button.mapToGlobal(self.example_button.rect().bottomLeft()))

    def _on_search(self, wanted: str) -> None:
        self.rows.search(wanted)
        self._count()
        self.searched.emit(wanted)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        """Moving through the cases opens them; moving through what was found does not: Return or a click does."""
        row = current.data(ROW)
        if isinstance(row, CaseSummary) and not self.rows.searching:
            self.chosen.emit(row.id)

    def _take(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if isinstance(row, Hit):
            self.place_chosen.emit(row)
        elif isinstance(row, CaseSummary) and self.rows.searching:
            self.chosen.emit(row.id)

    def _take_first(self) -> None:
        """Return in the search field: the row that is chosen, else the first place found, else the first case."""
        lines = [self.rows.index(line) for line in range(self.rows.rowCount())]
        places = [index for index in lines if isinstance(index.data(ROW), Hit)]
        if chosen := ([self.list.currentIndex()] if self.list.currentIndex().isValid() else places or lines)[:1]:
            self.list.setCurrentIndex(chosen[0])
            self._take(chosen[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the search field: down goes to the list, Return opens, Esc ends the search."""
        if not (isinstance(event, QKeyEvent) and self.search.text()):
            return super().eventFilter(watched, event)
        pressed = event.type() == QEvent.Type.KeyPress
        key = event.key()
        if event.type() == QEvent.Type.ShortcutOverride and key == Qt.Key.Key_Escape:
            self.search.clear()
            event.accept()
        elif pressed and key == Qt.Key.Key_Down:
            self.list.setFocus()
            if not self.list.currentIndex().isValid():
                self.list.setCurrentIndex(self.rows.index(0))
        elif pressed and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take_first()
        else:
            return super().eventFilter(watched, event)
        return True

    def _count(self) -> None:
        none = self.rows.rowCount() == 0
        self._empty.setText(
            tr("No case holds this.")
            if self.rows.searching
            else tr("No case yet. Import a folder, or open an example.")
        )
        self._empty.setVisible(none)
