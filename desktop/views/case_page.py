"""The case: contents at the left, the chosen item beside them, the question and the start of the work-up below."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QSplitter, QStackedWidget, QWidget

from core.domain.case import Case, LabTable
from core.domain.case_find import Hit
from core.domain.task import WORK_UP
from desktop.i18n import tr
from desktop.state.case_items import ENTRY, Contents, Entry
from desktop.state.trends import Trends
from desktop.views import pieces, rows
from desktop.views.flow import Turning
from desktop.views.lab_page import LabPage
from desktop.views.look import look
from desktop.views.overview import Overview
from desktop.views.pieces import text
from desktop.views.switch import Switch
from desktop.views.viewers import FetchPicture, LabView, NoteView, UnreadView, item_view


class Composer(QFrame):
    """Question, model on or off, start."""

    started = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "foot")
        self.question = QLineEdit()
        self.question.setAccessibleName(tr("Question"))
        self.question.setPlaceholderText(tr("Question (optional): {default}", default=tr(WORK_UP)))
        self.model = Switch(tr("Use the language model"))
        self.model.setAccessibleName(tr("Use the language model"))
        self.model.setToolTip(tr("Without it the work-up rests on findings and guidelines alone, and is complete."))
        self.model.setChecked(True)
        self.start = pieces.button(tr("Start work-up"), self.begin, kind="primary", icon="play", hint=tr("Ctrl+Return"))
        self.start.setToolTip(tr("Start the work-up (Ctrl+Return)"))
        self.question.setMinimumWidth(look().px(160))
        acts = QWidget()
        pieces.row(acts, self.model, None, self.start, gap=12)
        line = Turning(self.question, acts, gap=12, stretch=self.question)
        pieces.row(self, line, margins=(16, 10, 16, 10))

    def show_model(self, pack: str) -> None:
        """Which model would be used; none at all switches the choice off."""
        self.model.setEnabled(bool(pack))
        self.model.setChecked(bool(pack))
        self.model.setAccessibleDescription(pack or tr("No model is set up."))

    def begin(self) -> None:
        if self.start.isEnabled():
            self.started.emit(self.question.text(), self.model.isChecked())


class CasePage(QWidget):
    """Everything of one case, and the way to its work-up."""

    started = Signal(str, bool)

    def __init__(self, fetch: FetchPicture) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self._fetch = fetch
        self.images = True  # does the profile work with images?
        self._case: Case | None = None
        self._trends: Trends = {}
        self.contents = Contents(self)
        self.list = rows.listed(tr("Contents of the case"), ENTRY, rows.entry_row)
        self.list.setUniformItemSizes(True)  # each has a second line; of thousands one is measured
        self.list.setModel(self.contents)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.stack = QStackedWidget()
        self.composer = Composer()
        self.composer.started.connect(self.started)
        self._build()

    def _build(self) -> None:
        side = pieces.panel("ground")
        head = text(tr("Contents"), "section")
        head.setContentsMargins(12, 0, 0, 0)
        pieces.column(side, head, self.list, margins=(0, 12, 0, 8), gap=4, stretch=self.list)
        paper = pieces.panel("paper")
        pieces.column(paper, self.stack)
        self._splitter = QSplitter()
        self._splitter.addWidget(side)
        self._splitter.addWidget(paper)
        self._splitter.setHandleWidth(1)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setChildrenCollapsible(False)
        look().changed.connect(self._fit)
        self._fit()
        pieces.column(self, self._splitter, self.composer, gap=0, stretch=self._splitter)

    def _fit(self) -> None:
        wide = max(self._splitter.width(), look().px(700))
        self._splitter.setSizes([look().px(240), wide - look().px(240)])

    def show_case(self, case: Case, trends: Trends) -> None:
        """Show another case, or another revision of this one, with the trends of its results."""
        self._case, self._trends = case, trends
        self.contents.show(case, images=self.images)
        self.list.setCurrentIndex(self.contents.index(0))

    def open_item(self, item_id: str, row: int = -1) -> None:
        """Choose an item; `row` is a printed row of a laboratory table."""
        self.list.setCurrentIndex(self.contents.find(item_id))
        view = self.shown
        if row >= 0 and isinstance(view, LabView):
            view.mark(row)

    def open_place(self, hit: Hit) -> None:
        """Show what a search found: the item, and in it the words or the row."""
        if hit.kind == "unread":
            self.open_unread()
            return
        self.list.setCurrentIndex(self.contents.find(hit.item) if hit.item else self.contents.index(0))
        view = self.shown
        if isinstance(view, NoteView) and hit.end > hit.start:
            view.mark(hit.start, hit.end)
        elif isinstance(view, LabView):
            view.choose(hit.line)

    @property
    def shown(self) -> QWidget | None:
        """The viewer on the screen."""
        view = self.stack.currentWidget()
        return view.table if isinstance(view, LabPage) else view

    def open_unread(self) -> None:
        self.list.setCurrentIndex(self.contents.index(self.contents.rowCount() - 1))

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        entry: Entry | None = current.data(ENTRY)
        if entry is None or self._case is None:
            return
        view = self._view(entry, self._case)
        self.stack.addWidget(view)
        self.stack.setCurrentWidget(view)
        while self.stack.count() > 1:
            if (old := self.stack.widget(0)) is not None:
                self.stack.removeWidget(old)
                old.deleteLater()

    def _view(self, entry: Entry, case: Case) -> QWidget:
        if entry.kind == "overview":
            overview = Overview(case, images=self.images)
            overview.wanted.connect(self.open_item)
            overview.unread_wanted.connect(self.open_unread)
            return pieces.scrolled(overview, tr("Overview"))
        if entry.kind == "unread" or entry.item is None:
            return pieces.scrolled(UnreadView(case.unread), tr("Files that were not read"))
        if isinstance(entry.item, LabTable):
            return LabPage(entry.item, self._trends)
        return item_view(entry.item, self._fetch, images=self.images)
