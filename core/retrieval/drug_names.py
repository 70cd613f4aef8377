"""Which drug a name means: exactly that name, another name of it, the beginning of one, or a near spelling of one.

In this order (reflectool.md section 12, DrugLookup). Two drugs that fit alike are none: a wrong drug is worse than no
answer, and near names are said instead. It must not know a store, a case or a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.domain.passage import ConceptKind
from core.domain.terminology import DrugMatch
from core.retrieval.terms import norm
from core.store.knowledge_values import Named

DRUG_KINDS: tuple[ConceptKind, ...] = ("drug", "drug-class")
SIMILAR = 88.0  # WRatio of rapidfuzz
SHORTEST = 4  # letters; a shorter text begins or resembles too much
LONGER = 0.7  # of a near name's length: what is asked is no mere part of it ("hydrochloride")
MOST_NEAR = 3


class Match(NamedTuple):
    """A drug by its id, the name that fitted as its vocabulary writes it, and how it fitted."""

    drug: str
    name: str
    how: DrugMatch


class DrugNames:
    """The names of all drugs that have an entry; `entries` are their ids, each with the name that heads the entry."""

    def __init__(self, names: Iterable[Named], entries: Mapping[str, str]) -> None:
        self._bearers: dict[str, dict[str, str]] = {}  # norm -> drug -> name as written
        self._own: dict[str, set[str]] = {}  # norm -> drugs whose entry has this very name
        for drug, heading in entries.items():
            key = " ".join(norm(heading))
            self._own.setdefault(key, set()).add(drug)
            self._bearers.setdefault(key, {})[drug] = heading
        for name in (name for name in names if name.concept in entries):
            self._bearers.setdefault(name.norm, {}).setdefault(name.concept, name.text)

    def match(self, text: str) -> tuple[Match | None, tuple[str, ...]]:
        """The drug that is meant; else None, and at most three names that are near."""
        wanted = " ".join(norm(text))
        if wanted in self._bearers:
            how: DrugMatch = "exact" if wanted in self._own else "synonym"
            return self._first(wanted, how), ()
        if len(wanted) < SHORTEST:
            return None, ()
        if begun := sorted(key for key in self._bearers if key.startswith(wanted)):
            return self._one_of(begun, "prefix")
        close = self._similar(wanted)
        return self._one_of(close, "fuzzy") if close else (None, self._near(wanted))

    def _first(self, key: str, how: DrugMatch) -> Match:
        """Of several entries of one name the first: one that is named so before one that is also called so."""
        drug = min(self._own.get(key) or self._bearers[key])
        return Match(drug, self._bearers[key][drug], how)

    def _one_of(self, keys: Sequence[str], how: DrugMatch) -> tuple[Match | None, tuple[str, ...]]:
        """The shortest name where the others are longer forms of it or of the same drug, else their first three."""
        shortest = min(keys, key=lambda key: (len(key), key))
        drugs = self._bearers[shortest].keys()
        if all(key.startswith(shortest) or drugs & self._bearers[key].keys() for key in keys):
            return self._first(shortest, how), ()
        return None, tuple(keys[:MOST_NEAR])

    def _similar(self, wanted: str) -> list[str]:
        """The names of the best score, if that is enough."""
        from rapidfuzz import fuzz, process

        names = [key for key in self._bearers if LONGER * len(key) <= len(wanted)]
        found = process.extract(wanted, names, scorer=fuzz.WRatio, score_cutoff=SIMILAR, limit=None)
        return sorted(key for key, score, _ in found if score == found[0][1])

    def _near(self, wanted: str) -> tuple[str, ...]:
        from rapidfuzz import fuzz, process

        found = process.extract(wanted, list(self._bearers), scorer=fuzz.WRatio, limit=MOST_NEAR)
        return tuple(key for key, _, _ in found)
