"""The vectors of a profile's knowledge: the embedder opened when first wanted, missing vectors made.

Joins models and retrieval for worker, commands and the window's jobs. They are made after an import or an approval, by
the command itself or beside the window; a run still waits for few that are missing (the starter set: seconds).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core import paths
from core.errors import StoreError, UserError
from core.settings import Settings

if TYPE_CHECKING:
    from core.domain.pack import EmbedderInfo
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

    def missing(self, store: KnowledgeStore, index: PassageIndex) -> int:
        """How many passages lack their vector; 0 where no embedder is named or installed. Loads none."""
        from core.retrieval.dense import VectorIndex

        model = named_embedder(self._settings)
        if model is None:
            return 0
        windows = self._settings.retrieval.windows
        vectors = VectorIndex(self._profile / FOLDER, store, index, model=model, windows=windows)
        return sum(gap.missing for gap in vectors.gaps())

    def make(self, store: KnowledgeStore, index: PassageIndex, *, on_texts: OnTexts, stop: threading.Event) -> int:
        """Make every missing vector of an open knowledge; returns how many passages were embedded. Raises as `build`.

        Nothing where no embedder is installed, or nothing is missing.
        """
        if not self.missing(store, index):
            return 0
        embedder, vectors = self._parts(store, index)
        return vectors.build(embedder, on_texts=on_texts, stop=stop)

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


def named_embedder(settings: Settings) -> EmbedderInfo | None:
    """What the installed embedder of the settings says of itself, nothing loaded; None without one."""
    from models.embed import installed_embedder

    if is_hashed():
        return _hashed().info
    try:
        return installed_embedder(settings.models.embedder) if settings.models.embedder else None
    except UserError:
        return None


def packed_embedder(settings: Settings, ledger: PackLedger | None = None) -> Embedder:
    """The embedder that the settings name, checked and loaded.

    Raises:
        UserError, ModelError: as `models.embed.open_embedder`.
    """
    from models.embed import open_embedder

    if is_hashed():
        return _hashed()
    return open_embedder(settings.models.embedder, verify=settings.verify_on_load, ledger=ledger)


def is_hashed() -> bool:
    """Tests only: the embedder's double stands for every embedder."""
    return os.environ.get("WARDROUND_TESTING") == "1" and os.environ.get("WARDROUND_TEST_EMBEDDER") == "hashed"


def _hashed() -> Embedder:
    from models.scripted import HashEmbedder

    return HashEmbedder()
