"""The model's part: it ranks condition names by likelihood, in three fixed orders of the problem list.

PMI against the empty list, so that a frequent name gains nothing (direct.md section 3.3, runtime.md 4.5). The mean
is used, the spread is shown as instability. The model is never asked what it thinks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from core.domain.chat import ModelRequest, Sampling
from core.errors import ModelError
from core.runtime.prompts import Prompt
from core.runtime.run import Run
from core.runtime.weighing import z_scores


class ModelRank(msgspec.Struct, frozen=True, kw_only=True):
    """z-scored mean PMI and its spread over the orders, by slug."""

    z: dict[str, float]
    spread: dict[str, float]


def orders(problems: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Three fixed re-orderings: as it is, backwards, and the second half first."""
    half = len(problems) // 2
    return tuple(problems), tuple(reversed(problems)), (*problems[half:], *problems[:half])


def rank(run: Run, prompt: Prompt, problems: Sequence[str], titles: dict[str, str]) -> ModelRank | None:
    """Rank conditions (slug to title); None when there is no model, nothing to rank, or it failed."""
    if run.backbone is None or len(titles) < 2 or not problems:
        return None
    slugs = sorted(titles)
    options = tuple(titles[slug] for slug in slugs)
    neutral = _request(prompt, run, ())
    rows = []
    try:
        for order in orders(problems):
            scores = run.rank(_request(prompt, run, order), options, method="pmi", neutral=neutral)
            rows.append(z_scores(scores.pmi or scores.mean_ll))
    except ModelError:
        return None
    means = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    spreads = [max(column) - min(column) for column in zip(*rows, strict=True)]
    return ModelRank(z=dict(zip(slugs, z_scores(means), strict=True)), spread=dict(zip(slugs, spreads, strict=True)))


def _request(prompt: Prompt, run: Run, problems: Sequence[str]) -> ModelRequest:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return prompt.request(Sampling(seed=run.rng_seed, temperature=0.0), problems=listed)
