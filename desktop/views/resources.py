"""The resource monitor: one line in the foot of the window, all figures in a panel above it on a click.

Reads once a second while it can be seen, and not at all while it cannot.
"""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QSize, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from desktop.i18n import tr
from desktop.state import usage
from desktop.state.usage import Meter, Usage, Worker
from desktop.state.workspace import Workspace
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.pieces import text

READ_MS = 1000
DIGITS = 12  # of the longest line: 1000.0 MB, 100 %, 100.0 tokens/s


class ResourcePanel(QFrame):
    """Every figure with its name, side by side as far as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "foot")
        self.setAccessibleName(tr("What Wardround takes of this computer"))
        self._box = QWidget()
        self._flow = Flow(self._box, gap=24)
        self._values: dict[str, QLabel] = {}
        pieces.row(self, self._box, margins=(16, 10, 16, 10), stretch=self._box)
        self.hide()

    def show_figures(self, figures: tuple[tuple[str, str], ...]) -> None:
        for name, value in figures:
            label = self._values.get(name) or self._add(name)
            if label.text() != value:
                label.setText(value)
                label.setAccessibleName(f"{name}: {value}")

    def values(self) -> dict[str, str]:
        """What is shown."""
        return {name: label.text() for name, label in self._values.items()}

    def _add(self, name: str) -> QLabel:
        cell, value = QWidget(), text("", "strong", wrap=False)
        pieces.column(cell, text(name, "small", wrap=False), value, gap=0)
        self._flow.addWidget(cell)
        self._values[name] = value
        return value


class ResourceLine(QPushButton):
    """The status line's part; opens and closes the panel."""

    def __init__(self, panel: ResourcePanel, meter: Meter | None = None) -> None:
        super().__init__()
        self.setProperty("kind", "link")
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setToolTip(tr("Show what Wardround takes of this computer"))
        self.panel = panel
        self._meter = meter or Meter()
        self._space: Workspace | None = None
        self.worker = Worker()
        self.usage = Usage()
        self.timer = QTimer(self, interval=READ_MS)
        self.timer.timeout.connect(self.read)
        self.toggled.connect(self._on_toggled)
        self._show(tr("Memory"))

    def attach(self, space: Workspace) -> None:
        """There is a worker to ask after."""
        self._space = space
        space.engine.alive.connect(self._on_alive)
        space.engine.card.connect(self._on_card)

    def read(self) -> None:
        """Look at the processes now."""
        engine = self._space.engine if self._space is not None else None
        pid = engine.pid if engine is not None else 0
        if engine is None or not pid:
            self.worker = Worker()
        elif not engine.current:
            self.worker = replace(self.worker, speed=0.0)
        self.usage = self._meter.read(pid)
        self._show(usage.line(self.usage, self.worker))
        if self.panel.isVisible():
            self.panel.show_figures(usage.figures(self.usage, self.worker, cuda=self._meter.cuda))

    def sizeHint(self) -> QSize:
        """With room for more digits: what lies beside the line does not move at each reading."""
        hint, spare = super().sizeHint(), max(DIGITS - sum(map(str.isdigit, self.text())), 0)
        return QSize(hint.width() + spare * self.fontMetrics().horizontalAdvance("0"), hint.height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.read()
        self.timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Also when the window is made small."""
        super().hideEvent(event)
        self.timer.stop()

    def _show(self, said: str) -> None:
        if self.text() != said:
            self.setText(said)
            self.setAccessibleName(tr("Resources: {said}", said=said))

    def _on_toggled(self, wanted: bool) -> None:
        self.panel.setVisible(wanted)
        self.read()

    def _on_alive(self, _rss: object, speed: float) -> None:
        self.worker = replace(self.worker, speed=speed)

    def _on_card(self, used: int, total: int) -> None:
        self.worker = replace(self.worker, card_used=used, card_total=total)
