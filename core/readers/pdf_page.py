"""The lines of one PDF page, each with its size, height and what of it cannot be seen. Only PDFium is asked.

Coordinates are points in the page's own space (ISO 32000-1 8.3.2.3). Text that the page hides is kept and flagged:
white on white, invisible by its render mode (ISO 32000-1 9.3.6), transparent, below 4 points, outside of the page.
Knows no document and no headings.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from core.domain.case import Hidden
from core.readers import hidden

LEAST_POINTS = 4.0
LEAST_ALPHA = 13  # of 255
EDGE_POINTS = 1.0
UNSEEN_MODES = {3: "invisible text", 7: "invisible text"}  # text render modes: neither filled nor stroked; clip only
FILLING = (0, 2, 4, 6)
PATH, IMAGE, SHADING = 2, 3, 4  # kinds of page objects
HYPHEN = "\x02"  # what PDFium makes of a hyphen at the end of a line, whose line end it leaves out
UNREADABLE = re.compile("[\x00\x01\x03-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of text: size, height above the page's lower edge at its start and its end, in points; hidden spans."""

    text: str
    size: float = 0.0
    height: float = 0.0
    foot: float = 0.0
    hidden: tuple[Hidden, ...] = ()


class _Run(msgspec.Struct, frozen=True):
    """Characters [start, end) of one text object: size and height in points, why they cannot be seen ("": they can)."""

    start: int
    end: int
    size: float
    height: float
    why: str


def lines(page: Any) -> list[Line]:
    """The text layer of a pypdfium2 page, in PDFium's reading order; a word parted at a line's end is joined."""
    text_page = page.get_textpage()
    try:
        text = _text(text_page)
        return list(_parted(text, _Inspector(page, text_page).runs(len(text))))
    finally:
        text_page.close()


def _text(text_page: Any) -> str:
    """One character for each of PDFium's, "\ufffd" for one without a meaning."""
    import pypdfium2.raw as pdfium

    count = text_page.count_chars()
    text: str = text_page.get_text_range() if count else ""
    text = text.replace("\ufffe", HYPHEN)
    if len(text) != count:  # characters beyond 16 bits, or without any meaning
        codes = (pdfium.FPDFText_GetUnicode(text_page, n) for n in range(count))
        text = "".join(chr(code) if 0 < code <= 0x10FFFF else "\ufffd" for code in codes)
    return UNREADABLE.sub("\ufffd", text.replace("\r", " "))


def _parted(text: str, runs: list[_Run]) -> Iterator[Line]:
    start, first = 0, 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        while first < len(runs) and runs[first].end <= start:
            first += 1
        inside = _overlapping(runs, first, start, end)
        if text[start:end].strip():
            yield _line(text, start, end, inside)
        start = end + 1


def _overlapping(runs: list[_Run], first: int, start: int, end: int) -> list[_Run]:
    found = []
    for at in range(first, len(runs)):
        run = runs[at]
        if run.start >= end:
            break
        found.append(_Run(max(run.start, start), min(run.end, end), run.size, run.height, run.why))
    return found


def _line(text: str, start: int, end: int, runs: list[_Run]) -> Line:
    sizes: dict[float, int] = {}
    for run in runs:
        sizes[run.size] = sizes.get(run.size, 0) + run.end - run.start
    content, dropped = text[start:end].rstrip(), []
    if HYPHEN in content:
        dropped = [n for n in range(start, end) if text[n] == HYPHEN and text[n + 1 : n + 2].islower()]
        content = "".join(text[n] for n in range(start, end) if n not in dropped).replace(HYPHEN, "-").rstrip()

    def moved(at: int) -> int:
        return min(len(content), at - start - sum(n < at for n in dropped))

    return Line(
        text=content,
        size=max(sizes, key=lambda size: sizes[size], default=0.0),
        height=runs[0].height if runs else 0.0,
        foot=runs[-1].height if runs else 0.0,
        hidden=hidden.joined(Hidden(moved(run.start), moved(run.end), run.why) for run in runs if run.why),
    )


