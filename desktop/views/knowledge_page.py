"""What the program knows besides the case: search, collections, terms; in the place of the case."""

from __future__ import annotations

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QStackedWidget

from desktop.i18n import tr
from desktop.operation import Explain
from desktop.state.knowledge_reader import Collection
from desktop.views.collections_tab import CollectionsTab
from desktop.views.desk import Desk
from desktop.views.dropping import dropped_paths
from desktop.views.full_page import FullPage
from desktop.views.knowledge_desk import KnowledgeDesk
from desktop.views.knowledge_search import SearchTab
from desktop.views.lookup_tab import LookupTab
from desktop.views.pieces import Segments
from desktop.views.vector_work import VectorWork

SEARCH, COLLECTIONS, TERMS = 0, 1, 2


class KnowledgePage(FullPage):
    """Three tabs over one reading thread. Files dropped anywhere on the page become a collection."""

    def __init__(self, desk: Desk, explain: Explain, vectors: VectorWork) -> None:
        super().__init__(tr("Knowledge"))
        self.setAcceptDrops(True)
        self.desk = KnowledgeDesk(desk.space.bench, explain, self)
        self.desk.broken.connect(lambda sentence: desk.told.emit("critical", sentence))
        self.search = SearchTab(self.desk)
        self.collections = CollectionsTab(desk, vectors)
        self.lookup = LookupTab(self.desk)
        self.tabs = Segments((tr("Search"), tr("Collections"), tr("Terms")), name=tr("Knowledge"), at=SEARCH)
        self.tabs.chosen.connect(self.turn_to)
        self.acts.addWidget(self.tabs)
        self.stack = QStackedWidget()
        for tab in (self.search, self.collections, self.lookup):
            self.stack.addWidget(tab)
        self.body.addWidget(self.stack)
        self.collections.changed.connect(self.refresh)
        self.collections.changed.connect(vectors.ensure)

    def enter(self) -> None:
        self.refresh()
        self.turn_to(self.stack.currentIndex())

    def turn_to(self, tab: int) -> None:
        """Show a tab and give it the keys."""
        self.stack.setCurrentIndex(tab)
        for number, button in enumerate(self.tabs.buttons):
            button.setChecked(number == tab)
        if tab == TERMS:
            self.lookup.look_up()
        (self.search.field, self.collections.list, self.lookup.field)[tab].setFocus()

    def refresh(self) -> None:
        """Read the collections anew; a search that is shown is asked again."""
        self.desk.ask("collections", lambda reader: reader.collections(), self._on_collections, lambda _sentence: None)

    def _on_collections(self, packs: tuple[Collection, ...]) -> None:
        self.collections.show_packs(packs)
        self.search.show_collections(packs)
        if self.search.field.text().strip():
            self.search.search()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if places := dropped_paths(event):
            event.acceptProposedAction()
            self.turn_to(COLLECTIONS)
            self.collections.take(places)
