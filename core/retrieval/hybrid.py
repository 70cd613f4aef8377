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
from core.retrieval.synonyms import LONGEST, Synonyms, expand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.retrieval.dense import VectorIndex

DENSE = "dense"
DENSE_WEIGHT = 2.0
WINDOW_MARKS = 2
NAMED_IN_TEXT = 4  # other names, in the text that the embedder reads
HYBRID, PARTLY, WORDS = "words and vectors", "words, vectors in part", "words alone"


class Dense:
    """An embedder with the vectors that it made."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex) -> None:
        self.embedder = embedder
        self.vectors = vectors

    def text(self, asked: Asked) -> str:
        """What stands for the query: its text with other names for what it names; of a text longer than the embedder
        reads the problem list, where there is one.

        The names lift renamed diseases from nDCG@10 .345 to .709 and cost nothing elsewhere (.853, .855).
        """
        room = self.embedder.info.max_tokens - WINDOW_MARKS
        if asked.listed and self.embedder.count(asked.text) > room:
            return asked.listed
        names = asked.names[:NAMED_IN_TEXT]
        return f"{asked.text} ({', '.join(names)})" if names else asked.text

    def vector(self, asked: Asked) -> NDArray[np.float32] | None:
        """The vector of what stands for the query, float32[dim]; None where that is blank. Made once a query."""
        if asked.vector is None and (text := self.text(asked)).strip():
            asked.vector = self.embedder.embed(text)
        return asked.vector


class Asked:
    """A query analysed once: the text (without one, the problem list stands for it) and the problem list."""

    def __init__(self, query: Query, synonyms: Synonyms | None = None) -> None:
        self.listed = "\n".join(query.problems)
        self.text = query.text if query.text.strip() else self.listed
        self.problems = terms(self.listed)
        self.whole = terms(self.text)
        short = self.whole.distinct <= LONGEST
        self.vector: NDArray[np.float32] | None = None  # made when first wanted
        self.names: tuple[str, ...] = synonyms.names(self.text) if synonyms and short else ()
        self.expanded = expand(self.whole, self.names)


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
        dense, how = self.by_vectors(asked, filters)
        return fuse([*branches, *dense]), how

    def by_vectors(self, asked: Asked, filters: Filters, *, least: float = -1.0) -> tuple[list[Branch], str]:
        """The passages nearest to the query, of a cosine of at least `least`, as one branch; and what that amounts to.

        No branch where there is no embedder, or where one fails, and while vectors are missing.
        """
        packs = filters.packs or ()
        dense = self._ready()
        covered = dense.vectors.covered(packs) if dense else ()
        vector = self._vector(dense, asked) if dense and covered else None
        if dense is None or vector is None:
            return [], WORDS
        nearest = dense.vectors.search(vector, covered, k=BRANCH, among=self._index.narrowed(filters))
        ranked = tuple(entry for entry in nearest if entry.score >= least)
        return [Branch(DENSE, DENSE_WEIGHT, ranked)], HYBRID if len(covered) == len(packs) else PARTLY

    def _vector(self, dense: Dense, asked: Asked) -> NDArray[np.float32] | None:
        try:
            return dense.vector(asked)
        except ModelError as error:
            logger("knowledge").info("search by words alone: %s", Safe(error.code))
            self._dense = None
            return None

    def _ready(self) -> Dense | None:
        """Embedder and vectors, opened once; one that cannot be opened is done without."""
        if self._dense is None and self._open is not None:
            try:
                self._dense = self._open()
            except (ModelError, UserError) as error:
                logger("knowledge").info("search by words alone: %s", Safe(error.code))
            self._open = None
        return self._dense
