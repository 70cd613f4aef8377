"""LongDocRAG: the passages of the open case's documents that fit a question.

A thin tool over `CaseSearch`. A document is named by its id in the case; a path or the id of another case is none.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.case import Case, Note
from core.domain.evidence import Evidence
from core.domain.passage import CasePassage
from core.runtime.perception.drafts import note_source
from core.runtime.registry import ToolContext, refusal, tool
from tools.excerpt import OBSERVATION, asked, shares

ALL = "all"
MOST = 5
LARGEST = 20_000_000  # characters of text
_LINE = 120


class DocumentQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of LongDocRAG. The first is called as in the published system; it takes an id."""

    path: Annotated[
        str, msgspec.Meta(max_length=64, description="Id of a document of the case, or `all`; never a file's path.")
    ]
    query: Annotated[str, msgspec.Meta(max_length=256, description="What to look for, at most 256 characters.")]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the tool's `data`: a passage, whole; half-open offsets; the page where there are pages."""

    doc: str
    page: int | None
    start: int
    end: int
    text: str


@tool(name="LongDocRAG", version="1", dimension="Data", aliases=("DocSearch", "CaseSearch"))
def long_doc_rag(arguments: DocumentQuestion, context: ToolContext) -> ToolResult:
    """Search a document of the case (`path`: its id, or `all`) for `query`; gives the five passages that fit best."""
    query = asked("LongDocRAG", arguments.query)
    notes = _notes(arguments.path, context.case)
    documents = context.documents
    if documents is None:
        raise refusal("LongDocRAG", "no_input", "the documents of the case cannot be searched")
    if sum(len(note.text) for note in context.case.notes) > LARGEST:
        raise refusal("LongDocRAG", "too_large", "the documents of the case hold more than 20 million characters")
    found = documents.search(query, tuple(notes), MOST)
    if not found:
        raise refusal("LongDocRAG", "not_found", "no word of the query stands in the documents; try other words")
    evidence = tuple(_evidence(n, passage, notes[passage.document]) for n, passage in enumerate(found, start=1))
    heads = [
        f"[{n}] {item.provenance.label[:_LINE]} ({item.provenance.reference})" for n, item in enumerate(evidence, 1)
    ]
    room = OBSERVATION - sum(len(head) + 3 for head in heads)
    texts = shares([passage.text for passage in found], query, each=OBSERVATION, room=room)
    text = "\n\n".join(f"{head}\n{shown}" for head, shown in zip(heads, texts, strict=True))
    return ToolResult(text=text, data=codec.encode(_parts(found, notes)).decode(), evidence=evidence)


def _notes(asked_for: str, case: Case) -> dict[str, Note]:
    """The documents to search, by id."""
    known = {note.id: note for note in case.notes}
    if not known:
        raise refusal("LongDocRAG", "no_input", "the case has no documents")
    if asked_for == ALL:
        return known
    if asked_for not in known:
        raise refusal("LongDocRAG", "bad_args", f"no such document in this case; there are {', '.join(known)}")
    return {asked_for: known[asked_for]}


def _evidence(number: int, passage: CasePassage, note: Note) -> Evidence:
    source = note_source(note, passage.start, passage.end)
    return Evidence(id=f"e{number}", text=passage.text, provenance=source)


def _parts(found: tuple[CasePassage, ...], notes: dict[str, Note]) -> tuple[Part, ...]:
    return tuple(
        Part(
            doc=passage.document,
            page=notes[passage.document].page(passage.start),
            start=passage.start,
            end=passage.end,
            text=passage.text,
        )
        for passage in found
    )
