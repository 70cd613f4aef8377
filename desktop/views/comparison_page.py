"""Two work-ups of one case beside each other: whose they are, what both are, and everything that is not the same."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTextBrowser, QWidget

from core.domain.case import Case
from core.domain.comparison import Difference, Part
from core.domain.notices import notice
from desktop.i18n import tr
from desktop.state import runs, words
from desktop.state.run_comparison import Beside
from desktop.state.runs import RunSummary
from desktop.views import pieces
from desktop.views.full_page import FullPage
from desktop.views.look import look
from desktop.views.pieces import Elided, text
from desktop.views.report_markup import Markup

SCHEME = "run:"
NOTICES = ("N1", "N2", "N7")  # N6 stands above every page of the profile that needs it
SIDES = ("Earlier", "Later")
NAMES = ("", "", *SIDES)
WIDTHS = (14, 36, 25, 25)  # percent: the change, what changed, both values
CHANGES = {"added": ("+", "only later"), "gone": ("−", "only earlier"), "changed": ("→", "changed")}
FIRST = ("Safety flags", "Ranking", "Findings", "Sentences")  # what a reader looks for; the rest follows as it comes
SAME = "Both work-ups came to the same; only times may differ."


class Differences(Markup):
    """Writes what differs as tables: a sign and a word for the kind of change, then both values."""

    def page(self, found: Beside) -> str:
        """Subjects that differ, each with its table; the others in one sentence."""
        differing = sorted((part for part in found.parts if part.differences), key=_place)
        tables = "".join(map(self._part, differing))
        lead = "" if differing else self._paragraph(escape(tr(SAME)), self._palette.ink, 15)
        both = "".join(map(self._side, SIDES, (found.one, found.other)))
        sides = f"<table width='100%' cellspacing='0' cellpadding='0'><tr>{both}</tr></table>"
        return f"<body>{sides}{lead}{tables}{self._heading(tr('Equal'))}{self._equal(found)}</body>"

    def _side(self, name: str, run: RunSummary) -> str:
        """What one of the two is: its place in time, question, state and conclusion, and a link to it."""
        _icon, tone, state = runs.state_words(run, run.status)
        quiet = f"color:{self._palette.quiet}; {self._font(12)}"
        link = f"color:{self._palette.accent}; {self._font(13)} font-weight:600; text-decoration:none;"
        said = f"<b style='color:{self._palette.tone(tone)};'>{escape(state)}</b>&nbsp; {escape(run.headline)}"
        opened = f"<a href='{SCHEME}{escape(run.id)}' style='{link}'>{escape(tr('Open'))}</a>"
        lines = (
            f"<p style='{quiet} {self._gap(3)}'><b>{escape(tr(name))}</b>&nbsp; {runs.begun(run)} &nbsp;{opened}</p>",
            f"<p style='{self._font(13)} font-weight:600; {self._gap(3)}'>{escape(run.question)}</p>",
            f"<p style='{self._font(13)} {self._gap(3)}'>{said}</p>",
            f"<p style='{quiet} {self._gap(0)}'>{escape(runs.technical(run))}</p>",
        )
        style = f"padding:{self._px(8)}px {self._px(12)}px {self._px(8)}px {self._px(10)}px;"
        return f"<td width='50%' valign='top' bgcolor='{self._palette.soft}' style='{style}'>{''.join(lines)}</td>"

    def _part(self, part: Part) -> str:
        count = words.counted(len(part.differences), "difference")
        equal = tr("{n}, {k} equal", n=count, k=part.equal)
        head = self._heading(f"{tr(part.title)} — {equal}")
        names = "".join(
            self._value(escape(tr(name)), width, head=True) for name, width in zip(NAMES, WIDTHS, strict=True)
        )
        rows = "".join(map(self._difference, part.differences))
        return f"{head}<table width='100%' cellspacing='0' cellpadding='0'><tr>{names}</tr>{rows}</table>"

    def _difference(self, found: Difference) -> str:
        sign, said = CHANGES[found.change]
        mark = f"<span style='color:{self._palette.accent}; font-weight:600;'>{sign}</span> {escape(tr(said))}"
        values = (mark, *map(escape, (found.what, found.one, found.other)))
        cells = (self._value(value, width) for value, width in zip(values, WIDTHS, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    def _value(self, words_: str, width: int, *, head: bool = False) -> str:
        line = "" if head else f"border-top:1px solid {self._palette.line};"
        gap = f"padding:{self._px(0 if head else 5)}px {self._px(12)}px {self._px(5)}px 0;"
        small = f"color:{self._palette.quiet}; {self._font(11)} font-weight:600;" if head else self._font(13)
        return f"<td width='{width}%' valign='top' style='{line} {gap} {small}'>{words_}</td>"

    def _equal(self, found: Beside) -> str:
        same = [f"{tr(part.title)} ({part.equal})" for part in found.parts if not part.differences]
        return self._paragraph(escape(", ".join(same) or tr("nothing")) + ".", self._palette.quiet, 13)


def _place(part: Part) -> int:
    return FIRST.index(part.title) if part.title in FIRST else len(FIRST)


class ComparisonPage(FullPage):
    """The page. `opened` names a run to show in its place."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("Two work-ups beside each other"))
        self._found: Beside | None = None
        self.who, self.facts = Elided("strong"), Elided("small")
        self.notices = text("", "small")
        self.list = QTextBrowser()
        self._build()
        self.list.anchorClicked.connect(lambda url: self.opened.emit(url.toString().removeprefix(SCHEME)))
        look().changed.connect(self._draw)

    def _build(self) -> None:
        self.list.setProperty("kind", "report")
        self.list.setOpenLinks(False)
        self.list.setAccessibleName(tr("What differs"))
        self.list.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.list.setCursorWidth(0)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # everything in it wraps
        self.list.document().setDocumentMargin(16)
        self.count = text("", "lead")
        who = pieces.row(None, self.who, self.facts, gap=12, stretch=self.facts)
        paper = pieces.panel("paper")
        pieces.column(paper, self.list)
        top = QWidget()
        pieces.column(top, who, self.notices, self.count, margins=(16, 8, 16, 8), gap=6)
        self.body.setSpacing(0)
        self.body.addWidget(top)
        self.body.addWidget(paper, 1)

    def show_two(self, found: Beside, case: Case) -> None:
        """Two runs of a case; the notices of every result stand above them."""
        self._found = found
        name, facts = words.identity(case.patient)
        self.who.show_words(name)
        self.facts.show_words(f"{facts}   {case.title}")
        self.notices.setText("   ".join(notice(number) for number in NOTICES))
        self._draw()

    def enter(self) -> None:
        self.list.setFocus()

    def _draw(self) -> None:
        if self._found is None:
            return
        subjects = sum(1 for part in self._found.parts if part.differences)
        differing = words.counted(self._found.differing, "difference")
        where = tr("{n} in {k}", n=differing, k=words.counted(subjects, "subject"))
        self.count.setText(where if subjects else tr("No difference"))
        self.list.setHtml(Differences(look().palette, look().zoom).page(self._found))
