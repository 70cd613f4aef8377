"""Clues weighed: candidates, structural score, combination with the model's ranking, bands (direct.md sections 2, 3).

Pure and order-free: the same findings in any order give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from core.domain.condition import Applies, Clue, Condition
from core.domain.hypothesis import Band
from core.runtime.ledger import Ledger, Patient, Standing
from core.settings import Weighing

SOMETHING_ELSE = "something-else"
_FEW = ("no finding bears", "only one finding bears")
LEADING, POSSIBLE, LESS_LIKELY = 0.6, 0.25, 0.08  # share of the best share from which a band holds (ours, uncalibrated)


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """One clue of a condition as it stands: what it contributes, and why."""

    clue: Clue
    standing: Standing
    contribution: float


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A condition with its weighed clues and structural score S(c)."""

    condition: Condition
    weights: tuple[Weight, ...]
    structural: float
    retrieval: float = 0.0
    raised_by: tuple[str, ...] = ()

    @property
    def excluded(self) -> Weight | None:
        """The excluding clue that is present, if any."""
        return next((w for w in self.weights if w.clue.strength == "excludes" and _matches(w)), None)

    def present(self, strength: str) -> int:
        """How many clues of that strength are matched."""
        return sum(1 for w in self.weights if w.clue.strength == strength and _matches(w))


def _matches(weight: Weight) -> bool:
    return weight.standing.state == weight.clue.polarity


def applies(rule: Applies, patient: Patient) -> bool:
    """Does a clue concern this patient? What the case does not say is no reason to leave it out."""
    return (
        (rule.sex is None or patient.sex in ("", rule.sex))
        and (rule.age_min is None or patient.age is None or patient.age >= rule.age_min)
        and (rule.age_max is None or patient.age is None or patient.age <= rule.age_max)
        and (rule.pregnancy is None or patient.pregnant is None or patient.pregnant == rule.pregnancy)
    )


def strength_weight(clue: Clue, weights: Weighing) -> float:
    """w(clue) by strength (direct.md section 2)."""
    value: float = getattr(weights, clue.strength)
    return value


def contribution(clue: Clue, standing: Standing, weights: Weighing) -> float:
    """What one clue adds: its weight when matched, a penalty when an expected one is absent, 0 when unknown."""
    if standing.state == clue.polarity:
        return strength_weight(clue, weights)
    if standing.state in ("unknown", "contradicted"):
        return 0.0
    return {"hallmark": weights.absent_hallmark, "typical": weights.absent_typical}.get(clue.strength, 0.0)


def weigh(condition: Condition, ledger: Ledger, weights: Weighing, *, retrieval: float = 0.0) -> Scored:
    """S(c) = sum(w * match) / sqrt(1 + sum |w| over clues that apply) + 0.25 * retrieval (direct.md section 3.2)."""
    rows = tuple(
        Weight(clue=clue, standing=standing, contribution=contribution(clue, standing, weights))
        for clue in condition.clues
        if applies(clue.applies, ledger.patient)
        for standing in (ledger.standing(clue.concept),)
    )
    size = math.sqrt(1 + math.fsum(abs(strength_weight(row.clue, weights)) for row in rows))
    score = math.fsum(row.contribution for row in rows) / size + weights.retrieval * retrieval
    return Scored(condition=condition, weights=rows, structural=score, retrieval=retrieval)


def touched(scored: Scored) -> bool:
    """Is a condition a candidate by its clues: one hallmark, or two other supporting findings?"""
    supporting = scored.present("typical") + scored.present("occasional")
    return scored.present("hallmark") >= 1 or supporting >= 2


