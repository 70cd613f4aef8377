"""The window as a frame: its first paint, where it stood the last time, how it looks, the line at its foot.

Knows no case and no profile; `desktop.views.window` fills it.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QIcon, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from core.domain.notices import notice
from desktop.operation import Operation
from desktop.views import pieces
from desktop.views.about import outbound
from desktop.views.flow import Turning
from desktop.views.look import MODES, look
from desktop.views.pieces import text
from desktop.views.resources import ResourceLine, ResourcePanel

GEOMETRY = "window/geometry"


class Frame(QMainWindow):
    """What every window of ours has, whatever it shows."""

    painted = Signal()  # once, when something was to be seen

    def __init__(self, settings: QSettings | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Wardround")
        self._settings = settings
        self._first = True
        self.figures = ResourcePanel()
        self.resources = ResourceLine(self.figures)
        self.network = text(outbound(), "small", wrap=False)
        look().changed.connect(self._draw_icon)
        self._draw_icon()

    def foot(self) -> QWidget:
        """The last line: what this is not, what it takes of the computer, and that nothing left it."""
        foot, facts = pieces.panel("foot"), QWidget()
        said = text(notice("N8"), "small", wrap=False)
        said.setMinimumWidth(80)
        pieces.row(facts, self.resources, self.network, gap=24)
        pieces.row(foot, Turning(said, facts, gap=24, stretch=said), margins=(16, 3, 16, 3))
        return foot

    def restore(self) -> None:
        """Stand where the window stood when it was closed."""
        kept = self._settings.value(GEOMETRY) if self._settings else None
        if isinstance(kept, QByteArray) and self.restoreGeometry(kept):
            return
        room = self.screen().availableGeometry().size()
        self.resize(QSize(min(1360, room.width()), min(860, room.height())))

    def come_forward(self) -> None:
        """Show the window above the others; not every system lets a program do more than ask for attention."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def zoom_in(self) -> None:
        look().step_zoom(1)

    def zoom_out(self) -> None:
        look().step_zoom(-1)

    def zoom_reset(self) -> None:
        look().step_zoom(0)

    def next_mode(self) -> None:
        look().set_mode(MODES[(MODES.index(look().mode) + 1) % len(MODES)])

    def _draw_icon(self) -> None:
        self.setWindowIcon(QIcon(look().pixmap("mark", "accent", 64, 1.0)))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._first:
            self._first = False
            QTimer.singleShot(0, self.painted.emit)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._settings is not None:
            self._settings.setValue(GEOMETRY, self.saveGeometry())
            self._settings.sync()
        self.hide()
        Operation.end_all()
        super().closeEvent(event)
