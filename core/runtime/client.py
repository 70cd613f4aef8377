"""A worker process from the outside, without Qt: start, command, listen, restart after a crash.

Used by every headless command; the window's twin is `desktop/engine.py`. Knows no model.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO

import msgspec

from core.domain.pack import FEWER_THREADS
from core.errors import EXIT_ACT, ModelError, UserError
from core.runtime import protocol, supervision
from core.store.journal import Journal

OnNotice = Callable[[protocol.Notice], None]
TICK_S = 0.1
CANCEL_AGAIN_S = 1.0  # a cancel that came before the run began was for nobody


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a worker may be silent, before its first word and after it, and how long a stop may take; seconds."""

    start: float = supervision.START_SILENCE_S
    busy: float = supervision.BUSY_SILENCE_S
    stop: float = supervision.STOP_GRACE_S


class _Watch:
    """How long the worker has been silent, and how long a stop has been asked for."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._heard = time.monotonic()
        self._spoken = False
        self._stop_since = 0.0
        self._asked = 0.0

    def hear(self) -> None:
        self._heard = time.monotonic()
        self._spoken = True

    def wants_stop(self) -> bool:
        """Is it time to say (or say again) that the run shall stop?"""
        now = time.monotonic()
        self._stop_since = self._stop_since or now
        if now - self._asked < CANCEL_AGAIN_S:
            return False
        self._asked = now
        return True

    def over(self) -> bool:
        """Has patience ended?"""
        now = time.monotonic()
        silence = self._patience.busy if self._spoken else self._patience.start
        too_slow = self._stop_since > 0 and now - self._stop_since > self._patience.stop
        return too_slow or now - self._heard > silence


class WorkerClient:
    """One worker process and its runs, one at a time."""

    def __init__(
        self,
        command: list[str],
        *,
        journal: Journal,
        actor: str,
        on_notice: OnNotice,
        patience: Patience | None = None,
    ) -> None:
        self._command = command
        self._patience = patience or Patience()
        self._journal = journal
        self._actor = actor
        self._on_notice = on_notice
        self._process: subprocess.Popen[bytes] | None = None
        self._notices: queue.SimpleQueue[protocol.Notice | None] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None
        self._calm = self._stalled = False

    def run(self, run_id: str, stop: threading.Event | None = None) -> str:
        """Execute a run to its end or next rest; restarts the worker after a crash. Returns the run's status.

        `stop`, set by anyone at any time, stops the run: at its next step, or by ending the worker after 5 s.

        Raises:
            ModelError: the worker could not be started at all.
            UserError: the worker gave up and said what the person must do.
        """
        stop = stop or threading.Event()
        self._calm_down()
        while True:
            status = self._one_attempt(run_id, stop)
            if status is not None:
                return status
            if stop.is_set():
                supervision.stopped_by_force(self._journal, run_id, self._actor)
                return "stopped"
            if supervision.after_crash(self._journal, run_id, self._actor) == "stop":
                return "failed"

    def _calm_down(self) -> None:
        """A worker that was brought to a halt by other programs is started again between two runs, calmer."""
        if self._stalled and not self._calm:
            self.close()
            self._calm = True

    def close(self) -> None:
        """End the worker."""
        process = self._process
        if process is None:
            return
        self._send(protocol.Shutdown())
        try:
            process.wait(timeout=self._patience.stop)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._forget()

    def _one_attempt(self, run_id: str, stop: threading.Event) -> str | None:
        """The status the run came to, or None when the worker died on the way."""
        self._start()
        self._send(protocol.RunCommand(run=run_id))
        watch = _Watch(self._patience)
        fault: protocol.Fault | None = None
        while True:
            try:
                item = self._notices.get(timeout=TICK_S)
            except queue.Empty:
                self._look(watch, stop)
                continue
            watch.hear()
            if item is None:
                self._bury(fault)
                return None
            if isinstance(item, protocol.Fault):
                fault = item
            self._stalled = self._stalled or isinstance(item, protocol.Stalled)
            if isinstance(item, protocol.Ended) and item.run == run_id:
                return item.status
            self._on_notice(item)
            self._look(watch, stop)

    def _bury(self, fault: protocol.Fault | None) -> None:
        """The worker is gone. Was it a crash, or did it leave with a sentence for the person?"""
        process = self._process
        self._forget()
        if process is not None and process.returncode == EXIT_ACT and fault is not None:
            raise UserError(fault.detail, code=fault.code)

    def _look(self, watch: _Watch, stop: threading.Event) -> None:
        """Pass on a wish to stop; end a worker that is silent, or that does not stop."""
        if stop.is_set() and watch.wants_stop():
            self._send(protocol.Cancel())
        if watch.over():
            self._kill()

    def _start(self) -> None:
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=worker_environment(os.environ, calm=self._calm),
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
            return  # the reader thread says that it is gone

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _forget(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.wait()
        if self._reader is not None:
            self._reader.join()
            self._reader = None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)


def _close_quietly(stream: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):  # unsent bytes for a worker that is gone
        stream.close()


def _listen(process: subprocess.Popen[bytes], notices: queue.SimpleQueue[protocol.Notice | None]) -> None:
    """Reader thread: every line of the worker, then None at its end."""
    if process.stdout is None:
        return
    for data in process.stdout:
        try:
            notices.put(protocol.notice(data))
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
    notices.put(None)


def worker_environment(environment: Mapping[str, str], *, calm: bool = False) -> dict[str, str]:
    """The worker's environment: offline switches, and passive OpenMP waiting on small machines (runtime.md 4.7).

    `calm`, after a stall: passive waiting on any machine, and one thread fewer.
    """
    changed = dict(environment)
    changed.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    if calm or (os.cpu_count() or 1) <= 4:
        changed["OMP_WAIT_POLICY"] = "passive"
    if calm:
        changed[FEWER_THREADS] = "1"
    return changed
