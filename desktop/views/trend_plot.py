"""Small plots of laboratory values over time, painted by hand: a line in a table row, and a plot with axes below it.

Abnormal points differ by shape: triangle up is high, triangle down is low, disc is inside the range. Knows trends only.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.i18n import tr
from desktop.state.trends import Point, Trend, figure
from desktop.views.look import look

TICKS = 3


class Scale:
    """From times and values to places in a rectangle; a margin of a tenth above and below."""

    def __init__(self, trend: Trend, area: QRectF, *, with_band: bool) -> None:
        self._area = area
        self._first = trend.points[0].at
        self._long = max((trend.points[-1].at - self._first).total_seconds(), 1.0)
        values = [point.value for point in trend.points]
        values += [edge for edge in trend.band if edge is not None] if with_band else []
        low, high = min(values), max(values)
        room = (high - low or abs(high) or 1.0) / 10
        self.low, self.high = low - room, high + room

    def x(self, at: datetime) -> float:
        return self._area.left() + self._area.width() * (at - self._first).total_seconds() / self._long

    def y(self, value: float) -> float:
        return self._area.bottom() - self._area.height() * (value - self.low) / (self.high - self.low)

    def place(self, point: Point) -> QPointF:
        return QPointF(self.x(point.at), self.y(point.value))


def paint_sparkline(painter: QPainter, rect: QRectF, trend: Trend, row: tuple[str, int]) -> None:
    """The whole trend in one row of a table; the point of this row (table id, printed row) has a ring."""
    size = look().px(3)
    scale = Scale(trend, rect.adjusted(size + 3, size + 2, -size - 3, -size - 2), with_band=False)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_line(painter, scale, trend.points, width=1.5)
    for point in trend.points:
        here = (point.table, point.row) == row
        if point.side or here:
            paint_point(painter, scale.place(point), point.side, size)
        if here:
            _ring(painter, scale.place(point), size + 3)
    painter.restore()


def _paint_line(painter: QPainter, scale: Scale, points: Sequence[Point], *, width: float) -> None:
    painter.setPen(QPen(look().colour("muted"), width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([scale.place(point) for point in points]))


def paint_point(painter: QPainter, place: QPointF, side: str, size: float) -> None:
    """Triangle up: high; triangle down: low; diamond: abnormal without a direction; disc: inside the range."""
    tone = "critical" if "critical" in side else "serious" if side else "accent"
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look().colour(tone))
    x, y, big = place.x(), place.y(), size * 1.5
    if "high" in side:
        painter.drawPolygon(QPolygonF([QPointF(x, y - big), QPointF(x - big, y + size), QPointF(x + big, y + size)]))
    elif "low" in side:
        painter.drawPolygon(QPolygonF([QPointF(x, y + big), QPointF(x - big, y - size), QPointF(x + big, y - size)]))
    elif side:
        painter.drawPolygon(
            QPolygonF([QPointF(x, y - big), QPointF(x + big, y), QPointF(x, y + big), QPointF(x - big, y)])
        )
    else:
        painter.drawEllipse(place, size, size)


def _ring(painter: QPainter, place: QPointF, size: float) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(look().colour("plain"), 1.5))
    painter.drawEllipse(place, size, size)


class TrendPlot(QWidget):
    """A trend with axes; left and right go from value to value. `chosen` names table and printed row of a value."""

    chosen = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._trend: Trend | None = None
        self.at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        look().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(look().px(420), look().px(190))

    def minimumSizeHint(self) -> QSize:
        return QSize(look().px(200), look().px(150))

    def show_trend(self, trend: Trend, at: int) -> None:
        """Show a trend with one of its values chosen."""
        self._trend = trend
        self._choose(at)
        self.setAccessibleName(trend.spoken)

    @property
    def readout(self) -> str:
        """The chosen value in words."""
        if self._trend is None or not 0 <= self.at < len(self._trend.points):
            return ""
        point = self._trend.points[self.at]
        value = f"{figure(point.value)} {self._trend.unit}".strip()
        printed = tr("printed as {printed}", printed=point.printed) if _differs(point, self._trend) else ""
        return ", ".join(filter(None, (f"{point.at:%Y-%m-%d %H:%M}", value, tr(point.side), printed)))

    def _choose(self, at: int) -> None:
        self.at = at
        self.setAccessibleDescription(self.readout)
        self.update()

    def _move(self, at: int) -> None:
        if self._trend is not None and 0 <= at < len(self._trend.points) and at != self.at:
            self._choose(at)
            point = self._trend.points[at]
            self.chosen.emit(point.table, point.row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._trend.points) - 1 if self._trend else 0
        moves = {Qt.Key.Key_Left: self.at - 1, Qt.Key.Key_Right: self.at + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if (wanted := moves.get(Qt.Key(event.key()))) is not None:
            self._move(wanted)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The value nearest to the pointer."""
        if self._trend is not None:
            scale = Scale(self._trend, self._area(), with_band=True)
            away = [abs(scale.x(point.at) - event.position().x()) for point in self._trend.points]
            self._move(away.index(min(away)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The press has chosen; what lies below need not hear of the release."""
        event.accept()

    def focusInEvent(self, event: QEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.update()

    # -------------------------------------------------------------------------------------- painting

    def _area(self) -> QRectF:
        """Where the values are drawn; beside it their axis, below it the dates."""
        line = QFontMetrics(look().font("small")).height()
        left = look().px(64)
        return QRectF(self.rect()).adjusted(left, line + look().px(10), -look().px(24), -line - look().px(12))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._trend is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(look().font("small"))
        area = self._area()
        scale = Scale(self._trend, area, with_band=True)
        self._paint_band(painter, area, scale)
        self._paint_axes(painter, area, scale)
        _paint_line(painter, scale, self._trend.points, width=2)
        size = look().px(4)
        for number, point in enumerate(self._trend.points):
            paint_point(painter, scale.place(point), point.side, size)
            if number == self.at:
                _ring(painter, scale.place(point), size + 4)
        self._paint_values(painter, area, scale)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(look().palette.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def _paint_band(self, painter: QPainter, area: QRectF, scale: Scale) -> None:
        """The reference range: a ground with dashed edges, open where the range is open."""
        low, high = self._trend.band if self._trend else (None, None)
        if low is None and high is None:
            return
        top = area.top() if high is None else scale.y(high)
        bottom = area.bottom() if low is None else scale.y(low)
        painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top), QColor(look().palette.good_soft))
        painter.setPen(QPen(look().colour("good"), 1, Qt.PenStyle.DashLine))
        for edge in (low, high):
            if edge is not None:
                painter.drawLine(QPointF(area.left(), scale.y(edge)), QPointF(area.right(), scale.y(edge)))

    def _paint_axes(self, painter: QPainter, area: QRectF, scale: Scale) -> None:
        quiet = look().colour("muted")
        painter.setPen(QPen(QColor(look().palette.edge), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.drawLine(area.topLeft(), area.bottomLeft())
        painter.setPen(quiet)
        metrics = QFontMetrics(painter.font())
        for value in ticks(scale.low, scale.high):
            room = QRectF(0, scale.y(value) - metrics.height() / 2, area.left() - look().px(6), metrics.height())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), figure(value))
        if self._trend is None:
            return
        unit = QRectF(look().px(8), 0, area.width(), metrics.height() + look().px(4))
        painter.drawText(unit, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self._trend.unit)
        self._paint_dates(painter, area, scale)

    def _paint_dates(self, painter: QPainter, area: QRectF, scale: Scale) -> None:
        """A date below each value that has room for it; the first and the last always."""
        points = self._trend.points if self._trend else ()
        metrics = QFontMetrics(painter.font())
        same_day = points[0].at.date() == points[-1].at.date()
        shown = [f"{point.at:%H:%M}" if same_day else f"{point.at:%Y-%m-%d}" for point in points]
        wide = max(map(metrics.horizontalAdvance, shown)) + look().px(10)
        top = area.bottom() + look().px(4)
        last = scale.x(points[-1].at) - wide / 2
        before = -1e9
        for number, (point, words) in enumerate(zip(points, shown, strict=True)):
            left = min(max(scale.x(point.at) - wide / 2, 0.0), self.width() - wide)
            end = number in (0, len(points) - 1)
            if left >= before and (end or left + wide <= last):
                painter.drawText(QRectF(left, top, wide, metrics.height()), int(Qt.AlignmentFlag.AlignCenter), words)
                before = left + wide
            painter.drawLine(QPointF(scale.x(point.at), area.bottom()), QPointF(scale.x(point.at), area.bottom() + 3))

    def _paint_values(self, painter: QPainter, area: QRectF, scale: Scale) -> None:
        """The number at each point that has room for it; at the chosen one always."""
        points = self._trend.points if self._trend else ()
        metrics = QFontMetrics(painter.font())
        taken: list[QRectF] = []
        order = sorted(range(len(points)), key=lambda n: (n != self.at, not points[n].side, n))
        painter.setPen(look().colour("plain"))
        for number in order:
            words, place = figure(points[number].value), scale.place(points[number])
            wide = metrics.horizontalAdvance(words) + 4
            left = min(max(place.x() - wide / 2, area.left() + 2), self.width() - wide)
            box = QRectF(left, place.y() - metrics.height() - look().px(8), wide, metrics.height())
            if number == self.at or not any(box.intersects(other) for other in taken):
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), words)
                taken.append(box)


def ticks(low: float, high: float) -> list[float]:
    """About three round numbers between two values."""
    step = 10.0 ** int(f"{(high - low) / TICKS:e}".split("e")[1])
    step = next((step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= TICKS + 1), step)
    first = -(-low // step) * step
    return [round(first + n * step, 10) for n in range(int((high - first) / step) + 1)]


def _differs(point: Point, trend: Trend) -> bool:
    return not point.printed.endswith(trend.unit) if trend.unit else False
