"""All names that the installed vocabularies know, behind the port `Terminology`: lookup, and names found in a text.

The dictionary is made when a text is first looked into, and anew when the vocabularies have changed. It must not know
a case, a run or a tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.passage import Concept
from core.domain.terminology import ConceptFound, DrugFound, Entity, NotFound
from core.retrieval.dictionary import Dictionary, WordLists
from core.retrieval.knowledge import closure
from core.retrieval.lookup import Lookup
from core.store.knowledge import KnowledgeStore

NUMBERS = ("UMLS", "MSH")  # vocabularies whose numbers make concepts of others one


class InstalledTerminology:
    """Implements `core.domain.ports.Terminology`. `starter` are the concepts that ship with the program."""

    def __init__(self, store: KnowledgeStore, lists: WordLists, *, starter: Sequence[Concept] = ()) -> None:
        self._store = store
        self._vocabulary = store.vocabulary
        self._lists = lists
        self._starter = starter
        self._lookup = Lookup(store.vocabulary, self._edition)
        self._dictionary: Dictionary | None = None
        self._made = ""

    def holds_concepts(self) -> bool:
        """Has an active pack concepts?"""
        active = {pack.id for pack in self._store.packs() if pack.state == "active"}
        return not active.isdisjoint(self._vocabulary.counts())

    def holds_drugs(self) -> bool:
        """Has an active pack entries of drugs?"""
        return self._vocabulary.has_drugs()

    def concept(self, name: str) -> ConceptFound | NotFound:
        """As `core.retrieval.lookup.Lookup.concept`."""
        return self._lookup.concept(name)

    def drug(self, name: str) -> DrugFound | NotFound:
        """As `core.retrieval.lookup.Lookup.drug`."""
        return self._lookup.drug(name)

    def entities(self, text: str) -> tuple[Entity, ...]:
        """As `core.retrieval.dictionary.Dictionary.find`, over the active packs and the starter's concepts."""
        state = self._vocabulary.fingerprint()
        if self._dictionary is None or state != self._made:
            self._dictionary = self._build()
            self._made = state
        return self._dictionary.find(text)

    def _build(self) -> Dictionary:
        links = [link for vocab in NUMBERS for link in self._vocabulary.links("xref", vocab)]
        above = closure(tuple(self._starter))
        return Dictionary(
            self._vocabulary.names(),
            self._lists,
            links=links,
            starter=self._starter,
            ancestors=lambda concept: above.get(concept, frozenset({concept})),
        )

    def _edition(self, pack_id: str) -> tuple[str, str]:
        pack = self._store.pack(pack_id)
        return (pack.title, pack.edition) if pack else (pack_id, "")
