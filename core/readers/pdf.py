"""PDF documents by their text layer: the flat text of a case document, or the sections of a paper.

Nothing of a PDF is carried out or opened: embedded files, programs, forms and comments are left and said so.
A page without a text layer is named; a document without any is refused. Limits come from the caller. Knows no store.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from core.domain.case import Hidden
from core.errors import UserError
from core.readers import hidden, numbers, pdf_page
from core.readers.paper import Block, Paper, assembled
from core.readers.pdf_page import Line
from core.readers.text import TextDocument, listed, refuse_size, written_on

PASSWORD, SECURITY = 4, 5  # PDFium's errors of FPDF_LoadDocument
PROGRAM = re.compile(rb"/(?:JS|JavaScript|Launch)\b")
UNTITLED = re.compile(r"(?:untitled|microsoft word|powerpoint|document\d*|.*\.(?:docx?|pdf|indd|tex|qxd|dvi)\b)", re.I)
NOTES = {1, 3, 9, 10, 13}  # annotations that carry words: text, free text, highlight, underline, stamp
WIDGET = 20
MARGIN_LINES = 3  # lines at the top and at the foot of a page that can be its header or footer
REPEATED = 0.6  # of the pages
LEAST_PAGES = 3
HEADING = 1.15  # times the size of the running text
HEADING_CHARACTERS = 200
LEVELS = 4
GAP = 1.7  # times the size: more white than that between two lines parts paragraphs


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of every page, the title in the metadata, and what is to be said."""

    pages: list[list[Line]]
    title: str
    remarks: tuple[str, ...]


def read(data: bytes, *, limit_bytes: int, limit_pages: int) -> TextDocument:
    """A case document: every line of the text layer, with the offsets at which pages start.

    Raises:
        UserError: "size", "pages", "password", "damaged", or "scan" (no page has text).
    """
    content = _content(data, limit_bytes=limit_bytes, limit_pages=limit_pages)
    parts: list[str] = []
    starts: list[int] = []
    spans: list[Hidden] = []
    at = 0
    for lines in content.pages:
        starts.append(at)
        for line in lines:
            spans += hidden.moved(line.hidden, at)
            parts.append(line.text + "\n")
            at += len(line.text) + 1
        if lines:
            parts.append("\n")
            at += 1
    text = "".join(parts)
    found = hidden.joined([*spans, *hidden.in_text(text)])
    return TextDocument(
        text=text,
        encoding="utf-8",
        written_on=written_on(text),
        remarks=content.remarks + hidden.remark(found),
        pages=tuple(starts),
        hidden=found,
        source="pdf",
    )


def read_paper(data: bytes, *, limit_bytes: int, limit_pages: int) -> Paper:
    """A guideline or article: headings by size, paragraphs joined, running headers and footers dropped.

    Raises as `read`.
    """
    content = _content(data, limit_bytes=limit_bytes, limit_pages=limit_pages)
    blocks = list(_blocks(content.pages, _running(content.pages)))
    found = [span for block in blocks for span in block.hidden]
    return assembled(
        blocks,
        form="pdf",
        title=content.title,
        pages=len(content.pages),
        remarks=content.remarks + hidden.remark(found),
    )


# ------------------------------------------------------------------------------------------------ from PDFium


def _content(data: bytes, *, limit_bytes: int, limit_pages: int) -> _Content:
    refuse_size(data, limit_bytes)
    with _opened(data) as document:
        count = len(document)
        if count > limit_pages:
            raise UserError(f"The PDF has {count:,} pages, the limit is {limit_pages:,}.", code="pages")
        noted = Counter[str]()
        pages, torn = _pages(document, noted)
        title = str(document.get_metadata_value("Title")).strip()
        ignored = (*_missing(pages, torn), *_ignored(document, data, noted))
    return _Content(pages=pages, title="" if UNTITLED.fullmatch(title) else title, remarks=ignored)


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", 0)
        if code == PASSWORD:
            raise UserError("This PDF is protected by a password.", code="password") from error
        if code == SECURITY:
            raise UserError("This PDF is protected in a way that cannot be read.", code="password") from error
        raise UserError("The PDF is damaged and could not be opened.", code="damaged") from error
    try:
        yield document
    finally:
        document.close()


def _pages(document: Any, noted: Counter[str]) -> tuple[list[list[Line]], list[int]]:
    """The lines of every page, and the numbers of the pages that are damaged."""
    import pypdfium2

    pages: list[list[Line]] = []
    torn: list[int] = []
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            pages.append([])
            torn.append(number + 1)
            continue
        try:
            _note(page, noted)
            pages.append(pdf_page.lines(page))
        finally:
            page.close()
    return pages, torn


