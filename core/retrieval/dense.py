"""Vectors of passages beside the knowledge store: built, checked, mended and searched (knowledge.md section 5).

Three files a pack: `.f16` (rows x dim), `.ids` (uint32, the passage of each row), `.json` (the header). They are a
cache: what does not fit the model, the database or its own hashes is made again. A passage's number is never given
twice, so a row stays true as long as its passage exists. It must not know words, cases or runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from core import codec
from core.domain.pack import EmbedderInfo
from core.domain.passage import Passage
from core.domain.ports import Embedder
from core.errors import Cancelled
from core.retrieval.index import PassageIndex
from core.retrieval.query import Filters, Ranked
from core.retrieval.vectors import Header, Rows, VectorFile
from core.store.database import ProfileLock
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Pack

BATCH = 500  # texts; what a kill costs at most
BLOCK = 1024  # rows of one product: it stays in the cache, and in one thread
KEPT_ROWS = 120_000  # in all; so many are kept in memory as float32: 184 MB of 384 numbers each
ALL_WINDOWS_UP_TO = 100_000  # passages of a pack; above that, one vector each
Windows = Literal["all", "first"]
OnTexts = Callable[[int, int], None]


class Wanted(NamedTuple):
    """What the vectors of a pack must be made of."""

    pack: Pack
    cids: NDArray[np.uint32]
    windows: Windows


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Passages of a pack that have no vector of this model yet."""

    pack: str
    missing: int
    total: int


