"""The memory that a model takes as a bar: weights, context, scratch, reserve, beside what is free."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.domain.pack import MemoryPlan
from desktop.i18n import tr
from desktop.state import model_list
from desktop.views.look import look

GIB = 1 << 30
PATTERNS = (
    Qt.BrushStyle.SolidPattern, Qt.BrushStyle.BDiagPattern, Qt.BrushStyle.CrossPattern, Qt.BrushStyle.Dense4Pattern,
    Qt.BrushStyle.FDiagPattern,
)  # fmt: skip


class FitBar(QWidget):
    """Pieces differ by pattern, not by colour alone; each is named with its size below."""

    def __init__(self) -> None:
        super().__init__()
        self._plan: MemoryPlan | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look().changed.connect(self.updateGeometry)

    def show_plan(self, plan: MemoryPlan) -> None:
        self._plan = plan
        self.setAccessibleName("; ".join(self.legend()))
        self.updateGeometry()
        self.update()

    def legend(self) -> tuple[str, ...]:
        """What each piece is, and what is free."""
        if self._plan is None:
            return ()
        named = [f"{part.name} {part.size / GIB:.1f} GiB" for part in model_list.parts(self._plan)]
        return (*named, tr("free {n:.1f} GiB", n=self._plan.free / GIB))

    def sizeHint(self) -> QSize:
        lines = len(self.legend())
        return QSize(look().px(240), look().px(28) + lines * self._line())

    minimumSizeHint = sizeHint

    def _line(self) -> int:
        return QFontMetrics(look().font("small")).height() + look().px(4)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._plan is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(1, look().px(6), self.width() - 2, look().px(14))
        whole = max(self._plan.total, self._plan.free, 1)
        self._pieces(painter, track, whole)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(look().colour("plain"), 2))
        end = track.left() + track.width() * min(1.0, self._plan.free / whole) - 1
        painter.drawLine(round(end), look().px(2), round(end), look().px(24))
        self._name(painter)

    def _pieces(self, painter: QPainter, track: QRectF, whole: int) -> None:
        painter.setPen(QPen(QColor(look().palette.edge), 1))
        painter.setBrush(QColor(look().palette.raised))
        painter.drawRoundedRect(track, 3, 3)
        left = track.left()
        assert self._plan is not None  # noqa: S101 - asked by paintEvent only
        for number, part in enumerate(model_list.parts(self._plan)):
            wide = track.width() * part.size / whole
            self._fill(painter, QRectF(left, track.top(), wide, track.height()), number)
            left += wide

    def _fill(self, painter: QPainter, place: QRectF, number: int) -> None:
        tone = "accent" if self._plan is not None and self._plan.fits else "critical"
        painter.setPen(QPen(look().colour(tone), 1))
        painter.setBrush(look().colour(tone))
        brush = painter.brush()
        brush.setStyle(PATTERNS[number % len(PATTERNS)])
        painter.setBrush(brush)
        painter.drawRect(place)

    def _name(self, painter: QPainter) -> None:
        painter.setFont(look().font("small"))
        box, line = look().px(10), self._line()
        legend = self.legend()
        for number, words in enumerate(legend):
            top = look().px(28) + number * line
            last = number == len(legend) - 1
            if last:
                painter.setPen(QPen(look().colour("plain"), 2))
                painter.drawLine(box // 2, top + 2, box // 2, top + line - 6)
            else:
                self._fill(painter, QRectF(1, top + (line - box) / 2 - 2, box, box), number)
            painter.setPen(look().colour("muted"))
            place = self.rect().adjusted(box + look().px(8), top - 2, 0, 0)
            painter.drawText(place.left(), top + line - look().px(7), words)
