"""What a finding says of other concepts: a clear chest has no crackles, a past embolism is a previous embolism.

Reads implied.toml. It must not know numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources

import msgspec

from core.runtime.perception.board import Board, derive_concept
from core.runtime.perception.drafts import ALLERGY, DERIVED, Draft


class Normal(msgspec.Struct, frozen=True):
    """A normal finding and what is absent where it holds."""

    concept: str
    absent: tuple[str, ...]


class Told(msgspec.Struct, frozen=True):
    """A disease of the past or of the family, and the finding of the patient that it is."""

    concept: str
    says: str


class Implications(msgspec.Struct, frozen=True):
    """The table."""

    normal: tuple[Normal, ...] = ()
    past: tuple[Told, ...] = ()
    family: tuple[Told, ...] = ()


@lru_cache(maxsize=1)
def packaged() -> Implications:
    """The table that ships with the program."""
    text = resources.files("core.retrieval").joinpath("resources").joinpath("implied.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Implications)


def implied(board: Board, table: Implications) -> Iterator[Draft]:
    """The concepts that follow, each once, from the first of its sources in canonical order."""
    for row in table.normal:
        held = board.holding(row.concept)
        for concept in row.absent if held else ():
            yield derive_concept(
                concept,
                "absent",
                formula=f"{held[0].finding.name.lower()} is recorded",
                inputs=held[:1],
                knowledge=board.knowledge,
            )
    yield from _told(board, table.past, time="past", who="patient", what="in the past")
    yield from _told(board, table.family, time="", who="family", what="in the family")


def _told(board: Board, rows: Sequence[Told], *, time: str, who: str, what: str) -> Iterator[Draft]:
    said: set[str] = set()
    for row in rows:
        sources = [draft for draft in board.drafts if _matches(board, draft, row.concept, time=time, who=who)]
        if sources and row.says not in said:
            said.add(row.says)
            formula = f"{sources[0].finding.name.lower()} {what}"
            yield derive_concept(row.says, "present", formula=formula, inputs=sources[:1], knowledge=board.knowledge)


def _matches(board: Board, draft: Draft, concept: str, *, time: str, who: str) -> bool:
    finding = draft.finding
    plain = finding.polarity == "present" and finding.extractor not in (ALLERGY, DERIVED)
    told = finding.who == who and (finding.time == time or (not time and finding.time != "future"))
    return plain and told and concept in board.knowledge.ancestors(finding.concept)
