"""Layouts that give way: words that wrap, and a row that becomes a column where there is no room. Knows no page."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QBoxLayout, QLayout, QLayoutItem, QWidget

from desktop.views.look import GRID


class Flow(QLayout):
    """Widgets side by side that wrap like words (after Qt's flow layout example)."""

    def __init__(self, parent: QWidget, gap: int = GRID) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():  # a hidden widget takes no room, and no gap
                continue
            size = item.sizeHint()
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, line = rect.x(), y + line + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, line = x + size.width() + self._gap, max(line, size.height())
        return y + line - rect.y()


class Turning(QBoxLayout):
    """Parts side by side where they fit, below each other where they do not. The parts are never hidden singly."""

    def __init__(self, *parts: QWidget, gap: int = GRID, stretch: QWidget | None = None) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._parts = parts
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(gap)
        for part in parts:
            self.addWidget(part, 1 if part is stretch else 0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        heights = [part.sizeHint().height() for part in self._parts]
        return max(heights) if self._fits(width) else sum(heights) + self.spacing() * (len(heights) - 1)

    def minimumSize(self) -> QSize:
        hints = [part.minimumSizeHint().expandedTo(part.minimumSize()) for part in self._parts]
        return QSize(max(hint.width() for hint in hints), max(hint.height() for hint in hints))

    def sizeHint(self) -> QSize:
        return QSize(self._wide(), max(part.sizeHint().height() for part in self._parts))

    def setGeometry(self, rect: QRect) -> None:
        way = QBoxLayout.Direction.LeftToRight if self._fits(rect.width()) else QBoxLayout.Direction.TopToBottom
        if way != self.direction():
            self.setDirection(way)
        super().setGeometry(rect)

    def _wide(self) -> int:
        return sum(part.sizeHint().width() for part in self._parts) + self.spacing() * (len(self._parts) - 1)

    def _fits(self, width: int) -> bool:
        return width >= self._wide()
