"""Log-likelihoods of known options after one prefix (runtime.md 4.5).

Works on an `Engine` that holds the prefix; must not import the native library and knows no prompt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from core.errors import BugError, ModelError
from models.llama.engine import Engine
from models.llama.guards import Row
from models.llama.sampler import Logits

Tokens = tuple[int, ...]


def log_probability(logits: Logits, token: int) -> float:
    """log softmax(logits)[token] by log-sum-exp in float64."""
    wide = logits.astype(np.float64)
    top = float(wide.max())
    return float(wide[token]) - top - math.log(float(np.exp(wide - top).sum()))


def softmax(scores: Sequence[float]) -> tuple[float, ...]:
    """Probabilities in the order of the scores."""
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def lay_out(options: Iterable[Tokens], *, rows: int, forks: int) -> Iterator[list[Tokens]]:
    """Distinct options in token order, split into batches of at most `rows` rows and `forks` options.

    The order of the caller never reaches the native library: that is why permuting options cannot change a bit.
    An option of m tokens needs m - 1 rows, as the prefix itself predicts the first one.
    """
    batch: list[Tokens] = []
    used = 0
    for option in sorted(set(options)):
        need = len(option) - 1
        if need > rows:
            raise ModelError("An option is too long to be scored.", code="option_length")
        if batch and (len(batch) == forks or used + need > rows):
            yield batch
            batch, used = [], 0
        batch.append(option)
        used += need
    if batch:
        yield batch


def log_likelihoods(engine: Engine, options: Sequence[Tokens]) -> tuple[float, ...]:
    """Σ log p(token | prefix, earlier tokens) of each option, in the caller's order.

    Raises:
        Cancelled, ModelError: all forks are removed, the prefix stays.
    """
    if not all(options):
        raise BugError("An option without tokens cannot be scored.", code="option_empty")
    room = min(engine.setting.n_batch, engine.n_ctx - engine.used)
    found: dict[Tokens, float] = {}
    for batch in lay_out(options, rows=room, forks=engine.setting.forks):
        found.update(_score_batch(engine, batch))
    return tuple(found[option] for option in options)


def _score_batch(engine: Engine, batch: Sequence[Tokens]) -> dict[Tokens, float]:
    parts = {option: [log_probability(engine.prefix_logits, option[0])] for option in batch}
    rows, wanted = _rows(engine.prefix_length, batch)
    try:
        if rows:
            engine.fork(range(1, len(batch) + 1))
            engine.decode(rows)
        for row, (option, token) in enumerate(wanted):
            parts[option].append(log_probability(engine.logits(row), token))
    finally:
        engine.drop_forks()
    return {option: math.fsum(values) for option, values in parts.items()}


def _rows(prefix_length: int, batch: Sequence[Tokens]) -> tuple[list[Row], list[tuple[Tokens, int]]]:
    """The rows to evaluate, and for each row its option and the token whose probability it gives."""
    rows: list[Row] = []
    wanted: list[tuple[Tokens, int]] = []
    for sequence, option in enumerate(batch, start=1):
        for place, (token, following) in enumerate(zip(option, option[1:], strict=False)):
            rows.append(Row(token, prefix_length + place, sequence, True))
            wanted.append((option, following))
    return rows, wanted
