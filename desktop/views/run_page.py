"""The run as it happens: state and Stop on top, the question when there is one, the journal beside the ranking."""

from __future__ import annotations

import time
from datetime import datetime

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSplitter, QWidget

from core.domain.notices import notice
from desktop.i18n import tr
from desktop.state import words
from desktop.state.live_run import LiveRun, Pulse
from desktop.state.run_items import VALUE
from desktop.views import pieces, rows
from desktop.views.look import look
from desktop.views.pieces import Elided, text
from desktop.views.question_card import QuestionCard

AT_REST = {
    "waiting": "Waits for your answer; it may be given now or days later.",
    "stopped": "Stopped; what was found so far is kept.",
    "finished": "Finished: the assessment is ready.",
}
EMPTY = {
    "steps": "Every step appears here as it is saved.",
    "ranking": "Conditions appear here once findings are weighed.",
    "evidence": "Findings appear here with their source.",
}
NARROW = 720
TAIL = 96  # characters of the model's text that are shown while it writes


class RunHead(QFrame):
    """What the run is doing, what it costs, and the way to stop or go on."""

    stopped = Signal()
    resumed = Signal()
    report_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "head")
        self.doing = Elided()
        self.costs = Elided("small")
        self.stop = pieces.button(tr("Stop"), self.stopped.emit, kind="stop", icon="stop")
        self.stop.setToolTip(tr("Stop the run (Ctrl+.)"))
        self.resume = pieces.button(tr("Resume"), self.resumed.emit, kind="primary", icon="resume")
        self.report = pieces.button(tr("Read the report"), self.report_wanted.emit, kind="primary", icon="ready")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Check of the model file"))
        buttons = (self.stop, self.resume, self.report)
        line = pieces.row(None, self.doing, self.costs, *buttons, gap=12, stretch=self.doing)
        pieces.column(self, line, self.bar, margins=(16, 8, 16, 8), gap=6)


