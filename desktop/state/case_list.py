"""The case list as an item model, and what a search leaves of it. Knows no widget and no store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.domain.case import CaseSummary
from core.domain.case_find import Found, Hit
from desktop.i18n import tr
from desktop.state import words

Index = QModelIndex | QPersistentModelIndex
SUMMARY = int(Qt.ItemDataRole.UserRole) + 1
ROW = int(Qt.ItemDataRole.UserRole) + 2  # CaseSummary or Hit
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


class CaseRows(QAbstractListModel):
    """What the pane shows: every case; while somebody searches the cases found, each above the places found in it."""

    def __init__(self, source: CaseList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._wanted: tuple[str, ...] = ()
        self._found: dict[str, Found] = {}
        self._rows: tuple[CaseSummary | Hit, ...] = ()
        source.modelReset.connect(self._build)
        source.dataChanged.connect(self._build)

    @property
    def searching(self) -> bool:
        return bool(self._wanted)

    def search(self, text: str) -> None:
        """Show at once the cases whose title, id or state holds every word; what their texts hold comes later."""
        self._wanted = tuple(text.casefold().split())
        self._found = {}
        self._build()

    def show_found(self, found: tuple[Found, ...]) -> None:
        """Cases found by their text, with the places."""
        self._found = {case.case_id: case for case in found}
        self._build()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if isinstance(row, CaseSummary):
            return self._source.find(row.id).data(role)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{place_words(row)}: {row.snippet}"
        return None

    def find(self, case_id: str) -> QModelIndex:
        """The row of a case itself."""
        for number, row in enumerate(self._rows):
            if isinstance(row, CaseSummary) and row.id == case_id:
                return self.index(number)
        return QModelIndex()

    def _build(self) -> None:
        fresh = tuple(self._wanted_rows())
        same = list(map(_key, fresh)) == list(map(_key, self._rows))
        if same:
            self._rows = fresh
            if fresh:
                self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
            return
        self.beginResetModel()
        self._rows = fresh
        self.endResetModel()

    def _wanted_rows(self) -> Iterator[CaseSummary | Hit]:
        for number in range(self._source.rowCount()):
            summary: CaseSummary = self._source.index(number).data(SUMMARY)
            found = self._found.get(summary.id)
            text = f"{summary.title} {summary.id} {summary.state}".casefold()
            if found is not None or all(word in text for word in self._wanted):
                yield summary
                yield from found.hits if found is not None else ()


def _key(row: CaseSummary | Hit) -> tuple[str, ...]:
    return (row.id,) if isinstance(row, CaseSummary) else (row.case_id, row.kind, row.item, row.run, row.snippet)


def place_words(hit: Hit) -> str:
    """Where in the case a hit stands, and how many other places there are."""
    where = tr(hit.title) if hit.kind in ("patient", "question", "report") else hit.title
    return where if not hit.more else tr("{where}, and {n} more places", where=where, n=hit.more)


def details(row: CaseSummary) -> tuple[str, ...]:
    """State, number of items, what was not read, age: the second line of a row."""
    parts = [words.state_words(row.state)[2], words.counted(row.items, "item")]
    if row.unread:
        parts.append(tr("{n} not read", n=row.unread))
    return (*parts, words.age(row.created_at))
