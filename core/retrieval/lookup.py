"""Lookup of a concept or a drug by a name (knowledge.md section 9): for the tools and the window.

Exact norm, then the same words in any order without everyday ones, then a similar spelling, else not found with near
names; drugs by the rules of `core.retrieval.drug_names`. Reads the vocabulary of the active packs; it must not know a
text, a case or a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from core import codec
from core.domain.terminology import ConceptFound, Drug, DrugFound, NotFound, Origin, Related
from core.retrieval.analysis import stop_words
from core.retrieval.dictionary import RANKS
from core.retrieval.drug_names import DRUG_KINDS, MOST_NEAR, DrugNames
from core.retrieval.terms import norm
from core.store.knowledge_values import Named, Relation, VocabularyConcept

SIMILAR = 88.0  # ratio of rapidfuzz
LENGTHS = 0.3  # a similar name differs by no more of its length
MOST_RELATIONS = 5
DEFINITIONS = ("MSH", "NCI", "ICF", "CSP", "HP", "DOID", "ICD inclusion")
RELATIONS = ("is_a", "has_phenotype", "excludes1", "codeFirst", "related")
EXACT, WORDS, SPELLING = "exact name", "same words", "similar spelling"


class Vocabulary(Protocol):
    """What lookup asks of the store (`core.store.vocabulary.Vocabulary`)."""

    def concept(self, identifier: str) -> VocabularyConcept | None: ...
    def drug(self, identifier: str) -> Drug | None: ...
    def named(self, norm: str) -> tuple[Named, ...]: ...
    def names(self, *, kinds: Sequence[str] = ()) -> Iterable[Named]: ...
    def drug_names(self) -> Mapping[str, str]: ...
    def drug_pack(self, identifier: str) -> str: ...
    def one_with(self, identifiers: Sequence[str]) -> tuple[str, ...]: ...
    def pack_of(self, identifier: str) -> str: ...
    def fingerprint(self) -> str: ...


class Lookup:
    """`edition` gives title and edition of a pack. The name index is made at the first inexact question."""

    def __init__(self, vocabulary: Vocabulary, edition: Callable[[str], tuple[str, str]]) -> None:
        self._vocabulary = vocabulary
        self._edition = edition
        self._made = ""
        self._names: _Names | None = None
        self._drugs: DrugNames | None = None

    def concept(self, text: str) -> ConceptFound | NotFound:
        """The concept of that name, of any kind."""
        found, how, near = self._resolve(text)
        return self._concept(text, how, found) if found else NotFound(text, near)

    def drug(self, text: str) -> DrugFound | NotFound:
        """The drug of that name: of those with a label or formulary entry, never of what is only a word."""
        self._look()
        if self._drugs is None:
            self._drugs = DrugNames(self._vocabulary.names(kinds=DRUG_KINDS), self._vocabulary.drug_names())
        match, near = self._drugs.match(text)
        drug = self._vocabulary.drug(match.drug) if match else None
        if match is None or drug is None:
            return NotFound(text, near)
        concept = self._vocabulary.concept(drug.id)
        origin = self._origin(drug, self._vocabulary.drug_pack(drug.id))
        return DrugFound(
            asked=text,
            how=match.how,
            matched_as=match.name,
            drug=drug,
            synonyms=tuple(dict.fromkeys(s.text for s in concept.surfaces if s.text != drug.name)) if concept else (),
            source=drug.source or origin.title,
            version=drug.version or origin.edition,
            origin=origin,
        )

    # ------------------------------------------------------------------------------------------------- resolving

    def _resolve(self, text: str) -> tuple[tuple[Named, ...], str, tuple[str, ...]]:
        """The names that fit, how they fit, and near ones where none does."""
        wanted = " ".join(norm(text))
        if not wanted:
            return (), "", ()
        exact = self._vocabulary.named(wanted)
        if exact:
            return exact, EXACT, ()
        self._look()
        if self._names is None:
            self._names = _Names(name.norm for name in self._vocabulary.names())
        key = self._names.same_words(wanted)
        if key:
            return self._vocabulary.named(key), WORDS, ()
        close, near = self._names.similar(wanted)
        return (self._vocabulary.named(close), SPELLING, ()) if close else ((), "", near)

    def _look(self) -> None:
        """Forget the names of an earlier state of the vocabularies."""
        state = self._vocabulary.fingerprint()
        if state != self._made:
            self._names = self._drugs = None
            self._made = state

    # --------------------------------------------------------------------------------------------------- telling

    def _concept(self, asked: str, how: str, found: Sequence[Named]) -> ConceptFound:
        best = min(found, key=lambda n: (n.type != "exact", _rank(n.concept), n.concept))
        ids = self._vocabulary.one_with([name.concept for name in found if name.type in ("exact", best.type)])
        concepts = [c for i in dict.fromkeys((best.concept, *ids)) if (c := self._vocabulary.concept(i)) is not None]
        concepts.sort(key=lambda c: _rank(c.id))
        main = next(c for c in concepts if c.id == best.concept)
        definition = next(iter(sorted((c for c in concepts if c.definition), key=_definition_rank)), None)
        origins = (self._origin(c, self._vocabulary.pack_of(c.id)) for c in dict.fromkeys((main, definition or main)))
        origin, *others = origins
        return ConceptFound(
            asked=asked,
            how=how,
            id=main.id,
            name=main.name,
            kind=main.kind,
            definition=definition.definition if definition else "",
            def_source=definition.def_source if definition else "",
            relations=self._relations(concepts),
            synonyms=tuple(dict.fromkeys(s.text for c in concepts for s in c.surfaces if s.text != main.name)),
            others=tuple(c.id for c in concepts if c.id != main.id),
            source=origin.title,
            version=origin.edition,
            origins=(origin, *others),
        )

    def _origin(self, entry: VocabularyConcept | Drug, pack: str) -> Origin:
        """Where an entry stands, with the hash that the store has recorded of it."""
        title, edition = self._edition(pack)
        return Origin(id=entry.id, pack=pack, title=title, edition=edition, sha256=codec.digest(entry))

    def _relations(self, concepts: Sequence[VocabularyConcept]) -> tuple[Related, ...]:
        """At most five, by kind of relation; notes without a code count as their text."""
        every = [r for rel in RELATIONS for concept in concepts for r in concept.relations if r.rel == rel]
        told = dict.fromkeys(Related(r.rel, r.target, self._name(r)) for r in every)
        return tuple(told)[:MOST_RELATIONS]

    def _name(self, relation: Relation) -> str:
        if relation.text or not relation.target:
            return relation.text
        other = self._vocabulary.concept(relation.target)
        return other.name if other else relation.target


class _Names:
    """Norms of all names, and the same without everyday words, in alphabetical order."""

    def __init__(self, norms: Iterable[str]) -> None:
        self._stop = frozenset(stop_words())
        self._norms = tuple(dict.fromkeys(norms))
        self._sorted: dict[str, str] = {}
        for key in self._norms:
            self._sorted.setdefault(self._in_order(key), key)

    def _in_order(self, key: str) -> str:
        return " ".join(sorted(word for word in key.split() if word not in self._stop))

    def same_words(self, wanted: str) -> str:
        """A norm of the same words; "" if there is none."""
        key = self._in_order(wanted)
        return self._sorted.get(key, "") if key else ""

    def similar(self, wanted: str) -> tuple[str, tuple[str, ...]]:
        """The norm that is similar enough, else "" and the nearest three."""
        from rapidfuzz import fuzz, process

        low, high = len(wanted) * (1 - LENGTHS), len(wanted) * (1 + LENGTHS)
        candidates = [key for key in self._norms if low <= len(key) <= high]
        best = process.extract(wanted, candidates, scorer=fuzz.ratio, limit=MOST_NEAR)
        if best and best[0][1] >= SIMILAR:
            return best[0][0], ()
        return "", tuple(key for key, _, _ in best)


def _rank(concept: str) -> int:
    return RANKS.get(concept.partition(":")[0], len(RANKS))


def _definition_rank(concept: VocabularyConcept) -> int:
    source = concept.def_source
    return DEFINITIONS.index(source) if source in DEFINITIONS else len(DEFINITIONS)
