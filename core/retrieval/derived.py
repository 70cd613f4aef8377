"""Conditions of imported guidelines without clue rows: their clues are derived (direct.md section 2, end).

A finding that a section of class symptoms, tests or criteria names as present counts as typical, marked as derived, and
cites the passage that names it. Nothing is derived where the starter set has a condition of the same concept or name.
It must not know a case or a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from core.domain.condition import Clue, Condition, Derivation
from core.domain.evidence import Obtain
from core.domain.passage import Concept, Passage, Source
from core.domain.ports import Annotated
from core.errors import StoreError
from core.log import Safe, logger
from core.retrieval.editions import GUIDELINES, parse_date
from core.retrieval.knowledge import StarterKnowledge
from core.retrieval.sources.material import slug
from core.retrieval.terms import norm
from core.store.knowledge import DAMAGED, KnowledgeStore
from core.store.knowledge_values import DocEntry, Pack

CLASSES: dict[str, Obtain] = {"symptoms": "history", "tests": "other", "criteria": "other"}
FEWEST = 2  # clues that make a condition of a document
MOST = 30
MOST_PASSAGES = 60  # of one document: what it says later of symptoms and tests is detail
LONGEST_QUOTE = 240  # characters
TITLE_WORDS = frozenset(
    ["a", "an", "and", "the", "of", "in", "for", "on", "local", "clinical", "practice", "guideline", "guidelines"]
    + ["guidance", "management", "diagnosis", "treatment", "assessment", "adult", "adults", "acute", "care", "pathway"]
)
STATED = ("present", "possible")  # "may have fever" is how guidelines speak


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A condition made of a document, and its concept where the starter set has none."""

    condition: Condition
    concept: Concept | None = None


def derive(pack: Pack, entry: DocEntry, passages: Iterable[Passage], knowledge: StarterKnowledge) -> Derived | None:
    """The condition that a document describes; None: the starter set has it, or too few findings are named. Pure."""
    own = _subject(entry, knowledge)
    if _is_covered(entry, own, knowledge):
        return None
    obtained = _obtained(knowledge)
    found: dict[str, tuple[Clue, Derivation]] = {}
    relevant = [passage for passage in passages if passage.section_class in CLASSES][:MOST_PASSAGES]
    for passage in relevant:
        for mention in knowledge.annotate(passage.text):
            concept = knowledge.concept(mention.mention.concept)
            if concept is None or concept.id in found or not _is_clue(mention, concept, own, knowledge):
                continue
            obtain: Obtain = "laboratory" if concept.lab else CLASSES[passage.section_class]
            clue = Clue(
                concept=concept.id,
                strength="typical",
                obtain=obtained.get(concept.id, obtain),
                citation=passage.key,
                derived=True,
            )
            quote = passage.text[mention.sentence[0] : mention.sentence[1]]
            found[concept.id] = clue, Derivation(concept=concept.id, passage=passage, quote=_short(quote))
    if len(found) < FEWEST:
        return None
    rows = list(found.values())[:MOST]
    return Derived(condition=_condition(pack, entry, own, rows), concept=None if knowledge.concept(own.id) else own)


def _is_clue(mention: Annotated, concept: Concept, own: Concept, knowledge: StarterKnowledge) -> bool:
    """A finding of the patient, said to be there, that is not the condition itself."""
    stated = mention.polarity in STATED and mention.time == "current" and mention.who == "patient"
    return stated and concept.kind == "finding" and own.id not in knowledge.ancestors(concept.id)


def _subject(entry: DocEntry, knowledge: StarterKnowledge) -> Concept:
    """What a document is about: a concept that we know by id or by one of its names, else one of its own."""
    known = (knowledge.concept(identifier) for identifier in entry.concepts)
    named = (_disease(name, knowledge) for name in (entry.title, *entry.names, *entry.aliases))
    found = next((concept for concept in (*known, *named) if concept is not None), None)
    own = entry.concepts[0] if entry.concepts else entry.id
    names = tuple(dict.fromkeys((*entry.aliases, *entry.names)))
    return found or Concept(id=own, name=entry.title, kind="disease", surfaces=names)


