"""A page of the whole profile that takes the place of the case: a title, its body, and the way back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.pieces import text


class FullPage(QWidget):
    """What knowledge, models and comparison have in common. `body` takes the content, `acts` buttons of the title."""

    closed = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(title)
        head = pieces.panel("head")
        back = pieces.button(tr("Back"), self.closed.emit)
        back.setToolTip(tr("Back to the case (Esc)"))
        acts = QWidget()
        self.acts = QHBoxLayout(acts)
        self.acts.setContentsMargins(0, 0, 0, 0)
        pieces.row(head, text(title, "title", wrap=False), None, acts, back, margins=(16, 8, 16, 8), gap=12)
        content = QWidget()
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(0, 0, 0, 0)
        pieces.column(self, head, content, gap=0, stretch=content)

    def enter(self) -> None:
        """The page comes to the front: read anew what may have changed, take the focus."""
