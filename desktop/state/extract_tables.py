"""The tables of an EHR extract as an item model: name, columns, rows. Knows no widget, no store and no contents."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from core.domain.case import EhrDatabase, EhrTable
from desktop.i18n import tr

Index = QModelIndex | QPersistentModelIndex
SORT = int(Qt.ItemDataRole.UserRole) + 1
COLUMNS = ("Table", "Columns", "Rows")
_ROOT = QModelIndex()


class ExtractTables(QAbstractTableModel):
    """One line a table, in the order of the database."""

    def __init__(self, extract: EhrDatabase, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.extract = extract

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.extract.tables)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return tr(COLUMNS[section])
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        table, column = self.extract.tables[index.row()], index.column()
        if role == SORT:
            return (table.name.casefold(), len(table.columns), table.rows)[column]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return cells(table)[column]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{tr(COLUMNS[column])}: {cells(table)[column]}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column == COLUMNS.index("Rows"):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


def cells(table: EhrTable) -> tuple[str, str, str]:
    """A table's cells in the order of `COLUMNS`."""
    return table.name, ", ".join(table.columns), f"{table.rows:,}"


def sortable(extract: EhrDatabase, parent: QObject | None = None) -> QSortFilterProxyModel:
    """The tables behind a proxy that sorts: names by letters, columns and rows by their number."""
    proxy = QSortFilterProxyModel(parent)
    proxy.setSourceModel(ExtractTables(extract, proxy))
    proxy.setSortRole(SORT)
    return proxy