def _note(page: Any, noted: Counter[str]) -> None:
    """Count what lies on the page and is not in its text."""
    import pypdfium2.raw as pdfium

    for number in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        if not (annotation := pdfium.FPDFPage_GetAnnot(page.raw, number)):
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        noted["notes"] += kind in NOTES
        noted["fields"] += kind == WIDGET
        pdfium.FPDFPage_CloseAnnot(annotation)


def _missing(pages: list[list[Line]], torn: list[int]) -> list[str]:
    """Which pages gave no text.

    Raises:
        UserError: none gave any ("scan"; "damaged" if none could be opened).
    """
    without = [number for number, lines in enumerate(pages, start=1) if not lines and number not in torn]
    if len(torn) == len(pages):
        raise UserError("The PDF is damaged: none of its pages can be opened.", code="damaged")
    if not any(pages):
        raise UserError("This is a scan without text.", code="scan")
    count = f"{len(pages) - len(without) - len(torn)} of {len(pages)} pages read"
    said = []
    if without:
        named = f"Pages {listed(without)} have" if len(without) > 1 else f"Page {without[0]} has"
        said.append(f"{named} no text layer (scanned?); {count}.")
    if torn:
        said.append(f"Damaged pages were not read: {listed(torn)}; {count}.")
    return said


def _ignored(document: Any, data: bytes, noted: Counter[str]) -> list[str]:
    import pypdfium2.raw as pdfium

    files = [document.get_attachment(number).get_name() for number in range(document.count_attachments())]
    said = []
    if files:
        said.append(f"Embedded files were ignored: {listed(files)}.")
    if pdfium.FPDFDoc_GetJavaScriptActionCount(document.raw) > 0 or PROGRAM.search(data):
        said.append("A program inside the PDF was ignored.")
    if document.get_formtype() or noted["fields"]:
        said.append("It is a form; what was typed into its fields was not read.")
    if noted["notes"]:
        said.append(f"Comments and marks on the pages were not read: {noted['notes']}.")
    return said


# ------------------------------------------------------------------------------------------------ lines to blocks


def _running(pages: list[list[Line]]) -> set[str]:
    """Headers and footers: what stands at the edge of more than 60 % of the pages, page numbers aside."""
    seen = Counter(text for lines in pages for text in {_masked(line) for line in _margin(lines)})
    with_text = sum(bool(lines) for lines in pages)
    if with_text < LEAST_PAGES:
        return set()
    return {text for text, count in seen.items() if count > REPEATED * with_text}


def _margin(lines: list[Line]) -> list[Line]:
    ordered = sorted(lines, key=lambda line: -line.height)
    return ordered if len(ordered) <= 2 * MARGIN_LINES else ordered[:MARGIN_LINES] + ordered[-MARGIN_LINES:]


def _masked(line: Line) -> str:
    return re.sub(r"\d+", "#", numbers.tidy(line.text).lower())


def _blocks(pages: list[list[Line]], running: set[str]) -> Iterator[Block]:
    """Headings and paragraphs in reading order; a paragraph may go on over the page."""
    levels = _levels(pages)
    held: Block | None = None
    before = Line(text="")
    for number, lines in enumerate(pages, start=1):
        margin = {id(line) for line in _margin(lines)}
        for line in lines:
            if id(line) in margin and _masked(line) in running:
                continue
            level = levels.get(line.size, 0) if len(line.text) <= HEADING_CHARACTERS else 0
            if held is not None and _goes_on(held, before, line, level=level, page=number):
                held = _extended(held, line, number)
            else:
                if held is not None:
                    yield held
                held = Block(text=line.text, level=level, page=number, page_to=number, hidden=line.hidden)
            before = line
    if held is not None:
        yield held


def _levels(pages: list[list[Line]]) -> dict[float, int]:
    """Heading level by size: the largest is 1, what exceeds the running text by 15 % is one at all."""
    sizes = Counter[float]()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    running = max(sizes, key=lambda size: sizes[size])
    larger = sorted((size for size in sizes if size >= HEADING * running), reverse=True)
    return {size: min(rank, LEVELS) for rank, size in enumerate(larger, start=1)}


def _goes_on(held: Block, before: Line, line: Line, *, level: int, page: int) -> bool:
    """Does this line belong to the block before it?"""
    if level != held.level or (level and line.size != before.size):
        return False
    if page != held.page_to:
        return not level and held.text[-1:] not in ".:;!?" and line.text[:1].islower()
    gap = before.foot - line.height
    return 0 <= gap <= GAP * max(line.size, 1.0) and not re.match(r"(?:[\u2022\u25aa\u2013*-]|\d+[.)])\s", line.text)


def _extended(held: Block, line: Line, page: int) -> Block:
    moved = hidden.moved(line.hidden, len(held.text) + 1)
    return msgspec.structs.replace(held, text=f"{held.text} {line.text}", page_to=page, hidden=(*held.hidden, *moved))
