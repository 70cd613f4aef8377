"""The worker's loop: commands in, runs executed one at a time, notices out.

One engine thread (the caller's) does all work; a reader thread owns the commands; a heartbeat thread says `alive` once
a second. Knows the ports, not the concrete models.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from core import codec
from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.domain.ports import Backbone, Knowledge, Retriever, Tool
from core.errors import Cancelled, StoreError, Waiting, WardroundError
from core.log import Safe, logger
from core.runtime import protocol
from core.runtime.resident import NO_MODEL, Loader, Resident
from core.runtime.run import REPLAY, Hooks, Run
from core.store.cases import Cases
from core.store.journal import RunRow

_Work = protocol.RunCommand | protocol.Load | protocol.Unload | protocol.Plan | protocol.Embed
Send = Callable[[protocol.Notice], None]
__all__ = ["NO_MODEL", "Parts", "Send", "Service", "Workflow"]
HEARTBEAT_S = 1.0


class Workflow(msgspec.Struct, frozen=True):
    """A workflow under its name and version."""

    name: str
    version: str
    function: Callable[[Case, Run], Assessment]


class Parts(Loader, Protocol):
    """What the composition root provides."""

    @property
    def cases(self) -> Cases: ...

    @property
    def retriever(self) -> Retriever: ...

    def knowledge(self, moment: str) -> Knowledge:
        """What a run queued at that moment knows besides the case."""
        ...

    def workflow(self, name: str) -> Workflow: ...

    def tools(self, case: Case) -> dict[str, Tool]: ...

    def embed(self, on_texts: Callable[[int, int], None], stop: threading.Event) -> int:
        """Make every missing vector of the knowledge; hears texts done and in all."""
        ...

    def rss(self) -> int: ...

    def card(self) -> tuple[int, int]:
        """Used and whole memory of the graphics cards in bytes; zeros without one, or while no model was loaded."""
        ...

    def crash_file(self, error: BaseException) -> str: ...


class _RunHooks(Hooks):
    def __init__(self, service: Service, run_id: str) -> None:
        self._service = service
        self._run_id = run_id

    def committed(self, row: ev.Recorded) -> None:
        self._service.committed(row)

    def delta(self, text: str) -> None:
        self._service.send(protocol.Delta(run=self._run_id, text=text))

    def effect(self, key: str) -> None:
        self._service.parts.effect(key)


class Service:
    """Serves commands until `shutdown` or the end of input."""

    def __init__(self, parts: Parts, send: Send) -> None:
        self.parts = parts
        self._send = send
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._over = threading.Event()
        self._closing = False
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._model = Resident(parts, self.send, self._stop)
        self._busy = False
        self._tokens_per_second = 0.0

    def send(self, notice: protocol.Notice) -> None:
        """One notice out; any thread."""
        with self._lock:
            self._send(notice)

    def serve(self, lines: Iterable[bytes]) -> None:
        """Work until the input ends."""
        reader = threading.Thread(target=self._read, args=(lines,), name="reader", daemon=True)
        pulse = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        reader.start()
        pulse.start()
        while (work := self._work.get()) is not None and not self._closing:
            self._busy = True
            self.execute(work.run) if isinstance(work, protocol.RunCommand) else self._arrange(work)
        self._over.set()
        self._model.close()
        pulse.join()

    def execute(self, run_id: str) -> None:
        """One run, to its end or its next rest."""
        try:
            status = self._execute(run_id)
        except WardroundError as error:
            self.send(protocol.Fault(code=error.code, detail=error.text))
            status = "failed"
        self._be_idle(run_id)
        self.send(protocol.Ended(run=run_id, status=status))

    def _arrange(self, command: protocol.Load | protocol.Unload | protocol.Plan | protocol.Embed) -> None:
        """A command about models, between two runs."""
        try:
            if isinstance(command, protocol.Embed):
                self.parts.embed(self._embedded, self._stop)
            else:
                self._model.obey(command)
        except Cancelled:
            pass  # told below
        except WardroundError as error:
            self.send(protocol.Fault(code=error.code, detail=error.text))
        self._be_idle("")

    def _embedded(self, done: int, total: int) -> None:
        self.send(protocol.Embedded(done=done, total=total))

    def _be_idle(self, run_id: str) -> None:
        """A cancel that comes later is for nobody."""
        self._busy = False
        if self._stop.is_set():
            self._stop.clear()
            self.send(protocol.Cancelled(run=run_id))

    def _execute(self, run_id: str) -> str:
        row = self.parts.journal.run(run_id)
        if row.status in ("finished", "failed"):
            return row.status
        try:
            return self._continue(row)
        except StoreError as error:
            if error.code == REPLAY:  # no program of this version can continue it: not to be tried at every resume
                self._commit(row, ev.RunFailed(code=error.code, text=error.text), REPLAY)
            raise

    def _continue(self, row: RunRow) -> str:
        workflow = self.parts.workflow(row.workflow)
        if row.version != workflow.version:
            raise StoreError(
                f"This run was made by version {row.version} of {row.workflow}; it can be read, not continued.",
                code=REPLAY,
            )
        case = self.parts.cases.load(row.case_id, row.revision)
        return self._attempt(row, case, workflow)

    def _attempt(self, row: RunRow, case: Case, workflow: Workflow) -> str:
        try:
            if row.settings.fallback != "announce":
                self._model_of(row)  # what the policy forbids ends here: nothing is started
            self._open(row, case)
            run = self._run(row, case)
            assessment = workflow.function(case, run)
        except Waiting:
            return "waiting"
        except Cancelled as stopped:
            done = len(self.parts.journal.events(row.id))
            return self._rest(row, ev.RunCancelled(step=stopped.step, steps_done=done), f"stop{done}", "stopped")
        except StoreError:
            raise
        except WardroundError as error:
            return self._rest(row, ev.RunFailed(code=error.code, text=error.text), "failed", "failed")
        except Exception as error:
            name = self.parts.crash_file(error)
            logger("worker").error("run ended by a bug, crash file %s", Safe(name))
            text = f"The program made a mistake; the case is intact. Details are in the file {name}."
            return self._rest(row, ev.RunFailed(code="bug", text=text), "failed", "failed")
        self._rest(row, ev.RunFinished(assessment=assessment, reason="complete"), "finish", "finished")
        self._model.measured(row.id)
        return "finished"

    def _open(self, row: RunRow, case: Case) -> None:
        """The run's first two events, or the count of a resume."""
        known = {event.key for event in self.parts.journal.events(row.id)}
        if known:
            self.parts.journal.resumed(row.id, row.actor)
        if "case" not in known:
            items = tuple(item.id for item in case.items)
            opened = ev.CaseOpened(case=case.id, revision=case.revision, items=items, task=row.task)
            self._commit(row, opened, "case")
        if "start" not in known:
            self._commit(row, _started(row), "start")

    def _run(self, row: RunRow, case: Case) -> Run:
        return Run(
            row,
            self.parts.journal,
            backbone=self._model_of(row),
            retriever=self.parts.retriever,
            knowledge=self.parts.knowledge(row.created_at),
            tools=self.parts.tools(case),
            hooks=_RunHooks(self, row.id),
            stop=self._stop,
        )

    def _model_of(self, row: RunRow) -> Backbone | None:
        return self._model.for_run(row, lambda event, key: self._commit(row, event, key))

    def _rest(self, row: RunRow, event: ev.Event, key: str, status: str) -> str:
        self._commit(row, event, key)
        return status

    def _commit(self, row: RunRow, event: ev.Event, key: str) -> None:
        self.committed(self.parts.journal.append(row.id, event, branch="", key=key, actor=row.actor))

    def committed(self, row: ev.Recorded) -> None:
        """A row is in the journal: tell the window, keep the speed for the heartbeat."""
        if isinstance(row.event, ev.ModelReplied):
            self._tokens_per_second = _speed(row.event)
        self.send(protocol.Seq(run=row.run_id, seq=row.seq))

    def _read(self, lines: Iterable[bytes]) -> None:
        """Reader thread: cancel takes effect at once, runs wait their turn."""
        for data in lines:
            try:
                command = protocol.command(data)
            except (msgspec.DecodeError, msgspec.ValidationError):
                self.send(protocol.Fault(code="protocol", detail="The worker received a line it does not know."))
                continue
            if isinstance(command, protocol.Shutdown):
                break
            self._obey(command)
        self._closing = True
        self._stop.set()
        self._work.put(None)

    def _obey(self, command: protocol.Command) -> None:
        if isinstance(command, _Work):
            self._work.put(command)
        elif isinstance(command, protocol.Cancel) and self._busy:
            self._stop.set()
        elif isinstance(command, protocol.Ping):
            self.send(self._alive())

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_S):
            self.send(self._alive())

    def _alive(self) -> protocol.Alive:
        used, total = self.parts.card()
        return protocol.Alive(
            rss=self.parts.rss(),
            tok_s=round(self._tokens_per_second, 1),
            busy=self._busy,
            card_used=used,
            card_total=total,
        )


def _started(row: RunRow) -> ev.RunStarted:
    return ev.RunStarted(
        workflow=row.workflow,
        version=row.version,
        mode=row.mode,
        seed=row.seed,
        settings_sha256=codec.digest(row.settings),
        profile=row.settings.profile,
        backbone=row.backbone,
    )


def _speed(event: ev.ModelReplied) -> float:
    records = [reply.record for reply in event.replies] + ([event.scores.record] if event.scores else [])
    seconds = sum(record.ms_prefill + record.ms_decode for record in records) / 1000
    tokens = sum(record.tokens_in + record.tokens_out for record in records)
    return tokens / seconds if seconds else 0.0
