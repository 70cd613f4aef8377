"""The worker process seen from the window: the same protocol as `core.runtime.client`, over QProcess and Qt signals.

Starts the worker when a run needs it, watches its heartbeat, restarts it after a crash, and climbs the stop ladder of
runtime.md section 5: ask at once, name the busy step after 2 s, end the process after 5 s. Knows no widget, no model.
"""

from __future__ import annotations

import os
import time

import msgspec
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from core.domain.notices import rung_notices
from core.errors import StoreError
from core.runtime import protocol, supervision
from core.runtime.client import worker_environment
from core.store.journal import Journal
from desktop.i18n import tr

NAME_BUSY_STEP_S = 2.0
TICK_MS = 1000
LADDER_MS = 250
KILL = 9  # SIGKILL
SLEPT_S = 5.0  # a tick this late means that the machine slept, not that the worker hangs
GOES_ON = "{why} It was started again and goes on from the last saved step."
SILENT = "The analysis process gave no sign of life and was ended."
KILLED = "The analysis process was ended by the system, as happens when memory runs out."
FAULTY = "The analysis process was stopped by a fault in a library (signal {n})."
LEFT = "The analysis process stopped unexpectedly (code {n})."
NOT_STARTED = "The analysis process could not be started. Restart Wardround, or run `wardround doctor` to see why."


