"""HTML pages as blocks: headings, paragraphs, list items, table rows. No address is opened, no program is run.

What serves the screen only (script, style, navigation, forms) is dropped; text that the page hides is kept and flagged.
Only what the page itself says of an element counts: style sheets are not interpreted. Knows no store.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from core.domain.case import Hidden
from core.errors import UserError
from core.readers import hidden, text
from core.readers.paper import Block, Paper, assembled, flat
from core.readers.text import TextDocument, written_on

HEADINGS = {f"h{level}": level for level in range(1, 7)}
DROPPED = {"script", "style", "nav", "noscript", "template", "svg", "math", "iframe", "object", "head"} | {
    "button",
    "select",
    "textarea",
    "datalist",
}
# Without an end tag by definition (WHATWG HTML, 13.1.2).
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
BLOCKS = {
    "p", "div", "li", "dt", "dd", "ul", "ol", "dl", "table", "tr", "caption", "blockquote", "pre", "section", "article",
    "header", "footer", "main", "aside", "figure", "figcaption", "body", "html", "hr", "address", "details", "summary",
    *HEADINGS,
}  # fmt: skip
CELLS = {"td", "th"}
UNCLOSED = {"p", "li", "dt", "dd", "tr", "td", "th"}  # a next one ends them (13.1.2.4)
DEPTH = 500
NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)", re.I)
TINY = re.compile(r"font-size\s*:\s*(?:[0-3](?:\.\d+)?(?:pt|px)|0)\s*(?:;|$)", re.I)
WHITE = re.compile(
    r"(?<![-\w])color\s*:\s*(?:white|#fff(?:fff)?|rgba?\(\s*255\s*,\s*255\s*,\s*255[^)]*\))\s*(?:;|$)", re.I
)
GROUND = re.compile(r"background(?:-color)?\s*:\s*(?!white|#fff|transparent|none)", re.I)


def read(data: bytes, *, limit_bytes: int) -> TextDocument:
    """A case document, a block a line.

    Raises:
        UserError: as `core.readers.text.read`.
    """
    blocks, _, encoding, remarks = _blocks(data, limit_bytes)
    content, spans = flat(blocks)
    return TextDocument(
        text=content,
        encoding=encoding,
        written_on=written_on(content),
        remarks=remarks + hidden.remark(spans),
        hidden=spans,
    )


def read_paper(data: bytes, *, limit_bytes: int) -> Paper:
    """A guideline or article in sections by h1-h6. Raises as `read`."""
    blocks, title, _, remarks = _blocks(data, limit_bytes)
    spans = [span for block in blocks for span in block.hidden]
    return assembled(blocks, form="html", title=title, remarks=remarks + hidden.remark(spans))


def _blocks(data: bytes, limit_bytes: int) -> tuple[list[Block], str, str, tuple[str, ...]]:
    content, encoding, remarks = _decoded(data, limit_bytes)
    page = _Page()
    page.feed(content)
    page.close()
    blocks = page.finished()
    if not blocks:
        raise UserError("The file holds no text, only blanks.", code="blank")
    return blocks, page.title.strip(), encoding, remarks


def _decoded(data: bytes, limit_bytes: int) -> tuple[str, str, tuple[str, ...]]:
    """By its mark or as UTF-8; else as the page declares, else as any text."""
    declared = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", data[:2048])
    if declared and declared[1].lower() not in (b"utf-8", b"utf8") and not data.startswith(tuple(text.UTF16)):
        text.refuse_size(data, limit_bytes)
        try:
            return data.decode(declared[1].decode(), errors="strict"), declared[1].decode().lower(), ()
        except (UnicodeDecodeError, LookupError):
            pass
    return text.decode(data, limit_bytes=limit_bytes)


class _Page(HTMLParser):
    """Collects blocks; what is open decides level and hiddenness."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._open: list[tuple[str, str]] = []  # tag, why its text cannot be seen
        self._dropped = 0
        self._in_title = False
        self._level = 0
        self._parts: list[tuple[str, str]] = []
        self._found: list[Block] = []

    def finished(self) -> list[Block]:
        self._end_block()
        return self._found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        if tag == "br":
            self._parts.append(("\n", ""))
        if tag in VOID:
            return
        if tag in BLOCKS:
            self._end_block()
            self._level = HEADINGS.get(tag, 0)
        if tag in CELLS and any(part.strip() for part, _ in self._parts):
            self._parts.append((" | ", ""))
        if tag == "body" or (tag in UNCLOSED and self._open and self._open[-1][0] == tag):
            self._leave("head" if tag == "body" else tag)
        if len(self._open) < DEPTH:
            self._open.append((tag, _why(dict(attrs)) or (self._open[-1][1] if self._open else "")))
            self._dropped += tag in DROPPED

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in BLOCKS:
            self._end_block()
        self._leave(tag)

    def _leave(self, tag: str) -> None:
        """Close an element and all that is still open in it; nothing where it is not open."""
        while any(tag == name for name, _ in self._open):
            name, _ = self._open.pop()
            self._dropped -= name in DROPPED
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropped:
            self._parts.append((data, self._open[-1][1] if self._open else ""))

    def _end_block(self) -> None:
        words: list[str] = []
        spans: list[Hidden] = []
        length = 0
        for part, why in self._parts:
            shown = re.sub(r"[ \t\r\f\n]+", " ", part) if part != "\n" else "\n"
            if shown[:1] == " " and (not words or words[-1][-1:] in (" ", "\n")):
                shown = shown[1:]
            if not shown:
                continue
            if why and shown.strip():
                spans.append(Hidden(length, length + len(shown), why))
            words.append(shown)
            length += len(shown)
        self._parts.clear()
        joined = "".join(words).rstrip()
        if joined.strip(" \n|"):
            kept = (Hidden(s.start, min(s.end, len(joined)), s.why) for s in spans)
            self._found.append(Block(text=joined, level=self._level, hidden=hidden.joined(kept)))
        self._level = 0


def _why(attributes: dict[str, str | None]) -> str:
    """Why the text of an element cannot be seen, by its own attributes; "" if it can."""
    style = attributes.get("style") or ""
    if "hidden" in attributes or NOT_SHOWN.search(style):
        return "text that the page does not show"
    if TINY.search(style):
        return "text below 4 points"
    colour = (attributes.get("color") or "").lower()
    is_white = colour in ("white", "#ffffff", "#fff") or WHITE.search(style)
    return hidden.WHITE if is_white and not GROUND.search(style) else ""
