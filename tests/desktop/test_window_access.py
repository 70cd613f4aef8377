"""Names and room: every control is named and reached, nothing is clipped at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.app import Session
from desktop.views.frame import GEOMETRY, Frame
from desktop.views.look import look
from desktop.views.pieces import Elided
from desktop.views.window import CASE, REPORT, RUN, Window

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
PATIENCE = 30_000
CONTROLS = (QAbstractButton, QLineEdit, QAbstractItemView, QProgressBar)
Opener = Callable[..., Session]


@pytest.fixture
def finished(qtbot: QtBot, open_window: Opener, example: Path) -> Iterator[Window]:
    """A window with a finished run of one note and one table, its report shown."""
    session = open_window()
    window, live = session.window, session.space.live
    window.arrivals.take([example / "01-gp-letter.txt", example / "labs-1-admission.csv"])
    qtbot.waitUntil(lambda: window.desk.case is not None, timeout=PATIENCE)
    window.case_page.composer.model.setChecked(False)
    window.case_page.composer.start.click()
    qtbot.waitUntil(lambda: live.row is not None, timeout=PATIENCE)
    while live.status != "finished":
        qtbot.waitUntil(lambda: not live.active and live.status not in ("", "queued"), timeout=PATIENCE)
        assert live.status in ("waiting", "finished"), live.memory.error
        for row in window.run_page.question.rows:
            row.choice.choose(0)
        if live.status == "waiting":
            window.run_page.question.send.click()
    window.turn_to(REPORT)
    qtbot.waitUntil(lambda: window.desk.shown is not None, timeout=PATIENCE)
    yield window


def every_page(window: Window) -> Iterator[str]:
    """Show one page after the other, with evidence open beside the last."""
    evidence = next(i for i in window.desk.shown.report.evidence if i.provenance.kind == "cell")
    for line in range(window.case_page.contents.rowCount()):
        window.turn_to(CASE)
        window.case_page.list.setCurrentIndex(window.case_page.contents.index(line))
        yield f"case {line}"
    window.turn_to(RUN)
    yield "run"
    window.turn_to(REPORT)
    yield "report"
    window.show_evidence(evidence.id)
    yield "evidence"
    window.close_panel()


def controls(window: QWidget) -> list[QWidget]:
    """Visible widgets that a person operates or reads a value from; column heads belong to their table."""
    found = [child for child in window.findChildren(QWidget) if isinstance(child, CONTROLS) and child.isVisible()]
    return [child for child in found if not isinstance(child, QHeaderView)]


def test_every_control_has_a_name(finished: Window) -> None:
    unnamed: dict[str, list[str]] = {}
    seen = 0
    for page in every_page(finished):
        found = controls(finished)
        seen += len(found)
        nameless = [type(child).__name__ for child in found if not child.accessibleName()]
        if nameless:
            unnamed[page] = nameless
    assert seen > 40
    assert unnamed == {}


def test_every_control_is_reached_by_tab(finished: Window) -> None:
    finished.turn_to(CASE)
    wanted = {
        child for child in controls(finished) if child.isEnabled() and child.focusPolicy() & Qt.FocusPolicy.TabFocus
    }
    first = reached = finished.case_page.composer.question
    seen = {first}
    for _ in range(1000):
        reached = reached.nextInFocusChain()
        if reached is first:
            break
        seen.add(reached)
    assert wanted <= seen
    assert len(wanted) > 8


def clipped(window: Window) -> list[str]:
    """Visible texts that have less room than they need. Lists shorten their rows on purpose, and say so with dots."""
    found = []
    for label in window.findChildren(QLabel):
        if not label.isVisible() or isinstance(label, Elided) or not label.text() or label.property("role") is None:
            continue
        if label.wordWrap():
            missing = label.heightForWidth(label.width()) - label.height()
        else:
            missing = QFontMetrics(label.font()).horizontalAdvance(label.text()) - label.width()
        if missing > 1:
            found.append(f"{label.text()[:40]} ({missing})")
    for button in window.findChildren(QAbstractButton):
        if button.isVisible() and button.text() and button.sizeHint().width() - button.width() > 1:
            found.append(f"{button.text()[:40]} ({button.sizeHint().width() - button.width()})")
    return found


def outside(window: Window) -> list[str]:
    """Buttons that lie beyond the window's edge and are in no scroll area that could bring them into view."""
    found = []
    for button in window.findChildren(QAbstractButton):
        scrolls = any(isinstance(above, QAbstractScrollArea) for above in parents(button))
        if button.isVisible() and not scrolls:
            corner = button.mapTo(window, QPoint(button.width(), button.height()))
            if corner.x() > window.width() + 1 or corner.y() > window.height() + 1:
                found.append(button.accessibleName())
    return found


