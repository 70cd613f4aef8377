"""A switch: a check box painted as a slider, its words beside it. On and off differ by place, not by colour alone."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox

from desktop.views.look import look


class Switch(QCheckBox):
    """Space or a click turns it."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.setAccessibleName(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(look().font())
        return QSize(metrics.horizontalAdvance(self.text()) + look().px(56), max(metrics.height(), look().px(20)) + 8)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = look().palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = look().px(18)
        track = QRectF(4, (self.height() - height) / 2, look().px(34), height)
        on = self.isChecked() and self.isEnabled()
        painter.setPen(QPen(QColor(colours.accent if on else colours.edge), 1.5))
        painter.setBrush(QColor(colours.accent if on else colours.paper))
        painter.drawRoundedRect(track, height / 2, height / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.on_accent if on else colours.edge))
        x = track.right() - height / 2 if self.isChecked() else track.left() + height / 2
        painter.drawEllipse(QPointF(x, track.center().y()), height / 2 - 4, height / 2 - 4)
        painter.setFont(look().font())
        painter.setPen(QColor(colours.ink if self.isEnabled() else colours.quiet))
        words = self.rect().adjusted(round(track.right()) + look().px(10), 0, 0, 0)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self.text())
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
