"""Vectors of the knowledge made beside everything else: after the start, an import, an approval; one work at a time.

Without an embedder nothing is begun. Knows the desk, no page.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.operation import Operation
from desktop.state import library_jobs
from desktop.views.desk import Desk


class VectorWork(QObject):
    """`begun` tells that there is something to watch; `rested` that the vectors are as complete as they will be."""

    begun = Signal()
    rested = Signal(int)  # passages that were given vectors

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._again = False
        self.operation: Operation | None = None
        self.moved = False  # there are vectors to make
        desk.settings_changed.connect(self.ensure)  # another embedder, perhaps

    def ensure(self) -> None:
        """Make what is missing now, or once what is under way has ended."""
        if self.operation is not None:
            self._again = True
            return
        self._again = self.moved = False
        window = self._desk.parent()
        if not isinstance(window, QWidget) or not window.isVisible():
            return  # it is being closed: nothing is begun any more
        operation = self.operation = self._desk.work(
            library_jobs.make_vectors(self._desk.space.bench), self._on_done, self._on_failed
        )
        operation.progressed.connect(self._on_moved)
        operation.cancelled.connect(lambda: self._end(0))

    def _on_moved(self, _done: int, _total: int, _words: str) -> None:
        if not self.moved:
            self.moved = True
            self.begun.emit()

    def _on_done(self, made: int) -> None:
        self._end(made)
        if self._again:
            self.ensure()

    def _on_failed(self, sentence: str) -> None:
        self._end(0)
        self._desk.told.emit("caution", sentence)

    def _end(self, made: int) -> None:
        self.operation = None
        self.rested.emit(made)
