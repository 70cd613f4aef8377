"""Every run of a case in a few words each, and what is marked for comparison. Knows the journal by its methods.

A run's time of work is that between its events, without the time in which it waited for a person or lay stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from core.domain import event as ev
from core.domain.memory import WorkingMemory, fold
from core.domain.notices import RUNGS
from desktop.i18n import tr
from desktop.state import words

if TYPE_CHECKING:
    from core.store.journal import RunRow
    from desktop.state.jobs import Job, Progress
    from desktop.state.workbench import Stores, Workbench

Index = QModelIndex | QPersistentModelIndex
RUN = int(Qt.ItemDataRole.UserRole) + 1
MARKED = int(Qt.ItemDataRole.UserRole) + 2
MOST_MARKED = 2
RESTS = (ev.QuestionAsked, ev.RunCancelled, ev.RunFailed, ev.RunFinished)
_ROOT = QModelIndex()


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run as the list shows it. `headline`: its conclusion, or why there is none; `seconds` of work."""

    id: str
    case_id: str
    question: str
    created_at: str
    revision: int
    workflow: str
    backbone: str
    status: str
    rung: str = ""
    signed_by: str = ""
    headline: str = ""
    seconds: float = 0.0


def list_runs(bench: Workbench, case_id: str) -> Job[tuple[RunSummary, ...]]:
    """Every run of a case, newest first."""

    def read(progress: Progress, stop: threading.Event) -> tuple[RunSummary, ...]:
        stores = bench.open_stores()
        with closing(stores.database):
            return tuple(_summary(stores, row) for row in stores.journal.runs(case_id))

    return read


def _summary(stores: Stores, row: RunRow) -> RunSummary:
    events = stores.journal.legible(row.id)
    return summarise(row, fold(events), events)


def summarise(row: RunRow, memory: WorkingMemory, events: Sequence[ev.Recorded]) -> RunSummary:
    """A run in a few words, from its row, its fold and its events."""
    return RunSummary(
        id=row.id,
        case_id=row.case_id,
        question=row.task.question,
        created_at=row.created_at,
        revision=row.revision,
        workflow=f"{row.workflow} {row.version}",
        backbone="" if row.backbone == "none" else row.backbone,
        status=memory.status if events else row.status,
        rung=memory.rung,
        signed_by=memory.signed_by,
        headline=_headline(memory),
        seconds=worked(events),
    )


def _headline(memory: WorkingMemory) -> str:
    if memory.assessment is not None:
        return memory.assessment.headline.text
    if memory.question is not None:
        return tr("Asks: {n}", n=words.counted(len(memory.question.gaps), "thing"))
    return memory.error


def worked(events: Sequence[ev.Recorded]) -> float:
    """Seconds between the events of a run, without those that begin with a question or with an end."""
    pairs = zip(events, events[1:], strict=False)
    return sum(_between(one.at, other.at) for one, other in pairs if not isinstance(one.event, RESTS))


def _between(start: str, end: str) -> float:
    try:
        return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())
    except (ValueError, TypeError):  # a damaged time, or one of two without a zone
        return 0.0


# ------------------------------------------------------------------------------------------------------- in words


def state_words(run: RunSummary, status: str) -> tuple[str, str, str]:
    """Icon, tone and words of a run's state; a signature is told before everything else."""
    if run.signed_by:
        return "shield", "good", tr("signed by {who}", who=run.signed_by)
    return words.state_words(status)


def technical(run: RunSummary) -> str:
    """Workflow, model and where it ran, time of work, revision of the case."""
    place = RUNGS.get(run.rung, run.rung)
    model = tr("{model} on the {place}", model=run.backbone, place=place) if place else run.backbone
    parts = (
        run.workflow,
        model if run.backbone else tr("without a model"),
        lasting(run.seconds),
        tr("revision {n}", n=run.revision),
    )
    return " · ".join(parts)


def lasting(seconds: float) -> str:
    """A time of work: "0.8 s", "42 s", "3 min 10 s", "1 h 5 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def begun(run: RunSummary) -> str:
    """When it was started: date and minute."""
    return run.created_at[:16].replace("T", "  ")


def spoken(run: RunSummary, status: str) -> str:
    """The whole row, as it is read aloud."""
    parts = (run.question, state_words(run, status)[2], run.headline, begun(run), technical(run))
    return ", ".join(filter(None, parts))


# ------------------------------------------------------------------------------------------------------- the list


class RunRows(QAbstractListModel):
    """The runs of one case; two at most are marked. `marked_changed` follows every mark."""

    marked_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[RunSummary, ...] = ()
        self._live: dict[str, str] = {}
        self._marked: list[str] = []

    @property
    def marked(self) -> tuple[RunSummary, ...]:
        """The marked runs, the earlier one first."""
        return tuple(run for run in reversed(self._rows) if run.id in self._marked)

    def show(self, rows: tuple[RunSummary, ...], live: dict[str, str]) -> None:
        """Replace the runs; `live` has the state of those that the worker knows better than the journal."""
        same = [row.id for row in rows] == [row.id for row in self._rows]
        if not same:
            self.beginResetModel()
        known = {row.id for row in rows}
        self._rows, self._live = rows, live
        self._marked = [name for name in self._marked if name in known]
        if same and rows:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
        elif not same:
            self.endResetModel()
        self.marked_changed.emit()

    def status(self, run: RunSummary) -> str:
        """The run's state for people: one that should be running and is not was interrupted."""
        known = self._live.get(run.id)
        return known or ("stopped" if run.status in ("running", "queued") else run.status)

    def mark(self, number: int) -> None:
        """Mark a row or take its mark away; a third mark pushes the oldest out."""
        name = self._rows[number].id
        if name in self._marked:
            self._marked.remove(name)
        else:
            self._marked = [*self._marked, name][-MOST_MARKED:]
        self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))
        self.marked_changed.emit()

    def find(self, run_id: str) -> QModelIndex:
        """The row of a run."""
        return next((self.index(n) for n, run in enumerate(self._rows) if run.id == run_id), QModelIndex())

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        run = self._rows[index.row()]
        if role == RUN:
            return run
        if role == MARKED:
            return run.id in self._marked
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if run.id in self._marked else Qt.CheckState.Unchecked
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(run, self.status(run))
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, (run.question, run.headline, technical(run), tr("run {id}", id=run.id))))
        return None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Space on a row, or an assistive tool: both set the check state."""
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        if (Qt.CheckState(value) == Qt.CheckState.Checked) != bool(index.data(MARKED)):
            self.mark(index.row())
        return True
