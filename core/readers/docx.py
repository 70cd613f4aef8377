"""Word documents (.docx, .docm) whole: paragraphs and tables in their order, text boxes, notes, headers and footers.

Read from the parts themselves (ECMA-376 part 1, section 17), because what a library passes over in silence is lost:
text boxes, content controls, notes, insertions. Text that is not shown on the page is kept and flagged; deletions that
are only tracked are left out and counted. Names count without their namespace, so that strict documents read alike.
Knows no store.
"""

from __future__ import annotations

from core.errors import UserError
from core.readers import docx_body, hidden, office
from core.readers.docx_body import Body, local
from core.readers.docx_style import Styles
from core.readers.office import Package
from core.readers.paper import Block, Paper, assembled, flat
from core.readers.text import TextDocument, written_on

NOTES = "Notes"


def read(data: bytes, *, limit_bytes: int) -> TextDocument:
    """A case document: headers, body, notes, footers, a paragraph or table row a line.

    Raises:
        UserError: "size", "damaged", "xml", "entity", "blank" (no text), or a code of `core.readers.archive`.
    """
    package = office.unpacked(data, limit_bytes=limit_bytes)
    main = _main(package)
    styles = _styles(package, main)
    body = _body(package, main, styles)
    headers, footers = (_margin(package, main, kind, styles) for kind in ("header", "footer"))
    text, spans = flat([*headers, *body.blocks, *_notes(package, main, body, styles), *footers])
    _refuse_blank(text)
    return TextDocument(
        text=text,
        encoding="utf-8",
        written_on=written_on(text),
        remarks=package.remarks + _left_out(package, main, body) + hidden.remark(spans),
        hidden=spans,
        source="docx",
    )


def read_paper(data: bytes, *, limit_bytes: int) -> Paper:
    """A guideline or article in sections by its heading styles; headers and footers are left. Raises as `read`."""
    package = office.unpacked(data, limit_bytes=limit_bytes)
    main = _main(package)
    styles = _styles(package, main)
    body = _body(package, main, styles)
    notes = _notes(package, main, body, styles)
    blocks = [*body.blocks, *([Block(text=NOTES, level=1)] if notes else []), *notes]
    spans = [span for block in blocks for span in block.hidden]
    _refuse_blank("".join(block.text for block in blocks))
    return assembled(
        blocks,
        form="docx",
        title=_title(package),
        remarks=package.remarks + _left_out(package, main, body) + hidden.remark(spans),
    )


def _main(package: Package) -> str:
    found = package.related("", "officeDocument")
    if not found or package.part(found[0]) is None:
        raise UserError("The Word document is damaged: its main part is missing.", code="damaged")
    return found[0]


def _body(package: Package, main: str, styles: Styles) -> Body:
    root = package.tree(main)
    body = next((child for child in root if local(child) == "body"), None) if root is not None else None
    if body is None:
        raise UserError("This is not a Word document: its main part has no body.", code="damaged")
    return docx_body.read(body, styles)


def _styles(package: Package, main: str) -> Styles:
    names = package.related(main, "styles")
    return Styles(package.tree(names[0]) if names else None)


def _margin(package: Package, main: str, kind: str, styles: Styles) -> list[Block]:
    """The paragraphs of all headers, or footers; what several say alike stands once."""
    seen: dict[str, Block] = {}
    for name in package.related(main, kind):
        root = package.tree(name)
        if root is not None:
            for block in docx_body.read(root, styles).blocks:
                seen.setdefault(block.text, Block(text=block.text, hidden=block.hidden))
    return list(seen.values())


def _notes(package: Package, main: str, body: Body, styles: Styles) -> list[Block]:
    """Footnotes, then endnotes, each under the number that the body shows for it."""
    found = []
    for kind, singular in (("footnotes", "footnote"), ("endnotes", "endnote")):
        for name in package.related(main, kind):
            root = package.tree(name)
            for note in root if root is not None else ():
                number = body.numbers.get((singular, docx_body.attribute(note, "id")))
                if number is None:
                    continue  # separators, and notes that nothing refers to
                inner = docx_body.read(note, styles).blocks
                mark = f"[{number}] "
                joined = docx_body.joined(inner, " ")
                found.append(Block(text=mark + joined.text, hidden=tuple(hidden.moved(joined.hidden, len(mark)))))
    return found


def _left_out(package: Package, main: str, body: Body) -> tuple[str, ...]:
    pictures = sum("/media/" in f"/{part.name}" for part in package.parts)
    comments = sum(
        sum(local(child) == "comment" for child in root)
        for name in package.related(main, "comments")
        if (root := package.tree(name)) is not None
    )
    counted = (
        (pictures, "Pictures inside the document were not read"),
        (comments, "Comments were not read"),
        (body.deleted, "Tracked deletions were left out"),
    )
    return tuple(f"{what}: {count}." for count, what in counted if count)


def _title(package: Package) -> str:
    for name in package.related("", "core-properties"):
        root = package.tree(name)
        for element in root if root is not None else ():
            if local(element) == "title" and element.text:
                return element.text.strip()
    return ""


def _refuse_blank(text: str) -> None:
    if not text.strip():
        raise UserError("The document holds no text.", code="blank")