def candidates(
    conditions: Sequence[Condition],
    ledger: Ledger,
    weights: Weighing,
    *,
    retrieval: Mapping[str, float],
    raised: Mapping[str, tuple[str, ...]],
) -> tuple[Scored, ...]:
    """At most 12 conditions worth weighing, best first (direct.md section 3.1).

    With nothing to go by, all conditions are weighed, so that the list of what is missing stays useful.
    `retrieval` maps slug to the min-max scaled score of the guideline search (only its hits), `raised` maps slug to
    the findings by which the notes themselves raise the condition.
    """
    everything = [
        msgspec.structs.replace(
            weigh(condition, ledger, weights, retrieval=retrieval.get(condition.slug, 0.0)),
            raised_by=raised.get(condition.slug, ()),
        )
        for condition in conditions
    ]
    found = [s for s in everything if touched(s) or s.condition.slug in retrieval or s.raised_by] or everything
    found.sort(key=lambda s: (not s.raised_by, -s.structural, s.condition.slug))
    kept = found[: weights.candidates - 1]
    return tuple(sorted(kept, key=lambda s: (-s.structural, s.condition.slug)))


def minmax(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores scaled to 0..1; a single one becomes 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    return {key: 1.0 if high == low else (value - low) / (high - low) for key, value in scores.items()}


def z_scores(values: Sequence[float]) -> tuple[float, ...]:
    """Standard scores; all 0 when there is no spread."""
    if not values:
        return ()
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return tuple(0.0 if deviation < 1e-12 else (value - mean) / deviation for value in values)


def shares(scored: Sequence[Scored], model: Mapping[str, float], *, tau: float, beta: float) -> dict[str, float]:
    """softmax(S / tau + beta * z(PMI)) over the candidates and "something else" (direct.md section 3.4).

    `model` maps slug to the z-score; "something else" stands at S = 0, z = 0. Excluded conditions get 0.
    """
    logits = {s.condition.slug: s.structural / tau + beta * model.get(s.condition.slug, 0.0) for s in scored}
    logits = {s.condition.slug: logits[s.condition.slug] for s in scored if s.excluded is None}
    logits[SOMETHING_ELSE] = 0.0
    return softmax(logits)


def softmax(logits: Mapping[str, float]) -> dict[str, float]:
    """Probabilities of a mapping of logits."""
    top = max(logits.values())
    powers = {key: math.exp(value - top) for key, value in logits.items()}
    total = math.fsum(sorted(powers.values()))
    return {key: power / total for key, power in powers.items()}


def entropy(distribution: Mapping[str, float]) -> float:
    """Shannon entropy in bits."""
    return -math.fsum(sorted(p * math.log2(p) for p in distribution.values() if p > 0))


def band(share: float, best: float, structural: float, weights: Weighing) -> Band:
    """A word instead of false precision; only a condition with enough structure can lead."""
    ratio = share / best if best else 0.0
    if ratio >= LEADING and structural >= weights.least_score:
        return "leading"
    if ratio >= POSSIBLE:
        return "possible"
    return "less likely" if ratio >= LESS_LIKELY else "unlikely"


def insufficient(scored: Sequence[Scored], informative: int, weights: Weighing) -> str:
    """Why there is too little to rank anything; empty when there is enough (direct.md section 3.5)."""
    if informative < weights.least_findings:
        found = _FEW[informative] if informative < len(_FEW) else f"only {informative} findings bear"
        return f"{found} on the conditions known here, and at least {weights.least_findings} are needed"
    alive = [s for s in scored if s.excluded is None]
    best = max((s.structural for s in alive), default=0.0)
    if best < weights.least_score:
        least = f"at least {weights.least_score:g} is needed"
        return f"no condition is supported well enough by the findings (best weight {best:.2f}, {least})"
    if not any(s.present("hallmark") >= 1 or s.present("typical") >= 2 for s in alive):
        return "no condition has a hallmark, or two typical findings, in this case"
    return ""


def informative(scored: Sequence[Scored]) -> int:
    """How many different findings match a supporting clue of any candidate."""
    return len(
        {
            finding
            for s in scored
            for w in s.weights
            if w.contribution > 0 and w.standing.state == "present"
            for finding in w.standing.findings[:1]
        }
    )
