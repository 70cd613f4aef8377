"""A backbone and an embedder without models, for tests and demonstrations: scripted answers, the rest of hashes.

Deterministic: the same requests in the same order give the same replies, and scores depend on request and option only.
A request that no script answers is an error, never a guess.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from core import codec
from core.domain.chat import CallRecord, Method, ModelReply, ModelRequest, Scores, Usage
from core.domain.pack import BackboneInfo, EmbedderInfo
from core.domain.ports import Embedder, OnDelta
from core.errors import BugError, Cancelled
from models.llama.backbone import parse_reply
from models.llama.scoring import softmax

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INFO = BackboneInfo(
    pack_id="scripted",
    family="scripted",
    n_ctx=4096,
    vision=False,
    rung="cpu",
    contents_sha256="0" * 64,
    params_b=0.1,
)
TICK = 0.01  # seconds between two looks at `stop`


def score_by_hash(request: ModelRequest, option: str) -> float:
    """A log-likelihood between -10 and 0 that depends on the messages and the option only."""
    data = codec.encode((request.messages, option))
    return -10.0 * int.from_bytes(hashlib.sha256(data).digest()[:6], "big") / 2**48


class ScriptedBackbone:
    """Implements the port `Backbone`.

    `replies`: for each prompt name the texts of its calls, in order; a single text answers every call of that name.
    `scores`: for each prompt name the log-likelihood of each option; names that are not there are scored by hash,
    unless `strict`. `seconds`: how long each call takes, so that a test can stop or kill it; `stop` ends it early by
    Cancelled. `calls` counts by prompt name, `requests` keeps what was asked, `forgotten` counts closed cases.
    """

    def __init__(
        self,
        replies: Mapping[str, str | Sequence[str]] | None = None,
        *,
        scores: Mapping[str, Mapping[str, float]] | None = None,
        strict: bool = False,
        seconds: float = 0.0,
        stop: threading.Event | None = None,
        info: BackboneInfo = INFO,
    ) -> None:
        self._replies, self._scores, self._strict = dict(replies or {}), dict(scores or {}), strict
        self._seconds, self._stop, self._info = seconds, stop or threading.Event(), info
        self._taken: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.requests: list[ModelRequest] = []
        self.closed = False
        self.forgotten = 0

    @property
    def info(self) -> BackboneInfo:
        return self._info

    @property
    def total_calls(self) -> int:
        """Calls of `reply`, `sample` and `score` so far."""
        return sum(self.calls.values())

    def reply(self, request: ModelRequest, on_delta: OnDelta) -> ModelReply:
        """The next scripted text of this prompt name."""
        return self.sample(request, 1, on_delta)[0]

    def sample(self, request: ModelRequest, n: int, on_delta: OnDelta) -> tuple[ModelReply, ...]:
        """The next n scripted texts; `on_delta` hears the first one word by word."""
        self._begin(request)
        texts = [self._next(request.prompt_name) for _ in range(n)]
        for word in texts[0].splitlines(keepends=True):
            on_delta(word)
        return tuple(_reply(request, text, self._info, n) for text in texts)

    def score(
        self, request: ModelRequest, options: tuple[str, ...], *, method: Method, neutral: ModelRequest | None
    ) -> Scores:
        """Scripted or hashed log-likelihoods; for `pmi` the neutral prompt counts zero."""
        self._begin(request)
        totals = tuple(self._score(request, option) for option in options)
        means = tuple(total / (option.count(" ") + 1) for total, option in zip(totals, options, strict=True))
        chosen = means if method == "mean" else totals
        usage = Usage(tokens_in=_words(request), tokens_out=len(options), ms_prefill=0.0, ms_decode=0.0)
        return Scores(
            options=options,
            total_ll=totals,
            mean_ll=means,
            pmi=totals if neutral is not None else None,
            probs=softmax(chosen),
            record=make_record(request, usage, self._info, n=len(options)),
        )

    def forget_cases(self) -> None:
        """Nothing is kept of a case; counted."""
        self.forgotten += 1

    def close(self) -> None:
        self.closed = True

    def _begin(self, request: ModelRequest) -> None:
        if self.closed:
            raise BugError("The scripted backbone is closed.", code="scripted")
        self.calls[request.prompt_name] += 1
        self.requests.append(request)
        end = time.monotonic() + self._seconds
        while True:
            if self._stop.is_set():
                raise Cancelled("model")
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(TICK, left))

    def _next(self, name: str) -> str:
        script = self._replies.get(name)
        if isinstance(script, str):
            return script
        place = self._taken[name]
        if script is None or place >= len(script):
            raise BugError(f"No scripted answer for call {place + 1} of the prompt {name}.", code="scripted")
        self._taken[name] += 1
        return script[place]

    def _score(self, request: ModelRequest, option: str) -> float:
        table = self._scores.get(request.prompt_name)
        if table is not None and option in table:
            return table[option]
        if self._strict or table is not None:
            raise BugError(f"No scripted score for an option of {request.prompt_name}.", code="scripted")
        return score_by_hash(request, option)


def _words(request: ModelRequest) -> int:
    return sum(len(turn.text.split()) for turn in request.messages)


def _reply(request: ModelRequest, text: str, info: BackboneInfo, n: int) -> ModelReply:
    usage = Usage(tokens_in=_words(request), tokens_out=len(text.split()), ms_prefill=0.0, ms_decode=0.0)
    reply = ModelReply(
        text=text, parsed=None, finish="stop", usage=usage, record=make_record(request, usage, info, n=n)
    )
    if request.schema is None:
        return reply
    parsed, problem = parse_reply(text, request.schema)
    return msgspec.structs.replace(reply, parsed=parsed, finish="stop" if problem is None else "schema")


def make_record(request: ModelRequest, usage: Usage, info: BackboneInfo, *, n: int) -> CallRecord:
    """The record of a scripted call."""
    drawn = request.sampling
    return CallRecord(
        pack_id=info.pack_id,
        contents_sha256=info.contents_sha256,
        mmproj_sha256="none",
        quant="none",
        lib_version="scripted",
        lib_build="scripted",
        system_info="scripted",
        device="scripted",
        rung=info.rung,
        n_ctx=info.n_ctx,
        n_batch=1,
        chunk=1,
        n_threads=1,
        flash=False,
        type_k="none",
        type_v="none",
        n_candidates=n,
        exact=drawn.exact,
        seed=drawn.seed,
        temperature=drawn.temperature,
        top_k=drawn.top_k,
        top_p=drawn.top_p,
        grammar_sha256=codec.sha256(request.schema.encode()) if request.schema else "none",
        prompt_name=request.prompt_name,
        prompt_sha256=request.prompt_sha256,
        prefix_sha256=codec.digest(request.messages),
        prefix_len=usage.tokens_in,
        prefix_source="cold",
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        ms_prefill=usage.ms_prefill,
        ms_decode=usage.ms_decode,
        rejected=0,
    )


class HashEmbedder(Embedder):
    """Implements the port `Embedder`: each word adds a direction chosen by its hash; texts that share words agree.

    `window` words are one window; `calls` counts the vectors made. Another `name` is another model.
    """

    def __init__(self, name: str = "hashed", *, dim: int = 64, window: int = 126) -> None:
        sha256 = hashlib.sha256(name.encode()).hexdigest()
        self._info = EmbedderInfo(pack_id=name, model_sha256=sha256, dim=dim, max_tokens=window + 2)
        self._window = window
        self.calls = 0
        self.closed = False

    @property
    def info(self) -> EmbedderInfo:
        return self._info

    def count(self, text: str) -> int:
        """Words of a text."""
        return len(text.split())

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of the first window."""
        return self.embed_windows(text, most=1)[0]

    def embed_windows(self, text: str, *, most: int = 0) -> tuple[NDArray[np.float32], ...]:
        """One vector a window; windows do not overlap."""
        words = text.casefold().split()
        starts = range(0, max(len(words), 1), self._window)[: most or None]
        return tuple(self._vector(words[start : start + self._window]) for start in starts)

    def close(self) -> None:
        self.closed = True

    def _vector(self, words: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        self.calls += 1
        sums = [0.0] * self._info.dim
        for word in words or [""]:
            said = f"{self._info.pack_id} {word.strip('.,;:!?()')}".encode(errors="replace")
            digest = hashlib.sha256(said).digest()
            sums[int.from_bytes(digest[:4], "big") % self._info.dim] += 1.0 if digest[4] % 2 else -1.0
        length = math.sqrt(math.fsum(value * value for value in sums)) or 1.0
        return np.array([value / length for value in sums], np.float32)