class Engine(QObject):
    """One worker process; runs are executed one at a time, in the order asked for."""

    committed = Signal(str)  # run: a new row is in the journal
    delta = Signal(str, str)  # run, piece of model text
    alive = Signal(object, float)  # resident bytes of the worker, tokens a second
    card = Signal(object, object)  # used and whole memory of the graphics cards in bytes
    verifying = Signal(str, object, object)  # pack, bytes done, bytes in all
    loaded = Signal(str, str, str, float)  # pack, rung, reason, seconds that a run is expected to take
    rung_changed = Signal(str)  # sentence (N13)
    began = Signal(str)  # run
    ended = Signal(str, str)  # run, status
    restarted = Signal(str, str)  # run, sentence
    gave_up = Signal(str, str)  # run, sentence: the same step crashed the process three times
    faulted = Signal(str)  # sentence
    stopping = Signal(str, int)  # run, rung of the ladder: 0 asked, 1 still busy, 2 ended by force

    def __init__(self, command: list[str], *, journal: Journal, actor: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._command = command
        self._journal = journal
        self._actor = actor
        self._process: QProcess | None = None
        self._current = ""
        self._queue: list[str] = []
        self._fault = ""
        self._closing = False
        self._stalled = self._calm = self._retiring = self._silent = False
        self._stop_asked = 0.0
        self._stage = -1
        self._heard = self._ticked = time.monotonic()
        self._spoken = False
        self._watch = QTimer(self, interval=TICK_MS)
        self._watch.timeout.connect(self._look)
        self._ladder = QTimer(self, interval=LADDER_MS)
        self._ladder.timeout.connect(self._climb)
        self.error_lines = 0

    @property
    def current(self) -> str:
        """The run under way, or an empty text."""
        return self._current

    def pending(self, run_id: str) -> bool:
        """Is this run under way, or waiting for its turn?"""
        return run_id == self._current or run_id in self._queue

    @property
    def pid(self) -> int:
        """The worker's process id, 0 without one."""
        return int(self._process.processId()) if self._process else 0

    def execute(self, run_id: str) -> None:
        """Run (or resume) a queued run; waits its turn behind the one under way."""
        if self.pending(run_id):
            return
        self._queue.append(run_id)
        self._next()

    def stop(self) -> None:
        """Stop the run under way; the first rung is announced at once."""
        if not self._current or self._stage >= 0:
            return
        self._stop_asked = time.monotonic()
        self._advance(0)
        self._send(protocol.Cancel())
        self._ladder.start()

    def close(self) -> None:
        """End the worker and wait for it; nothing is restarted afterwards."""
        self._closing = True
        self._watch.stop()
        self._ladder.stop()
        self._queue.clear()
        process = self._process
        if process is None:
            return
        self._send(protocol.Shutdown())
        process.closeWriteChannel()
        if not process.waitForFinished(int(supervision.STOP_GRACE_S * 1000)):
            process.kill()
            process.waitForFinished(1000)
        self._process = None

    def _next(self) -> None:
        if self._current or self._closing or self._retires() or not self._queue:
            return
        self._current = self._queue.pop(0)
        self.began.emit(self._current)
        self._command_run()

    def _retires(self) -> bool:
        """Between two runs a worker that other programs brought to a halt is let go; the next one is calmer."""
        if self._stalled and not self._calm and self._process is not None:
            self._calm = self._retiring = True
            self._send(protocol.Shutdown())
            self._process.closeWriteChannel()
        return self._retiring

    def _command_run(self) -> None:
        self._fault = ""
        self._heard = time.monotonic()
        self._start()
        self._send(protocol.RunCommand(run=self._current))

    def _start(self) -> None:
        if self._process is not None:
            return
        process = QProcess(self)
        process.setProgram(self._command[0])
        process.setArguments(self._command[1:])
        environment = QProcessEnvironment()
        for name, value in worker_environment(os.environ, calm=self._calm).items():
            environment.insert(name, value)
        process.setProcessEnvironment(environment)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._count_errors)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        self._process = process
        self._spoken = False
        process.start()
        self._send(protocol.Hello(token=str(os.getpid())))
        self._watch.start()

    def _send(self, command: protocol.Command) -> None:
        if self._process is not None and self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.write(protocol.line(command))

    def _read(self) -> None:
        while self._process is not None and self._process.canReadLine():
            data = bytes(self._process.readLine().data())
            self._heard = time.monotonic()
            self._spoken = True
            try:
                notice = protocol.notice(data)
            except (msgspec.DecodeError, msgspec.ValidationError):
                continue
            self._tell(notice)

    def _tell(self, notice: protocol.Notice) -> None:
        match notice:
            case protocol.Seq(run=run):
                self.committed.emit(run)
            case protocol.Delta(run=run, text=text):
                self.delta.emit(run, text)
            case protocol.Alive(rss=rss, tok_s=speed, card_used=used, card_total=total):
                self.alive.emit(rss, speed)
                self.card.emit(used, total)
            case protocol.Verify(pack=pack, done=done, total=total):
                self.verifying.emit(pack, done, total)
            case protocol.Loaded(pack=pack, rung=rung, reason=reason, expected_s=seconds):
                self.loaded.emit(pack, rung, reason, seconds)
            case protocol.Rung(to_rung=rung, reason=reason, expected_s=seconds):
                self.rung_changed.emit(" ".join(rung_notices(rung, reason, seconds)))
            case protocol.Stalled():
                self._stalled = True
            case protocol.Fault(detail=detail):
                self._fault = detail
                self.faulted.emit(detail)
            case protocol.Ended(run=run, status=status):
                self._rest(run, status)

    def _rest(self, run: str, status: str) -> None:
        """The run came to rest; the next one gets its turn."""
        if run != self._current:
            return
        self._current = ""
        self._stage = -1
        self._ladder.stop()
        self.ended.emit(run, status)
        self._next()

    def _count_errors(self) -> None:
        """The worker's error output is counted, never kept: native libraries may print case text into it."""
        if self._process is not None:
            self.error_lines += bytes(self._process.readAllStandardError().data()).count(b"\n")

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error != QProcess.ProcessError.FailedToStart:
            return
        self._forget()
        self.faulted.emit(tr(NOT_STARTED))
        if self._current:
            self._rest(self._current, self._journal.run(self._current).status)

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._forget()
        self._retiring = False
        if self._closing or not self._current:
            self._next()
            return
        gave_up = code == 1 and status == QProcess.ExitStatus.NormalExit and bool(self._fault)
        why = self._why(code, status)
        try:
            self._after_end(gave_up, why)
        except StoreError as error:
            self.faulted.emit(error.text)
            self._rest(self._current, "failed")

    def _why(self, code: int, status: QProcess.ExitStatus) -> str:
        """How the worker ended, for the person. On Unix the code of a crash is the number of its signal."""
        silent, self._silent = self._silent, False
        if silent:
            return tr(SILENT)
        if status == QProcess.ExitStatus.NormalExit:
            return tr(LEFT, n=code)
        return tr(KILLED) if code == KILL else tr(FAULTY, n=code)

    def _after_end(self, gave_up: bool, why: str) -> None:
        """What the end of the worker means for the run under way."""
        run = self._current
        if self._stage >= 0:
            supervision.stopped_by_force(self._journal, run, self._actor)
            self.committed.emit(run)
            self._rest(run, "stopped")
        elif gave_up:
            self._rest(run, self._journal.run(run).status)
        elif supervision.after_crash(self._journal, run, self._actor) == "stop":
            self.committed.emit(run)
            self.gave_up.emit(run, f"{why} {tr(supervision.POISON)}")
            self._rest(run, "failed")
        else:
            self.restarted.emit(run, tr(GOES_ON, why=why))
            self._command_run()

    def _forget(self) -> None:
        process, self._process = self._process, None
        self._watch.stop()
        if process is not None:
            process.deleteLater()

    def _look(self) -> None:
        """Heartbeat watch: a silent worker is ended, which leads to restart and resume (runtime.md section 6)."""
        now = time.monotonic()
        slept, self._ticked = now - self._ticked > SLEPT_S, now
        if slept:
            self._heard = now
        if self._process is not None and now - self._heard > self._patience():
            self._silent = True
            self._process.kill()

    def _patience(self) -> float:
        if not self._spoken:
            return supervision.START_SILENCE_S
        return supervision.BUSY_SILENCE_S if self._current else supervision.IDLE_SILENCE_S

    def _climb(self) -> None:
        """The stop ladder after the first rung. A cancel that came before the run began is said again."""
        waited = time.monotonic() - self._stop_asked
        if waited >= supervision.STOP_GRACE_S:
            self._advance(2)
            self._ladder.stop()
            if self._process is not None:
                self._process.kill()
        elif waited >= NAME_BUSY_STEP_S:
            self._advance(1)
        if waited < supervision.STOP_GRACE_S and round(waited * 1000) % 1000 < LADDER_MS:
            self._send(protocol.Cancel())

    def _advance(self, stage: int) -> None:
        if stage > self._stage:
            self._stage = stage
            self.stopping.emit(self._current, stage)
