"""What the run asks: each gap with why it matters, one answer of three, room for a value or the clinician's words."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from core.domain.evidence import Answer, Gap, Question
from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.pieces import Picture, Segments, text

LEADS = {"contradiction": "contradiction in the documents", "rung": "the program asks; nothing was started yet"}
STATES: tuple[Literal["present", "absent", "not obtainable"], ...] = ("present", "absent", "not obtainable")
PERMITS = ("Go on", "Do not start")  # of a question on the program itself; as present and absent
OBTAIN = {
    "history": "from the history",
    "examination": "by examination",
    "laboratory": "from the laboratory",
    "ecg": "from the ECG",
    "imaging": "from imaging",
    "other": "by other means",
}


class GapRow(QWidget):
    """One thing asked."""

    changed = Signal()

    def __init__(self, gap: Gap, wording: str) -> None:
        super().__init__()
        self.gap = gap
        name = text(gap.name, "strong")
        asks_leave = gap.kind == "rung"
        lead = tr(LEADS[gap.kind]) if gap.kind in LEADS else tr(OBTAIN[gap.obtain])
        where = text(lead + (f" · {tr('needed for a sound work-up')}" if gap.critical else ""), "small", wrap=False)
        choices = tuple(map(tr, PERMITS)) if asks_leave else tuple(tr(state).capitalize() for state in STATES)
        self.choice = Segments(choices, name=gap.name)
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("Value or own words (optional)"))
        self.words.setAccessibleName(tr("{name}: value or own words", name=gap.name))
        self.words.setMinimumWidth(120)
        if asks_leave:
            self.words.hide()
        self.choice.chosen.connect(lambda _n: self.changed.emit())
        head = pieces.row(None, name, where, gap=12, stretch=name)
        answer = pieces.row(None, self.choice, self.words, gap=12, stretch=self.words)
        pieces.column(self, head, text(wording), answer, margins=(0, 4, 0, 8), gap=6)

    @property
    def answer(self) -> Answer | None:
        """The answer given, None while there is none."""
        at = self.choice.at
        return Answer(concept=self.gap.concept, state=STATES[at], text=self.words.text().strip()) if at >= 0 else None


class QuestionCard(QFrame):
    """The question a run waits with. Answers go together; nothing is chosen beforehand."""

    answered = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "asking")
        self.setAccessibleName(tr("Question to you"))
        self._question: Question | None = None
        self.rows: list[GapRow] = []
        self._list = QVBoxLayout()
        self.none = pieces.button(tr("None is obtainable"), self._none)
        self.send = pieces.button(tr("Send answers"), self.send_answers, kind="primary", icon="send")
        self.send.setToolTip(tr("Send the answers (Ctrl+Return)"))
        title = text(tr("The work-up waits for your answer"), "title")
        head = pieces.row(None, Picture("question", "serious", 22), title, stretch=title)
        self._hint = text("", "small")
        foot = pieces.row(None, self._hint, self.none, self.send, stretch=self._hint)
        pieces.column(self, head, self._list, foot, margins=(16, 12, 16, 12), gap=8)
        self.hide()

    def show_question(self, question: Question | None) -> None:
        """Show a question, keep the one already shown with what was typed, or hide."""
        if question == self._question:
            return
        self._question = question
        pieces.clear(self._list)
        self.rows = []
        for gap, wording in zip(question.gaps, question.wording, strict=False) if question else ():
            made = GapRow(gap, wording)
            made.changed.connect(self._count)
            self.rows.append(made)
            self._list.addWidget(made)
        self.none.setHidden(question is not None and all(gap.kind == "rung" for gap in question.gaps))
        self.setVisible(question is not None)
        self._count()
        if self.rows:
            self.rows[0].choice.buttons[0].setFocus()

    def _count(self) -> None:
        left = sum(1 for made in self.rows if made.answer is None)
        self.send.setEnabled(left == 0 and bool(self.rows))
        self._hint.setText(tr("{n} still to answer", n=left) if left else tr("Your name is recorded with the answers."))

    def _none(self) -> None:
        for made in self.rows:
            if made.answer is None:
                made.choice.choose(len(made.choice.buttons) - 1)

    def send_answers(self) -> None:
        answers = tuple(made.answer for made in self.rows if made.answer is not None)
        if answers and len(answers) == len(self.rows):
            self.send.setEnabled(False)
            self.answered.emit(answers)
