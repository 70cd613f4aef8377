"""Ranked hypotheses with both parts of their score shown. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.evidence import Gap

Band = Literal["leading", "possible", "less likely", "unlikely", "excluded"]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of the for / against / missing columns: text, the evidence ids behind it, the clue's citation.

    `derived`: the clue was read off the words of an imported guideline, nobody has written it down as one.
    """

    text: str
    concept: str
    strength: str
    weight: float
    evidence: tuple[str, ...] = ()
    citation: str = ""
    derived: bool = False


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of the differential.

    `structural` is S(c) of direct.md section 3.2, `model` the mean z-scored PMI (None: model not used), `spread` its
    instability over the three orderings, `share` the softmax of the combined score.
    """

    slug: str
    title: str
    concept: str
    band: Band
    structural: float
    share: float
    model: float | None = None
    spread: float | None = None
    for_: tuple[Reason, ...] = ()
    against: tuple[Reason, ...] = ()
    missing: tuple[Reason, ...] = ()
    raised_by: tuple[str, ...] = ()
    excluded_because: str = ""


class Differential(msgspec.Struct, frozen=True, kw_only=True):
    """All candidates in order of `share`, ties by slug."""

    hypotheses: tuple[Hypothesis, ...]
    sufficient: bool
    why_insufficient: str = ""
    model_used: bool = False
    gaps: tuple[Gap, ...] = ()
