"""What a run shows while it works, as item models: steps, ranked conditions, evidence. Knows no widget and no store."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.domain.evidence import Evidence
from core.domain.hypothesis import Hypothesis
from core.domain.memory import StepLine
from desktop.i18n import tr
from desktop.state import words

T = TypeVar("T")
Index = QModelIndex | QPersistentModelIndex
VALUE = int(Qt.ItemDataRole.UserRole) + 1
_ROOT = QModelIndex()


class _Growing(QAbstractListModel, Generic[T]):
    """Rows that are appended or replaced, told to the view as just that, so that it keeps place and selection."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[T, ...] = ()

    def show(self, rows: tuple[T, ...]) -> None:
        old = self._rows
        if len(rows) < len(old):
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        changed = [n for n, row in enumerate(old) if rows[n] is not row and rows[n] != row]
        self._rows = (*rows[: len(old)],)
        for n in changed:
            self.dataChanged.emit(self.index(n), self.index(n))
        if len(rows) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(rows) - 1)
            self._rows = rows
            self.endInsertRows()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == VALUE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.hint(row)
        return None

    def spoken(self, row: T) -> str:
        """The row in words."""
        return str(row)

    def hint(self, row: T) -> str:
        return self.spoken(row)


class Steps(_Growing[StepLine]):
    """The journal as it grows."""

    def spoken(self, row: StepLine) -> str:
        state = tr("failed") if row.failed else "" if row.done else tr("under way")
        cost = step_cost(row)
        return ", ".join(filter(None, (row.text, state, cost)))

    def hint(self, row: StepLine) -> str:
        return f"{row.text}\n{words.moment(row.at)}"


class Ranking(_Growing[Hypothesis]):
    """The differential in order. A share is a share of the weight, not a probability of disease."""

    def spoken(self, row: Hypothesis) -> str:
        counts = tr("{f} for, {a} against, {m} missing", f=len(row.for_), a=len(row.against), m=len(row.missing))
        return f"{row.title}, {row.band}, {counts}"

    def hint(self, row: Hypothesis) -> str:
        parts = [row.title, tr("weight of clues {s:.2f}", s=row.structural)]
        if row.model is not None:
            parts.append(tr("model's ranking {m:+.2f}, unstable by {u:.2f}", m=row.model, u=row.spread or 0.0))
        else:
            parts.append(tr("model not used"))
        if row.excluded_because:
            parts.append(row.excluded_because)
        return "\n".join(parts)


class EvidenceRows(_Growing[Evidence]):
    """Evidence in order of arrival."""

    def spoken(self, row: Evidence) -> str:
        return f"{row.text} ({row.provenance.label})"

    def hint(self, row: Evidence) -> str:
        return f"{row.id}: {row.text}\n{row.provenance.label}"


def step_cost(row: StepLine) -> str:
    """What a step cost, where it is worth a word."""
    parts = [f"{row.seconds:.1f} s"] if row.seconds >= 0.05 else []
    if row.tokens:
        parts.append(tr("{n} tokens", n=row.tokens))
    return "  ".join(parts)
