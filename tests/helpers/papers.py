"""Documents to papers in this process, without the decode child: what the importer of documents is handed in tests."""

from __future__ import annotations

from core.errors import UserError
from core.readers import docx, html, markdown, pdf
from core.readers.paper import Paper

LIMIT = 50_000_000


def read_paper(name: str, data: bytes) -> Paper:
    """By the ending of the name."""
    ending = name.lower().rsplit(".", 1)[-1]
    if ending == "pdf":
        return pdf.read_paper(data, limit_bytes=LIMIT, limit_pages=2000)
    if ending == "docx":
        return docx.read_paper(data, limit_bytes=LIMIT)
    if ending in ("html", "htm"):
        return html.read_paper(data, limit_bytes=LIMIT)
    if ending in ("md", "txt"):
        return markdown.read_paper(data, limit_bytes=LIMIT, form="markdown" if ending == "md" else "text")
    raise UserError("no document", code="kind")
