"""Words and vectors together: the ranked lists of a query and their fusion (knowledge.md sections 3 and 6).

Weights: BM25 1, vectors 2, the problem list of a long case 1. Without an embedder, or while vectors are missing, the
search is one of words and says so. It must not know cases, runs or which texts the numbers stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.domain.passage import Hit
from core.domain.ports import Embedder, Query
from core.errors import ModelError, UserError
from core.log import Safe, logger
from core.retrieval.analysis import terms
from core.retrieval.index import BRANCH, PassageIndex
from core.retrieval.query import Branch, Filters, fuse
from core.retrieval.synonyms import Synonyms

if TYPE_CHECKING:
    from core.retrieval.dense import VectorIndex

DENSE = "dense"
DENSE_WEIGHT = 2.0
WINDOW_MARKS = 2
HYBRID, PARTLY, WORDS = "words and vectors", "words, vectors in part", "words alone"


class Dense:
    """An embedder with the vectors that it made."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex) -> None:
        self.embedder = embedder
        self.vectors = vectors

    def text(self, asked: Asked) -> str:
        """What stands for the query: the problem list if the whole text is longer than the embedder reads."""
        whole = asked.query.text or asked.listed_text
        room = self.embedder.info.max_tokens - WINDOW_MARKS
        return asked.listed_text if asked.listed_text and self.embedder.count(whole) > room else whole


class Asked:
    """A query analysed once: the text (without one, the problem list stands for it) and the problem list."""

    def __init__(self, query: Query, synonyms: Synonyms | None = None) -> None:
        self.query = query
        self.listed_text = "\n".join(query.problems)
        self.problems = terms(self.listed_text)
        self.whole = terms(query.text) if query.text.strip() else self.problems
        self.expanded = synonyms.expand(query.text or self.listed_text, self.whole) if synonyms else self.whole


class HybridSearch:
    """Passages for a query. `dense` opens embedder and vectors when they are first wanted; None = words alone."""

    def __init__(
        self, index: PassageIndex, *, dense: Callable[[], Dense | None] | None = None, synonyms: Synonyms | None = None
    ) -> None:
        self._index = index
        self._open = dense
        self._synonyms = synonyms
        self._dense: Dense | None = None

    def ask(self, query: Query) -> Asked:
        """The query as this search reads it."""
        return Asked(query, self._synonyms)

    def search(self, asked: Asked, filters: Filters) -> tuple[tuple[Hit, ...], str]:
        """Hits, best first, and by what they were found: words and vectors, or words alone."""
        branches = self._index.branches(asked.expanded, filters, problems=asked.problems)
        dense, how = self._branch(asked, filters)
        return fuse([*branches, *dense]), how

    def _branch(self, asked: Asked, filters: Filters) -> tuple[list[Branch], str]:
        packs = filters.packs or ()
        dense = self._ready()
        covered = dense.vectors.covered(packs) if dense else ()
        text = dense.text(asked) if dense else ""
        if dense is None or not covered or not text.strip():
            return [], WORDS
        ranked = dense.vectors.search(
            dense.embedder.embed(text), covered, k=BRANCH, among=self._index.narrowed(filters)
        )
        return [Branch(DENSE, DENSE_WEIGHT, ranked)], HYBRID if len(covered) == len(packs) else PARTLY

    def _ready(self) -> Dense | None:
        """Embedder and vectors, opened once; one that cannot be opened is done without."""
        if self._dense is None and self._open is not None:
            try:
                self._dense = self._open()
            except (ModelError, UserError) as error:
                logger("knowledge").info("search by words alone: %s", Safe(error.code))
            self._open = None
        return self._dense
