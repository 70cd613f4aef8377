"""One value for every document with a structure: headings, paragraphs, pages; and its two uses.

A reader (PDF, DOCX, HTML, Markdown, text) gives blocks in reading order. `flat` makes the text of a case document of
them, `assembled` the sections of a guideline or article. Knows no file form and no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from core.domain.case import Hidden
from core.readers import hidden

Form = Literal["pdf", "docx", "html", "markdown", "text"]
TITLE_CHARACTERS = 300


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph or table row (level 0) or a heading (level 1-6); pages from 1, 0 where the form has none."""

    text: str
    level: int = 0
    page: int = 0
    page_to: int = 0
    hidden: tuple[Hidden, ...] = ()


class PaperSection(msgspec.Struct, frozen=True, kw_only=True):
    """What stands under one heading. `path` is "Diagnosis > Tests", "" before the first heading; pages from 1 or 0.

    `hidden` are spans of `text` that a reader of the page would not see.
    """

    path: str
    text: str
    page_from: int = 0
    page_to: int = 0
    hidden: tuple[Hidden, ...] = ()


class Paper(msgspec.Struct, frozen=True, kw_only=True, tag="sections"):
    """A document in sections. `facts` is its front matter (title, edition, licence ...) as (name, value)."""

    form: Form
    title: str
    sections: tuple[PaperSection, ...]
    pages: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    def fact(self, name: str) -> str:
        """A value of the front matter; "" where it is not given."""
        return dict(self.facts).get(name, "")


def flat(blocks: Sequence[Block]) -> tuple[str, tuple[Hidden, ...]]:
    """The text, a block a line, and the hidden spans in it."""
    spans: list[Hidden] = []
    at = 0
    for block in blocks:
        spans += hidden.moved(block.hidden, at)
        at += len(block.text) + 1
    text = "\n".join(block.text for block in blocks)
    return text, hidden.joined([*spans, *hidden.in_text(text)])


def assembled(
    blocks: Iterable[Block],
    *,
    form: Form,
    title: str = "",
    pages: int = 0,
    facts: tuple[tuple[str, str], ...] = (),
    remarks: tuple[str, ...] = (),
) -> Paper:
    """Sections by the headings' levels; without a title, the first heading is one."""
    sections: list[PaperSection] = []
    path: list[tuple[int, str]] = []
    open_blocks: list[Block] = []
    first = ""
    for block in blocks:
        if block.level == 0:
            open_blocks.append(block)
            continue
        sections += _section(path, open_blocks)
        open_blocks = []
        path = [(level, name) for level, name in path if level < block.level]
        path.append((block.level, " ".join(block.text.split())))
        first = first or path[-1][1]
    sections += _section(path, open_blocks)
    named = (dict(facts).get("title") or title or first)[:TITLE_CHARACTERS]
    return Paper(form=form, title=named, sections=tuple(sections), pages=pages, facts=facts, remarks=remarks)


def _section(path: list[tuple[int, str]], blocks: list[Block]) -> list[PaperSection]:
    text, spans = flat(blocks)
    if not text.strip():
        return []
    return [
        PaperSection(
            path=" > ".join(name for _, name in path),
            text=text,
            page_from=min(block.page for block in blocks),
            page_to=max(block.page_to or block.page for block in blocks),
            hidden=spans,
        )
    ]
