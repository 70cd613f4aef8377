"""A report as one self-contained HTML file: no script, no link to anything outside, pictures inside. Pure.

Every evidence id is a link to its entry at the end; every entry shows the quoted source.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from importlib import resources

from core.domain.case import Case, LabTable, Note
from core.domain.evidence import Evidence
from core.domain.report import Block, Line, Report, Table
from core.runtime.report import all_lines

CONTEXT = 90  # characters of a note shown on each side of the span


def html(report: Report, case: Case, pictures: Mapping[str, bytes]) -> str:
    """The file's text. `pictures` maps the preview sha256 of the case's pictures to PNG bytes."""
    body = [
        f"<header><h1>{escape(report.title)}</h1><p class='patient'>{escape(report.patient)}</p></header>",
        "<ul class='banner'>" + "".join(f"<li>{escape(text)}</li>" for text in report.banner) + "</ul>",
        *(_block(block) for block in report.blocks),
        _pictures(case, pictures),
        _evidence(report, case),
        "<footer>" + "".join(f"<p>{escape(text)}</p>" for text in report.footer) + "</footer>",
    ]
    style = resources.files("core.runtime").joinpath("resources/report.css").read_text("utf-8")
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:\">"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{escape(report.title)} – Wardround</title><style>{style}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _block(block: Block) -> str:
    lines = "".join(f"<li class='{line.tone}'>{_line(line)}</li>" for line in block.lines)
    listed = f"<ul class='lines'>{lines}</ul>" if lines else ""
    tables = "".join(_table(table) for table in block.tables)
    return f"<section id='{escape(block.id)}'><h2>{escape(block.title)}</h2>{listed}{tables}</section>"


def _line(line: Line) -> str:
    text = escape(line.text)
    if line.struck:
        text = f"<s>{text}</s> <em>{escape(line.reason)}</em>"
    return text + "".join(f" <a class='cite' href='#{escape(e)}'>{escape(e)}</a>" for e in line.evidence)


def _table(table: Table) -> str:
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{'<br>'.join(_line(line) for line in cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _pictures(case: Case, pictures: Mapping[str, bytes]) -> str:
    shown = [picture for picture in case.pictures if picture.preview_sha256 in pictures]
    if not shown:
        return ""
    figures = "".join(
        f"<figure><img alt='{escape(picture.title)}' src='data:image/png;base64,"
        f"{base64.b64encode(pictures[picture.preview_sha256]).decode()}'>"
        f"<figcaption>{escape(picture.title)}: present, not analysed</figcaption></figure>"
        for picture in shown
    )
    return f"<section id='pictures'><h2>Pictures</h2>{figures}</section>"


def _evidence(report: Report, case: Case) -> str:
    cited = {identifier for line in all_lines(report) for identifier in line.evidence}
    entries = "".join(
        f"<li id='{escape(item.id)}'><b>{escape(item.id)}</b> {escape(item.text)}"
        f"<div class='source'>{escape(item.provenance.label)}{_quoted(item, case)}</div></li>"
        for item in report.evidence
        if item.id in cited
    )
    return f"<section id='evidence'><h2>Evidence</h2><ol class='evidence'>{entries}</ol></section>"


def _quoted(item: Evidence, case: Case) -> str:
    """The source itself: the note around the span, or the table row."""
    place = item.provenance
    source = case.item(place.reference)
    if isinstance(source, Note) and place.start is not None and place.end is not None:
        before = escape(source.text[max(0, place.start - CONTEXT) : place.start])
        after = escape(source.text[place.end : place.end + CONTEXT])
        return f"<blockquote>…{before}<mark>{escape(source.text[place.start : place.end])}</mark>{after}…</blockquote>"
    if isinstance(source, LabTable) and place.row is not None:
        for row in source.rows:
            if row.row == place.row:
                cells = (row.test, row.value, row.unit, row.range_text, row.flag, row.collected_at)
                return f"<blockquote>{escape(' · '.join(cell for cell in cells if cell))}</blockquote>"
    return ""
