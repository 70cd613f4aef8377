"""Writes Word documents part by part for tests: what the library for them cannot write, and what nobody should."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def paragraph(text: str, properties: str = "", run: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def word(
    body: str,
    *,
    parts: Mapping[str, str | bytes] | None = None,
    related: Sequence[tuple[str, str]] = (),
    outside: Sequence[tuple[str, str]] = (),
) -> bytes:
    """A Word document of this body. `related` are (kind, part) and `outside` (kind, address) relations of its body."""
    relations = [f'<Relationship Id="r{n}" Type="{R}/{kind}" Target="{part}"/>' for n, (kind, part) in
                 enumerate(related)]  # fmt: skip
    relations += [f'<Relationship Id="o{n}" Type="{R}/{kind}" Target="{address}" TargetMode="External"/>'
                  for n, (kind, address) in enumerate(outside)]  # fmt: skip
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
        f'ContentType="{MAIN}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{R}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": document(body),
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(relations)}'
        "</Relationships>",
        **(parts or {}),
    }
    return packed(files)


def document(body: str, root: str = "document") -> str:
    """A part whose root is w:document with a w:body, or another root such as w:footnotes."""
    inner = f"<w:body>{body}</w:body>" if root == "document" else body
    return f'<w:{root} xmlns:w="{W}" xmlns:r="{R}">{inner}</w:{root}>'


def packed(files: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
