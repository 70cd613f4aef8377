"""The search index over the knowledge store: a cache that follows the store's outbox (knowledge.md sections 1 and 2).

Any number of processes read; one writes, under a lock of its own. Whatever is found missing, foreign or different at
the start is built again from SQLite. It must not know cases, runs or stages, and stores no text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import tantivy
from numpy.typing import NDArray

from core.domain.passage import Hit
from core.errors import StoreError
from core.log import Safe, logger
from core.retrieval import schema
from core.retrieval.analysis import NOTHING, Terms, terms
from core.retrieval.query import (
    ANY,
    DOC_BOOSTS,
    LONG,
    MOST_TERMS,
    PASSAGE_BOOSTS,
    Branch,
    Filters,
    Frequency,
    Ranked,
    boolean,
    clauses,
    count,
    filter_queries,
    fuse,
    numbers,
)
from core.retrieval.schema import DOCS, PASSAGES
from core.retrieval.writing import IndexState, read_state, write_index
from core.store.database import ProfileLock
from core.store.knowledge import KnowledgeStore

BRANCH = 200  # hits of one branch
SPARE = 64  # hits beyond the best k: of equal scores at the border the lower numbers are wanted
PROBLEM_TERMS = 24
WAIT_SECONDS = 30.0
MOST_REMEMBERED = 200_000  # terms
_log = logger("knowledge")


class PassageIndex:
    """The index of one knowledge store in one folder. Use it in the thread of the store."""

    def __init__(self, folder: Path, store: KnowledgeStore, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._folder = folder
        self._wait = wait_seconds
        self._store = store
        self._parts: dict[str, tantivy.Index] = {}
        self._everything: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._known: dict[str, dict[tuple[str, str], int]] = {}
        self._seen = ""

    # ------------------------------------------------------------------------------------------------ searching

    def search_terms(self, text: str, k: int, filters: Filters = ANY) -> tuple[Hit, ...]:
        """BM25 over passages: the best k by score, then number. Never raises on any text."""
        self.refresh()
        return fuse([Branch("bm25", 1.0, self._rank(PASSAGES, terms(text), k, filters))])

    def search(self, wanted: Terms, filters: Filters, *, problems: Terms = NOTHING) -> tuple[Hit, ...]:
        """Passages for a text, best first (at most 200); a long text is fused with the search for its problem list."""
        return fuse(self.branches(wanted, filters, problems=problems))

    def branches(self, wanted: Terms, filters: Filters, *, problems: Terms = NOTHING) -> list[Branch]:
        """The ranked lists of `search`, each of at most 200, before they are fused."""
        self.refresh()
        branches = [Branch("bm25", 1.0, self._rank(PASSAGES, wanted, BRANCH, filters))]
        if wanted.distinct > LONG and problems.distinct:
            listed = self._rank(PASSAGES, problems, BRANCH, filters, most=PROBLEM_TERMS)
            branches.append(Branch("problems", 1.0, listed))
        return branches

    def documents(self, wanted: Terms, filters: Filters, *, k: int) -> tuple[Ranked, ...]:
        """Numbers of the documents whose title, names, summary or group fit, best first."""
        self.refresh()
        return self._rank(DOCS, wanted, k, filters)

    def count_passages(self, filters: Filters) -> int:
        """How many passages satisfy the filters."""
        self.refresh()
        return count(self._parts[PASSAGES], filters)

    def numbers(self, filters: Filters) -> NDArray[np.uint32]:
        """The numbers of all passages that satisfy the filters, ascending."""
        self.refresh()
        return numbers(self._parts[PASSAGES], filters)

    def narrowed(self, filters: Filters) -> NDArray[np.uint32] | None:
        """The numbers that the filters leave; None where they ask for packs alone."""
        return None if filters == Filters(packs=filters.packs) else self.numbers(filters)

    def _rank(
        self, part: str, wanted: Terms, k: int, filters: Filters, *, most: int = MOST_TERMS
    ) -> tuple[Ranked, ...]:
        index = self._parts[part]
        searcher = index.searcher()
        fields = PASSAGE_BOOSTS if part == PASSAGES else DOC_BOOSTS
        known = clauses(wanted, self._frequency(part), searcher.num_docs, fields=fields, most=most)
        if not known or k < 1:
            return ()
        return best(searcher, boolean(index.schema, known, self._needed(part, filters)), k)

    def typed(
        self, read: Callable[[tantivy.Index], tantivy.Query | None], filters: Filters, *, k: int
    ) -> tuple[Ranked, ...]:
        """Passages for a query that `read` makes of what a person typed into the search box; None finds nothing."""
        self.refresh()
        index = self._parts[PASSAGES]
        query = read(index)
        if query is None:
            return ()
        needed = filter_queries(index.schema, self._needed(PASSAGES, filters))
        must = [(tantivy.Occur.Must, part) for part in (query, *needed)]
        return best(index.searcher(), tantivy.Query.boolean_query(must), k)

    def _frequency(self, part: str) -> Frequency:
        """How many entries hold a term in a field; remembered while the index stays as it is."""
        searcher, known = self._parts[part].searcher(), self._known.setdefault(part, {})
        if len(known) > MOST_REMEMBERED:
            known.clear()

        def count_of(field: str, term: str) -> int:
            found = known.get((field, term))
            if found is None:
                found = known[field, term] = searcher.doc_freq(field, term)
            return found

        return count_of

    def _needed(self, part: str, filters: Filters) -> Filters:
        """The filters without packs where these are all there are: Tantivy then skips what cannot reach the best."""
        if filters.packs is None:
            return filters
        key = (part, filters.packs)
        if key not in self._everything:
            index = self._parts[part]
            self._everything[key] = count(index, Filters(packs=filters.packs)) == index.searcher().num_docs
        return msgspec.structs.replace(filters, packs=None) if self._everything[key] else filters

    # -------------------------------------------------------------------------------------- agreement with the store

    def refresh(self) -> None:
        """Follow the store when it has changed since the last look, in this process or another."""
        if self._seen != self._store.head() or not self._parts:
            self.reconcile()

    def reconcile(self) -> str:
        """Make the index hold what the store holds; says what that took: "", "drained" or "rebuilt".

        Raises:
            StoreError: another process has been writing for longer than `wait_seconds`, or the disk refuses.
        """
        head = self._store.head()
        done = ""
        if not self._agrees():
            with self._writing():
                for intact in (True, True, False):  # the last: all anew, if the outbox alone cannot mend it
                    if self._agrees():  # another process may have done it while this one waited
                        break
                    done = write_index(self._folder, self._store, intact=intact and self._intact())
            if not self._agrees():
                raise StoreError("The knowledge index does not agree with its database.", known=False)
            _log.info("index %s", Safe(done))
        self._seen = head
        return done

    def _intact(self) -> bool:
        """Whether the index on disk can be continued: of this version, readable, of this database."""
        state = read_state(self._folder)
        return state is not None and self._continues(state) and self._reopen()

    def _continues(self, state: IndexState) -> bool:
        return state.version == schema.VERSION and self._store.has_been(state.head)

    def _agrees(self) -> bool:
        """Nothing waits in the outbox, and every pack has as many documents and chunks as in SQLite."""
        if self._store.pending() or not self._intact():
            return False
        held = self._store.counts()
        for part, expected in (
            (PASSAGES, {pack.pack: pack.chunks for pack in held}),
            (DOCS, {pack.pack: pack.docs for pack in held}),
        ):
            if not self._holds(part, expected):
                return False
        return True

    def _holds(self, part: str, expected: Mapping[str, int]) -> bool:
        if self._parts[part].searcher().num_docs != sum(expected.values()):
            return False
        return all(count(self._parts[part], Filters(packs=(pack,))) == number for pack, number in expected.items())

    def _reopen(self) -> bool:
        """Open both indexes at their last commit; False if one cannot be read."""
        try:
            self._everything, self._known = {}, {}
            self._parts = {part: schema.open_part(self._folder / part) for part in (PASSAGES, DOCS)}
        except (ValueError, OSError):
            self._parts = {}
            return False
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One writer an index across processes; the lock dies with its process."""
        lock = ProfileLock(self._folder)
        deadline = time.monotonic() + self._wait
        while True:
            try:
                lock.acquire()
                break
            except StoreError as error:
                if time.monotonic() > deadline:
                    text = "Another Wardround has been writing the knowledge index for long. Try again in a moment."
                    raise StoreError(text, code="index busy") from error
                time.sleep(0.05)
        try:
            yield
        finally:
            lock.release()


def best(searcher: tantivy.Searcher, query: tantivy.Query, k: int) -> tuple[Ranked, ...]:
    """The best k by score, then number."""
    hits = searcher.search(query, limit=k + SPARE, count=False).hits
    found = np.array(searcher.fast_field_values("cid", [address for _, address in hits]), np.int64)
    # Rounded: the last bits depend on how segments lie, and equal passages must tie.
    scores = np.round([score for score, _ in hits], 4)
    order = np.lexsort((found, -scores))[:k]
    return tuple(map(Ranked, found[order].tolist(), scores[order].tolist()))
