"""Other names for what a query names: their words enter the search with a small weight (knowledge.md section 6).

It lifts a disease that the texts call otherwise, and costs little elsewhere. Knows concepts, no index and no document.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import msgspec

from core.domain.passage import Concept
from core.retrieval.analysis import Terms, for_stem, stem_analyzer
from core.retrieval.concepts import Matcher
from core.retrieval.terms import norm

MOST_NAMES = 8  # of one concept
LONGEST = 30  # distinct terms; a longer query says enough by itself


class Synonyms:
    """Names of concepts, grouped; immutable. The dictionary is made when it is first asked."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concepts = tuple(concepts)
        self._matcher: Matcher | None = None
        self._bearers: dict[tuple[str, ...], list[Concept]] = {}

    def names(self, text: str) -> tuple[str, ...]:
        """Other names of every concept that bears a name found in the text: at most eight of each, none twice."""
        matcher = self._matcher or self._prepare()
        found: dict[str, None] = {}
        for mention in matcher.find(text):
            said = norm(text[mention.start : mention.end])
            for concept in self._bearers.get(said, ()):
                others = (name for name in (concept.name, *concept.surfaces) if norm(name) != said)
                found |= dict.fromkeys(islice(others, MOST_NAMES))
        return tuple(found)

    def _prepare(self) -> Matcher:
        for concept in self._concepts:
            for name in dict.fromkeys(norm(name) for name in (concept.name, *concept.surfaces)):
                self._bearers.setdefault(name, []).append(concept)
        self._matcher = Matcher(self._concepts)
        return self._matcher


def expand(wanted: Terms, names: Iterable[str]) -> Terms:
    """The terms, with the stems that only these names bring."""
    known = {term for term, _ in wanted.stem}
    added = (stem for name in names for stem in stem_analyzer().analyze(for_stem(name)))
    fresh = tuple(dict.fromkeys(stem for stem in added if stem not in known))
    return msgspec.structs.replace(wanted, synonyms=fresh) if fresh else wanted
