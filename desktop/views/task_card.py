"""A piece of long work on a page: what is done, how far, Stop; afterwards what came of it. One at a time.

Knows operations, no page and no store.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QProgressBar

from desktop.i18n import tr
from desktop.operation import Operation
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import Picture, text

MOST_LINES = 400  # of a list of what was left out


class TaskCard(QFrame):
    """Hidden until there is something to say. `settled` is sent when the work has ended, however it did."""

    settled = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.operation: Operation | None = None
        self._picture = Picture("info", "accent", 18)
        self.words = text("", "strong")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(name)
        self.step = text("", "small")
        self.stop = pieces.button(tr("Stop"), self._stop, kind="stop", icon="stop")
        self.close_button = pieces.icon_button("close", tr("Close this message"), self.hide)
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName(tr("Details"))
        head = pieces.row(None, self._picture, self.words, self.stop, self.close_button, stretch=self.words)
        pieces.column(self, head, self.bar, self.step, self.lines, margins=(12, 8, 8, 8), gap=6)
        look().changed.connect(self._fit)
        self._fit()
        self.hide()

    @property
    def busy(self) -> bool:
        return self.operation is not None

    def follow(self, operation: Operation, words: str, *, stopped: str = "") -> None:
        """Show an operation that has begun; `stopped` is said when it was stopped."""
        self.operation = operation
        operation.progressed.connect(self._move)
        operation.done.connect(lambda _value: self._settle())
        operation.failed.connect(lambda sentence: self._end("critical", sentence))
        operation.cancelled.connect(lambda: self._end("caution", stopped or tr("Stopped; nothing was changed.")))
        self._say("accent", words, under_way=True)
        self.bar.setRange(0, 0)
        self.show()

    def tell(self, tone: str, words: str, lines: tuple[str, ...] = ()) -> None:
        """A sentence, and a list below it."""
        self._say(tone, words, under_way=False)
        self.lines.setPlainText("\n".join(lines[:MOST_LINES]))
        self.lines.setVisible(bool(lines))
        self.show()

    def _move(self, done: int, total: int, step: str) -> None:
        if self.busy:
            self.bar.setRange(0, total)
            self.bar.setValue(done)
            self.step.setText(step)
            self.step.setVisible(bool(step))

    def _stop(self) -> None:
        if self.operation is not None:
            self.stop.setEnabled(False)
            self.step.setText(tr("Stopping …"))
            self.step.show()
            self.operation.cancel()

    def _end(self, tone: str, sentence: str) -> None:
        self._settle()
        self.tell(tone, sentence)

    def _settle(self) -> None:
        self.operation = None
        self.hide()
        self.settled.emit()

    def _say(self, tone: str, words: str, *, under_way: bool) -> None:
        self._picture.show_icon({"accent": "run" if under_way else "info", "good": "check"}.get(tone, "warning"), tone)
        self.words.setText(words)
        self.setAccessibleName(words)
        self.step.hide()
        self.lines.hide()
        self.bar.setVisible(under_way)
        self.stop.setVisible(under_way)
        self.stop.setEnabled(under_way)
        self.close_button.setVisible(not under_way)

    def _fit(self) -> None:
        self.lines.setMaximumHeight(look().px(130))


Work = Callable[..., Operation]
