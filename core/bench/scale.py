"""How the search grows: passages drawn from given sentences, built as an imported pack, asked short and long questions.

Times are processor milliseconds of one query through the very code of a run, so another program beside it matters
little. Vectors are drawn from a seed: what they say does not change what the search costs. Knows no profile.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.domain.pack import EmbedderInfo
from core.domain.ports import Embedder, Query
from core.retrieval.dense import VectorIndex
from core.retrieval.hybrid import Dense, HybridSearch
from core.retrieval.index import PassageIndex
from core.retrieval.query import Filters
from core.store.database import open_database
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Pack, Section, Span
from core.store.migrations import knowledge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 20260101
SENTENCES, DOC_PASSAGES = 7, 20  # of a passage, of a document
QUERIES, SHORT_WORDS, CASE_WORDS = 100, 12, 500  # about 8 and 240 distinct terms
TARGETS = {100_000: (5.0, 20.0), 1_000_000: (30.0, 120.0)}  # p95 in milliseconds: short, case
HYBRID_TARGET = 80.0  # at 100,000 passages, the query's vector included
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
PACK = "drawn"


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Processor milliseconds of one query."""

    name: str
    n: int
    p50: float
    p95: float
    most: float


class Scaled(msgspec.Struct, frozen=True, kw_only=True):
    """One size: processor seconds to write the rows and to build the index, its bytes, and the times of queries."""

    passages: int
    rows_s: float
    index_s: float
    index_bytes: int
    times: tuple[Times, ...]

    @property
    def met(self) -> bool:
        """Whether the targets of this size are met; a size without targets always is."""
        targets = dict(zip(("short", "case"), TARGETS.get(self.passages, ()), strict=False))
        if self.passages in TARGETS:
            targets["short hybrid"] = targets["case hybrid"] = HYBRID_TARGET
        return all(times.p95 <= targets.get(times.name, times.p95) for times in self.times)


def sentences_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The sentences to draw from."""
    return tuple(sentence for text in texts for sentence in _SENTENCE.split(text) if sentence)


def measure(
    sentences: Sequence[str], passages: int, folder: Path, *, embedder: Embedder | None, say: Callable[[str], None]
) -> Scaled:
    """Build a pack of so many passages in an empty folder and ask it; `embedder` adds the search by vectors."""
    say(f"writing {passages} passages")
    store = KnowledgeStore(open_database(folder / "knowledge.db", knowledge))
    try:
        rows_s = _seconds(lambda: store.put_pack(_PACK, _docs(sentences, passages), actor="bench"))
        say("building the index")
        index = PassageIndex(folder / "index", store)
        index_s = _seconds(index.reconcile)
        size = sum(path.stat().st_size for path in (folder / "index").rglob("*") if path.is_file())
        times = _times(HybridSearch(index), sentences, say, "")
        if embedder is not None:
            say("drawing vectors")
            vectors = VectorIndex(folder / "vectors", store, index, model=embedder.info, windows="first")
            vectors.build(_Drawn(embedder))
            dense = Dense(embedder, vectors)
            times += _times(HybridSearch(index, dense=lambda: dense), sentences, say, " hybrid")
    finally:
        store.close()
    return Scaled(passages=passages, rows_s=round(rows_s, 1), index_s=round(index_s, 1), index_bytes=size, times=times)


def _times(
    search: HybridSearch, sentences: Sequence[str], say: Callable[[str], None], suffix: str
) -> tuple[Times, ...]:
    say(f"asking{suffix}")
    chance = random.Random(SEED + 1)
    sizes = (("short", SHORT_WORDS), ("case", CASE_WORDS))
    return tuple(
        _asked(name + suffix, [_words(chance, sentences, words) for _ in range(QUERIES)], search)
        for name, words in sizes
    )


def _asked(name: str, texts: Sequence[str], search: HybridSearch) -> Times:
    def ask(text: str) -> None:
        search.search(search.ask(Query(text=text)), Filters(packs=(PACK,)))

    ask(texts[0])  # the first look reads the index from disk
    spent = sorted(1000 * _seconds(partial(ask, text)) for text in texts)
    p50, p95 = spent[len(spent) // 2], spent[int(len(spent) * 0.95)]
    return Times(name=name, n=len(texts), p50=round(p50, 2), p95=round(p95, 2), most=round(spent[-1], 2))


def _seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def _words(chance: random.Random, sentences: Sequence[str], count: int) -> str:
    words: list[str] = []
    while len(words) < count:
        words += chance.choice(sentences).split()
    return " ".join(words[:count])


def _docs(sentences: Sequence[str], passages: int) -> Iterator[Doc]:
    chance = random.Random(SEED)
    for first in range(0, passages, DOC_PASSAGES):
        count = min(DOC_PASSAGES, passages - first)
        texts = [" ".join(chance.choices(sentences, k=SENTENCES)) for _ in range(count)]
        sections = tuple(
            Section(
                path=f"Part {n}", section_class="other", text=text, spans=(Span(0, len(text), text.count(" ") + 1),)
            )
            for n, text in enumerate(texts)
        )
        yield Doc(source_key=f"d{first}", title=_words(chance, sentences, 4), sections=sections)


def _section(n: int, text: str) -> Section:
    span = Span(0, len(text), text.count(" ") + 1)
    return Section(path=f"Part {n}", section_class="other", text=text, spans=(span,))


class _Drawn(Embedder):
    """Vectors from a seed in place of an embedder's own, under its name."""

    def __init__(self, embedder: Embedder) -> None:
        import numpy as np

        self._embedder = embedder
        self._chance = np.random.default_rng(SEED)

    @property
    def info(self) -> EmbedderInfo:
        return self._embedder.info

    def count(self, text: str) -> int:
        return self._embedder.count(text)

    def embed(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        vector = self._chance.standard_normal(self.info.dim, dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))

    def embed_windows(self, text: str, *, most: int = 0) -> tuple[NDArray[np.float32], ...]:
        return (self.embed(text),)

    def close(self) -> None:
        """The embedder is its owner's."""


_PACK = Pack(
    id=PACK,
    title="Drawn for measuring",
    kind="local",
    edition="1",
    publisher="Wardround",
    licence_id="own",
    importer="bench",
    importer_version="1",
    files=(),
    state="active",
)
