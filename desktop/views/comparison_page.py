"""Two work-ups of one case beside each other: whose they are, what both are, and everything that is not the same."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from core.domain.case import Case
from core.domain.notices import notice
from desktop.i18n import tr
from desktop.state import runs, words
from desktop.state.run_comparison import Beside, Difference, Subject
from desktop.state.runs import RunSummary
from desktop.views import pieces
from desktop.views.flow import Turning
from desktop.views.full_page import FullPage
from desktop.views.look import look
from desktop.views.pieces import Chip, Elided, text
from desktop.views.report_markup import Markup

SIDES = ("Earlier", "Later")
CHANGES = {"added": ("+", "only in the later"), "gone": ("−", "only in the earlier"), "changed": ("→", "changed")}
SAME = "Both work-ups came to the same; only times may differ."


class Differences(Markup):
    """Writes what differs as tables: a sign and a word for the kind of change, then both values."""

    def page(self, found: Beside) -> str:
        """Subjects that differ, each with its table; the others in one sentence."""
        differing = [subject for subject in found.subjects if subject.differences]
        parts = "".join(map(self._subject, differing))
        lead = "" if differing else self._paragraph(escape(tr(SAME)), self._palette.ink, 15)
        return f"<body>{lead}{parts}{self._heading(tr('Equal'))}{self._equal(found)}</body>"

    def _subject(self, subject: Subject) -> str:
        count = words.counted(len(subject.differences), "difference")
        equal = tr("{n}, {k} equal", n=count, k=subject.equal)
        head = self._heading(f"{tr(subject.title)} — {equal}")
        columns = "".join(self._column(name) for name in SIDES)
        rows = "".join(map(self._difference, subject.differences))
        return f"{head}<table width='100%' cellspacing='0' cellpadding='0'><tr><td></td>{columns}</tr>{rows}</table>"

    def _column(self, name: str) -> str:
        style = f"color:{self._palette.quiet}; {self._font(11)} font-weight:600; padding:0 {self._px(12)}px 0 0;"
        return f"<td width='27%' style='{style}'>{escape(tr(name))}</td>"

    def _difference(self, found: Difference) -> str:
        sign, said = CHANGES[found.change]
        line = f"border-top:1px solid {self._palette.line};"
        cell = f"{line} {self._font(13)} padding:{self._px(6)}px {self._px(12)}px {self._px(6)}px 0;"
        small = f"color:{self._palette.quiet}; {self._font(11)}"
        mark = f"<span style='color:{self._palette.accent}; font-weight:600;'>{sign}&nbsp;</span>"
        what = f"{mark}{escape(found.what)}<br><span style='{small}'>{escape(tr(said))}</span>"
        sides = "".join(
            f"<td width='27%' valign='top' style='{cell}'>{escape(value)}</td>" for value in (found.one, found.other)
        )
        return f"<tr><td width='46%' valign='top' style='{cell}'>{what}</td>{sides}</tr>"

    def _equal(self, found: Beside) -> str:
        same = [f"{tr(subject.title)} ({subject.equal})" for subject in found.subjects if not subject.differences]
        return self._paragraph(escape(", ".join(same) or tr("nothing")) + ".", self._palette.quiet, 13)


class Side(QFrame):
    """What one of the two is, and the way to it."""

    wanted = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._run = ""
        self.state = Chip("", "muted")
        self.open = pieces.button(tr("Open"), lambda: self.wanted.emit(self._run), kind="link")
        self.open.setAccessibleName(tr("Open the {which} work-up", which=tr(name).lower()))
        self.when = text("", "small", wrap=False)
        self.question, self.said, self.facts = Elided("strong"), Elided(), Elided("small")
        head = pieces.row(None, text(tr(name), "section", wrap=False), self.when, None, self.state, self.open)
        pieces.column(self, head, self.question, self.said, self.facts, margins=(12, 8, 12, 10), gap=3)

    def show_run(self, run: RunSummary) -> None:
        self._run = run.id
        icon, tone, said = runs.state_words(run, run.status)
        self.state.show_words(said, tone, icon)
        self.when.setText(runs.begun(run))
        self.question.show_words(run.question)
        self.said.show_words(run.headline or words.UNKNOWN)
        self.facts.show_words(runs.technical(run))
        self.setAccessibleName(runs.spoken(run, run.status))


class ComparisonPage(FullPage):
    """The page. `opened` names a run to show in its place."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("Two work-ups beside each other"))
        self._found: Beside | None = None
        self.who, self.facts = Elided("strong"), Elided("small")
        self.notices = text("", "small")
        self.sides = tuple(Side(name) for name in SIDES)
        self.list = QTextBrowser()
        self._build()
        for side in self.sides:
            side.wanted.connect(self.opened)
        look().changed.connect(self._draw)

    def _build(self) -> None:
        self.list.setProperty("kind", "report")
        self.list.setOpenLinks(False)
        self.list.setAccessibleName(tr("What differs"))
        self.list.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.list.document().setDocumentMargin(16)
        self.count = text("", "lead")
        cards = Turning(*self.sides, gap=12, stretch=None)
        for number in range(len(self.sides)):
            cards.setStretch(number, 1)
        who = pieces.row(None, self.who, self.facts, gap=12, stretch=self.facts)
        paper = pieces.panel("paper")
        pieces.column(paper, self.list)
        top = QWidget()
        pieces.column(top, who, self.notices, cards, self.count, margins=(16, 8, 16, 8), gap=8)
        self.body.setSpacing(0)
        self.body.addWidget(top)
        self.body.addWidget(paper, 1)

    def show_two(self, found: Beside, case: Case, *, research: bool) -> None:
        """Two runs of a case; the notices of every result stand above them."""
        self._found = found
        name, facts = words.identity(case.patient)
        self.who.show_words(name)
        self.facts.show_words(f"{facts}   {case.title}")
        shown = ("N1", "N2", "N6", "N7") if research else ("N1", "N2", "N7")
        self.notices.setText("   ".join(notice(number) for number in shown))
        for side, run in zip(self.sides, (found.one, found.other), strict=True):
            side.show_run(run)
        self._draw()

    def enter(self) -> None:
        self.list.setFocus()

    def _draw(self) -> None:
        if self._found is None:
            return
        subjects = sum(1 for subject in self._found.subjects if subject.differences)
        differing = words.counted(self._found.differing, "difference")
        where = tr("{n} in {k}", n=differing, k=words.counted(subjects, "subject"))
        self.count.setText(where if subjects else tr("No difference"))
        self.list.setHtml(Differences(look().palette, look().zoom).page(self._found))
