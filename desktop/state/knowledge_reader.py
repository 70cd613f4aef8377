"""What the knowledge page reads, from one open store and index: passages, their sources, collections, terms.

Used in one thread, the one that made it. Knows no Qt and no widget.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from core import paths
from core.domain.passage import Fact, Source
from core.errors import UserError
from desktop.i18n import tr

if TYPE_CHECKING:
    from core.domain.terminology import ConceptFound, DrugFound
    from core.retrieval.box import BoxAnswer, BoxHit
    from core.retrieval.editions import Calendar
    from core.retrieval.hybrid import Dense
    from core.store.knowledge_values import Doc, Pack, Section
    from desktop.state.workbench import Workbench
    from desktop.vectors import KnowledgeVectors


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """A pack of knowledge as it is listed. Dates are ISO 8601 or empty; `remark`: what is to be said of its edition."""

    id: str
    title: str
    kind: str
    edition: str
    publisher: str
    state: str
    licence: str
    licence_text: str
    lang: str
    jurisdiction: str
    issued_on: str
    expires_on: str
    added_by: str
    added_at: str
    approved_by: str
    approved_at: str
    replaces: str
    source_url: str
    files: tuple[tuple[str, str], ...]  # name, sha256
    may_leave: bool = False  # by its licence it may be given to another organisation
    docs: int = 0
    passages: int = 0
    concepts: int = 0
    remark: str = ""


class SourcePage(msgspec.Struct, frozen=True, kw_only=True):
    """A section of a document with the passage in it: half-open character offsets `start`, `end` into `text`."""

    hit: BoxHit
    text: str
    start: int
    end: int
    path: str
    pages: str
    url: str
    published_on: str
    collection: Collection
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """A term looked up, as a concept and as a drug; `near`: names that are nearest where neither was found.

    `vocabularies`: how many packs hold any words at all.
    """

    asked: str
    concept: ConceptFound | None = None
    drug: DrugFound | None = None
    near: tuple[str, ...] = ()
    vocabularies: int = 0


class KnowledgeReader:
    """The knowledge of a profile, open for reading."""

    def __init__(self, bench: Workbench) -> None:
        from datetime import date

        from core.domain.ports import Query
        from core.retrieval import catalogue
        from core.retrieval.box import SearchBox
        from core.retrieval.editions import Calendar
        from core.retrieval.hybrid import HybridSearch
        from core.retrieval.lookup import Lookup
        from core.retrieval.synonyms import Synonyms

        self._bench = bench
        self._vectors: KnowledgeVectors | None = None
        self._calendar: Calendar = Calendar.of(bench.settings, date.today)
        opened = catalogue.open_knowledge(bench.profile, paths.cache_folder(), bench.actor, calendar=self._calendar)
        self._store, self._index, retriever, self._starter = opened
        self._box = SearchBox(
            self._store,
            self._index,
            documents=lambda text: retriever.documents(Query(text=text, purpose="search")),
            hybrid=HybridSearch(self._index, dense=self._dense, synonyms=Synonyms(self._starter.concepts)),
            calendar=self._calendar,
        )
        self._lookup = Lookup(self._store.vocabulary, self._edition)

    def close(self) -> None:
        if self._vectors is not None:
            self._vectors.close()
        self._store.close()

    def _dense(self) -> Dense | None:
        """Embedder and vectors, those that are made already; the embedder is a process of its own."""
        from desktop.embedding import ChildEmbedder
        from desktop.vectors import KnowledgeVectors, named_embedder

        settings = self._bench.settings
        if named_embedder(settings) is None:
            return None
        opening = partial(ChildEmbedder, settings)
        self._vectors = KnowledgeVectors(self._bench.profile, settings, open_embedder=opening, few=0)
        return self._vectors.dense(self._store, self._index)

    def search(
        self,
        text: str,
        *,
        classes: tuple[str, ...] = (),
        packs: tuple[str, ...] = (),
        old: bool = False,
        vectors: bool = False,
    ) -> BoxAnswer:
        """Passages for what was typed; `old`: in superseded and expired editions too; `vectors`: by meaning too."""
        from core.retrieval.box import Wanted

        return self._box.search(Wanted(text=text, classes=classes, packs=packs, old=old, vectors=vectors))

    def source(self, hit: BoxHit) -> SourcePage:
        """The whole section of a passage, what it comes from, and the facts and published sources of its document.

        Raises:
            UserError: it is no longer there.
            StoreError: a text on disk is not what was imported.
        """
        passage = self._store.passage(hit.passage.key)
        doc = self._store.document(hit.passage.doc)
        pack = self._store.pack(hit.passage.pack)
        if passage is None or doc is None or pack is None or passage.sha256 != hit.passage.sha256:
            raise UserError(tr("This passage was replaced since it was found. Search again."), code="passage gone")
        section = _section_of(doc, passage.section, passage.start, passage.text)
        return SourcePage(
            hit=hit,
            text=section.text,
            start=passage.start,
            end=passage.end,
            path=" > ".join(part for part in (doc.title, section.path) if part),
            pages=_pages(section),
            url=doc.url,
            published_on=doc.published_on,
            collection=self._collection(pack),
            facts=doc.facts,
            sources=self._sources(doc, pack),
        )

    def _sources(self, doc: Doc, pack: Pack) -> tuple[Source, ...]:
        from core.retrieval.catalogue import STARTER

        if pack.id != STARTER:
            return ()
        condition = next((c for c in self._starter.conditions if c.slug == doc.source_key), None)
        return condition.sources if condition else ()

    def collections(self) -> tuple[Collection, ...]:
        """Every pack with its state, its dates and how much it holds."""
        counts = {count.pack: count for count in self._store.counts()}
        words = self._store.vocabulary.counts()
        return tuple(
            msgspec.structs.replace(
                self._collection(pack),
                docs=counts[pack.id].docs if pack.id in counts else 0,
                passages=counts[pack.id].chunks if pack.id in counts else 0,
                concepts=words.get(pack.id, 0),
            )
            for pack in self._store.packs()
        )

    def _collection(self, pack: Pack) -> Collection:
        from core.retrieval import editions
        from core.store.lifecycle import may_leave_site

        ends = editions.expires_on(pack, self._calendar.years)
        return Collection(
            id=pack.id,
            title=pack.title,
            kind=pack.kind,
            edition=pack.edition,
            publisher=pack.publisher,
            state=pack.state,
            licence=pack.licence_id,
            licence_text=pack.licence_text,
            lang=pack.lang,
            jurisdiction=pack.jurisdiction,
            issued_on=pack.issued_on,
            expires_on=ends.isoformat() if ends else "",
            added_by=pack.added_by,
            added_at=pack.added_at,
            approved_by=pack.approved_by,
            approved_at=pack.approved_at,
            replaces=pack.replaces,
            source_url=pack.source_url,
            files=tuple((file.name, file.sha256) for file in pack.files),
            may_leave=may_leave_site(pack.licence_id),
            remark=editions.remark(pack, self._store.packs(), self._calendar),
        )

    def look_up(self, text: str) -> Looked:
        """A concept and a drug of that name."""
        from core.domain.terminology import ConceptFound, DrugFound

        held = len(self._store.vocabulary.counts())
        if not text.strip() or not held:
            return Looked(asked=text, vocabularies=held)
        concept, drug = self._lookup.concept(text), self._lookup.drug(text)
        near = (*getattr(concept, "near", ()), *getattr(drug, "near", ()))
        return Looked(
            asked=text,
            concept=concept if isinstance(concept, ConceptFound) else None,
            drug=drug if isinstance(drug, DrugFound) else None,
            near=tuple(dict.fromkeys(near)),
            vocabularies=held,
        )

    def _edition(self, pack_id: str) -> tuple[str, str]:
        pack = self._store.pack(pack_id)
        return (pack.title, pack.edition) if pack else (pack_id, "")


def open_reader(bench: Workbench) -> closing[KnowledgeReader]:
    """A reader that is closed at the end."""
    return closing(KnowledgeReader(bench))


def _section_of(doc: Doc, path: str, start: int, text: str) -> Section:
    """The section that holds the passage where its key says; two sections may have one heading."""
    held = (s for s in doc.sections if s.path == path and s.text[start : start + len(text)] == text)
    found = next(held, None)
    if found is None:
        raise UserError(tr("This passage was replaced since it was found. Search again."), code="passage gone")
    return found


def _pages(section: Section) -> str:
    if section.page_from is None:
        return ""
    last = section.page_to or section.page_from
    if last == section.page_from:
        return tr("page {n}", n=last)
    return tr("pages {a}–{b}", a=section.page_from, b=last)
