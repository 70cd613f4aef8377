"""Ratios measured in one run on one machine: shared work against the same work done apart.

Absolute times mean little on another machine; these ratios do. Everything measured is handed in or made here from a
seed: no clock of a run, no profile. Times are wall seconds for the model, processor seconds for the search.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from core.domain.chat import ModelRequest, Sampling, Scores, message
from core.domain.ports import Backbone
from core.retrieval.analysis import stop_words, terms
from core.retrieval.index import PassageIndex
from core.retrieval.query import ANY
from core.store.database import open_database
from core.store.fulltext import FullText
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Pack, Section, Span
from core.store.migrations import knowledge

SEED = 20260101
OPTIONS = ("pulmonary embolism", "community-acquired pneumonia", "heart failure", "asthma", "pneumothorax")
FORKS, FORK_TOKENS, PREFIX_TOKENS = 8, 48, 1024
PASSAGES, PASSAGE_WORDS, DOC_PASSAGES = 16_000, 120, 20
QUERIES, QUERY_WORDS, BEST = 5, 500, 200
SCORE_TARGET, FORK_TARGET, SEARCH_TARGET, PAINT_TARGET_S = 0.35, 0.35, 1 / 20, 1.5
_PROMPT_WORDS = ("patient", "cough", "fever", "breathless", "pain", "swelling", "normal", "raised", "rate", "history")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: seconds of ours, seconds of the other way, ours divided by the other, and what is aimed at."""

    name: str
    ours_s: float
    other_s: float
    ratio: float
    target: float
    detail: str

    @property
    def met(self) -> bool:
        return self.ratio <= self.target


def compare(name: str, *, ours_s: float, other_s: float, target: float, detail: str) -> Ratio:
    """A comparison of two times in seconds."""
    return Ratio(
        name=name,
        ours_s=round(ours_s, 4),
        other_s=round(other_s, 4),
        ratio=round(ours_s / other_s, 4) if other_s > 0 else float("inf"),
        target=target,
        detail=detail,
    )


# ------------------------------------------------------------------------------------------------ the model


def measure_model(backbone: Backbone, say: Callable[[str], None]) -> tuple[Ratio, Ratio]:
    """Options scored in one call against one call each, and forks against independent calls; all from cold."""
    request, length = _request_of_length(backbone, PREFIX_TOKENS)
    say("five options in one call")
    shared = _cold(backbone, lambda: _score(backbone, request, OPTIONS))
    say("five options in five calls")
    apart = sum(_cold(backbone, partial(_score, backbone, request, (option,))) for option in OPTIONS)
    scored = compare(
        "5 options scored",
        ours_s=shared,
        other_s=apart,
        target=SCORE_TARGET,
        detail=f"one call against five separate calls, prefix of {length} tokens",
    )
    say(f"{FORKS} forks of one prefix")
    forks = _cold(backbone, lambda: backbone.sample(request, FORKS, _mute))
    say(f"{FORKS} independent calls")
    alone = sum(_cold(backbone, lambda: backbone.reply(request, _mute)) for _ in range(FORKS))
    forked = compare(
        f"{FORKS} forks",
        ours_s=forks,
        other_s=alone,
        target=FORK_TARGET,
        detail=f"{FORK_TOKENS} tokens each, against {FORKS} independent calls, prefix of {length} tokens",
    )
    return scored, forked


def _cold(backbone: Backbone, act: Callable[[], object]) -> float:
    """Wall seconds of one call that finds nothing of the prefix."""
    backbone.forget_cases()
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _score(backbone: Backbone, request: ModelRequest, options: tuple[str, ...]) -> Scores:
    return backbone.score(request, options, method="total", neutral=None)


def _mute(_text: str) -> None:
    """Nobody listens."""


