"""A worker process from the outside, without Qt: start, command, listen, restart after a crash.

Used by every headless command; the window's twin is `desktop/engine.py`. Knows no model.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping

import msgspec

from core.errors import ModelError
from core.runtime import protocol, supervision
from core.store.journal import Journal

OnNotice = Callable[[protocol.Notice], None]
_EXITED = object()


class WorkerClient:
    """One worker process and its runs, one at a time."""

    def __init__(self, command: list[str], *, journal: Journal, actor: str, on_notice: OnNotice) -> None:
        self._command = command
        self._journal = journal
        self._actor = actor
        self._on_notice = on_notice
        self._process: subprocess.Popen[bytes] | None = None
        self._notices: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None

    def run(self, run_id: str) -> str:
        """Execute a run to its end or next rest; restarts the worker after a crash. Returns the run's status.

        Raises:
            ModelError: the worker could not be started at all.
        """
        while True:
            status = self._one_attempt(run_id)
            if status is not None:
                return status
            if supervision.after_crash(self._journal, run_id, self._actor) == "stop":
                return "failed"

    def cancel(self) -> None:
        """Ask the run under way to stop; any thread."""
        self._send(protocol.Cancel())

    def close(self) -> None:
        """End the worker."""
        process = self._process
        if process is None:
            return
        self._send(protocol.Shutdown())
        try:
            process.wait(timeout=supervision.STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._forget()

    def _one_attempt(self, run_id: str) -> str | None:
        """The status the run came to, or None when the worker died on the way."""
        self._start()
        self._send(protocol.RunCommand(run=run_id))
        heard = time.monotonic()
        while True:
            try:
                item = self._notices.get(timeout=1.0)
            except queue.Empty:
                if time.monotonic() - heard > supervision.BUSY_SILENCE_S:
                    self._kill()
                continue
            heard = time.monotonic()
            if item is _EXITED:
                self._forget()
                return None
            if isinstance(item, protocol.Ended) and item.run == run_id:
                return item.status
            self._on_notice(item)  # type: ignore[arg-type]

    def _start(self) -> None:
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=worker_environment(os.environ),
            )
        except OSError as error:
            raise ModelError("The analysis process could not be started.", code="worker start") from error
        self._notices = queue.SimpleQueue()
        self._reader = threading.Thread(
            target=_listen, args=(self._process, self._notices), name="worker-notices", daemon=True
        )
        self._reader.start()
        self._send(protocol.Hello(token=str(os.getpid())))

    def _send(self, command: protocol.Command) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.write(protocol.line(command))
            process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _forget(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)
        if self._reader is not None:
            self._reader.join()
            self._reader = None


def _close_quietly(stream: object) -> None:
    try:
        stream.close()  # type: ignore[attr-defined]
    except BrokenPipeError:
        return


def _listen(process: subprocess.Popen[bytes], notices: queue.SimpleQueue[object]) -> None:
    """Reader thread: every line of the worker, then its end."""
    if process.stdout is None:
        return
    for data in process.stdout:
        try:
            notices.put(protocol.notice(data))
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
    notices.put(_EXITED)


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment: offline switches, and passive OpenMP waiting on small machines (runtime.md 4.7)."""
    changed = dict(environment)
    changed.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    if (os.cpu_count() or 1) <= 4:
        changed["OMP_WAIT_POLICY"] = "passive"
    return changed
