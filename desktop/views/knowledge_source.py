"""The source beside the list: the whole section with the passage marked, what it comes from, why it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QStackedWidget, QTextEdit, QVBoxLayout, QWidget

from core.domain.passage import Fact, Source
from desktop.i18n import tr
from desktop.state import knowledge_model
from desktop.state.knowledge_reader import SourcePage
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.knowledge_rows import utf16
from desktop.views.look import look
from desktop.views.pieces import Chip, Segments, text
from desktop.views.viewers import NoteView

if TYPE_CHECKING:
    from core.retrieval.box import BoxAnswer

FACTS = 1  # of text, facts, why


class SectionView(NoteView):
    """A section's text: the passage on a soft ground with dots below, the words that were looked for marked in it."""

    def __init__(self) -> None:
        super().__init__()
        self.words: tuple[tuple[int, int], ...] = ()

    def show_section(self, page: SourcePage) -> None:
        """Show a section, its passage in the middle of the view."""
        self.show_text(page.text, page.path)
        self.words = tuple((page.start + a, page.start + b) for a, b in page.hit.spans)
        self.mark(page.start, page.end)

    def _mark(self) -> None:
        if self._span is None:
            return
        colours, ground, word = look().palette, QTextCharFormat(), QTextCharFormat()
        ground.setBackground(QColor(colours.accent_soft))
        ground.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        ground.setUnderlineColor(QColor(colours.edge))
        word.setBackground(QColor(colours.mark))
        word.setForeground(QColor(colours.on_mark))
        word.setFontUnderline(True)
        whole = self.toPlainText()
        spans = [(self._span, ground), *((span, word) for span in self.words)]
        self.setExtraSelections([self._styled(whole, span, style) for span, style in spans])

    def _styled(self, whole: str, span: tuple[int, int], style: QTextCharFormat) -> QTextEdit.ExtraSelection:
        cursor = QTextCursor(self.document())
        cursor.setPosition(utf16(whole, span[0]))
        cursor.setPosition(utf16(whole, span[1]), QTextCursor.MoveMode.KeepAnchor)
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = cursor, style
        return selection


class SourcePane(QFrame):
    """Shows a `SourcePage`; before that a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "evidence")
        self.setAccessibleName(tr("Source"))
        self.page: SourcePage | None = None
        self.title = text("", "title")
        self.path = text("", "small")
        self.about = text("", "small")
        self.review = Chip("", "caution", "warning")
        self.edition = Chip("", "critical", "clock")
        self.remark = text("", tone="critical")
        self.parts = Segments((tr("Text"), tr("Facts"), tr("Why?")), name=tr("Source"), at=0)
        self.parts.chosen.connect(self._turn)
        self.view = SectionView()
        self.facts, self.why = QVBoxLayout(), text("")
        self.stack = QStackedWidget()
        self.empty = text(tr("Choose a passage to read it in its section."), "muted")
        self._build()

    def _build(self) -> None:
        chips = QWidget()
        flow = Flow(chips)
        flow.addWidget(self.review)
        flow.addWidget(self.edition)
        self.stack.addWidget(self.view)
        for content, name in ((self.facts, tr("Facts and sources")), (None, tr("Why this passage"))):
            box = QWidget()
            if content is None:
                pieces.column(box, self.why, None, margins=(16, 8, 16, 8))
            else:
                pieces.column(box, content, None, margins=(16, 8, 16, 8))
            self.stack.addWidget(pieces.scrolled(box, name))
        self.head = QWidget()
        parts = (self.title, self.path, self.about, chips, self.remark, self.parts)
        pieces.column(self.head, *parts, margins=(16, 10, 12, 8), gap=6)
        hint = QWidget()
        pieces.column(hint, self.empty, margins=(16, 16, 16, 16))
        self.hint = hint
        pieces.column(self, hint, self.head, pieces.rule(), self.stack, gap=0, stretch=self.stack)
        self.clear()

    def sizeHint(self) -> QSize:
        return QSize(look().px(420), look().px(400))

    def clear(self, words: str = "") -> None:
        """Nothing chosen; `words` say why, if they are given."""
        self.page = None
        self.empty.setText(words or tr("Choose a passage to read it in its section."))
        self.hint.show()
        self.head.hide()
        self.stack.hide()

    def show_page(self, page: SourcePage, answer: BoxAnswer) -> None:
        """Show where a passage comes from."""
        self.page = page
        passage, pack = page.hit.passage, page.collection
        self.title.setText(passage.title)
        self.path.setText(page.path)
        edition = tr("edition {e}", e=pack.edition) if pack.edition else ""
        dated = page.published_on if page.published_on != pack.edition else ""
        told = (pack.title, edition, dated, page.pages, passage.licence, page.url)
        self.about.setText(" · ".join(part for part in told if part))
        self.review.show_words(tr(passage.review_status), "caution", "warning")
        self.edition.setVisible(pack.state != "active")
        self.edition.show_words(knowledge_model.state_words(pack.state)[2], "critical", "clock")
        self.remark.setText(page.hit.remark)
        self.remark.setVisible(bool(page.hit.remark))
        self.view.show_section(page)
        self.why.setText("\n\n".join(knowledge_model.why(answer, page.hit)))
        self._turn(self.stack.currentIndex())
        self.hint.hide()
        self.head.show()
        self.stack.show()

    def _fill_facts(self, page: SourcePage) -> None:
        pieces.clear(self.facts)
        named = {source.key: source.short for source in page.sources}
        for fact in page.facts:
            self.facts.addWidget(_fact(fact, named.get(fact.citation, fact.citation)))
        if page.sources:
            self.facts.addWidget(text(tr("Published sources"), "section"))
        for source in page.sources:
            self.facts.addWidget(text(_source(source), "small"))
        if page.collection.licence_text:
            self.facts.addWidget(text(tr("Licence"), "section"))
            self.facts.addWidget(text(page.collection.licence_text, "small"))
        if not self.facts.count():
            self.facts.addWidget(text(tr("This document brings no facts and names no sources."), "muted"))

    def _turn(self, part: int) -> None:
        """Show a part; the facts are set when they are first looked at, for a document may bring many."""
        self.stack.setCurrentIndex(part)
        if part == FACTS and self.page is not None:
            self._fill_facts(self.page)


def _fact(fact: Fact, citation: str) -> QWidget:
    card = pieces.panel("card")
    cited = ", ".join(part for part in (citation, fact.locator) if part)
    status = tr("{status}; {cited}", status=fact.status, cited=cited)
    pieces.column(card, text(fact.statement), text(status, "small"), margins=(12, 8, 12, 8), gap=2)
    card.setAccessibleName(fact.statement)
    return card


def _source(source: Source) -> str:
    named = (source.authors, source.title, source.journal, str(source.year or ""), source.doi or source.identifier)
    return ". ".join(part for part in named if part)
