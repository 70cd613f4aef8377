"""After a crash: what happened in one sentence, what was kept, and what can be done; and the problem report to read."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QWidget

from desktop.i18n import tr
from desktop.state import words
from desktop.state.jobs import Interrupted
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.look import look
from desktop.views.pieces import Picture, text
from desktop.views.viewers import NoteView

CLOSED_BADLY = "Wardround was not closed the last time: it crashed, the power failed, or the system ended it."
BY_HAND = "Nothing in particular; the report was asked for in the menu."


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """A crash and what of a run was saved. `goes_on`: the run was taken up again already, or has ended for good."""

    happened: str
    left: Interrupted | None = None
    goes_on: bool = False


def kept(crash: Crash) -> str:
    """What was not lost."""
    if crash.left is None:
        return tr("Kept: every case. No work-up was under way.")
    steps = words.counted(crash.left.steps, "saved step")
    return tr("Kept: every case, and the work-up of “{title}” with {steps}.", title=crash.left.title, steps=steps)


class CrashNotice(QFrame):
    """One notice at the top of the window until it is dismissed; a newer crash takes its place."""

    resumed = Signal(object)  # Interrupted
    report_wanted = Signal(str)  # what happened

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setProperty("tone", "serious")
        self._crash = Crash(happened="")
        self._happened, self._kept = text("", "strong"), text("")
        self.resume = pieces.button(tr("Resume"), self._resume, kind="primary", icon="resume")
        self.report = pieces.button(tr("Show the report file"), self._report, icon="note")
        self.dismiss = pieces.button(tr("Dismiss"), self.hide)
        acts = QWidget()
        flow = Flow(acts)
        for act in (self.resume, self.report, self.dismiss):
            flow.addWidget(act)
        said = pieces.column(None, self._happened, self._kept, acts, gap=6)
        picture = Picture("warning", "serious", 20)
        line = pieces.row(self, picture, said, margins=(12, 10, 12, 10), gap=12)
        line.setStretch(1, 1)
        line.setAlignment(picture, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_crash(self, crash: Crash) -> None:
        self._crash = crash
        self._happened.setText(crash.happened)
        self._kept.setText(kept(crash))
        self.setAccessibleName(f"{crash.happened} {kept(crash)}")
        self.resume.setVisible(crash.left is not None and not crash.goes_on)
        self.show()

    def _resume(self) -> None:
        self.hide()
        self.resumed.emit(self._crash.left)

    def _report(self) -> None:
        self.report_wanted.emit(self._crash.happened)


class ProblemReport(QDialog):
    """A report file that was just written: where it lies, and every line of it."""

    def __init__(self, parent: QWidget, path: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Problem report"))
        self.setAccessibleName(tr("Problem report"))
        place = text(path, "mono")
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        lead = text(tr("Read it before you pass it on. It lies on this computer only, in this file:"))
        body = NoteView()
        body.show_text(Path(path).read_text(encoding="utf-8"), tr("The report"))
        close = pieces.button(tr("Close"), self.accept)
        title, foot = text(tr("Problem report"), "title"), pieces.row(None, None, close)
        pieces.column(self, title, lead, place, body, foot, margins=(24, 20, 24, 16), gap=10, stretch=body)
        self.resize(look().px(720), min(look().px(560), parent.height()))
