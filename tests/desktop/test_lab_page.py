"""Trends in the window: a line in the row, the plot below for the chosen row, by keyboard, in words and by shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.case import Case, LabRow, LabTable, Note
from desktop.app import Session
from desktop.state.case_items import TREND
from desktop.state.trends import Point, Trend, trends
from desktop.views.evidence_panel import EvidencePanel
from desktop.views.lab_page import LabPage
from desktop.views.look import look
from desktop.views.trend_plot import Scale, TrendPlot, paint_point, ticks
from desktop.views.viewers import LabView
from tests.helpers.sitting import AT, open_case, picture, put_cases

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]


def result(number: int, test: str, value: float, at: str, *, unit: str = "umol/L", flag: str = "") -> LabRow:
    return LabRow(
        row=number, test=test, value=f"{value:g}", number=value, unit=unit, low=45.0, high=84.0, flag=flag,
        range_text="45-84", collected_at=at,
    )  # fmt: skip


FIRST = LabTable(
    id="t1",
    title="ward.csv",
    sha256="0",
    rows=(
        result(2, "Creatinine", 80, "2026-11-10T07:00"),
        result(3, "Creatinine", 131, "2026-11-14T07:00", flag="H"),
        result(4, "Creatinine", 240, "2026-11-18T07:00", flag="HH"),
        LabRow(row=5, test="Lactate", value="1.4", number=1.4, unit="mmol/L", collected_at="2026-11-18T07:00"),
    ),
)
SECOND = LabTable(
    id="t2",
    title="clinic.csv",
    sha256="0",
    rows=(
        result(2, "Creatinine", 0.45, "2026-10-30", unit="mg/dL"),
        result(3, "Creatinine", 9, "2026-11-01", unit="U/L"),
    ),
)
CASE = Case(id="c1", title="Kidney injury", revision=1, created_at=AT, items=(Note(
    id="n1", title="n.txt", text="x", sha256="0"), FIRST, SECOND))  # fmt: skip


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[LabPage]:
    made = LabPage(FIRST, trends(CASE))
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    yield made


def test_rows_with_a_trend_show_it_and_say_it(page: LabPage) -> None:
    model = page.table.results
    assert model.columnCount() == TREND + 1
    assert model.headerData(TREND, Qt.Orientation.Horizontal) == "Trend"
    spoken = [model.index(line, TREND).data(Qt.ItemDataRole.AccessibleTextRole) for line in range(4)]
    assert spoken == ["Creatinine, 4 values, 39.79 to 240 umol/L, rising"] * 3 + [None]
    image = page.table.viewport().grab(page.table.visualRect(model.index(0, TREND))).toImage()
    bare = page.table.viewport().grab(page.table.visualRect(model.index(3, TREND))).toImage()
    assert colours(image) > colours(bare) == 1


def colours(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height() - 2)})


def test_plot_follows_the_row_and_the_row_the_plot(page: LabPage) -> None:
    page.table.choose(3)
    assert page.trend.isHidden()
    page.table.choose(2)
    assert page.trend.isVisible()
    plot = page.trend.plot
    assert plot.accessibleName() == "Creatinine, 4 values, 39.79 to 240 umol/L, rising"
    assert plot.accessibleDescription() == "2026-11-18 07:00, 240 umol/L, critical high"
    assert "1 value in U/L, which cannot be converted to umol/L" in page.trend.remarks.text()
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert page.table.currentIndex().row() == 1
    assert page.trend.readout.text() == "2026-11-14 07:00, 131 umol/L, high"
    QTest.keyClick(plot, Qt.Key.Key_Home)
    assert page.table.currentIndex().row() == 1, "the oldest value stands in the other table"
    assert page.trend.readout.text() == "2026-10-30 00:00, 39.79 umol/L, low, printed as 0.45 mg/dL"
    QTest.keyClick(plot, Qt.Key.Key_End)
    assert page.table.currentIndex().row() == 2
    scale = Scale(plot._trend, plot._area(), with_band=True)
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=scale.place(plot._trend.points[1]).toPoint())
    assert page.table.currentIndex().row() == 0
    page.table.choose(3)
    assert page.trend.isHidden()


def test_high_low_and_normal_differ_by_shape(qtbot: QtBot) -> None:
    """Drawn in one colour the three are still three different pictures; a triangle is wide where it stands."""
    shapes = {side: shape(side) for side in ("high", "low", "", "critical")}
    assert len({bytes(image.constBits()) for image in shapes.values()}) == 4
    widths = {side: [width(image, y) for y in (6, 14)] for side, image in shapes.items()}
    assert widths["high"][0] < widths["high"][1]
    assert widths["low"][0] > widths["low"][1]
    assert widths[""][0] == widths[""][1]


def shape(side: str) -> QImage:
    image = QImage(21, 21, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    paint_point(painter, QPointF(10, 10), side, 5)
    painter.end()
    for x in range(21):
        for y in range(21):
            if image.pixelColor(x, y) != QColor("white"):
                image.setPixelColor(x, y, QColor("black"))
    return image


def width(image: QImage, y: int) -> int:
    return sum(image.pixelColor(x, y) == QColor("black") for x in range(image.width()))


def test_points_lie_where_time_and_value_say() -> None:
    from PySide6.QtCore import QRectF

    points = tuple(
        Point(at=datetime(2026, 1, day), value=float(value), printed="") for day, value in ((1, 0), (3, 50), (11, 100))
    )
    scale = Scale(Trend(name="x", unit="", points=points), QRectF(0, 0, 100, 120), with_band=False)
    assert [scale.x(point.at) for point in points] == [0, 20, 100]
    assert [scale.y(point.value) for point in points] == pytest.approx([110, 60, 10])
    assert ticks(-10, 110) == [0, 50, 100]
    assert ticks(0.31, 0.42) == [0.35, 0.4]


def test_one_value_makes_no_column_and_evidence_stays_plain(qtbot: QtBot) -> None:
    alone = LabPage(LabTable(id="t9", title="x", rows=FIRST.rows[3:], sha256="0"), trends(CASE))
    qtbot.addWidget(alone)
    assert alone.table.results.columnCount() == TREND
    panel = EvidencePanel(lambda *_: None)
    qtbot.addWidget(panel)
    plain = LabView(FIRST)
    qtbot.addWidget(plain)
    assert plain.results.columnCount() == TREND
    empty = TrendPlot()
    qtbot.addWidget(empty)
    assert empty.readout == ""


def test_trends_of_a_case_in_the_window(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    window = session.window
    window.resize(1360, 860)
    put_cases(session, CASE)
    open_case(qtbot, session, "c1")
    window.case_page.open_item("t1", 4)
    page = window.case_page.stack.currentWidget()
    assert isinstance(page, LabPage)
    assert page.trend.isVisible()
    picture(window, "trend")
    look().set_mode("dark")
    picture(window, "trend-dark")
    look().set_mode("light")
    look().set_zoom(2.0)
    picture(window, "trend-200")
    plot = page.trend.plot
    qtbot.waitUntil(lambda: plot.height() >= plot.minimumSizeHint().height() > 250)