def parents(widget: QWidget) -> Iterator[QWidget]:
    above = widget.parentWidget()
    while above is not None:
        yield above
        above = above.parentWidget()


SCALES = [(1360, 860, 1.0), (960, 540, 1.0), (1360, 860, 1.5), (1600, 1000, 2.0), (3840, 2160, 3.0)]
TARGET = 24  # pixels a side (WCAG 2.2, 2.5.8)


def too_small(window: Window) -> list[str]:
    """What is clicked on a page and is smaller than a target may be; links within text and rows aside."""
    found = []
    for widget in controls(window):
        if isinstance(widget, QAbstractItemView):
            rows = [widget.sizeHintForRow(row) for row in range(widget.model().rowCount())] if widget.model() else []
            found += [f"row of {widget.accessibleName()} ({height})" for height in rows if 0 <= height < TARGET]
        elif not isinstance(widget, QProgressBar) and min(widget.width(), widget.height()) < TARGET:
            found.append(f"{widget.accessibleName()} ({widget.width()} x {widget.height()})")
    return found


def test_complaint_G2_nothing_is_clipped_and_every_target_is_large_enough(finished: Window) -> None:
    """nroduit/Weasis#109, #168; Slicer/Slicer#4418: menus and texts too small or cut off at 4K."""
    for width, height, zoom in SCALES:
        look().set_zoom(zoom)
        finished.resize(width, height)
        short: dict[str, list[str]] = {}
        for page in every_page(finished):
            QApplication.processEvents()
            QApplication.processEvents()
            assert (finished.width(), finished.height()) == (width, height)
            if found := clipped(finished) + outside(finished) + too_small(finished):
                short[page] = found
        assert short == {}, (width, height, zoom)


@pytest.mark.parametrize("corner", [(5000, 300), (-4000, -3000), (200, 9000)], ids=["right", "left", "below"])
def test_complaint_G2_a_window_whose_screen_is_gone_comes_back_on_another(
    qtbot: QtBot, tmp_path: Path, corner: tuple[int, int]
) -> None:
    """Slicer/Slicer#4418: a screen was taken away between two starts, and the window with it."""
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    before, frame = QWidget(), Frame(settings)
    qtbot.addWidget(frame)
    before.setGeometry(QRect(*corner, 700, 500))
    assert not before.frameGeometry().intersects(QApplication.primaryScreen().virtualGeometry())
    settings.setValue(GEOMETRY, before.saveGeometry())
    frame.restore()
    frame.show()
    room = QApplication.primaryScreen().availableGeometry()
    assert room.contains(frame.geometry().topLeft())
    assert room.contains(frame.geometry().center())
    assert (frame.width(), frame.height()) == (700, 500)


def test_clipped_text_would_be_found(finished: Window) -> None:
    finished.run_page.head.report.setMaximumWidth(40)
    finished.turn_to(RUN)
    QApplication.processEvents()
    assert [words for words in clipped(finished) if words.startswith("Read the report")]


def test_no_widget_is_ever_shown_as_a_window_of_its_own(finished: Window) -> None:
    shown = [w for w in QApplication.topLevelWidgets() if w.isVisible() and not isinstance(w, QDialog)]
    assert shown == [finished]
    assert QApplication.activeWindow() is finished
