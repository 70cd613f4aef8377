"""The run on the screen: its journal folded as it grows, the worker's notices, and the clinician's acts on it.

Same fold as everywhere (`core.domain.memory`). Knows the engine by its signals; knows no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.memory import WorkingMemory, fold
from core.domain.notices import rung_notices
from core.errors import StoreError, WardroundError
from desktop.i18n import tr
from desktop.state.run_items import EvidenceRows, Ranking, Steps

if TYPE_CHECKING:
    from core.domain.evidence import Answer
    from core.store.journal import Journal, RunRow
    from desktop.engine import Engine

COALESCE_MS = 30
STOPPING = (
    "Stopping…",
    "Still stopping: busy with “{step}”",
    "The analysis process was ended by force. Nothing that was saved is lost.",
)


class Pulse(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker says of itself between two events; never stored."""

    rss: int = 0
    speed: float = 0.0
    pack: str = ""
    verified: int = 0
    to_verify: int = 0
    text: str = ""
    rung: str = ""
    expected_s: float = 0.0


class LiveRun(QObject):
    """One run, or none. `changed` follows every fold, `pulsed` a notice, `settled` a run that came to rest."""

    changed = Signal()
    pulsed = Signal()
    settled = Signal(str, str)  # run, status; also of a run that is not on the screen
    told = Signal(str, str)  # tone, sentence

    def __init__(self, journal: Journal, engine: Engine, actor: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._journal = journal
        self._engine = engine
        self._actor = actor
        self.row: RunRow | None = None
        self.memory = WorkingMemory()
        self.pulse = Pulse()
        self.stopping = ""
        self.steps = Steps(self)
        self.ranking = Ranking(self)
        self.evidence = EvidenceRows(self)
        self._soon = QTimer(self, interval=COALESCE_MS, singleShot=True)
        self._soon.timeout.connect(self.refresh)
        self._listen()

    def _listen(self) -> None:
        engine = self._engine
        engine.committed.connect(self._on_committed)
        engine.alive.connect(self._on_alive)
        engine.verifying.connect(self._on_verify)
        engine.loaded.connect(self._on_loaded)
        engine.rung_changed.connect(lambda sentence: self.told.emit("serious", sentence))
        engine.delta.connect(self._on_delta)
        engine.began.connect(self._on_began)
        engine.ended.connect(self._on_ended)
        engine.stopping.connect(self._on_stopping)
        engine.faulted.connect(self._on_faulted)

    @property
    def run_id(self) -> str:
        return self.row.id if self.row else ""

    @property
    def active(self) -> bool:
        """Is this run in the worker or in its queue?"""
        return bool(self.row) and self._engine.pending(self.run_id)

    @property
    def status(self) -> str:
        """The run's state for people: the worker's truth before the journal's last word."""
        if not self.row:
            return ""
        if self.active:
            return "running" if self._engine.current == self.run_id else "queued"
        if self.memory.status in ("running", "queued"):
            return "stopped"
        return self.memory.status

    def show(self, row: RunRow | None, memory: WorkingMemory | None = None) -> None:
        """Put a run (or none) on the screen; `memory` is its fold so far where it is known already."""
        self.row = row
        self.memory = memory or WorkingMemory()
        self.stopping = ""
        self.pulse = msgspec.structs.replace(self.pulse, text="", pack="", verified=0, to_verify=0)
        self._spread()
        self.refresh()

    def refresh(self) -> None:
        """Read the rows that are new and fold them."""
        if self.row is None:
            return
        try:
            fresh = self._journal.legible(self.row.id, self.memory.last_n)
        except StoreError as error:
            self.told.emit("critical", error.text)
            return
        if fresh:
            self.memory = fold(fresh, self.memory)
            self.pulse = msgspec.structs.replace(self.pulse, text="", pack="", verified=0, to_verify=0)
        self._spread()

    def _spread(self) -> None:
        memory = self.memory
        self.steps.show(memory.steps)
        self.ranking.show(memory.differential.hypotheses if memory.differential else ())
        self.evidence.show(memory.assessment.evidence if memory.assessment else memory.evidence)
        self.changed.emit()

    def begin(self, row: RunRow) -> None:
        """Show a run that was just queued and hand it to the worker."""
        self.show(row)
        self.resume()

    def resume(self) -> None:
        """Hand the run on the screen to the worker; what is in the journal is not done again."""
        if self.row is not None:
            self._engine.execute(self.row.id)
            self.changed.emit()

    def stop(self) -> None:
        self._engine.stop()

    def answer(self, answers: tuple[Answer, ...]) -> None:
        """Commit the clinician's answers and go on."""
        try:
            self._journal.answer(self.run_id, answers, self._actor)
        except WardroundError as error:
            self.told.emit("critical", error.text)
            return
        self.refresh()
        self.resume()

    def _on_committed(self, run: str) -> None:
        if run == self.run_id and not self._soon.isActive():
            self._soon.start()

    def _on_alive(self, rss: int, speed: float) -> None:
        self.pulse = msgspec.structs.replace(self.pulse, rss=rss, speed=speed)
        self.pulsed.emit()

    def _on_verify(self, pack: str, done: int, total: int) -> None:
        self.pulse = msgspec.structs.replace(self.pulse, pack=pack, verified=done, to_verify=total)
        self.pulsed.emit()

    def _on_loaded(self, _pack: str, rung: str, _reason: str, expected_s: float) -> None:
        self.pulse = msgspec.structs.replace(self.pulse, rung=rung, expected_s=expected_s)
        self.pulsed.emit()

    @property
    def badge(self) -> str:
        """Where the model runs: a fall that the journal remembers, else the expected time while it works (N13, N4)."""
        memory, pulse = self.memory, self.pulse
        if memory.rung_reason:
            return "   ".join(rung_notices(memory.rung, memory.rung_reason, memory.expected_s))
        working = self.active and memory.backbone
        return "   ".join(rung_notices(pulse.rung, "", pulse.expected_s)) if working else ""

    def _on_delta(self, run: str, text: str) -> None:
        if run == self.run_id:
            self.pulse = msgspec.structs.replace(self.pulse, text=(self.pulse.text + text)[-400:])
            self.pulsed.emit()

    def _on_began(self, run: str) -> None:
        self.stopping = ""
        self.changed.emit()

    def _on_ended(self, run: str, status: str) -> None:
        self.stopping = ""
        if run == self.run_id:
            self.refresh()
        self.settled.emit(run, status)

    def _on_stopping(self, run: str, stage: int) -> None:
        busy = next((step.text for step in reversed(self.memory.steps) if not step.done), "")
        busy = busy or (self.memory.steps[-1].text if self.memory.steps else tr("loading the model"))
        self.stopping = tr(STOPPING[stage], step=busy) if stage == 1 else tr(STOPPING[stage])
        self.changed.emit()

    def _on_faulted(self, sentence: str) -> None:
        self.told.emit("critical", sentence)
