"""A report as rich text for the window: the same blocks and lines as everywhere, evidence ids as links. Pure.

Every text of the report is escaped; links lead to evidence only (`evidence:e3`), nothing is fetched.
"""

from __future__ import annotations

from html import escape

from core.domain.report import Block, Line, Report, Table
from desktop.i18n import tr
from desktop.views.palette import Palette

SCHEME = "evidence:"
TONES = {"critical": "Critical", "serious": "Serious", "caution": "Caution"}
LEAD = {"conclusion"}


class Markup:
    """Writes rich text in the colours of a palette; sizes are pixels of the type scale times the zoom."""

    def __init__(self, palette: Palette, zoom: float) -> None:
        self._palette = palette
        self._zoom = zoom

    def report(self, report: Report) -> str:
        """The whole report without its banner, which the page shows above it."""
        blocks = "".join(self._block(block) for block in report.blocks)
        footer = "".join(self._paragraph(escape(words), self._palette.quiet, 12) for words in report.footer)
        return f"<body>{blocks}{self._rule()}{footer}</body>"

    def _block(self, block: Block) -> str:
        size = 15 if block.id in LEAD else 13
        lines = [self._line(line, lead=block.id in LEAD and n == 0, size=size) for n, line in enumerate(block.lines)]
        tables = "".join(self._table(table) for table in block.tables)
        title = f"<h2 style='{self._font(15)} margin-top:{self._px(20)}px; margin-bottom:{self._px(6)}px; "
        title += f"color:{self._palette.quiet};'>{escape(block.title)}</h2>"
        return f"{title}{''.join(lines)}{tables}"

    def _line(self, line: Line, *, lead: bool, size: int) -> str:
        if line.tone in TONES:
            return self._flag(line)
        colour = self._palette.quiet if line.tone == "muted" else self._palette.ink
        words = self._words(line)
        if lead:
            words = f"<b>{words}</b>"
            size = 18
        return self._paragraph(words, colour, size if line.tone != "muted" else 12)

    def _flag(self, line: Line) -> str:
        """A safety line: a coloured edge, the tone in words, the sentence."""
        tone = self._palette.tone(line.tone)
        ground = self._palette.soft_tone(line.tone)
        said = f"<b style='color:{tone};'>{tr(TONES[line.tone])}.</b> {self._words(line)}"
        return (
            f"<table width='100%' cellspacing='0' cellpadding='0' style='margin-bottom:{self._px(6)}px;'><tr>"
            f"<td width='{self._px(4)}' bgcolor='{tone}'></td>"
            f"<td bgcolor='{ground}' style='padding:{self._px(8)}px {self._px(12)}px; {self._font(13)}'>{said}</td>"
            "</tr></table>"
        )

    def _words(self, line: Line) -> str:
        words = escape(line.text)
        if line.struck:
            reason = escape(line.reason)
            words = f"<s style='color:{self._palette.quiet};'>{words}</s> <i>{tr('Struck')}: {reason}</i>"
        return words + self._links(line.evidence)

    def _links(self, evidence: tuple[str, ...]) -> str:
        style = f"color:{self._palette.accent}; {self._font(12)} text-decoration:none;"
        links = (f"<a href='{SCHEME}{escape(e)}' style='{style}'>{escape(e)}</a>" for e in evidence)
        joined = "&nbsp;·&nbsp;".join(links)
        return f"&nbsp;&nbsp;{joined}" if joined else ""

    def _table(self, table: Table) -> str:
        title = f"<h3 style='{self._font(13)}'>{escape(table.title)}</h3>" if table.title else ""
        width = 100 // max(1, len(table.columns))
        head = "".join(self._cell(escape(c), width, self._palette.quiet, "th") for c in table.columns)
        rows = "".join(self._row(row, width) for row in table.rows)
        style = f"border-collapse:collapse; border-color:{self._palette.line};"
        return (
            f"{title}<table width='100%' cellspacing='0' border='1' style='{style}'>"
            f"<thead><tr>{head}</tr></thead>{rows}</table>"
        )

    def _row(self, row: tuple[tuple[Line, ...], ...], width: int) -> str:
        cells = (self._cell(self._stacked(cell, n == 0), width, self._palette.ink) for n, cell in enumerate(row))
        return f"<tr>{''.join(cells)}</tr>"

    def _cell(self, words: str, width: int, colour: str, tag: str = "td") -> str:
        style = f"color:{colour}; {self._font(12)} padding:{self._px(8)}px;"
        return f"<{tag} width='{width}%' align='left' valign='top' style='{style}'>{words}</{tag}>"

    def _stacked(self, cell: tuple[Line, ...], bold: bool) -> str:
        if not cell:
            return f"<span style='color:{self._palette.quiet};'>—</span>"
        gap = self._px(5)
        lines = [f"<p style='margin-top:0px; margin-bottom:{gap}px;'>{self._words(line)}</p>" for line in cell]
        joined = "".join(lines)
        return f"<b>{joined}</b>" if bold else joined

    def _paragraph(self, words: str, colour: str, size: int) -> str:
        below = self._px(6)
        return f"<p style='color:{colour}; {self._font(size)} margin-top:0px; margin-bottom:{below}px;'>{words}</p>"

    def _rule(self) -> str:
        return f"<p style='margin-top:{self._px(24)}px; margin-bottom:0px;'></p>"

    def _font(self, size: int) -> str:
        return f"font-size:{self._px(size)}px;"

    def _px(self, size: int) -> int:
        return round(size * self._zoom)