def _request_of_length(backbone: Backbone, tokens: int) -> tuple[ModelRequest, int]:
    """A request whose prompt has about `tokens` tokens, and how many exactly, as the model itself counts."""
    words = 3 * tokens // 4
    used = 0
    for _ in range(3):
        request = _request(words)
        used = _score(backbone, request, OPTIONS[:1]).record.tokens_in
        words = max(1, round(words * tokens / used))
    return request, used


def _request(words: int) -> ModelRequest:
    chance = random.Random(SEED)
    text = " ".join(chance.choice(_PROMPT_WORDS) for _ in range(words))
    return ModelRequest(
        messages=(message("system", "You rank diagnoses."), message("user", text)),
        sampling=Sampling(seed=1, temperature=0.7, max_tokens=FORK_TOKENS),
        prompt_name="bench-speed",
        prompt_sha256="0" * 64,
    )


# ------------------------------------------------------------------------------------------------ the search


def measure_search(texts: Iterable[str], folder: Path, say: Callable[[str], None]) -> Ratio:
    """BM25 of our index against SQLite's FTS5 on the same passages, with queries as long as a case."""
    chance = random.Random(SEED)
    vocabulary = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    say(f"making {PASSAGES} passages")
    passages = tuple(_draw(chance, vocabulary, PASSAGE_WORDS) for _ in range(PASSAGES))
    queries = tuple(_draw(chance, vocabulary, QUERY_WORDS) for _ in range(QUERIES))
    say("building both indexes")
    index, close = _index(passages, folder)
    full = FullText(passages)
    try:
        index.search(terms(queries[0]), ANY)  # the first look reads the index from disk
        say(f"{QUERIES} queries of {QUERY_WORDS} words each")
        ours = _processor_seconds(lambda text: index.search(terms(text), ANY), queries)
        other = _processor_seconds(lambda text: full.search(_distinct(text), BEST), queries)
    finally:
        full.close()
        close()
    return compare(
        "BM25 search",
        ours_s=ours / QUERIES,
        other_s=other / QUERIES,
        target=SEARCH_TARGET,
        detail=f"processor seconds a query of {QUERY_WORDS} words over {PASSAGES} passages, against SQLite FTS5",
    )


def _draw(chance: random.Random, vocabulary: Counter[str], words: int) -> str:
    """Words as often as the starter texts use them, with a full stop after every twelve."""
    drawn = chance.choices(tuple(vocabulary), weights=tuple(vocabulary.values()), k=words)
    return " ".join(word + "." if place % 12 == 11 else word for place, word in enumerate(drawn))


def _distinct(text: str) -> tuple[str, ...]:
    """The words that both searches look for: each once, without the stop words of our index."""
    stopped = set(stop_words())
    return tuple(sorted({word.lower() for word in _WORD.findall(text)} - stopped))


def _processor_seconds(search: Callable[[str], object], queries: Sequence[str]) -> float:
    begun = time.process_time()
    for query in queries:
        search(query)
    return time.process_time() - begun


def _index(passages: Sequence[str], folder: Path) -> tuple[PassageIndex, Callable[[], None]]:
    """Our index over the passages, as an imported pack would have them."""
    store = KnowledgeStore(open_database(folder / "knowledge.db", knowledge))
    store.put_pack(_PACK, list(_docs(passages)), actor="bench")
    index = PassageIndex(folder / "index", store)
    index.reconcile()
    return index, store.close


def _docs(passages: Sequence[str]) -> Iterable[Doc]:
    for first in range(0, len(passages), DOC_PASSAGES):
        sections = tuple(
            Section(path=f"Part {n}", section_class="other", text=text, spans=(Span(0, len(text), PASSAGE_WORDS),))
            for n, text in enumerate(passages[first : first + DOC_PASSAGES])
        )
        yield Doc(source_key=f"d{first}", title=f"Document {first}", sections=sections)


_PACK = Pack(
    id="bench",
    title="Made for measuring",
    kind="local",
    edition="1",
    publisher="Wardround",
    licence_id="own",
    importer="bench",
    importer_version="1",
    files=(),
    state="active",
)
