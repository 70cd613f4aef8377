"""Markdown and plain text as a paper: `#` headings and underlined ones, paragraphs, front matter. Draws nothing.

CommonMark 0.31: 4.2 and 4.3 (headings), 4.5 (fenced code is text). Knows no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.readers import hidden, text
from core.readers.paper import Block, Form, Paper, assembled

HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?[ \t]*")
UNDERLINES = {"=": 1, "-": 2}
FENCE = re.compile(r" {0,3}(```|~~~)")
FACT = re.compile(r"([A-Za-z][\w -]{0,40}?)\s*:\s*(.*)")
MATTER = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
FACTS = 50


def read_paper(data: bytes, *, limit_bytes: int, form: Form = "markdown") -> Paper:
    """Sections by headings; a form "text" has paragraphs only. Front matter (title, edition, licence ...) as facts.

    Raises:
        UserError: as `core.readers.text.read`.
    """
    document = text.read(data, limit_bytes=limit_bytes)
    content, facts = _front_matter(document.text) if form == "markdown" else (document.text, ())
    blocks = list(_blocks(content, form))
    return assembled(blocks, form=form, facts=facts, remarks=document.remarks)


def _front_matter(content: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    match = MATTER.match(content)
    if match is None:
        return content, ()
    found = (FACT.fullmatch(line.strip()) for line in match[1].splitlines()[:FACTS])
    facts = tuple((fact[1].lower(), fact[2].strip("\"' ")) for fact in found if fact and fact[2])
    return content[match.end() :], facts


def _blocks(content: str, form: Form) -> Iterator[Block]:
    held: list[str] = []
    fence = ""
    for line in [*content.split("\n"), ""]:
        if match := FENCE.match(line):
            fence = "" if fence == match[1] else fence or match[1]
        heading = HEADING.fullmatch(line) if form == "markdown" and not fence else None
        underline = _underline(line) if form == "markdown" and held and not fence else 0
        if underline:
            yield from _paragraph(held[:-1])
            yield Block(text=held[-1].strip(), level=underline)
            held = []
        elif heading:
            yield from _paragraph(held)
            held = []
            if heading[2]:
                yield Block(text=heading[2].strip(), level=len(heading[1]))
        elif line.strip():
            held.append(line.rstrip())
        else:
            yield from _paragraph(held)
            held = []


def _underline(line: str) -> int:
    stripped = line.strip()
    return UNDERLINES.get(stripped[0], 0) if len(stripped) >= 2 and len(set(stripped)) == 1 else 0


def _paragraph(lines: list[str]) -> Iterator[Block]:
    if lines:
        content = "\n".join(lines)
        yield Block(text=content, hidden=hidden.in_text(content))
