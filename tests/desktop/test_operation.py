"""Work beside the window's thread: results, progress, cancel and mistakes arrive as signals in the window's thread."""

from __future__ import annotations

import threading
import time
from typing import Any

from pytestqt.qtbot import QtBot

from core.errors import Cancelled, UserError
from desktop.operation import Operation, Progress

PATIENCE = 5_000


def explain(error: BaseException) -> str:
    return f"mistake {type(error).__name__}"


def test_result_and_progress_arrive_in_the_windows_thread(qtbot: QtBot) -> None:
    threads: list[Any] = []

    def job(progress: Progress, stop: threading.Event) -> str:
        threads.append(threading.current_thread())
        progress(1, 2, "half")
        return "done"

    operation = Operation(job, explain)
    moved: list[tuple[int, int, str]] = []
    operation.progressed.connect(lambda *step: moved.append(step))
    operation.progressed.connect(lambda *_: threads.append(threading.current_thread()))
    with qtbot.waitSignal(operation.done, timeout=PATIENCE) as heard:
        operation.start()
    assert heard.args == ["done"]
    assert moved == [(1, 2, "half")]
    assert threads[1] is threading.main_thread()
    assert threads[0] is not threading.main_thread()


def test_error_for_the_person_is_its_own_sentence(qtbot: QtBot) -> None:
    def job(progress: Progress, stop: threading.Event) -> None:
        raise UserError("The folder is empty.")

    with qtbot.waitSignal(Operation(job, explain).start().failed, timeout=PATIENCE) as heard:
        pass
    assert heard.args == ["The folder is empty."]


def test_mistake_of_ours_is_explained(qtbot: QtBot) -> None:
    with qtbot.waitSignal(Operation(lambda progress, stop: 1 / 0, explain).start().failed, timeout=PATIENCE) as heard:
        pass
    assert heard.args == ["mistake ZeroDivisionError"]


def test_cancel_reaches_the_job(qtbot: QtBot) -> None:
    def job(progress: Progress, stop: threading.Event) -> None:
        if stop.wait(5):
            raise Cancelled("job")

    operation = Operation(job, explain).start()
    with qtbot.waitSignal(operation.cancelled, timeout=PATIENCE):
        operation.cancel()
    assert operation not in Operation._running


def test_closing_waits_for_what_runs(qtbot: QtBot) -> None:
    ended: list[bool] = []

    def job(progress: Progress, stop: threading.Event) -> None:
        stop.wait(5)
        time.sleep(0.05)
        ended.append(True)

    Operation(job, explain).start()
    Operation.end_all()
    assert ended == [True]


def test_nothing_follows_on_a_result_when_the_window_closes(qtbot: QtBot) -> None:
    """A thread that a late result began would still run when Qt takes its object away, and end the process."""
    began: list[str] = []

    def first(progress: Progress, stop: threading.Event) -> None:
        stop.wait(PATIENCE / 1000)

    operation = Operation(first, explain)
    operation.done.connect(lambda _: began.append("another"))
    operation.start()
    Operation.end_all()
    qtbot.wait(50)
    assert began == []
