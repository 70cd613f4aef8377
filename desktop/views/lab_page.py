"""A laboratory table with the trend of the chosen result below it. The plot's value and the table's row go together."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QSplitter, QWidget

from core.domain.case import LabTable
from desktop.i18n import tr
from desktop.state.trends import Trend, Trends
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import text
from desktop.views.trend_plot import TrendPlot
from desktop.views.viewers import LabView


class TrendPanel(QWidget):
    """The plot under its sentence, the chosen value, and what is not in it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "paper")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.plot = TrendPlot()
        self.title = text("", "strong")
        self.readout = text("", "small", wrap=False)
        self.remarks = text("", "small", tone="serious")
        head = pieces.row(None, self.title, self.readout, stretch=self.title)
        parts = (pieces.rule(), head, self.remarks, self.plot)
        pieces.column(self, *parts, margins=(16, 0, 16, 8), gap=4, stretch=self.plot)

    def show_trend(self, trend: Trend, at: int) -> None:
        """Show a trend with one of its values chosen."""
        self.plot.show_trend(trend, at)
        self.title.setText(trend.spoken)
        self.readout.setText(self.plot.readout)
        band = tr("Shaded: reference range of the newest value.") if trend.band != (None, None) else ""
        left = tr("Not in the plot: {what}.", what="; ".join(trend.left_out)) if trend.left_out else ""
        self.remarks.setText("  ".join(filter(None, (left, band))))
        self.remarks.setProperty("tone", "serious" if left else "")
        pieces.restyle(self.remarks)
        self.remarks.setVisible(bool(left or band))


class LabPage(QScrollArea):
    """Table above, trend below as soon as a result is chosen that has one; scrolls where large text leaves no room."""

    def __init__(self, table: LabTable, trends: Trends) -> None:
        super().__init__()
        self._trends = trends
        self.table = LabView(table, trends)
        self.trend = TrendPanel()
        self.trend.hide()
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.addWidget(self.table)
        self.parts.addWidget(self.trend)
        self.parts.setStretchFactor(0, 1)
        self.parts.setHandleWidth(1)
        self.parts.setChildrenCollapsible(False)
        self.setWidget(self.parts)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table has it
        self._fit()
        look().changed.connect(self._fit)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show())
        self.trend.plot.chosen.connect(self._follow)

    def _fit(self) -> None:
        """A few rows of the table always have room."""
        self.table.setMinimumHeight(look().px(130))

    def _show(self) -> None:
        line = self.table.currentIndex().row()
        table = self.table.results.table
        key = (table.id, table.rows[line].row) if line >= 0 else ("", 0)
        trend = self._trends.get(key)
        if trend is None:
            self.trend.hide()
            return
        at = next(n for n, point in enumerate(trend.points) if (point.table, point.row) == key)
        first = self.trend.isHidden()
        self.trend.show_trend(trend, at)
        self.trend.show()
        if first:
            self.parts.setSizes([self.height() - look().px(250), look().px(250)])

    def _follow(self, table: str, row: int) -> None:
        """A value was chosen in the plot: its row is chosen too where it stands in this table."""
        if table == self.table.results.table.id:
            self.table.mark(row)
        else:
            self.trend.readout.setText(self.trend.plot.readout)
