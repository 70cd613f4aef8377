"""Whose case this is, always in sight, with the four pages of the case as tabs beside it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from core.domain.case import Case
from desktop.i18n import tr
from desktop.state import words
from desktop.views import pieces
from desktop.views.flow import Turning
from desktop.views.pieces import Chip, Elided

TABS = ("Case", "Work-up", "Report", "All work-ups")


class PatientHead(QFrame):
    """Name, birth date and id of the open case; tabs; the state of its run."""

    turned = Signal(int)
    pane_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "head")
        self.setAccessibleName(tr("Patient"))
        self.pane_button = pieces.icon_button("panel", tr("Show or hide the case list (Ctrl+B)"), self.pane_wanted.emit)
        self.name = Elided("title")
        self.facts = Elided("small", most=320)
        self.state = Chip("", "muted")
        turns = [partial(self.turned.emit, number) for number in range(len(TABS))]
        self.tabs = [pieces.button(tr(name), turn, kind="tab") for name, turn in zip(TABS, turns, strict=True)]
        for tab in self.tabs:
            tab.setCheckable(True)
        who, turns_box = QWidget(), QWidget()
        pieces.row(who, pieces.column(None, self.name, self.facts, gap=0), self.state).setStretch(0, 1)
        pieces.row(turns_box, None, *self.tabs, gap=0).setSpacing(0)
        line = Turning(who, turns_box, gap=12, stretch=who)
        pieces.row(self, self.pane_button, line, margins=(12, 6, 12, 6), gap=12).setStretch(1, 1)

    def show_case(self, case: Case) -> None:
        name, facts = words.identity(case.patient)
        self.name.show_words(name)
        self.facts.show_words(f"{facts}   {case.title}")
        self.setAccessibleDescription(f"{name}, {facts}")

    def show_state(self, state: str, *, has_run: bool, has_report: bool) -> None:
        """The run's state, and which pages there are."""
        icon, tone, said = words.state_words(state)
        self.state.show_words(said, tone, icon)
        self.state.setVisible(bool(state))
        self.tabs[1].setEnabled(has_run)
        self.tabs[2].setEnabled(has_report)

    def mark(self, page: int) -> None:
        for number, tab in enumerate(self.tabs):
            tab.setChecked(number == page)