def _disease(name: str, knowledge: StarterKnowledge) -> Concept | None:
    """The disease whose name this is, but for words of titles ("Management of gout"); "diabetic foot" is another."""
    for found in knowledge.annotate(name):
        start, end = found.mention.start, found.mention.end
        concept = knowledge.concept(found.mention.concept)
        rest = {*norm(name[:start]), *norm(name[end:])}
        if concept is not None and concept.kind == "disease" and rest <= TITLE_WORDS:
            return concept
    return None


def _is_covered(entry: DocEntry, own: Concept, knowledge: StarterKnowledge) -> bool:
    names = {norm(name) for condition in knowledge.conditions for name in (condition.title, *condition.aliases)}
    return norm(entry.title) in names or own.id in {condition.concept for condition in knowledge.conditions}


def _obtained(knowledge: StarterKnowledge) -> Mapping[str, Obtain]:
    """How the conditions of the starter set obtain a finding."""
    return {clue.concept: clue.obtain for condition in knowledge.conditions for clue in condition.clues}


def _short(text: str) -> str:
    """A sentence on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE].rpartition(' ')[0]} …"


def _condition(pack: Pack, entry: DocEntry, own: Concept, rows: list[tuple[Clue, Derivation]]) -> Condition:
    issued = parse_date(pack.issued_on)
    sources = {
        derivation.passage.key: Source(
            key=derivation.passage.key,
            authors=pack.publisher or pack.title,
            title=entry.title,
            year=issued.year if issued else 0,
            identifier=derivation.passage.section,
        )
        for _, derivation in rows
    }
    return Condition(
        slug=slug(entry.id),
        title=entry.title,
        concept=own.id,
        aliases=entry.aliases,
        group=entry.group,
        lang=entry.lang,
        edition=pack.edition,
        licence=pack.licence_id,
        sources=tuple(sources.values()),
        clues=tuple(clue for clue, _ in rows),
        derivations=tuple(derivation for _, derivation in rows),
    )


# ------------------------------------------------------------------------------------------------------ of a store


class SiteKnowledge:
    """The starter set with the conditions of the guidelines that the site has approved. Use it in the store's thread.

    A run knows what was approved when it was queued: one that waits for an answer goes on with that.
    """

    def __init__(self, starter: StarterKnowledge, store: KnowledgeStore) -> None:
        self._starter = starter
        self._store = store
        self._made: tuple[object, StarterKnowledge] = ((), starter)

    def at(self, moment: str) -> StarterKnowledge:
        """What a run queued at that moment (ISO 8601, UTC) knows."""
        active = set(self._store.lifecycle.active_at(moment))
        packs = [pack for pack in self._store.packs() if pack.id in active and _has_guidelines(pack)]
        key = tuple((pack.id, pack.edition, pack.importer_version, pack.files) for pack in packs)
        if key != self._made[0]:
            found = tuple(self._derived(packs))
            conditions = tuple(each.condition for each in found)
            concepts = tuple(each.concept for each in found if each.concept)
            self._made = key, self._starter.extended(conditions, concepts) if found else self._starter
        return self._made[1]

    def _derived(self, packs: list[Pack]) -> Iterator[Derived]:
        """One condition a concept, of the first document that is about it."""
        by_id = {pack.id: pack for pack in packs}
        taken: set[str] = set()
        for entry in self._store.doc_entries():
            found = self._of(by_id[entry.pack], entry) if entry.pack in by_id else None
            if found and taken.isdisjoint({found.condition.concept, found.condition.title}):
                taken |= {found.condition.concept, found.condition.title}
                yield found

    def _of(self, pack: Pack, entry: DocEntry) -> Derived | None:
        """Of a document whose text is not what was imported, nothing."""
        try:
            return derive(pack, entry, self._store.passages_of(entry.id), self._starter)
        except StoreError as error:
            if error.code not in DAMAGED:
                raise
            logger("knowledge").error("nothing derived from a damaged document of %s", Safe(pack.id))
            return None


def _has_guidelines(pack: Pack) -> bool:
    return pack.kind in GUIDELINES and pack.importer != "starter"
