"""A guideline or article of any form (PDF, Word, HTML, Markdown, text) to one `Paper`: one door to all its readers.

Runs in the decode child. Knows no store.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.errors import UserError
from core.readers import docx, html, kinds, markdown, pdf
from core.readers.paper import Form, Paper


def read(name: str, data: bytes, *, limit_bytes: int, limit_pages: int) -> Paper:
    """Read a document in sections, by its content first and its name second.

    Raises:
        UserError: of a kind that is no document ("kind"), or as the reader of its form.
    """
    kind = kinds.choose(name, data)
    form: Form = "markdown" if kinds.extension(name) == "md" else "text"
    readers: dict[str, Callable[[], Paper]] = {
        "PDF": lambda: pdf.read_paper(data, limit_bytes=limit_bytes, limit_pages=limit_pages),
        "Word document": lambda: docx.read_paper(data, limit_bytes=limit_bytes),
        "HTML page": lambda: html.read_paper(data, limit_bytes=limit_bytes),
        "text": lambda: markdown.read_paper(data, limit_bytes=limit_bytes, form=form),
    }
    if kind not in readers:
        raise UserError(f"It is no document with text to search ({kind}).", code="kind")
    found = readers[kind]()
    said = kinds.remark(name, data)
    return msgspec.structs.replace(found, remarks=(said, *found.remarks)) if said else found
