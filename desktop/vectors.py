"""The vectors of a profile's knowledge: the embedder opened when first wanted, missing vectors made.

Joins models and retrieval for worker and commands; the window's thread never comes here. A run waits for few missing
passages only (the starter set: seconds); many are made by `knowledge reindex --vectors` or the worker's `embed`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core import paths
from core.errors import StoreError, UserError
from core.settings import Settings

if TYPE_CHECKING:
    from core.domain.ports import Embedder
    from core.retrieval.dense import OnTexts, VectorIndex
    from core.retrieval.hybrid import Dense
    from core.retrieval.index import PassageIndex
    from core.store.knowledge import KnowledgeStore
    from models.packs import PackLedger

FEW = 1_000  # passages that a search may wait for
FOLDER = "vectors"
PROGRAM = "wardround"
OpenEmbedder = Callable[[], "Embedder"]


class KnowledgeVectors:
    """Embedder and vectors of one profile. `few`: how many missing passages a search waits for."""

    def __init__(
        self,
        profile: Path,
        settings: Settings,
        *,
        open_embedder: OpenEmbedder | None = None,
        few: int = FEW,
        on_texts: OnTexts | None = None,
    ) -> None:
        self._profile = profile
        self._settings = settings
        self._open = open_embedder or (lambda: packed_embedder(settings))
        self._few = few
        self._on_texts = on_texts
        self._embedder: Embedder | None = None

    def dense(self, store: KnowledgeStore, index: PassageIndex) -> Dense | None:
        """What the search uses; None where no embedder is named.

        Raises:
            UserError, ModelError: it is not installed, damaged or cannot be loaded.
        """
        from core.retrieval.hybrid import Dense

        if not self._settings.models.embedder:
            return None
        embedder, vectors = self._parts(store, index)
        if 0 < sum(gap.missing for gap in vectors.gaps()) <= self._few:
            self._make(embedder, vectors)
        return Dense(embedder, vectors)

    def _make(self, embedder: Embedder, vectors: VectorIndex) -> None:
        try:
            vectors.build(embedder, on_texts=self._on_texts)
        except StoreError as error:
            if not error.known:
                raise  # else: another program makes them, or the disk is full; words will do

    def build(self, *, on_texts: OnTexts, stop: threading.Event) -> int:
        """Make every missing vector; returns how many passages were embedded. Opens the knowledge for itself.

        Raises:
            UserError: no embedder is named. UserError, ModelError: as `dense`.
            StoreError, Cancelled: as `VectorIndex.build`.
        """
        from core.retrieval import catalogue

        if not self._settings.models.embedder:
            raise UserError("No embedder is named in the settings (models.embedder).", code="no embedder")
        store, index, _, _ = catalogue.open_knowledge(self._profile, paths.cache_folder(), PROGRAM)
        try:
            embedder, vectors = self._parts(store, index)
            return vectors.build(embedder, on_texts=on_texts, stop=stop)
        finally:
            store.close()

    def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None

    def _parts(self, store: KnowledgeStore, index: PassageIndex) -> tuple[Embedder, VectorIndex]:
        from core.retrieval.dense import VectorIndex

        embedder = self._embedder = self._embedder or self._open()
        windows = self._settings.retrieval.windows
        return embedder, VectorIndex(self._profile / FOLDER, store, index, model=embedder.info, windows=windows)


def packed_embedder(settings: Settings, ledger: PackLedger | None = None) -> Embedder:
    """The embedder that the settings name, checked and loaded.

    Raises:
        UserError, ModelError: as `models.embed.open_embedder`.
    """
    from models.embed import open_embedder

    return open_embedder(settings.models.embedder, verify=settings.verify_on_load, ledger=ledger)