class RunPage(QWidget):
    """One run. `evidence_wanted` names a piece of evidence to show with its source."""

    evidence_wanted = Signal(str)
    report_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self._live: LiveRun | None = None
        self._since = 0.0
        self.head = RunHead()
        self.head.report_wanted.connect(self.report_wanted)
        self.question = QuestionCard()
        self.steps = rows.listed(tr("Steps of the run"), VALUE, rows.step_row)
        self.ranking = rows.listed(tr("Ranked conditions"), VALUE, None)
        self.evidence = rows.listed(tr("Evidence found"), VALUE, rows.evidence_row)
        self.evidence.clicked.connect(self._on_evidence)
        self.evidence.activated.connect(self._on_evidence)
        self._clock = QTimer(self, interval=500)
        self._clock.timeout.connect(self._show_costs)
        self._build()

    def _build(self) -> None:
        lanes = self._lanes = QSplitter()
        lanes.setProperty("kind", "lanes")
        lanes.setChildrenCollapsible(False)
        banner = text("   ".join(notice(n) for n in ("N1", "N2", "N7")), "small")
        self.badge = text("", "small")
        self.badge.setVisible(False)
        self._rank_hint = text(tr("Bars show each condition's share of the weight; not a probability."), "small")
        self._counts: dict[str, QLabel] = {}
        self._empty: dict[str, QLabel] = {}
        left = self._lane("steps", tr("Journal"), self.steps)
        right = QWidget()
        below = self._lane("evidence", tr("Evidence"), self.evidence)
        above = self._lane("ranking", tr("Differential so far"), self.ranking, self._rank_hint)
        pieces.column(right, above, below, gap=8, stretch=below).setStretch(0, 1)
        lanes.addWidget(left)
        lanes.addWidget(right)
        lanes.setStretchFactor(0, 1)
        lanes.setStretchFactor(1, 1)
        lanes.setHandleWidth(8)
        lanes.setSizes([1000, 1000])  # halves; only the ratio counts
        body = QWidget()
        pieces.column(body, banner, self.badge, self.question, lanes, margins=(16, 8, 16, 12), gap=8, stretch=lanes)
        area = pieces.scrolled(body, tr("The run"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        pieces.column(self, self.head, area, gap=0, stretch=area)

    def _lane(self, key: str, title: str, view: QWidget, *more: QWidget) -> QWidget:
        card = pieces.panel("card")
        self._counts[key] = text("", "small", wrap=False)
        head = pieces.row(None, text(title, "section", wrap=False), None, self._counts[key], margins=(12, 8, 12, 2))
        waiting = text(tr(EMPTY[key]), "muted")
        self._empty[key] = waiting
        hints = pieces.column(None, *more, waiting, margins=(12, 0, 12, 0))
        pieces.column(card, head, hints, view, margins=(1, 1, 1, 4), gap=2, stretch=view)
        return card

    def attach(self, live: LiveRun) -> None:
        """Follow the run on the screen from now on."""
        self._live = live
        self.steps.setModel(live.steps)
        self.ranking.setModel(live.ranking)
        self.evidence.setModel(live.evidence)
        live.changed.connect(self._show)
        live.pulsed.connect(self._show_costs)
        live.steps.rowsInserted.connect(lambda *_: self.steps.scrollToBottom())
        self.head.stopped.connect(live.stop)
        self.head.resumed.connect(live.resume)
        self.question.answered.connect(live.answer)

    def _show(self) -> None:
        live = self._live
        if live is None:
            return
        status, memory = live.status, live.memory
        self.head.stop.setVisible(live.active)
        self.head.stop.setEnabled(not live.stopping)
        self.head.stop.setText(tr("Stopping…") if live.stopping else tr("Stop"))
        self.head.resume.setVisible(status == "stopped")
        self.head.report.setVisible(status == "finished")
        self.question.show_question(memory.question if status == "waiting" else None)
        for key, model in (("steps", live.steps), ("ranking", live.ranking), ("evidence", live.evidence)):
            self._counts[key].setText(str(model.rowCount() or ""))
            self._empty[key].setVisible(model.rowCount() == 0)
        self._clock.start() if live.active else self._clock.stop()
        self._show_costs()

    def _show_costs(self) -> None:
        live = self._live
        if live is None:
            return
        pulse, memory = live.pulse, live.memory
        self.badge.setText(live.badge)
        self.badge.setVisible(bool(live.badge))
        checking = live.active and 0 < pulse.verified < pulse.to_verify
        self.head.bar.setVisible(checking)
        if checking:
            self.head.bar.setRange(0, 1000)
            self.head.bar.setValue(round(1000 * pulse.verified / pulse.to_verify))
        self.head.doing.show_words(_doing(live))
        parts = [elapsed(live)]
        speed = pulse.speed or memory.tokens_per_second
        if speed:
            parts.append(tr("{n:.0f} tokens/s", n=speed))
        if live.active and pulse.rss:
            parts.append(words.size(pulse.rss))
        self.head.costs.show_words("   ".join(filter(None, parts)))

    def _on_evidence(self, index: QModelIndex) -> None:
        item = index.data(VALUE)
        if item is not None:
            self.evidence_wanted.emit(item.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room, below each other where there is not."""
        super().resizeEvent(event)
        wide = self.width() >= look().px(NARROW)
        self._lanes.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
        self._lanes.setMinimumHeight(look().px(260 if wide else 560))


def _doing(live: LiveRun) -> str:
    """One sentence on what happens now."""
    if live.stopping:
        return live.stopping
    if not live.active:
        return live.memory.error or tr(AT_REST.get(live.status, ""))
    checking = live.pulse
    if 0 < checking.verified < checking.to_verify:
        done, total = words.size(checking.verified), words.size(checking.to_verify)
        return tr("Checking the model file: {done} of {total}", done=done, total=total)
    if checking.text:
        return _tail(checking)
    busy = next((step.text for step in reversed(live.memory.steps) if not step.done), "")
    return busy or (live.memory.steps[-1].text if live.memory.steps else tr("Starting the analysis process …"))


def _tail(pulse: Pulse) -> str:
    return tr("Model writes: {words}", words=" ".join(pulse.text.split())[-TAIL:])


def elapsed(live: LiveRun) -> str:
    """Seconds between the first step and now, or the last step of a run at rest."""
    steps = live.memory.steps
    if not steps:
        return ""
    first, last = _seconds(steps[0].at), time.time() if live.active else _seconds(steps[-1].at)
    return tr("{n:.0f} s", n=max(0.0, last - first)) if first and last else ""


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0
