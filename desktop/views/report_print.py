"""A report as rich text for paper: the blocks and lines of the window, then all evidence cited with its sources. Pure.

Nothing can be clicked on paper: evidence ids are words, and the text holds no link, so that a file leads nowhere.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from core.domain.notices import TEXTS
from core.domain.report import Report, Table
from desktop.i18n import tr
from desktop.state.report_files import Entry, Figure, Paper
from desktop.views.palette import LIGHT
from desktop.views.report_markup import Markup

TITLE = "title"  # name of the invisible anchor at the start of a heading, by which the pages keep it with what follows
MOST_SHORT = 110  # characters of a notice that is repeated on every page
PICTURE = 300  # width on paper, in pixels of the type scale
HEAVY = (TEXTS["N2"], TEXTS["N6"])


class Printed(Markup):
    """Writes the parts of the pages; `scale` is device pixels per pixel of the type scale.

    Qt scales lengths to the device by itself, sizes of letters it does not.
    """

    def __init__(self, scale: float) -> None:
        super().__init__(LIGHT, 1.0)
        self._scale = scale

    def _font(self, size: int) -> str:
        return f"font-size:{round(size * self._scale)}px;"

    def head(self, report: Report) -> str:
        """What stands on every page: who it is, which case, and every notice of ordinary length."""
        short = [words for words in report.banner if len(words) <= MOST_SHORT]
        more = len(report.banner) - len(short)
        rest = [tr("{n} longer notices on page 1", n=more)] if more > 1 else []
        rest = [tr("1 longer notice on page 1")] if more == 1 else rest
        who = f"<p style='{self._font(14)} font-weight:600; {self._gap(1)}'>{escape(report.patient)}</p>"
        case = f"<p style='{self._font(12)} {self._gap(4)}'>{escape(report.title)}</p>"
        said = self._paragraph(" · ".join(map(_weighed, (*short, *rest))), self._palette.ink, 11)
        return f"<body>{who}{case}{said}</body>"

    def foot(self, report: Report) -> str:
        """N8 and the run, at the end of every page."""
        lines = "".join(
            f"<p style='color:{self._palette.quiet}; {self._font(11)} {self._gap(0)}'>{escape(words)}</p>"
            for words in report.footer
        )
        return f"<body>{lines}</body>"

    def body(self, paper: Paper) -> str:
        """The notices in full, the report, its evidence, the pictures."""
        notices = "".join(self._notice(words) for words in paper.report.banner if len(words) > MOST_SHORT)
        blocks = self._blocks(paper.report, paper.ranked)
        return f"<body>{notices}{blocks}{self._evidence_part(paper.entries)}{self._pictures(paper.figures)}</body>"

    def _notice(self, words: str) -> str:
        return f"<p style='{self._font(12)} {self._gap(2)}'>{escape(words)}</p>"

    def _heading(self, title: str) -> str:
        style = f"margin-top:{self._px(20)}px; margin-bottom:{self._px(6)}px;"
        inner = f"color:{self._palette.accent}; {self._font(14)} font-weight:600;"
        return f"<p style='{style}'><a name='{TITLE}'></a><span style='{inner}'>{escape(title)}</span></p>"

    def _link(self, target: str, shown: str, style: str) -> str:
        return f"<span style='{style}'>{escape(shown)}</span>"

    def _links(self, evidence: tuple[str, ...]) -> str:
        """All of them: nothing opens the rest of a list that was cut."""
        words = " ".join(self._link(e, e, f"color:{self._palette.accent}; {self._font(10)}") for e in evidence)
        return f" &nbsp;{words}" if words else ""

    def _table(self, table: Table) -> str:
        """Each row is a table of its own, so that it can be kept on one page."""
        title = self._heading(table.title) if table.title else ""
        return title + "".join(self._alone(self._row(row, table.columns[1:]), above=4) for row in table.rows)

    def _alone(self, rows: str, above: int = 0) -> str:
        style = f"margin-top:{self._px(above)}px;" if above else ""
        return f"<table width='100%' cellspacing='0' cellpadding='0' style='{style}'>{rows}</table>"

    def _evidence_part(self, entries: tuple[Entry, ...]) -> str:
        parts = (
            (tr("Evidence in this case"), [entry for entry in entries if not entry.published]),
            (tr("Published evidence"), [entry for entry in entries if entry.published]),
        )
        return "".join(self._heading(title) + self._entries(found) for title, found in parts if found)

    def _entries(self, entries: Iterable[Entry]) -> str:
        return "".join(map(self._entry, entries))

    def _entry(self, entry: Entry) -> str:
        """Id, statement, source, and the words that were read there."""
        quiet = f"color:{self._palette.quiet}; {self._font(11)} {self._gap(1)}"
        remark = f"<p style='{self._font(11)} font-weight:600; {self._gap(1)}'>{escape(entry.remark)}</p>"
        said = (
            f"<p style='{self._gap(1)}'>{escape(entry.text)}</p><p style='{quiet}'>{escape(entry.source)}</p>"
            f"{remark if entry.remark else ''}{self._quote(entry.quote)}"
        )
        line = f"border-top:1px solid {self._palette.line};"
        cell = f"{line} {self._font(12)} padding:{self._px(4)}px {self._px(8)}px {self._px(4)}px 0;"
        return self._alone(
            f"<tr><td width='9%' valign='top' style='{cell} color:{self._palette.accent};'>{escape(entry.id)}</td>"
            f"<td width='91%' valign='top' style='{cell}'>{said}</td></tr>"
        )

    def _quote(self, quote: str) -> str:
        """What was read is underlined as well: not told by colour alone."""
        marked = f"<span style='background-color:{self._palette.mark}; text-decoration:underline;'>"
        words = quote.replace("<mark>", marked).replace("</mark>", "</span>")
        style = f"<p style='color:{self._palette.ink}; {self._font(11)} margin:0 0 0 {self._px(12)}px;'>"
        return words.replace("<blockquote>", style).replace("</blockquote>", "</p>")

    def _pictures(self, figures: tuple[Figure, ...]) -> str:
        if not figures:
            return ""
        return self._heading(tr("Pictures")) + "".join(map(self._figure, figures))

    def _figure(self, figure: Figure) -> str:
        data = base64.b64encode(figure.png).decode()
        said = tr("{title}: present, not analysed", title=figure.title)
        small = f"color:{self._palette.quiet}; {self._font(11)}"
        picture = f"<img width='{self._px(PICTURE)}' src='data:image/png;base64,{data}'>"
        return self._alone(f"<tr><td style='{small}'>{picture}<br>{escape(said)}</td></tr>")


def _weighed(words: str) -> str:
    return f"<b>{escape(words)}</b>" if words in HEAVY else escape(words)
