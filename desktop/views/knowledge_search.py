"""Search as one types: field, filters, passages with what was looked for marked, and the source beside them.

At each pause the words are looked for; once the typing rests, the meaning too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QTimer
from PySide6.QtWidgets import QComboBox, QLineEdit, QSplitter, QWidget

from desktop.i18n import tr
from desktop.state import knowledge_model
from desktop.state.knowledge_model import CLASSES, HIT, ResultList
from desktop.state.knowledge_reader import Collection, SourcePage
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.knowledge_desk import KnowledgeDesk
from desktop.views.knowledge_rows import passages_view
from desktop.views.knowledge_source import SourcePane
from desktop.views.look import look
from desktop.views.pieces import text
from desktop.views.switch import Switch

if TYPE_CHECKING:
    from core.retrieval.box import BoxAnswer, BoxHit

PAUSE_MS = 120  # after the last key before the search by words begins
REST_MS = 600  # after the last key before the search by meaning begins


class SearchTab(QWidget):
    """The search; `desk` answers beside the window's thread."""

    def __init__(self, desk: KnowledgeDesk) -> None:
        super().__init__()
        self._desk = desk
        self.answer: BoxAnswer | None = None
        self.results = ResultList(self)
        self.field = QLineEdit()
        self.field.setProperty("kind", "search")
        self.field.setAccessibleName(tr("Search the knowledge"))
        self.field.setPlaceholderText(tr("Search the guidelines: words, “a phrase”"))
        self.classes, self.packs = _choice(tr("Section")), _choice(tr("Collection"))
        self.old = Switch(tr("Also superseded editions"))
        self.said = text("", "small")
        self.list = passages_view(tr("Passages found"))
        self.list.setModel(self.results)
        self.source = SourcePane()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.search)
        self.rest = QTimer(self)
        self.rest.setSingleShot(True)
        self.rest.setInterval(REST_MS)
        self.rest.timeout.connect(self.search_meaning)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.classes.addItem(tr("All sections"), "")
        for name in CLASSES:
            self.classes.addItem(tr(name.capitalize()), name)
        self.packs.addItem(tr("All collections"), "")
        filters = QWidget()
        flow = Flow(filters)
        for part in (self.classes, self.packs, self.old):
            flow.addWidget(part)
        left = QWidget()
        top = pieces.column(None, self.field, filters, self.said, margins=(16, 10, 16, 6), gap=8)
        pieces.column(left, top, self.list, gap=0, stretch=self.list)
        self.split = QSplitter()
        self.split.addWidget(left)
        self.split.addWidget(self.source)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 1)
        self.split.setChildrenCollapsible(False)
        pieces.column(self, self.split)
        left.setMinimumWidth(look().px(260))

    def _connect(self) -> None:
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._enter_list)
        for box in (self.classes, self.packs):
            box.currentIndexChanged.connect(lambda _index: self.search())
        self.old.toggled.connect(lambda _on: self.search())
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self._say_hint()

    def _on_typed(self, _text: str) -> None:
        self.rest.stop()
        self._pause.start()

    def show_collections(self, packs: tuple[Collection, ...]) -> None:
        """Offer the collections as a filter; a choice that is still there stays."""
        chosen = self.packs.currentData()
        self.packs.blockSignals(True)
        self.packs.clear()
        self.packs.addItem(tr("All collections"), "")
        for pack in packs:
            if pack.passages:
                self.packs.addItem(pack.title, pack.id)
        self.packs.setCurrentIndex(max(0, self.packs.findData(chosen)))
        self.packs.blockSignals(False)

    def search(self) -> None:
        """Ask for the words in the field, and a little later for their meaning; an older question is forgotten."""
        self.rest.start()
        self._ask(vectors=False)

    def search_meaning(self) -> None:
        """Ask again, with vectors; not of a page that is gone."""
        if self.isVisible() and self.field.text().strip():
            self._ask(vectors=True)

    def _ask(self, *, vectors: bool) -> None:
        self._pause.stop()
        wanted, old = self.field.text(), self.old.isChecked()
        classes, packs = _chosen(self.classes), _chosen(self.packs)
        self._desk.ask(
            "search",
            lambda reader: reader.search(wanted, classes=classes, packs=packs, old=old, vectors=vectors),
            self._on_answer,
            self._on_refusal,
        )

    def _on_answer(self, answer: BoxAnswer) -> None:
        reading = self._read_now(answer)
        self.answer = answer
        self.said.setText(knowledge_model.found_words(answer))
        self.said.setProperty("tone", "critical" if answer.refused else "")
        pieces.restyle(self.said)
        self.results.show(answer.hits)
        if answer.hits:
            self.list.setCurrentIndex(self.results.index(self._place_of(reading)))
        else:
            self.source.clear()

    def _read_now(self, answer: BoxAnswer) -> BoxHit | None:
        """The passage that a person has gone to, while the same question is answered again."""
        current = self.list.currentIndex()
        again = self.answer is not None and answer.wanted.vectors and self.answer.wanted.text == answer.wanted.text
        gone_to = self.list.hasFocus() or current.row() > 0
        hit: BoxHit | None = current.data(HIT) if again and gone_to else None
        return hit

    def _place_of(self, reading: BoxHit | None) -> int:
        """Where that passage stands now; else the first."""
        keys = [hit.passage.key for hit in self.results.rows]
        return keys.index(reading.passage.key) if reading is not None and reading.passage.key in keys else 0

    def _on_refusal(self, sentence: str) -> None:
        self.results.show(())
        self.said.setText(sentence)
        self.source.clear()

    def _say_hint(self) -> None:
        self.said.setText(tr("Type words, or “a phrase”; AND, OR, NOT and a minus before a word narrow the search."))

    def _enter_list(self) -> None:
        """Return: what was typed is searched now, and the list takes the keys."""
        if self._pause.isActive():
            self.search()
        if self.results.rowCount():
            self.list.setFocus()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        hit: BoxHit | None = current.data(HIT)
        if hit is not None:
            self._desk.ask("source", lambda reader: reader.source(hit), self._on_source, self.source.clear)

    def _on_source(self, page: SourcePage) -> None:
        if self.answer is not None:
            self.source.show_page(page, self.answer)


def _choice(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setMaximumWidth(look().px(320))
    return box


def _chosen(box: QComboBox) -> tuple[str, ...]:
    return (str(box.currentData()),) if box.currentData() else ()
