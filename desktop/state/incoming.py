"""The files of an import under way: a row for each as soon as it was read or refused, taken over in batches.

`Incoming` is filled by the thread that imports and emptied by the window's; `IncomingRows` is what a list shows of it.
Knows no store and no widget.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.i18n import tr

Index = QModelIndex | QPersistentModelIndex
FILE = int(Qt.ItemDataRole.UserRole) + 1
_ROOT = QModelIndex()


class IncomingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an import; `reason` says why it was not read, empty for one that was."""

    name: str
    reason: str = ""


class Incoming:
    """Files told of and not yet taken. Safe between two threads: one tells, one takes."""

    def __init__(self) -> None:
        self._told: deque[IncomingFile] = deque()

    def told(self, name: str, reason: str) -> None:
        self._told.append(IncomingFile(name=name, reason=reason))

    def take(self) -> tuple[IncomingFile, ...]:
        """All that was told since the last time."""
        return tuple(self._told.popleft() for _ in range(len(self._told)))


class IncomingRows(QAbstractListModel):
    """The files in the order in which they were told of."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: list[IncomingFile] = []
        self._lines: dict[str, int] = {}

    @property
    def refused(self) -> int:
        """How many of them were not read."""
        return sum(bool(file.reason) for file in self._files)

    def start(self) -> None:
        """Another import begins."""
        self.beginResetModel()
        self._files, self._lines = [], {}
        self.endResetModel()

    def add(self, files: tuple[IncomingFile, ...]) -> None:
        """Append rows; a file that is told of again (read, then found to be another patient's) keeps its row."""
        fresh = {file.name: file for file in files if file.name not in self._lines}
        for file in files:
            if (line := self._lines.get(file.name)) is not None:
                self._files[line] = file
                self.dataChanged.emit(self.index(line), self.index(line))
        if not fresh:
            return
        first = len(self._files)
        self.beginInsertRows(_ROOT, first, first + len(fresh) - 1)
        self._files.extend(fresh.values())
        self._lines.update({name: first + number for number, name in enumerate(fresh)})
        self.endInsertRows()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._files)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        file = self._files[index.row()]
        if role == FILE:
            return file
        if role == Qt.ItemDataRole.DisplayRole:
            return file.name
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{file.name}: {said(file)}"
        return None


def said(file: IncomingFile) -> str:
    """What a row says of a file below its name."""
    return file.reason or tr("read")
