"""Passages of guidelines for a case, in two stages: which documents, then which of their passages.

MedAgent-Pro's guideline retrieval (arXiv 2503.18968, eq. G = V(R(K))), knowledge.md section 6: documents by what they
are called and by their best passages, then passages by words and vectors. Texts come from SQLite, checked against
their hash; only active packs are searched, and expired ones for the days of grace. A pack with a damaged text is
quarantined, and the search goes on without it. It must not know runs or models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core import codec
from core.domain.passage import Hit, Passage
from core.domain.ports import Found, Query
from core.log import Safe, logger
from core.retrieval import editions
from core.retrieval.editions import Calendar
from core.retrieval.hybrid import WORDS, Asked, Dense, HybridSearch
from core.retrieval.index import BRANCH, PassageIndex
from core.retrieval.query import RRF, Filters, Ranked
from core.retrieval.synonyms import Synonyms
from core.retrieval.terms import norm
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Pack
from core.store.lifecycle import no_such

PROGRAM = "wardround"  # who acts where dates or damage do
OLD = ("superseded", "expired")  # states that are searched where that is asked for
DAMAGE = "a text on disk is not what was imported"
MOST_DOCS = 30
TELLING = 10  # best passages whose documents are looked into whatever they are called
KEEP = 0.2  # of the best document's score
FEWEST_CHUNKS = 50  # left after stage 1; below that the documents are no filter
MOST_OF_ONE = 3  # passages of one document
_TITLE_LENGTH = 200  # characters; a longer text is no title
TWO_STAGES, WIDENED, NAMED = "two stages", "widened", "named documents"


class GuidelineRetriever:
    """Implements `core.domain.ports.Retriever`. `Query.docs` may name documents by id or by source key."""

    def __init__(
        self,
        store: KnowledgeStore,
        index: PassageIndex,
        *,
        dense: Callable[[], Dense | None] | None = None,
        synonyms: Synonyms | None = None,
        calendar: Calendar | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._calendar = calendar
        self._hybrid = HybridSearch(index, dense=dense, synonyms=synonyms)
        self._seen: tuple[str, object] = ("", None)
        self._all: tuple[Pack, ...] = ()
        self._packs: tuple[str, ...] = ()
        self._fingerprint = ""
        self._titles: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        self._ids: dict[int, str] = {}

    @property
    def fingerprint(self) -> str:
        """What is searched: active packs with their editions, and one hash over their files."""
        self._look()
        return self._fingerprint

    def search(self, query: Query) -> Found:
        """The best k passages; `path` says how they were reached: two stages, widened, or named documents; and by what.

        Raises:
            StoreError: the database cannot be used.
        """
        self._look()
        return self._search(query, None)

    def search_in(self, query: Query, *, packs: Sequence[str] = (), also_superseded: bool = False) -> Found:
        """As `search`, in some packs only, or in earlier editions too.

        Raises:
            UserError: there is no such pack. StoreError: as `search`.
        """
        self._look()
        states = {pack.id: pack.state for pack in self._all}
        for name in packs:
            if name not in states:
                raise no_such(name)
        wider = [pack for pack, state in states.items() if also_superseded and state in OLD]
        scope = tuple(sorted({*self._packs, *wider}))
        return self._search(query, tuple(pack for pack in scope if pack in packs) if packs else scope)

    def search_kinds(self, query: Query, kinds: tuple[str, ...]) -> Found:
        """As `search`, in the packs of these kinds only."""
        self._look()
        return self._search(query, self._of_kinds(kinds))

    def holds(self, kinds: tuple[str, ...]) -> bool:
        """Is a pack of one of these kinds searched?"""
        self._look()
        return bool(self._of_kinds(kinds))

    def remark(self, pack: str) -> str:
        """What a reader must know of a pack's edition; "" where there is nothing."""
        self._look()
        held = next((entry for entry in self._all if entry.id == pack), None)
        return editions.remark(held, self._all, self._calendar) if held else ""

    def _of_kinds(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(pack.id for pack in self._all if pack.kind in kinds and pack.id in self._packs)

    def _search(self, query: Query, scope: tuple[str, ...] | None) -> Found:
        """In these packs (None = all that are searched); once more without those that turn out to be damaged."""
        while True:
            packs = self._packs if scope is None else tuple(pack for pack in scope if self._may_be_searched(pack))
            found, damaged = self._find(query, packs)
            if not damaged:
                return found
            for pack in damaged:
                logger("knowledge").error("pack quarantined: %s", Safe(pack))
                self._store.lifecycle.quarantine(pack, actor=PROGRAM, reason=DAMAGE)
            self._look()

    def _may_be_searched(self, pack: str) -> bool:
        return any(held.id == pack and held.state != "quarantined" for held in self._all)

    def _find(self, query: Query, packs: tuple[str, ...]) -> tuple[Found, tuple[str, ...]]:
        """What was found, and the packs that hold a damaged text."""
        asked = self._hybrid.ask(query)
        path, docs = self._scope(query, asked, packs)
        filters = Filters(packs=packs, docs=docs, classes=query.classes)
        nowhere = (path == NAMED and not docs) or not packs
        hits, how = ((), WORDS) if nowhere else self._hybrid.search(asked, filters)
        most = query.k if path == NAMED else MOST_OF_ONE
        kept, passages, damaged = self._resolve(hits, k=query.k, most_of_one=most)
        return Found(hits=kept, passages=passages, path=f"{path}; {how}", fingerprint=self._fingerprint), damaged

    def search_text(self, text: str, k: int = 10) -> Found:
        """The search box: any string is an answerable question, if only by no passage at all."""
        return self.search(Query(text=text, k=k, purpose="search"))

    def documents(self, query: Query) -> tuple[str, ...]:
        """Stage 1 alone: ids of at most 30 documents, exact titles first."""
        self._look()
        return self._documents(query, self._hybrid.ask(query), self._packs)

    # -------------------------------------------------------------------------------------------------- the stages

    def _scope(self, query: Query, asked: Asked, packs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """How to search, and the documents to search in (none = all)."""
        if query.docs:
            return NAMED, self._store.docs_of(query.docs)
        docs = self._worth(query, asked, packs) if packs else ()
        if not docs or self._index.count_passages(Filters(packs=packs, docs=docs)) < FEWEST_CHUNKS:
            return WIDENED, ()
        return TWO_STAGES, docs

    def _worth(self, query: Query, asked: Asked, packs: tuple[str, ...]) -> tuple[str, ...]:
        """The documents of the best passages, and those of fitting name: a complaint stands in no title.

        On 60 questions of patients R@5 by names alone .867, by both .967.
        """
        filters = Filters(packs=packs, classes=query.classes, concepts=query.concepts)
        hits, _ = self._hybrid.search(asked, filters)
        sound, _ = self._store.sound_passages([hit.cid for hit in hits[:TELLING]])
        named = self._documents(query, asked, packs)
        return tuple(dict.fromkeys((*(passage.doc for passage in sound), *named)))[:MOST_DOCS] if named else ()

    def _documents(self, query: Query, asked: Asked, packs: tuple[str, ...]) -> tuple[str, ...]:
        lists = self._lists(asked, query.concepts, packs)
        if not any(lists) and query.concepts:  # no document is about these concepts
            lists = self._lists(asked, (), packs)
        scores: dict[int, float] = {}
        for ranked in lists:
            for rank, (number, _) in enumerate(ranked, start=1):
                scores[number] = scores.get(number, 0.0) + 1 / (RRF + rank)
        names = (name for name in (query.text, *query.problems) if len(name) <= _TITLE_LENGTH)
        named = [entry for name in names for entry in self._titles.get(norm(name), [])]
        pinned = [number for number, pack in named if pack in packs]
        order = [*pinned, *sorted(scores, key=lambda number: (-scores[number], number))]
        return tuple(self._ids[number] for number in dict.fromkeys(order))[:MOST_DOCS]

    def _lists(self, asked: Asked, concepts: tuple[str, ...], packs: tuple[str, ...]) -> list[list[Ranked]]:
        """The documents worth a look for the text and for the problem list: none below a fifth of its list's best."""
        filters = Filters(packs=packs, concepts=concepts)
        both = (asked.whole, asked.problems) if asked.problems != asked.whole else (asked.whole,)
        lists = [self._index.documents(wanted, filters, k=MOST_DOCS) for wanted in both]
        return [[entry for entry in ranked if entry.score >= KEEP * ranked[0].score] for ranked in lists]

    # --------------------------------------------------------------------------------------------------- the texts

    def _resolve(
        self, hits: Sequence[Hit], *, k: int, most_of_one: int
    ) -> tuple[tuple[Hit, ...], tuple[Passage, ...], tuple[str, ...]]:
        """The first k hits with their texts, few of one document; and packs with a damaged text among these.

        A number that SQLite lacks is a stale hit.
        """
        kept: list[Hit] = []
        passages: list[Passage] = []
        of_doc: dict[str, int] = {}
        step = max(4 * k, 1)
        for first in range(0, min(len(hits), BRANCH), step):
            part = {hit.cid: hit for hit in hits[first : first + step]}
            found, damaged = self._store.sound_passages(list(part))
            if damaged:
                return (), (), damaged
            for passage in found:
                of_doc[passage.doc] = of_doc.get(passage.doc, 0) + 1
                if of_doc[passage.doc] <= most_of_one and len(kept) < k:
                    kept.append(part[passage.cid])
                    passages.append(passage)
            if len(kept) >= k:
                break
        return tuple(kept), tuple(passages), ()

    def _look(self) -> None:
        """Follow the store and the day when they have changed: index, packs, titles, fingerprint."""
        today = self._calendar.today() if self._calendar else None
        if (self._store.head(), today) == self._seen:
            return
        if self._calendar:
            self._store.lifecycle.expire(editions.due(self._store.packs(), self._calendar), actor=PROGRAM)
        head = self._store.head()
        self._index.refresh()
        self._all = self._store.packs()
        active = [pack for pack in self._all if editions.is_searched(pack, self._calendar)]
        content = [(pack.id, pack.edition, pack.importer_version, pack.files) for pack in active]
        self._packs = tuple(pack.id for pack in active)
        self._fingerprint = f"{' '.join(f'{p.id}@{p.edition}' for p in active)} sha256:{codec.digest(content)}"
        self._titles, self._ids = {}, {}
        for entry in self._store.doc_entries():
            self._ids[entry.n] = entry.id
            for name in {norm(name) for name in (entry.title, *entry.aliases)} - {()}:
                self._titles.setdefault(name, []).append((entry.n, entry.pack))
        self._seen = (head, today)
