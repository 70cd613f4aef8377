"""A report as rich text for the window: the same blocks and lines as everywhere, evidence ids as links. Pure.

Every text of the report is escaped; links lead to evidence only (`evidence:e3`), nothing is fetched.
"""

from __future__ import annotations

from html import escape

from core.domain.evidence import Evidence
from core.domain.hypothesis import Differential, Hypothesis
from core.domain.report import Block, Line, Report, Table
from desktop.i18n import tr
from desktop.views.palette import Palette

SCHEME = "evidence:"
TONES = {"critical": "Critical", "serious": "Serious", "caution": "Caution"}
LEAD = "conclusion"
MOST_BARS = 6
MOST_LINKS = 3  # evidence named in the text; "+8" opens the whole list
Cell = tuple[Line, ...]


class Markup:
    """Writes rich text in the colours of a palette; sizes are pixels of the type scale times the zoom."""

    def __init__(self, palette: Palette, zoom: float) -> None:
        self._palette = palette
        self._zoom = zoom
        self._evidence: dict[str, Evidence] = {}

    def report(self, report: Report, ranked: Differential | None = None) -> str:
        """The report without its banner, which the page shows above it; `ranked` is drawn as bars."""
        footer = "".join(self._paragraph(escape(words), self._palette.quiet, 12) for words in report.footer)
        return f"<body>{self._blocks(report, ranked)}{self._space(20)}{footer}</body>"

    def _blocks(self, report: Report, ranked: Differential | None) -> str:
        self._evidence = {item.id: item for item in report.evidence}
        parts = []
        for block in report.blocks:
            parts.append(self._block(block))
            if block.id == LEAD and ranked is not None:
                parts.append(self._bars(ranked))
        return "".join(parts)

    def _block(self, block: Block) -> str:
        lines = [self._line(line, lead=block.id == LEAD and n == 0) for n, line in enumerate(block.lines)]
        tables = "".join(self._table(table) for table in block.tables)
        return f"{self._heading(block.title)}{''.join(lines)}{tables}"

    def _heading(self, title: str) -> str:
        """A paragraph, not <h2>: Qt enlarges the letters of its own headings beyond the type scale."""
        style = f"margin-top:{self._px(24)}px; margin-bottom:{self._px(8)}px;"
        inner = f"color:{self._palette.quiet}; {self._font(13)} font-weight:600;"
        return f"<p style='{style}'><span style='{inner}'>{escape(title)}</span></p>"

    def _line(self, line: Line, *, lead: bool) -> str:
        if line.tone in TONES:
            return self._flag(line)
        if lead:
            words = f"<span style='{self._font(20)} font-weight:600;'>{escape(line.text)}</span>"
            return self._paragraph(words + self._links(line.evidence), self._palette.ink, 13)
        muted = line.tone == "muted"
        return self._paragraph(
            self._words(line), self._palette.quiet if muted else self._palette.ink, 12 if muted else 13
        )

    def _flag(self, line: Line) -> str:
        """A safety line: a coloured edge, the tone in words, the sentence."""
        tone, ground = self._palette.tone(line.tone), self._palette.soft_tone(line.tone)
        around = f"margin-top:{self._px(3)}px; margin-bottom:{self._px(3)}px;"
        said = f"<b style='color:{tone};'>{tr(TONES[line.tone])}.</b> {self._words(line)}"
        return (
            f"<table width='100%' cellspacing='0' cellpadding='0' style='{around}'><tr>"
            f"<td width='{self._px(4)}' bgcolor='{tone}'></td>"
            f"<td bgcolor='{ground}' style='padding:{self._px(8)}px {self._px(12)}px; {self._font(13)}'>{said}</td>"
            "</tr></table>"
        )

    def _words(self, line: Line) -> str:
        words = escape(line.text)
        if line.struck:
            words = f"<s style='color:{self._palette.quiet};'>{words}</s> <i>{tr('Struck')}: {escape(line.reason)}</i>"
        return words + self._links(line.evidence)

    def _links(self, evidence: tuple[str, ...]) -> str:
        style = f"color:{self._palette.accent}; {self._font(11)} font-weight:400; text-decoration:none;"
        links = [self._link(e, e, style) for e in evidence[:MOST_LINKS]]
        if rest := evidence[MOST_LINKS:]:
            links.append(self._link(",".join(evidence), f"+{len(rest)}", style))
        joined = " ".join(links)
        return f" &nbsp;{joined}" if joined else ""

    def _link(self, target: str, shown: str, style: str) -> str:
        item = self._evidence.get(target)
        said = " ".join(item.text.split())[:160] if item else tr("all evidence of this statement")
        hint = escape(said, quote=True).replace("'", "&#39;")
        return f"<a href='{SCHEME}{escape(target)}' title='{hint}' style='{style}'>{escape(shown)}</a>"

    # -------------------------------------------------------------------------------------- ranking

    def _bars(self, ranked: Differential) -> str:
        shown = [h for h in ranked.hypotheses if h.band != "excluded"][:MOST_BARS]
        rows = "".join(self._bar(hypothesis) for hypothesis in shown)
        hint = self._paragraph(tr("Bars: share of the weight, not a probability."), self._palette.quiet, 11)
        style = f"margin-top:{self._px(8)}px; margin-bottom:{self._px(4)}px;"
        return f"<table width='100%' cellspacing='0' cellpadding='0' style='{style}'>{rows}</table>{hint}"

    def _bar(self, hypothesis: Hypothesis) -> str:
        """Title, bar and band in one row; the bar is two coloured cells."""
        leading = hypothesis.band in ("leading", "possible")
        filled = max(2, min(100, round(100 * hypothesis.share)))
        colour = self._palette.accent if leading else self._palette.edge
        thin = self._font(5)
        rest = (
            f"<td width='{100 - filled}%' bgcolor='{self._palette.raised}' style='{thin}'>&nbsp;</td>"
            if filled < 100
            else ""
        )
        bar = (
            f"<table width='100%' cellspacing='0' cellpadding='0'><tr>"
            f"<td width='{filled}%' bgcolor='{colour}' style='{thin}'>&nbsp;</td>{rest}</tr></table>"
        )
        weight = "600" if hypothesis.band == "leading" else "400"
        cell = f"padding:{self._px(4)}px {self._px(12)}px {self._px(4)}px 0; {self._font(13)}"
        band = f"{cell} color:{self._palette.accent if leading else self._palette.quiet};"
        return (
            f"<tr><td width='34%' valign='middle' style='{cell} font-weight:{weight};'>{escape(hypothesis.title)}</td>"
            f"<td width='42%' valign='middle' style='{cell}'>{bar}</td>"
            f"<td width='24%' valign='middle' style='{band}'>{escape(tr(hypothesis.band))}</td></tr>"
        )

    # --------------------------------------------------------------------------------------- tables

    def _table(self, table: Table) -> str:
        """The first cell of a row as its heading, the other cells in columns below it."""
        title = self._heading(table.title) if table.title else ""
        columns = table.columns[1:]
        rows = "".join(self._row(row, columns) for row in table.rows)
        return f"{title}<table width='100%' cellspacing='0' cellpadding='0'>{rows}</table>"

    def _row(self, row: tuple[Cell, ...], columns: tuple[str, ...]) -> str:
        if not columns:
            return f"<tr><td>{self._stacked(row[0])}</td></tr>"
        line = f"border-top:1px solid {self._palette.line};"
        head = f"{line} padding:{self._px(12)}px 0 {self._px(2)}px 0; {self._font(14)} font-weight:600;"
        width = 100 // len(columns)
        heading = " ".join(self._words(cell_line) for cell_line in row[0])
        cells = "".join(self._cell(name, cell, width) for name, cell in zip(columns, row[1:], strict=False))
        return f"<tr><td colspan='{len(columns)}' style='{head}'>{heading}</td></tr><tr>{cells}</tr>"

    def _cell(self, name: str, cell: Cell, width: int) -> str:
        style = f"{self._font(12)} padding:{self._px(2)}px {self._px(16)}px {self._px(10)}px 0;"
        small = f"color:{self._palette.quiet}; {self._font(11)} font-weight:600; {self._gap(3)}"
        label = f"<p style='{small}'>{escape(name)}</p>"
        return f"<td width='{width}%' valign='top' style='{style}'>{label}{self._stacked(cell)}</td>"

    def _stacked(self, cell: Cell) -> str:
        if not cell:
            return f"<span style='color:{self._palette.quiet};'>—</span>"
        return "".join(f"<p style='{self._gap(4)}'>{self._words(line)}</p>" for line in cell)

    # ---------------------------------------------------------------------------------------- sizes

    def _paragraph(self, words: str, colour: str, size: int) -> str:
        return f"<p style='color:{colour}; {self._font(size)} {self._gap(6)}'>{words}</p>"

    def _gap(self, below: int) -> str:
        return f"margin-top:0px; margin-bottom:{self._px(below)}px;"

    def _space(self, height: int) -> str:
        return f"<p style='margin-top:{self._px(height)}px; margin-bottom:0px;'></p>"

    def _font(self, size: int) -> str:
        return f"font-size:{self._px(size)}px;"

    def _px(self, size: int) -> int:
        return round(size * self._zoom)
