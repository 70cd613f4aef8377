"""One piece of work beside the window's thread: progress, cancel, a result, or one sentence of what went wrong.

The job is a plain function `(progress, stop) -> value`; it runs in a thread of its own and must open its own stores.
All signals arrive in the window's thread. Knows nothing of what is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from core.errors import Cancelled, WardroundError

Progress = Callable[[int, int, str], None]
Job = Callable[[Progress, threading.Event], Any]
Explain = Callable[[BaseException], str]


class _Thread(QThread):
    moved = Signal(int, int, str)
    over = Signal(str, object)

    def __init__(self, job: Job, stop: threading.Event, explain: Explain) -> None:
        super().__init__()
        self._job, self._stop, self._explain = job, stop, explain

    def run(self) -> None:
        try:
            outcome: tuple[str, object] = ("done", self._job(self.moved.emit, self._stop))
        except Cancelled:
            outcome = ("cancelled", None)
        except WardroundError as error:
            outcome = ("failed", error.text)
        except Exception as error:
            outcome = ("failed", self._explain(error))
        self._job = lambda progress, stop: None  # what the job held is let go in this thread
        self.over.emit(*outcome)


class Operation(QObject):
    """A job under way. Exactly one of `done`, `failed`, `cancelled` is sent, once."""

    progressed = Signal(int, int, str)
    done = Signal(object)
    failed = Signal(str)
    cancelled = Signal()
    _running: set[Operation] = set()

    def __init__(self, job: Job, explain: Explain) -> None:
        super().__init__()
        self._stop = threading.Event()
        self._thread = _Thread(job, self._stop, explain)
        self._thread.moved.connect(self.progressed)
        self._thread.over.connect(self._finish)

    def start(self) -> Operation:
        Operation._running.add(self)
        self._thread.start()
        return self

    def cancel(self) -> None:
        """Ask the job to stop at its next step."""
        self._stop.set()

    @staticmethod
    def end_all() -> None:
        """Cancel what runs and wait for it, and say no more: the window is closing, nothing may follow on a result."""
        for operation in tuple(Operation._running):
            operation.blockSignals(True)
            operation.cancel()
            operation._thread.wait()
        Operation._running.clear()

    def _finish(self, how: str, value: object) -> None:
        self._thread.wait()
        Operation._running.discard(self)
        {"done": self.done.emit, "failed": self.failed.emit, "cancelled": lambda _: self.cancelled.emit()}[how](value)
