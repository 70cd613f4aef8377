"""Passages of guidelines for a case, in two stages: which documents, then which of their passages.

MedAgent-Pro's guideline retrieval (arXiv 2503.18968, eq. G = V(R(K))), knowledge.md section 6: documents by their
words, passages by words and vectors. Texts come from SQLite, checked against their hash; only active packs are
searched. It must not know runs or models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core import codec
from core.domain.passage import Hit, Passage
from core.domain.ports import Found, Query
from core.retrieval.hybrid import WORDS, Asked, Dense, HybridSearch
from core.retrieval.index import BRANCH, PassageIndex
from core.retrieval.query import RRF, Filters, Ranked
from core.retrieval.synonyms import Synonyms
from core.retrieval.terms import norm
from core.store.knowledge import KnowledgeStore

MOST_DOCS = 30
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
    ) -> None:
        self._store = store
        self._index = index
        self._hybrid = HybridSearch(index, dense=dense, synonyms=synonyms)
        self._head = ""
        self._packs: tuple[str, ...] = ()
        self._fingerprint = ""
        self._titles: dict[tuple[str, ...], list[int]] = {}
        self._ids: dict[int, str] = {}

    @property
    def fingerprint(self) -> str:
        """What is searched: active packs with their editions, and one hash over their files."""
        self._look()
        return self._fingerprint

    def search(self, query: Query) -> Found:
        """The best k passages; `path` says how they were reached: two stages, widened, or named documents; and by what.

        Raises:
            StoreError: a passage on disk is not what was imported.
        """
        self._look()
        asked = self._hybrid.ask(query)
        path, docs = self._scope(query, asked)
        filters = Filters(packs=self._packs, docs=docs, classes=query.classes)
        nowhere = path == NAMED and not docs
        hits, how = ((), WORDS) if nowhere else self._hybrid.search(asked, filters)
        most = query.k if path == NAMED else MOST_OF_ONE
        kept, passages = self._resolve(hits, k=query.k, most_of_one=most)
        return Found(hits=kept, passages=passages, path=f"{path}; {how}", fingerprint=self._fingerprint)

    def search_text(self, text: str, k: int = 10) -> Found:
        """The search box: any string is an answerable question, if only by no passage at all."""
        return self.search(Query(text=text, k=k, purpose="search"))

    def documents(self, query: Query) -> tuple[str, ...]:
        """Stage 1 alone: ids of at most 30 documents, exact titles first."""
        self._look()
        return self._documents(query, self._hybrid.ask(query))

    # -------------------------------------------------------------------------------------------------- the stages

    def _scope(self, query: Query, asked: Asked) -> tuple[str, tuple[str, ...]]:
        """How to search, and the documents to search in (none = all)."""
        if query.docs:
            return NAMED, self._store.docs_of(query.docs)
        docs = self._documents(query, asked)
        if not docs or self._index.count_passages(Filters(packs=self._packs, docs=docs)) < FEWEST_CHUNKS:
            return WIDENED, ()
        return TWO_STAGES, docs

    def _documents(self, query: Query, asked: Asked) -> tuple[str, ...]:
        lists = self._lists(asked, query.concepts)
        if not any(lists) and query.concepts:  # no document is about these concepts
            lists = self._lists(asked, ())
        scores: dict[int, float] = {}
        for ranked in lists:
            for rank, (number, _) in enumerate(ranked, start=1):
                scores[number] = scores.get(number, 0.0) + 1 / (RRF + rank)
        names = (name for name in (query.text, *query.problems) if len(name) <= _TITLE_LENGTH)
        pinned = [number for name in names for number in self._titles.get(norm(name), [])]
        order = [*pinned, *sorted(scores, key=lambda number: (-scores[number], number))]
        return tuple(self._ids[number] for number in dict.fromkeys(order))[:MOST_DOCS]

    def _lists(self, asked: Asked, concepts: tuple[str, ...]) -> list[list[Ranked]]:
        """The documents worth a look for the text and for the problem list: none below a fifth of its list's best."""
        filters = Filters(packs=self._packs, concepts=concepts)
        both = (asked.whole, asked.problems) if asked.problems != asked.whole else (asked.whole,)
        lists = [self._index.documents(wanted, filters, k=MOST_DOCS) for wanted in both]
        return [[entry for entry in ranked if entry.score >= KEEP * ranked[0].score] for ranked in lists]

    # --------------------------------------------------------------------------------------------------- the texts

    def _resolve(self, hits: Sequence[Hit], *, k: int, most_of_one: int) -> tuple[tuple[Hit, ...], tuple[Passage, ...]]:
        """The first k hits with their texts, few of one document. A number that SQLite lacks is a stale hit."""
        kept: list[Hit] = []
        passages: list[Passage] = []
        of_doc: dict[str, int] = {}
        step = max(4 * k, 1)
        for first in range(0, min(len(hits), BRANCH), step):
            part = {hit.cid: hit for hit in hits[first : first + step]}
            for passage in self._store.passages(list(part)):
                of_doc[passage.doc] = of_doc.get(passage.doc, 0) + 1
                if of_doc[passage.doc] <= most_of_one and len(kept) < k:
                    kept.append(part[passage.cid])
                    passages.append(passage)
            if len(kept) >= k:
                break
        return tuple(kept), tuple(passages)

    def _look(self) -> None:
        """Follow the store when it has changed: index, active packs, titles, fingerprint."""
        head = self._store.head()
        if head == self._head:
            return
        self._index.refresh()
        active = [pack for pack in self._store.packs() if pack.state == "active"]
        content = [(pack.id, pack.edition, pack.importer_version, pack.files) for pack in active]
        self._packs = tuple(pack.id for pack in active)
        self._fingerprint = f"{' '.join(f'{p.id}@{p.edition}' for p in active)} sha256:{codec.digest(content)}"
        self._titles, self._ids = {}, {}
        for entry in self._store.doc_entries():
            self._ids[entry.n] = entry.id
            if entry.pack in self._packs:
                for name in {norm(name) for name in (entry.title, *entry.aliases)} - {()}:
                    self._titles.setdefault(name, []).append(entry.n)
        self._head = head
