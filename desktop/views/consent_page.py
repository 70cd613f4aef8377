"""First start: what the program is for and what it is not, read and recorded before anything else is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.domain.notices import INTENDED_USE
from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import Picture

WIDTH = 640


class ConsentPage(QWidget):
    """The intended use, with two ways on: it was read, or the program is left."""

    accepted = Signal()
    declined = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        card = self._card = pieces.panel("card")
        self.read = pieces.button(tr("I have read this"), self.accepted.emit, kind="primary", icon="check")
        self.leave = pieces.button(tr("Quit"), self.declined.emit)
        first, *others = INTENDED_USE.split("\n\n")
        head = pieces.row(None, Picture("mark", "accent", 32), pieces.text("Wardround", "display", wrap=False), None)
        parts = [pieces.text(tr(first), "lead"), *(pieces.text(tr(paragraph)) for paragraph in others[:-1])]
        last = pieces.text(tr(others[-1]), "strong")
        words = pieces.text(tr("Your name at this computer and the time are recorded with this text."), "small")
        foot = pieces.row(None, words, self.leave, self.read, stretch=words)
        title = pieces.text(tr("Before you begin"), "section")
        pieces.column(card, head, title, *parts, last, pieces.rule(), foot, margins=(32, 24, 32, 24), gap=12)
        body = QWidget()
        pieces.column(body, None, pieces.row(None, None, card, None), None, margins=(16, 16, 16, 16))
        body.layout().itemAt(1).layout().setStretchFactor(card, 100)  # type: ignore[union-attr]
        pieces.column(self, pieces.scrolled(body, tr("Intended use")))
        look().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self._card.setMaximumWidth(look().px(WIDTH))
