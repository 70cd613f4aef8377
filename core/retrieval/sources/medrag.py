"""MedRAG corpora (`*.jsonl`): one passage a line with id, title and content; chunks are kept as they are.

Lines of one title in a row are one document. The field `contents` repeats title and content and is not read. It must
not know a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from core import codec
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, flowing, summary
from core.store.knowledge_values import Doc, Item, Section, Span

NAME, VERSION = "medrag", "1"
SUFFIXES: tuple[str, ...] = (".jsonl",)
PATH = "Text"


class _Line(msgspec.Struct, frozen=True):
    """One passage."""

    id: str
    title: str
    content: str


def fits(name: str, head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"content"' in head and b'"title"' in head


def read(files: Files, options: Options) -> Reading:
    """A document for each run of one title."""
    about = About(slug="medrag", title="MedRAG corpus", kind="literature", publisher="MedRAG")
    return Reading(about, _docs(files))


def _docs(files: Files) -> Iterator[Item | Skipped]:
    for title, run in groupby(_lines(files), key=lambda line: line.title if isinstance(line, _Line) else None):
        if title is None:
            yield from (line for line in run if isinstance(line, Skipped))
        else:
            yield _doc(title, [line for line in run if isinstance(line, _Line)])


def _lines(files: Files) -> Iterator[_Line | Skipped]:
    for file in files:
        for number, text in enumerate(file.lines(), 1):
            if text.strip():
                yield _line(text, f"{file.name}, line {number}")


def _line(text: str, where: str) -> _Line | Skipped:
    try:
        line: _Line = codec.decode(text, _Line)
    except msgspec.DecodeError as error:
        return Skipped(where, f"Not a passage: {error}.")
    if not line.id or not line.content.strip():
        return Skipped(where, "A passage without an id or without text.")
    return line


def _doc(title: str, lines: list[_Line]) -> Doc:
    spans: list[Span] = []
    text = ""
    for line in lines:
        content = line.content.strip()
        start = len(text) + 1 if text else 0
        text = f"{text}\n{content}" if text else content
        spans.append(Span(start, len(text), len(content.split())))
    part = Section(path=PATH, section_class="other", text=text, spans=tuple(spans))
    return Doc(
        source_key=lines[0].id, title=flowing(title) or lines[0].id, sections=(part,), summary=summary(lines[0].content)
    )