class VectorIndex:
    """The vectors of one knowledge store in one folder, for one embedder. Use it in the thread of the store."""

    def __init__(
        self,
        folder: Path,
        store: KnowledgeStore,
        index: PassageIndex,
        *,
        model: EmbedderInfo,
        windows: Windows = "all",
    ) -> None:
        self._folder = folder
        self._store = store
        self._index = index
        self._model = model
        self._windows = windows
        self._rows: dict[str, tuple[str, Rows | None]] = {}  # pack -> (what it was judged by, rows if complete)

    # ------------------------------------------------------------------------------------------------ searching

    def covered(self, packs: Sequence[str]) -> tuple[str, ...]:
        """Those packs whose every passage has its vector."""
        return tuple(pack for pack in packs if self._complete(pack) is not None)

    def search(
        self, vector: NDArray[np.float32], packs: Sequence[str], *, k: int, among: NDArray[np.uint32] | None = None
    ) -> tuple[Ranked, ...]:
        """The best k passages of the covered packs by cosine, each by its best window; ties by number.

        `vector` float32[dim] of unit length; `among` limits the passages to these numbers.
        """
        held = [rows for pack in packs if (rows := self._complete(pack)) is not None and len(rows.ids)]
        if not held or k < 1:
            return ()
        keep = sum(len(rows.ids) for rows in held) <= KEPT_ROWS
        cids = np.concatenate([rows.cids for rows in held])
        scores = np.concatenate([rows.scores(vector, BLOCK, keep=keep) for rows in held])
        if among is not None:
            inside = np.isin(cids, among)
            cids, scores = cids[inside], scores[inside]
        return _best(cids, scores, k)

    def _complete(self, pack: str) -> Rows | None:
        """The rows of a pack, read again when its file or the store has changed; None if any passage lacks its own."""
        file = VectorFile(self._folder, pack)
        mark = f"{self._store.head()} {file.mark()}"
        known = self._rows.get(pack)
        if known is None or known[0] != mark:
            known = (mark, self._judge(pack, file))
            self._rows[pack] = known
        return known[1]

    def _judge(self, pack: str, file: VectorFile) -> Rows | None:
        held = self._store.pack(pack)
        if held is None:
            return None
        wanted = self._wanted(held)
        rows = self._usable(file, wanted)
        return rows if rows is not None and not len(rows.lacks(wanted.cids)) else None

    # ------------------------------------------------------------------------------------------------- building

    def gaps(self) -> tuple[Gap, ...]:
        """What is missing, for every active pack that has passages."""
        return tuple(gap for wanted in self._all_wanted() if (gap := self._gap(wanted)).missing)

    def build(self, embedder: Embedder, *, on_texts: OnTexts | None = None, stop: threading.Event | None = None) -> int:
        """Give every passage of every active pack its vector; returns how many texts were embedded.

        What is there is kept; a kill loses at most the last 500 texts, a stop none. `on_texts` hears done and all.

        Raises:
            Cancelled: `stop` was set; what was made stays.
            StoreError: another program writes these vectors, or a passage is not what was imported.
        """
        lock = ProfileLock(self._folder)
        lock.acquire()
        try:
            return self._build(embedder, on_texts or _mute, stop or threading.Event())
        finally:
            lock.release()

    def _build(self, embedder: Embedder, on_texts: OnTexts, stop: threading.Event) -> int:
        gaps = [(wanted, self._gap(wanted).missing) for wanted in self._all_wanted()]
        total, done = sum(missing for _, missing in gaps), 0
        for wanted in [wanted for wanted, missing in gaps if missing]:
            file = VectorFile(self._folder, wanted.pack.id)
            rows = self._usable(file, wanted)
            held = file.restart(self._header(wanted), rows, wanted.cids)
            missing = np.setdiff1d(wanted.cids, held)
            for first in range(0, len(missing), BATCH):
                cids = missing[first : first + BATCH].tolist()
                entries: list[tuple[int, NDArray[np.float32]]] = []
                try:
                    for passage in self._store.passages(cids):
                        if stop.is_set():
                            raise Cancelled("embed")
                        entries += self._embedded(embedder, passage, wanted.windows)
                        done += 1
                        on_texts(done, total)
                finally:
                    file.append(entries)  # what was made is kept, however it ended
        return done

    def _embedded(
        self, embedder: Embedder, passage: Passage, windows: Windows
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Number and vector of every window of a passage."""
        for vector in embedder.embed_windows(text_of(passage), most=0 if windows == "all" else 1):
            yield passage.cid, vector

    def _all_wanted(self) -> tuple[Wanted, ...]:
        active = (pack for pack in self._store.packs() if pack.state == "active")
        return tuple(wanted for pack in active if len((wanted := self._wanted(pack)).cids))

    def _wanted(self, pack: Pack) -> Wanted:
        cids = self._index.numbers(Filters(packs=(pack.id,)))
        few = self._windows == "all" and len(cids) <= ALL_WINDOWS_UP_TO
        return Wanted(pack, cids, "all" if few else "first")

    def _gap(self, wanted: Wanted) -> Gap:
        rows = self._usable(VectorFile(self._folder, wanted.pack.id), wanted)
        missing = wanted.cids if rows is None else rows.lacks(wanted.cids)
        return Gap(pack=wanted.pack.id, missing=len(missing), total=len(wanted.cids))

    def _usable(self, file: VectorFile, wanted: Wanted) -> Rows | None:
        """The intact rows of a file that this model made of this database; else None."""
        header = file.header()
        fresh = self._header(wanted)
        if header is None or not self._store.has_been(header.head):
            return None
        same = (header.model_sha256, header.dim, header.windows) == (fresh.model_sha256, fresh.dim, fresh.windows)
        return file.rows(header) if same else None

    def _header(self, wanted: Wanted) -> Header:
        pack = wanted.pack
        return Header(
            pack=pack.id,
            pack_sha256=codec.digest((pack.id, pack.edition, pack.importer_version, pack.files)),
            head=self._store.head(),
            embedder=self._model.pack_id,
            model_sha256=self._model.model_sha256,
            dim=self._model.dim,
            windows=wanted.windows,
        )


def text_of(passage: Passage) -> str:
    """What a passage's vector is made of."""
    return ". ".join(part for part in (passage.title, passage.section, passage.text) if part)


def _best(cids: NDArray[np.uint32], scores: NDArray[np.float32], k: int) -> tuple[Ranked, ...]:
    """The k best, by score, then number. Rounded: the last bits depend on a row's place in its block."""
    if len(scores) > k:
        kept = scores >= np.partition(scores, -k)[-k] - 1e-5
        cids, scores = cids[kept], scores[kept]
    scores = np.round(scores, 5)
    order = np.lexsort((cids, -scores))[:k]
    return tuple(Ranked(int(cids[place]), float(scores[place])) for place in order)


def _mute(_done: int, _total: int) -> None:
    """Nobody listens."""
