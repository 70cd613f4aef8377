"""Ambiguous abbreviations: "RA" is rheumatoid arthritis only among joints (knowledge.md section 9).

An ambiguous one counts when a concept of its field stands within thirty words. The list is handed in as TOML text
(abbreviations.toml). It must not know sentences or context.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Callable, Sequence

from core.domain.passage import Mention
from core.retrieval.terms import is_abbreviation, words

NEAR = 30  # words
_LEAD = 80  # characters before a bracket in which its explanation stands


class Ambiguous:
    """Immutable. `ancestors` gives a concept and everything above it."""

    def __init__(self, text: str, ancestors: Callable[[str], frozenset[str]]) -> None:
        content = tomllib.loads(text)
        by_field = {row["id"]: frozenset(row["concepts"]) for row in content.get("field", ())}
        self._ancestors = ancestors
        self._wanted = {
            row["text"]: frozenset().union(*(by_field.get(field, frozenset()) for field in row["fields"]))
            for row in content.get("abbreviation", ())
            if row.get("fields")
        }

    def explain(self, text: str, mentions: Sequence[Mention]) -> list[Mention]:
        """The mentions with abbreviations as the text itself explains them: "pericardial effusion (PE)".

        One that is explained by words that are no concept is no mention.
        """
        meanings: dict[str, str] = {}
        by_end = {mention.end: mention for mention in mentions}
        for mention in mentions:
            short = text[mention.start : mention.end]
            lead = _explained(text, mention)
            if lead is None:
                continue
            before = by_end.get(lead[1])
            other = before.concept if before is not None else ""
            if other != mention.concept:
                meanings.setdefault(short, other)
        return [
            Mention(meanings.get(short, mention.concept), mention.start, mention.end)
            for mention in mentions
            if (short := text[mention.start : mention.end]) not in meanings or meanings[short]
        ]

    def settle(self, text: str, mentions: Sequence[Mention]) -> list[Mention]:
        """The mentions without ambiguous abbreviations that nothing near speaks for."""
        doubtful = [text[m.start : m.end] in self._wanted for m in mentions]
        if not any(doubtful):
            return list(mentions)
        starts = [word.start for word in words(text)]
        places = [bisect_left(starts, mention.start) for mention in mentions]
        return [
            mention
            for index, mention in enumerate(mentions)
            if not doubtful[index] or self._is_spoken_for(index, text, mentions, places)
        ]

    def _is_spoken_for(self, index: int, text: str, mentions: Sequence[Mention], places: Sequence[int]) -> bool:
        mention = mentions[index]
        wanted = self._wanted[text[mention.start : mention.end]]
        return any(
            other.concept != mention.concept
            and abs(places[number] - places[index]) <= NEAR
            and not wanted.isdisjoint(self._ancestors(other.concept))
            for number, other in enumerate(mentions)
        )


def _explained(text: str, mention: Mention) -> tuple[int, int] | None:
    """The words before "(PE)" whose initials it has; None where it is no such abbreviation."""
    short = text[mention.start : mention.end]
    bracketed = text[mention.start - 1 : mention.start] == "(" and text[mention.end : mention.end + 1] == ")"
    if not bracketed or not is_abbreviation(short):
        return None
    before = words(text[max(0, mention.start - _LEAD) : mention.start - 1])[-len(short) :]
    initials = "".join(word.raw[0] for word in before).upper()
    offset = max(0, mention.start - _LEAD)
    return (offset + before[0].start, offset + before[-1].end) if initials == short else None
