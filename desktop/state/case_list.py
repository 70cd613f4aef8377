"""The case list as an item model, and its search filter. Knows no widget and no store."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from core.domain.case import CaseSummary
from desktop.i18n import tr
from desktop.state import words

Index = QModelIndex | QPersistentModelIndex
SUMMARY = int(Qt.ItemDataRole.UserRole) + 1
_ROOT = QModelIndex()


class CaseList(QAbstractListModel):
    """One row a case, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CaseSummary, ...] = ()

    def show(self, rows: tuple[CaseSummary, ...]) -> None:
        """Replace what is listed; a list of the same cases keeps its rows and its selection."""
        if [row.id for row in rows] == [row.id for row in self._rows]:
            self._rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == SUMMARY:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.title}\n{row.created_at}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join((row.title, *details(row)))
        return None

    def find(self, case_id: str) -> QModelIndex:
        """The row of a case."""
        for number, row in enumerate(self._rows):
            if row.id == case_id:
                return self.index(number)
        return QModelIndex()


class CaseFilter(QSortFilterProxyModel):
    """Every word typed must occur in the title, the id or the state."""

    def __init__(self, source: CaseList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted: tuple[str, ...] = ()
        self.setSourceModel(source)

    def search(self, text: str) -> None:
        self.beginFilterChange()
        self._wanted = tuple(text.casefold().split())
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        summary: CaseSummary = self.sourceModel().index(row, 0, parent).data(SUMMARY)
        text = f"{summary.title} {summary.id} {summary.state}".casefold()
        return all(word in text for word in self._wanted)


def details(row: CaseSummary) -> tuple[str, ...]:
    """State, number of items, what was not read, age: the second line of a row."""
    parts = [words.state_words(row.state)[2], words.counted(row.items, "item")]
    if row.unread:
        parts.append(tr("{n} not read", n=row.unread))
    return (*parts, words.age(row.created_at))
