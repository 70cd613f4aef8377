"""ConceptLookup: what the installed vocabularies say of a term. A thin tool over `Terminology`; knows no case."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.terminology import ConceptFound, NotFound
from core.runtime.registry import ToolContext, refusal, tool
from tools.excerpt import OBSERVATION, asked, entry_evidence, excerpt, not_found

_DEFINITION = 1_500  # characters
_NAME = 120


class Term(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ConceptLookup."""

    medical_terminology: Annotated[
        str, msgspec.Meta(max_length=120, description="One medical term, at most 120 characters.")
    ]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data`: the concept, how its name was matched, where it stands."""

    concept_id: str
    name: str
    match: str
    definition: str
    definition_source: str
    relations: tuple[tuple[str, str, str], ...]
    source: str
    version: str


@tool(name="ConceptLookup", version="1", dimension="Knowledge", paper_name="UMLS")
def concept_lookup(arguments: Term, context: ToolContext) -> ToolResult:
    """Look up `medical_terminology` in the installed vocabularies: its name, definition and relations."""
    name = asked("ConceptLookup", arguments.medical_terminology)
    if context.terminology is None or not context.terminology.holds_concepts():
        raise refusal("ConceptLookup", "not_installed", "no vocabulary is installed")
    found = context.terminology.concept(name)
    if isinstance(found, NotFound):
        raise not_found("ConceptLookup", "no vocabulary has this term", found.near)
    told = Told(
        concept_id=found.id,
        name=found.name,
        match=found.how,
        definition=found.definition,
        definition_source=found.def_source,
        relations=tuple((found.name, relation.rel, relation.name) for relation in found.relations),
        source=found.source,
        version=found.version,
    )
    texts = (f"{found.name} [{found.id}]", f"{found.name}: {found.definition}")
    evidence = tuple(
        entry_evidence(n, text, origin) for n, (text, origin) in enumerate(zip(texts, found.origins, strict=False), 1)
    )
    return ToolResult(text=_text(found), data=codec.encode(told).decode(), evidence=evidence)


def _text(found: ConceptFound) -> str:
    definition = excerpt(found.definition, found.asked, _DEFINITION)
    lines = [
        f"Name: {found.name[:_NAME]} [{found.id}]",
        f"Definition: {f'{definition} ({found.def_source})' if definition else 'none'}",
        "Relations:" if found.relations else "Relations: none",
        *(f"({found.name[:40]}, {relation.rel}, {relation.name[:60]})" for relation in found.relations),
    ]
    text = "\n".join(lines)
    assert len(text) <= OBSERVATION  # noqa: S101 - the parts are bounded
    return text
