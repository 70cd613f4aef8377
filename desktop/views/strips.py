"""Sentences at the top of the window: what happened and what can be done about it, until they are dismissed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.i18n import tr
from desktop.state.jobs import Interrupted
from desktop.views import pieces
from desktop.views.pieces import Strip

ICONS = {"critical": "warning", "serious": "warning", "caution": "info", "good": "check"}
MOST = 3
GOOD_NEWS_MS = 12_000  # what needs no act goes by itself


class Strips(QWidget):
    """At most three sentences; a new one pushes the oldest out, the same one is not said twice."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)

    def shown(self) -> list[Strip]:
        """The strips on the screen, oldest first."""
        found = [self._layout.itemAt(n) for n in range(self._layout.count())]
        widgets = [item.widget() for item in found if item is not None]
        return [widget for widget in widgets if isinstance(widget, Strip) and not widget.isHidden()]

    def tell(self, tone: str, words: str) -> None:
        """A sentence in a tone: critical, serious, caution, good, accent."""
        if any(strip.accessibleName() == words for strip in self.shown()):
            return
        strip = Strip(words, tone, ICONS.get(tone, "info"))
        if tone == "good":
            QTimer.singleShot(GOOD_NEWS_MS, strip, strip.close_strip)
        self._add(strip)

    def offer_resume(self, left: Interrupted, resume: Callable[[Interrupted], object]) -> None:
        """Offer to go on with a run that an earlier window left behind."""

        def go_on() -> None:
            strip.close_strip()
            resume(left)

        act = pieces.button(tr("Resume"), go_on, kind="primary", icon="resume")
        words = tr("The work-up of “{title}” was interrupted. Nothing that was saved is lost.", title=left.title)
        strip = Strip(words, "accent", "resume", act)
        self._add(strip)

    def _add(self, strip: Strip) -> None:
        for old in self.shown()[: 1 - MOST] if len(self.shown()) >= MOST else []:
            old.close_strip()
        self._layout.addWidget(strip)
        strip.show()
