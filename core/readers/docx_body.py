"""The content of a Word body, header or note as blocks in reading order (ECMA-376 part 1, 17.2-17.4).

Every element that holds text is walked, known or not: nothing but tracked deletions and field codes is passed over.
Knows no parts and no files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from core.domain.case import Hidden
from core.readers import hidden
from core.readers.docx_style import Look, Styles, attribute, child, local, look
from core.readers.paper import Block

__all__ = ["Body", "attribute", "joined", "local", "read"]

CELLS = " | "
DELETED = {"del", "moveFrom", "delText"}
SILENT = {"pPr", "rPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "instrText", "sdtPr", "sdtEndPr", "Fallback"}
CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": "\ufffd"}


class Body:
    """Blocks; the number shown for each note, by kind and id; how many tracked deletions were left out."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.numbers: dict[tuple[str, str], int] = {}
        self.deleted = 0


def read(root: Element, styles: Styles) -> Body:
    """All blocks below an element; blank ones are left out."""
    body = Body()
    walk = _Walk(styles, body)
    body.blocks = [block for block in walk.blocks(root, Look()) if block.text.strip()]
    return body


def joined(blocks: Sequence[Block], between: str) -> Block:
    """Several blocks as one, hidden spans moved along."""
    spans: list[Hidden] = []
    at = 0
    for block in blocks:
        spans += hidden.moved(block.hidden, at)
        at += len(block.text) + len(between)
    return Block(text=between.join(block.text for block in blocks), hidden=tuple(spans))


class _Paragraph:
    """A paragraph being put together, and the text boxes anchored in it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.spans: list[Hidden] = []
        self.boxes: list[Block] = []

    def add(self, text: str, why: str) -> None:
        if why and text:
            self.spans.append(Hidden(self.length, self.length + len(text), why))
        self.parts.append(text)
        self.length += len(text)


class _Walk:
    """One pass over the elements."""

    def __init__(self, styles: Styles, body: Body) -> None:
        self._styles = styles
        self._body = body

    def blocks(self, root: Element, ground: Look) -> Iterator[Block]:
        """Paragraphs and table rows below an element; `ground` is how what surrounds them looks."""
        for element in root:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element, ground)
            elif name == "tbl":
                yield from self._table(element, ground)
            elif name in DELETED:
                self._body.deleted += 1
            elif name not in SILENT:
                yield from self.blocks(element, ground)

    def _table(self, table: Element, ground: Look) -> Iterator[Block]:
        for row in _below(table, "tr"):
            cells = [self._cell(cell, ground) for cell in _below(row, "tc")]
            if len(cells) == 1:
                yield from cells[0]
            else:
                yield joined([joined(cell, " ") for cell in cells], CELLS)

    def _cell(self, cell: Element, ground: Look) -> list[Block]:
        shading = look(child(cell, "tcPr"))
        return [block for block in self.blocks(cell, shading.over(ground)) if block.text.strip()]

    def _paragraph(self, element: Element, ground: Look) -> Iterator[Block]:
        properties = child(element, "pPr")
        below = look(properties).over(self._styles.look(child(properties, "pStyle"))).over(ground)
        paragraph = _Paragraph()
        self._inline(element, paragraph, below)
        text = "".join(paragraph.parts)
        spans = hidden.joined(paragraph.spans)
        yield Block(text=text, level=self._styles.level(properties), hidden=spans)
        yield from paragraph.boxes

    def _inline(self, root: Element, paragraph: _Paragraph, ground: Look) -> None:
        for element in root:
            name = local(element)
            if name == "r":
                properties = child(element, "rPr")
                style = self._styles.look(child(properties, "rStyle"))
                self._inline(element, paragraph, look(properties).over(style).over(ground))
            elif name in DELETED:
                self._body.deleted += name != "delText"
            elif name == "txbxContent":
                paragraph.boxes += self.blocks(element, Look())
            elif not self._character(element, name, paragraph, ground) and name not in SILENT:
                self._inline(element, paragraph, ground)

    def _character(self, element: Element, name: str, paragraph: _Paragraph, ground: Look) -> bool:
        """Add what stands for characters; False for anything else."""
        if name == "t":
            paragraph.add(element.text or "", ground.why)
        elif name in ("footnoteReference", "endnoteReference"):
            key = name.removesuffix("Reference"), attribute(element, "id")
            number = self._body.numbers.setdefault(key, len(self._body.numbers) + 1)
            paragraph.add(f"[{number}]", ground.why)
        elif name in CHARACTERS:
            paragraph.add("" if attribute(element, "type") == "page" else CHARACTERS[name], ground.why)
        else:
            return False
        return True


def _below(root: Element, name: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also where a content control or an insertion wraps them."""
    for element in root:
        found = local(element)
        if found == name:
            yield element
        elif found not in SILENT | DELETED | {"tbl", "p"}:
            yield from _below(element, name)
