"""What a case holds, as item models: the list of contents and a laboratory table. Knows no widget and no store."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from PySide6.QtCore import QAbstractListModel, QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.domain.case import Case, ImageRef, Item, LabRow, LabTable, SeriesRef
from desktop.i18n import tr
from desktop.state import words
from desktop.state.trends import Trends

Index = QModelIndex | QPersistentModelIndex
ENTRY = int(Qt.ItemDataRole.UserRole) + 1
ROW = int(Qt.ItemDataRole.UserRole) + 2
_ROOT = QModelIndex()
COLUMNS = ("Test", "Result", "Unit", "Flag", "Range", "Collected")
TREND = len(COLUMNS)  # a seventh column, where the case has a trend of a row of the table
TREND_ROLE = int(Qt.ItemDataRole.UserRole) + 3


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the contents: the overview, an item, or the files that were not read."""

    kind: Literal["overview", "item", "unread"]
    title: str
    detail: str
    icon: str
    item: Item | None = None
    tone: str = "plain"


class Contents(QAbstractListModel):
    """Overview first, then the items in the order of import, then what was not read."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()

    def show(self, case: Case, *, images: bool = True) -> None:
        """The contents of a case; `images`: does the profile work with them?"""
        self.beginResetModel()
        self._entries = entries(case, images=images)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        entry = self._entries[index.row()]
        if role == ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{entry.title}, {entry.detail}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{entry.title}\n{entry.detail}"
        return None

    def find(self, item_id: str) -> QModelIndex:
        """The row of a case item."""
        for number, entry in enumerate(self._entries):
            if entry.item is not None and entry.item.id == item_id:
                return self.index(number)
        return QModelIndex()


def entries(case: Case, *, images: bool = True) -> tuple[Entry, ...]:
    """The lines of a case's contents; without `images` a picture is named and said to be off."""
    detail = tr("{n}, revision {r}", n=words.counted(len(case.items), "item"), r=case.revision)
    lines = [Entry(kind="overview", title=tr("Overview"), detail=detail, icon="overview")]
    for item in case.items:
        icon, below = words.item_words(item)
        if isinstance(item, ImageRef | SeriesRef) and not images:
            below = tr("off in the Text support profile")
        lines.append(Entry(kind="item", title=item.title, detail=below, icon=icon, item=item))
    if case.unread:
        below = tr("{n}, with the reason", n=words.counted(case.unread_files, "file"))
        lines.append(Entry(kind="unread", title=tr("Not read"), detail=below, icon="unread", tone="serious"))
    return tuple(lines)


class LabResults(QAbstractTableModel):
    """A laboratory table as printed. Abnormal rows say so in a word and an arrow, not by colour alone."""

    def __init__(self, table: LabTable, trends: Trends | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = table
        self._trends = [trends.get((table.id, row.row)) for row in table.rows] if trends else []
        self._columns = (*COLUMNS, "Trend") if any(self._trends) else COLUMNS

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return tr(self._columns[section])
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self.table.rows[index.row()]
        if role == ROW:
            return row
        if role == TREND_ROLE:
            return self._trends[index.row()] if self._trends else None
        if index.column() == TREND:
            trend = self._trends[index.row()]
            spoken = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)
            return trend.spoken if trend is not None and role in spoken else None
        if role == Qt.ItemDataRole.DisplayRole:
            return cells(row)[index.column()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{tr(COLUMNS[index.column()])}: {cells(row)[index.column()]}"
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def line_of(self, row: int) -> int:
        """The model's row that holds the printed row number; -1 where there is none."""
        return next((number for number, entry in enumerate(self.table.rows) if entry.row == row), -1)


def cells(row: LabRow) -> tuple[str, ...]:
    """A result's cells in the order of `COLUMNS`."""
    side = words.direction(row)
    arrow = "↑ " if "high" in side else "↓ " if "low" in side else "! " if side else ""
    flag = f"{arrow}{tr(side)}" if side else row.flag
    taken = words.moment(row.collected_at)
    return (row.test, row.value, row.unit or words.UNKNOWN, flag, words.printed_range(row), taken)
