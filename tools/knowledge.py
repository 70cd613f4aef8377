"""GuidelineSearch and Medrag: passages of the installed guidelines and of the installed literature.

Thin tools over `Shelves`: what is searched, and how, is decided there. They know no case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.evidence import Evidence, Provenance
from core.domain.passage import Passage
from core.domain.ports import Found, Query, Shelves
from core.runtime.registry import ToolContext, refusal, tool
from tools.excerpt import OBSERVATION, asked, shares

GUIDELINES = ("guideline", "local", "drug")  # drug: leaflets
LITERATURE = ("literature",)
PASSAGE = 700  # characters of one passage of a guideline
DOCUMENTS, LONGEST = 5, 2_048  # of literature
_LINE = 160  # characters of the line above a passage


class GuidelineQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of GuidelineSearch."""

    query: Annotated[str, msgspec.Meta(max_length=256, description="What to look for, at most 256 characters.")]
    k: Annotated[int, msgspec.Meta(ge=1, le=5, description="How many passages, 1 to 5.")] = 3


class LiteratureQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of Medrag."""

    query: Annotated[str, msgspec.Meta(max_length=256, description="What to look for, at most 256 characters.")]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the tools' `data`: a passage, whole, with its place. `remark` tells of an edition out of date."""

    id: str
    title: str
    section: str
    edition: str
    remark: str
    text: str
    score: float


@tool(
    name="GuidelineSearch",
    version="1",
    dimension="Knowledge",
    paper_name="GoogleSearch",
    aliases=("Google", "WebSearch"),
)
def guideline_search(arguments: GuidelineQuestion, context: ToolContext) -> ToolResult:
    """Search the installed guidelines and leaflets for `query`; gives the best `k` passages with title and edition."""
    found, shelves = _found("GuidelineSearch", arguments.query, context, GUIDELINES, arguments.k)
    remarks = [shelves.remark(passage.pack) for passage in found.passages]
    heads = [_head(n, passage, remark) for n, (passage, remark) in enumerate(zip(found.passages, remarks, strict=True))]
    room = OBSERVATION - sum(len(head) + 3 for head in heads)
    texts = shares([passage.text for passage in found.passages], arguments.query, each=PASSAGE, room=room)
    text = "\n\n".join(f"{head}\n{shown}" for head, shown in zip(heads, texts, strict=True))
    return _result(text, found, remarks)


@tool(name="Medrag", version="1", dimension="Knowledge", aliases=("MedRAG", "MedRag", "LiteratureSearch"))
def medrag(arguments: LiteratureQuestion, context: ToolContext) -> ToolResult:
    """Search the installed medical literature for `query`; gives the best five passages, each with its title."""
    found, shelves = _found("Medrag", arguments.query, context, LITERATURE, DOCUMENTS)
    heads = [f"Document [{n}] (Title: {passage.title[:_LINE]}) " for n, passage in enumerate(found.passages)]
    room = LONGEST - sum(len(head) + 1 for head in heads)
    texts = shares([passage.text for passage in found.passages], arguments.query, each=LONGEST, room=room)
    text = "\n".join(f"{head}{shown}" for head, shown in zip(heads, texts, strict=True))
    return _result(text, found, [shelves.remark(passage.pack) for passage in found.passages])


def _found(name: str, text: str, context: ToolContext, kinds: tuple[str, ...], k: int) -> tuple[Found, Shelves]:
    query = asked(name, text)
    shelves = context.shelves
    if shelves is None or not shelves.holds(kinds):
        raise refusal(name, "not_installed", f"no {kinds[0]} is installed")
    found = shelves.search_kinds(Query(text=query, k=k, purpose=name), kinds)
    if not found.passages:
        raise refusal(name, "not_found", "no passage fits; try other words")
    return found, shelves


def _head(number: int, passage: Passage, remark: str) -> str:
    place = f"{passage.title}, {passage.section}"[:_LINE]
    return f"[{number + 1}] {place} (edition {passage.edition}{f'; {remark}' if remark else ''})"


def _result(text: str, found: Found, remarks: Sequence[str]) -> ToolResult:
    shown = tuple(
        Shown(
            id=passage.key,
            title=passage.title,
            section=passage.section,
            edition=passage.edition,
            remark=remark,
            text=passage.text,
            score=hit.score,
        )
        for passage, hit, remark in zip(found.passages, found.hits, remarks, strict=True)
    )
    evidence = tuple(_evidence(number, passage) for number, passage in enumerate(found.passages, start=1))
    return ToolResult(text=text, data=codec.encode(shown).decode(), evidence=evidence)


def _evidence(number: int, passage: Passage) -> Evidence:
    source = Provenance(
        kind="passage",
        reference=passage.key,
        sha256=passage.sha256,
        label=f"{passage.title}, {passage.section} ({passage.pack_title}, edition {passage.edition})",
        start=passage.start,
        end=passage.end,
    )
    return Evidence(id=f"e{number}", text=passage.text, provenance=source)
