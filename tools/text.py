"""EntityRecognizer: the medical names in a text. A thin tool over `Terminology`; knows no case."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.runtime.registry import ToolContext, refusal, tool
from tools.excerpt import OBSERVATION, asked

LONGEST = 20_000  # characters of the text
_LABEL = "Biomedical Entity List: "


class Text(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of EntityRecognizer."""

    sentence: Annotated[str, msgspec.Meta(description="The text to look into, at most 20,000 characters.")]


class EntityTold(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the tool's `data`: half-open offsets into `sentence`, the concept, its kind, its vocabulary."""

    text: str
    start: int
    end: int
    concept_id: str
    type: str
    source: str


@tool(
    name="EntityRecognizer",
    version="1",
    dimension="Data",
    paper_name="EntityRecognizor",
    aliases=("Spacy", "NER"),
)
def entity_recognizer(arguments: Text, context: ToolContext) -> ToolResult:
    """List the diseases, findings, drugs, tests and other medical names that stand in `sentence`."""
    sentence = arguments.sentence
    if len(sentence) > LONGEST:
        raise refusal("EntityRecognizer", "too_large", f"the text is longer than {LONGEST} characters")
    asked("EntityRecognizer", sentence)
    if context.terminology is None:
        raise refusal("EntityRecognizer", "not_installed", "no vocabulary is installed")
    found = tuple(
        EntityTold(
            text=sentence[entity.start : entity.end],
            start=entity.start,
            end=entity.end,
            concept_id=entity.concept,
            type=entity.kind,
            source=entity.concept.partition(":")[0],
        )
        for entity in context.terminology.entities(sentence)
    )
    return ToolResult(text=_listed(found), data=codec.encode(found).decode())


def _listed(found: tuple[EntityTold, ...]) -> str:
    """Each name once, in order, as many as there is room for."""
    text = _LABEL
    for name in dict.fromkeys(" ".join(entity.text.split()) for entity in found):
        longer = f"{text}{name}" if text == _LABEL else f"{text}, {name}"
        if len(longer) > OBSERVATION:
            break
        text = longer
    return text if found else f"{_LABEL}none"
