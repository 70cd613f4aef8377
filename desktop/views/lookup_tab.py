"""Terms: a concept or a drug by its name, with definition, other names, relations and source."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from desktop.i18n import tr
from desktop.state import knowledge_model
from desktop.state.knowledge_model import NO_VOCABULARY
from desktop.state.knowledge_reader import Looked
from desktop.views import pieces
from desktop.views.knowledge_desk import KnowledgeDesk
from desktop.views.pieces import text

PAUSE_MS = 200


class LookupTab(QWidget):
    """Looks a term up as one types."""

    def __init__(self, desk: KnowledgeDesk) -> None:
        super().__init__()
        self._desk = desk
        self.field = QLineEdit()
        self.field.setAccessibleName(tr("Look up a term"))
        self.field.setPlaceholderText(tr("A disease, finding, test or drug"))
        self.said = text("", "muted")
        self._found = QVBoxLayout()
        self._found.setContentsMargins(0, 0, 0, 0)
        self._found.setSpacing(10)
        box = QWidget()
        pieces.column(box, self._found, None, margins=(16, 4, 16, 12))
        body = pieces.scrolled(box, tr("The term"))
        top = pieces.column(None, self.field, self.said, margins=(16, 10, 16, 6), gap=8)
        pieces.column(self, top, body, gap=0, stretch=body)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.look_up)
        self.field.textChanged.connect(lambda _text: self._pause.start())
        self.field.returnPressed.connect(self.look_up)

    def look_up(self) -> None:
        """Ask for what stands in the field."""
        self._pause.stop()
        wanted = self.field.text()
        self._desk.ask("term", lambda reader: reader.look_up(wanted), self._on_found, self._say)

    def _say(self, words: str) -> None:
        self.said.setText(words)
        self.said.setVisible(bool(words))

    def _on_found(self, looked: Looked) -> None:
        pieces.clear(self._found)
        if not looked.vocabularies:
            self._say(tr(NO_VOCABULARY))
        elif not looked.asked.strip():
            self._say(tr("Type a term; other spellings and other names are found too."))
        else:
            self._show(looked)

    def _show(self, looked: Looked) -> None:
        if (concept := looked.concept) is not None:
            kind = f"{concept.id} · {tr(concept.kind)} · {tr(concept.how)}"
            self._add(concept.name, kind, knowledge_model.concept_lines(concept))
        if (drug := looked.drug) is not None:
            kind = f"{drug.drug.id} · {tr('drug')} · {tr(drug.how)}"
            self._add(drug.drug.name, kind, knowledge_model.drug_lines(drug))
        found = looked.concept is not None or looked.drug is not None
        self._say("" if found else tr("No vocabulary holds “{term}”.", term=looked.asked.strip()))
        if not found and looked.near:
            self._offer(looked.near)

    def _add(self, name: str, kind: str, lines: tuple[tuple[str, str], ...]) -> None:
        card = pieces.panel("card")
        parts: list[QWidget] = [text(name, "title"), text(kind, "small")]
        for heading, words in lines:
            parts += [text(heading, "section"), text(words)]
        pieces.column(card, *parts, margins=(16, 12, 16, 12), gap=4)
        card.setAccessibleName(name)
        self._found.addWidget(card)

    def _offer(self, near: tuple[str, ...]) -> None:
        """Names that are nearest; each is looked up by a click."""
        self._found.addWidget(text(tr("Near it:"), "small"))
        for name in near:
            self._found.addWidget(pieces.button(name, partial(self.field.setText, name), kind="link"))
