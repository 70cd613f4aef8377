"""The source of one piece of evidence, beside the page that cites it: span, cell, picture, passage, computation."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from core.domain.evidence import Evidence
from core.domain.passage import Passage
from desktop.i18n import tr
from desktop.state import words
from desktop.state.source import Source
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import Chip, Picture, text
from desktop.views.viewers import FetchPicture, LabView, NoteView, picture_card


class EvidencePanel(QFrame):
    """Shows a `Source`; Esc closes it. `wanted` names evidence that a computed statement rests on."""

    wanted = Signal(str)
    closed = Signal()

    def __init__(self, fetch: FetchPicture) -> None:
        super().__init__()
        self.setProperty("kind", "evidence")
        self.setAccessibleName(tr("Evidence"))
        self._fetch = fetch
        self.images = True  # does the profile work with images?
        self.source: Source | None = None
        self.view: QWidget | None = None
        self.kind = Chip("", "accent")
        self.title = text("", "section", wrap=False)
        self.statement = text("", "lead")
        self.label = text("", "small")
        self.close_button = pieces.icon_button("close", tr("Close the evidence panel (Esc)"), self.close_panel)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 0)
        head = pieces.row(None, self.kind, self.title, None, self.close_button)
        top = pieces.column(None, head, self.statement, self.label, margins=(16, 8, 8, 8), gap=6)
        pieces.column(self, top, pieces.rule(), self._body, gap=0).setStretch(2, 1)
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(look().px(420), 400)

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 200)

    def show_source(self, source: Source) -> None:
        """Show where a piece of evidence comes from."""
        self.source = source
        icon, kind = words.source_words(source.evidence.provenance)
        self.kind.show_words(kind, "accent", icon)
        self.title.setText(source.evidence.id)
        statement = " ".join(source.evidence.text.split())
        self.statement.setText(statement if source.passage is None else source.passage.title)
        self.label.setText("\n".join((source.evidence.provenance.label, *source.about)))
        self._put(self._view(source) or _note_of_absence(source))

    def show_list(self, items: tuple[Evidence, ...]) -> None:
        """Show all evidence of one statement; each line leads to its source."""
        self.source = None
        self.kind.show_words(words.counted(len(items), "source"), "accent", "link")
        self.title.setText("")
        self.statement.setText(tr("What this statement rests on"))
        self.label.setText("")
        self._put(self._inputs(items))

    def _put(self, view: QWidget) -> None:
        pieces.clear(self._body)
        self.view = view
        self._body.addWidget(view)
        self.show()

    def close_panel(self) -> None:
        self.hide()
        self.closed.emit()

    def _view(self, source: Source) -> QWidget | None:
        place = source.evidence.provenance
        if source.note is not None:
            return _note(source, place.start, place.end)
        if source.table is not None:
            table = LabView(source.table)
            if place.row is not None:
                table.mark(place.row)
            return table
        if source.picture is not None:
            return picture_card(source.picture, self._fetch, images=self.images)
        if source.passage is not None:
            return passage_view(source.passage)
        return self._inputs(source.inputs) if source.inputs else None

    def _inputs(self, inputs: tuple[Evidence, ...]) -> QWidget:
        """The evidence that a computed statement rests on, each a link."""
        box = QWidget()
        links = [self._link(item) for item in inputs]
        pieces.column(box, *links, None, margins=(16, 12, 16, 12), gap=6)
        return pieces.scrolled(box, tr("Sources"))

    def _link(self, item: Evidence) -> QWidget:
        card = pieces.panel("card")
        icon, _ = words.source_words(item.provenance)
        go = pieces.button(item.id, lambda: self.wanted.emit(item.id), kind="link")
        said = " ".join(item.text.split())
        go.setAccessibleName(f"{item.id}: {said}")
        below = pieces.column(None, text(said), text(item.provenance.label, "small"), gap=2)
        line = pieces.row(card, Picture(icon, "muted", 16), below, go, margins=(12, 8, 12, 8), gap=10)
        line.setStretch(1, 1)
        return card


def _note_of_absence(source: Source) -> QWidget:
    """For evidence without a place of its own: a person's answer, the whole case, a published source."""
    box = QWidget()
    said = {
        "clinician": tr("Given by a person in answer to a question of this run."),
        "passage": tr("A statement of the knowledge store with the published source named above."),
    }.get(source.evidence.provenance.kind, tr("This statement has no single place in a document."))
    pieces.column(box, text(said, "muted"), None, margins=(16, 12, 16, 12))
    return box


def _note(source: Source, start: int | None, end: int | None) -> QWidget:
    view = NoteView()
    if source.note is not None:
        view.show_note(source.note)
    if start is not None and end is not None:
        view.mark(start, end)
    return view


def passage_view(passage: Passage) -> QWidget:
    """A guideline passage in its own words, with edition, licence and whether a clinician has reviewed it."""
    box = QWidget()
    rows = (
        (tr("From"), passage.pack_title),
        (tr("Section"), passage.section),
        (tr("Edition"), passage.edition),
        (tr("Licence"), passage.licence),
        (tr("Review"), passage.review_status),
    )
    facts = [pieces.row(None, _fixed(name), text(value), gap=8) for name, value in rows if value]
    for fact in facts:
        fact.setStretch(1, 1)
    words_ = NoteView()
    words_.show_text(passage.text, passage.title)
    head = pieces.column(None, *facts, margins=(16, 8, 16, 8), gap=2)
    pieces.column(box, head, pieces.rule(), words_, gap=0, stretch=words_)
    return box


def _fixed(name: str) -> QWidget:
    label = text(name, "small", wrap=False)
    label.setFixedWidth(look().px(64))
    return label
