"""A report as one self-contained HTML file: no script, no link to anything outside, pictures inside. Pure.

Every evidence id is a link to its entry at the end; every entry shows the quoted source.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources

import msgspec

from core.domain.case import Case, LabRow, LabTable, Note
from core.domain.evidence import Evidence
from core.domain.report import Block, Line, Report, Table
from core.runtime.report import cited, inputs

CONTEXT = 90  # characters of a note shown on each side of the span
HINT = 160  # characters of evidence shown when the pointer rests on its id
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STRENGTH = re.compile(r" \(((?:hallmark|typical|occasional|against|excludes)(?:, derived)?)\)$")


def html(report: Report, case: Case, pictures: Mapping[str, bytes]) -> str:
    """The file's text. `pictures` maps the preview sha256 of the case's pictures to PNG bytes."""
    page = _Page(report, case)
    style = resources.files("core.runtime").joinpath("resources/report.css").read_text("utf-8")
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(report.title)} – Wardround</title><style>{style}</style></head>"
        f"<body><main>{page.head()}{page.blocks()}{_pictures(case, pictures)}{page.evidence()}</main>"
        f"<footer>{''.join(f'<p>{escape(text)}</p>' for text in report.footer)}</footer></body></html>\n"
    )


class _Page:
    """The parts of the page; knows which evidence there is, so that no link leads nowhere."""

    def __init__(self, report: Report, case: Case) -> None:
        self._report = report
        self._case = case
        self._cited = {item.id: item for item in cited(report)}

    def head(self) -> str:
        report = self._report
        notices = "".join(f"<li>{escape(text)}</li>" for text in report.banner)
        return (
            f"<header><h1>{escape(report.title)}</h1><p class='patient'>{escape(report.patient)}</p></header>"
            f"<ul class='banner'>{notices}</ul>"
        )

    def blocks(self) -> str:
        return "".join(self._block(block) for block in self._report.blocks)

    def _block(self, block: Block) -> str:
        lines = "".join(f"<li class='{line.tone}'>{self._line(line)}</li>" for line in block.lines)
        listed = f"<ul class='lines'>{lines}</ul>" if lines else ""
        tables = "".join(self._table(table) for table in block.tables)
        return f"<section id='{escape(block.id)}'><h2>{escape(block.title)}</h2>{listed}{tables}</section>"

    def _line(self, line: Line) -> str:
        text = _STRENGTH.sub(r" <small>\1</small>", escape(line.text))
        if line.struck:
            text = f"<s>{text}</s> <em>{escape(line.reason)}</em>"
        return text + self._links(line.evidence)

    def _links(self, identifiers: Iterable[str]) -> str:
        return "".join(f" {self._link(identifier)}" for identifier in identifiers)

    def _link(self, identifier: str) -> str:
        item = self._cited.get(identifier)
        if item is None:
            return f"<span class='cite'>{escape(identifier)}</span>"
        hint = " ".join(item.text.split())
        hint = hint if len(hint) <= HINT else hint[: HINT - 1] + "…"
        return f"<a class='cite' href='#{escape(identifier)}' title='{escape(hint)}'>{escape(identifier)}</a>"

    def _table(self, table: Table) -> str:
        """The first column heads each row over the whole width: three columns are easier to read than four."""
        head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in table.columns[1:])
        rows = "".join(self._row(row, table.columns) for row in table.rows)
        return f"<table><thead><tr>{head}</tr></thead>{rows}</table>"

    def _row(self, row: tuple[tuple[Line, ...], ...], columns: tuple[str, ...]) -> str:
        below = {identifier for cell in row[1:] for line in cell for identifier in line.evidence}
        name = " ".join(self._line(_beyond(line, below)) for line in row[0])
        cells = "".join(
            f"<td data-column='{escape(column)}'>{self._cell(cell)}</td>"
            for column, cell in zip(columns[1:], row[1:], strict=True)
        )
        heading = f"<tr><th class='name' scope='rowgroup' colspan='{len(columns) - 1}'>{name}</th></tr>"
        return f"<tbody>{heading}<tr>{cells}</tr></tbody>"

    def _cell(self, cell: tuple[Line, ...]) -> str:
        if not cell:
            return "<span class='none'>–</span>"
        return f"<ul>{''.join(f'<li class={line.tone!r}>{self._line(line)}</li>' for line in cell)}</ul>"

    def evidence(self) -> str:
        """What was cited: first what stands in this case, then what was published."""
        case = [item for item in self._cited.values() if item.provenance.kind != "passage"]
        published = [item for item in self._cited.values() if item.provenance.kind == "passage"]
        parts = [("In this case", case), ("Published", published)]
        listed = "".join(f"<h3>{title}</h3>{self._entries(items)}" for title, items in parts if items)
        return f"<section id='evidence'><h2>Evidence</h2>{listed}</section>" if listed else ""

    def _entries(self, items: Iterable[Evidence]) -> str:
        return f"<ol class='evidence'>{''.join(map(self._entry, items))}</ol>"

    def _entry(self, item: Evidence) -> str:
        sources = inputs(item)
        label = f"computed from{self._links(sources)}" if sources else escape(item.provenance.label)
        remark = self._report.remark(item.id)
        said = f"<div class='source'><strong>{escape(remark)}</strong></div>" if remark else ""
        return (
            f"<li id='{escape(item.id)}'><b>{escape(item.id)}</b><div>{escape(item.text)}"
            f"<div class='source'>{label}</div>{said}{quoted(item, self._case)}</div></li>"
        )


def _beyond(line: Line, shown: set[str]) -> Line:
    """The heading of a row cites only what no cell below it cites."""
    return msgspec.structs.replace(line, evidence=tuple(e for e in line.evidence if e not in shown))


def quoted(item: Evidence, case: Case) -> str:
    """The source itself, as HTML: the note around the span, which is marked, or the table row; "" for any other."""
    place = item.provenance
    source = case.item(place.reference)
    if isinstance(source, Note) and place.start is not None and place.end is not None:
        return f"<blockquote>{_around(source.text, place.start, place.end)}</blockquote>"
    if isinstance(source, LabTable) and place.row is not None:
        return "".join(f"<blockquote>{_printed(row)}</blockquote>" for row in source.rows if row.row == place.row)
    return ""


def _around(text: str, start: int, end: int) -> str:
    """The span marked, with whole words of the text on both sides."""
    first, last = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    before, after = text[first:start], text[end:last]
    if first > 0:
        before = "…" + before.partition(" ")[2]
    if last < len(text):
        after = after.rpartition(" ")[0] + "…"
    return f"{_lines(before).lstrip()}<mark>{_lines(text[start:end])}</mark>{_lines(after).rstrip()}"


def _lines(text: str) -> str:
    """Without empty lines."""
    return escape(re.sub(r"\s*\n\s*", "\n", text))


def _printed(row: LabRow) -> str:
    """A row as it was printed."""
    cells = (row.test, " ".join(filter(None, (row.value, row.unit))), row.range_text, row.flag, row.collected_at)
    return escape(" · ".join(cell for cell in cells if cell))


def _pictures(case: Case, pictures: Mapping[str, bytes]) -> str:
    figures = "".join(
        f"<figure><img alt='{escape(picture.title)}' src='data:image/png;base64,"
        f"{base64.b64encode(pictures[picture.preview_sha256]).decode()}'>"
        f"<figcaption>{escape(picture.title)}: present, not analysed</figcaption></figure>"
        for picture in case.pictures
        if picture.preview_sha256 in pictures
    )
    return f"<section id='pictures'><h2>Pictures</h2>{figures}</section>" if figures else ""