class _Inspector:
    """Asks PDFium how the characters of a page are drawn, once for each text object."""

    def __init__(self, page: Any, text_page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = page
        self._text = text_page
        self._box = page.get_bbox()  # left, bottom, right, top
        self._painted: list[tuple[tuple[float, ...], int]] | None = None
        self._order: dict[int, int] = {}

    def runs(self, count: int) -> list[_Run]:
        """In the order of the text; a blank that PDFium made up belongs to the run before it."""
        get = _as_numbers(self._pdfium.FPDFText_GetTextObject)
        page = ctypes.cast(self._text.raw, ctypes.c_void_p)
        starts: list[tuple[int, int]] = []
        current = None
        for at in range(count):
            address = get(page, at)
            if address and address != current:
                starts.append((at, address))
                current = address
        ends = [*(at for at, _ in starts[1:]), count]
        return [self._run(at, end, address) for (at, address), end in zip(starts, ends, strict=False)]

    def _run(self, start: int, end: int, address: int) -> _Run:
        drawn = ctypes.cast(address, self._pdfium.FPDF_PAGEOBJECT)
        matrix = self._pdfium.FS_MATRIX()
        self._pdfium.FPDFText_GetMatrix(self._text.raw, start, matrix)
        scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        size = round(self._pdfium.FPDFText_GetFontSize(self._text.raw, start) * scale, 1)
        box = self._character(start)
        return _Run(start, end, size, round(box[1] - self._box[1], 1), self._why(size, box, drawn, address))

    def _character(self, at: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of a character."""
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        self._pdfium.FPDFText_GetCharBox(self._text.raw, at, left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value

    def _why(self, size: float, box: tuple[float, float, float, float], drawn: Any, address: int) -> str:
        mode = self._pdfium.FPDFTextObj_GetTextRenderMode(drawn)
        if mode in UNSEEN_MODES:
            return UNSEEN_MODES[mode]
        if size < LEAST_POINTS:
            return f"text below {LEAST_POINTS:.0f} points"
        middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if self._is_outside(*middle):
            return "text outside of the page"
        colour = self._fill(drawn) if mode in FILLING else None
        if colour is None:
            return ""
        if colour[3] < LEAST_ALPHA:
            return "transparent text"
        return hidden.WHITE if hidden.is_near_white(*colour[:3]) and not self._is_painted(*middle, address) else ""

    def _is_outside(self, x: float, y: float) -> bool:
        left, bottom, right, top = self._box
        inside = left - EDGE_POINTS <= x <= right + EDGE_POINTS and bottom - EDGE_POINTS <= y <= top + EDGE_POINTS
        return not inside

    def _fill(self, drawn: Any) -> tuple[int, int, int, int] | None:
        """Red, green, blue, alpha (0-255); None for a pattern."""
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        if not self._pdfium.FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha):
            return None
        return red.value, green.value, blue.value, alpha.value

    def _is_painted(self, x: float, y: float, address: int) -> bool:
        """Does something that is not white lie under this point, drawn before the text?"""
        if self._painted is None:
            self._painted = self._backgrounds()
        order = self._order.get(address, 1 << 30)
        return any(
            number < order and left <= x <= right and bottom <= y <= top
            for (left, bottom, right, top), number in self._painted
        )

    def _backgrounds(self) -> list[tuple[tuple[float, ...], int]]:
        """Boxes of filled paths, pictures and shadings with their place in the order of drawing."""
        found = []
        for number in range(self._pdfium.FPDFPage_CountObjects(self._page.raw)):
            drawn = self._pdfium.FPDFPage_GetObject(self._page.raw, number)
            self._order[ctypes.addressof(drawn.contents)] = number
            if self._covers(drawn):
                corners = [ctypes.c_float() for _ in range(4)]
                self._pdfium.FPDFPageObj_GetBounds(drawn, *corners)
                found.append((tuple(corner.value for corner in corners), number))
        return found

    def _covers(self, drawn: Any) -> bool:
        kind = self._pdfium.FPDFPageObj_GetType(drawn)
        if kind != PATH:
            return kind in (IMAGE, SHADING)
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        self._pdfium.FPDFPath_GetDrawMode(drawn, fill, stroke)
        colour = self._fill(drawn)
        return fill.value != 0 and (colour is None or not hidden.is_near_white(*colour[:3]))


def _as_numbers(function: Any) -> Any:
    """A function of PDFium that gives addresses as plain numbers: asked once a character, its speed counts."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(address)
