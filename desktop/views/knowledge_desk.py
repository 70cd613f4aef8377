"""One thread that reads the knowledge for the page: it keeps store and index open while questions come.

A newer question of the same kind takes the place of an older one; answers come in the window's thread. Writing is not
done here: those are jobs of their own (`library_jobs`).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from core.errors import WardroundError
from desktop.operation import Explain, Operation, Progress

if TYPE_CHECKING:
    from desktop.state.knowledge_reader import KnowledgeReader
    from desktop.state.workbench import Workbench

POLL_S = 0.1  # how soon a closing window is noticed
IDLE_POLLS = 300  # without a question for so long, store and index are closed
Ask = Callable[["KnowledgeReader"], Any]


class _Question:
    def __init__(self, number: int, kind: str, ask: Ask) -> None:
        self.number, self.kind, self.ask = number, kind, ask


class KnowledgeDesk(QObject):
    """Questions to the knowledge. Each gets one answer or one sentence, unless a newer one of its kind came."""

    _answered = Signal(int, object)
    _refused = Signal(int, str)
    broken = Signal(str)  # the thread ended by a mistake of ours

    def __init__(self, bench: Workbench, explain: Explain, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench, self._explain = bench, explain
        self._questions: queue.SimpleQueue[_Question] = queue.SimpleQueue()
        self._newest: dict[str, int] = {}
        self._waiting: dict[int, tuple[Callable[[Any], object], Callable[[str], object]]] = {}
        self._count = 0
        self._thread: Operation | None = None
        self._answered.connect(self._on_answer)
        self._refused.connect(self._on_refusal)

    def ask(self, kind: str, ask: Ask, done: Callable[[Any], object], failed: Callable[[str], object]) -> None:
        """Ask for something; an unanswered question of the same kind is forgotten."""
        self._count += 1
        self._waiting.pop(self._newest.get(kind, 0), None)
        self._newest[kind] = self._count
        self._waiting[self._count] = (done, failed)
        self._questions.put(_Question(self._count, kind, ask))
        self._begin()

    @property
    def busy(self) -> bool:
        """Is an answer still to come?"""
        return bool(self._waiting)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = Operation(self._serve, self._explain)
            self._thread.done.connect(lambda _value: self._on_end(""))
            self._thread.cancelled.connect(lambda: self._on_end(""))
            self._thread.failed.connect(self._on_end)
            self._thread.start()

    def _serve(self, _progress: Progress, stop: threading.Event) -> None:
        """Answer until nobody asks for a while. Runs in the thread."""
        from desktop.state.knowledge_reader import open_reader

        with open_reader(self._bench) as reader:
            idle = 0
            while not stop.is_set() and idle < IDLE_POLLS:
                try:
                    question = self._questions.get(timeout=POLL_S)
                except queue.Empty:
                    idle += 1
                    continue
                idle = 0
                if self._newest.get(question.kind) == question.number:
                    self._answer(reader, question)

    def _answer(self, reader: KnowledgeReader, question: _Question) -> None:
        try:
            self._answered.emit(question.number, question.ask(reader))
        except WardroundError as error:
            self._refused.emit(question.number, error.text)

    def _on_answer(self, number: int, answer: object) -> None:
        done, _ = self._waiting.pop(number, (None, None))
        if done is not None:
            done(answer)

    def _on_refusal(self, number: int, sentence: str) -> None:
        _, failed = self._waiting.pop(number, (None, None))
        if failed is not None:
            failed(sentence)

    def _on_end(self, sentence: str) -> None:
        """The thread is over; what came too late for it is asked again, after a mistake it is given up."""
        self._thread = None
        if sentence:
            for number in tuple(self._waiting):
                self._on_refusal(number, sentence)
            self._questions = queue.SimpleQueue()
            self.broken.emit(sentence)
        elif self._waiting and not self._questions.empty():
            self._begin()
