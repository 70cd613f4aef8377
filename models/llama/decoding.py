"""Candidates from one prefix: waves of forks, one batched step for all live ones (runtime.md 4.3).

Works on an `Engine` that holds the prefix; must not import the native library and knows no prompt.
"""

from __future__ import annotations

import codecs
import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Literal

from core.domain.chat import Sampling
from core.domain.ports import OnDelta
from core.errors import ModelError
from models.llama.engine import Engine
from models.llama.guards import Row
from models.llama.sampler import Logits, Sampler


def fork_seed(seed: int, index: int) -> int:
    """The 32-bit seed of candidate `index`: independent of how many candidates there are."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{index}".encode()).digest()[:4], "big")


def wave_size(*, room: int, max_tokens: int, forks: int, exact: bool) -> int:
    """How many candidates fit at once into `room` free tokens of context; at least one.

    Raises:
        ModelError: not even one fits.
    """
    fitting = room // max_tokens
    if fitting < 1:
        raise ModelError("The model's context is full.", code="context_full")
    return 1 if exact else min(fitting, forks)


def waves(n: int, size: int) -> Iterator[range]:
    """The candidates 0 … n - 1 in runs of at most `size`."""
    for start in range(0, n, size):
        yield range(start, min(n, start + size))


class Draft:
    """A candidate under way on one fork."""

    def __init__(
        self, sequence: int, sampler: Sampler, *, start: int, max_tokens: int, on_delta: OnDelta | None = None
    ) -> None:
        """`start`: the position of its first token, after the prefix."""
        self.sequence, self.sampler, self._start = sequence, sampler, start
        self._max_tokens, self._on_delta = max_tokens, on_delta
        self.tokens: list[int] = []
        self.text = ""
        self.finish: Literal["stop", "length", ""] = ""
        self.milliseconds = 0.0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def take(self, engine: Engine, logits: Logits) -> None:
        """Draw one token; sets `finish` when the answer ends or may not grow."""
        token = self.sampler.draw(logits)
        self.tokens.append(token)
        if engine.is_end(token):
            self.finish = "stop"
        elif len(self.tokens) >= self._max_tokens:
            self.finish = "length"
        self._write(b"" if self.finish == "stop" else engine.piece(token))

    def _write(self, piece: bytes) -> None:
        """Characters reach the window whole: one may be spread over several tokens."""
        new = self._decoder.decode(piece, final=bool(self.finish))
        self.text += new
        if new and self._on_delta is not None:
            self._on_delta(new)

    def row(self) -> Row:
        """The evaluation that yields the next token."""
        return Row(self.tokens[-1], self._start + len(self.tokens) - 1, self.sequence, True)


def sample(
    engine: Engine, sampling: Sampling, n: int, *, grammar: str | None = None, on_delta: OnDelta | None = None
) -> list[Draft]:
    """n finished candidates of the engine's prefix, in order; `on_delta` hears the first one only.

    Raises:
        Cancelled, ModelError: all forks are removed, the prefix stays.
    """
    room = engine.n_ctx - engine.used
    size = wave_size(room=room, max_tokens=sampling.max_tokens, forks=engine.setting.forks, exact=sampling.exact)
    done: list[Draft] = []
    for wave in waves(n, size):
        done += _run_wave(engine, sampling, wave, grammar=grammar, on_delta=on_delta)
    return done


def _run_wave(
    engine: Engine, sampling: Sampling, wave: range, *, grammar: str | None, on_delta: OnDelta | None
) -> list[Draft]:
    drafts: list[Draft] = []
    try:
        for sequence, index in enumerate(wave, start=1):
            sampler = engine.sampler(sampling, fork_seed(sampling.seed, index), grammar)
            heard = on_delta if index == 0 else None
            drafts.append(
                Draft(sequence, sampler, start=engine.prefix_length, max_tokens=sampling.max_tokens, on_delta=heard)
            )
        engine.fork(draft.sequence for draft in drafts)
        finish(engine, drafts, [engine.prefix_logits] * len(drafts))
    finally:
        for draft in drafts:
            draft.sampler.close()
        engine.drop_forks()
    return drafts


def finish(engine: Engine, drafts: Sequence[Draft], first: Sequence[Logits]) -> None:
    """Step all drafts together until each has ended; an ended fork frees its cells at once.

    `first`: the logits from which each draws its first token.
    """
    begun, live = time.perf_counter(), list(drafts)
    for draft, logits in zip(drafts, first, strict=True):
        draft.take(engine, logits)
    while live := _drop_finished(engine, live, begun):
        with engine.pace.step():
            engine.decode([draft.row() for draft in live])
        for row, draft in enumerate(live):
            draft.take(engine, engine.logits(row))


def _drop_finished(engine: Engine, drafts: Sequence[Draft], begun: float) -> list[Draft]:
    for draft in drafts:
        if draft.finish:
            draft.milliseconds = (time.perf_counter() - begun) * 1000
            engine.drop(draft.sequence)
    return [draft for draft in drafts if not draft.finish]
