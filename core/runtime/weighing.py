"""Clues weighed: candidates, structural score, combination with the model's ranking, bands (direct.md sections 2, 3).

Pure and order-free: the same findings in any order give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from core.domain.condition import Applies, Clue, Condition
from core.domain.hypothesis import Band
from core.runtime.ledger import Ledger, Patient, Standing
from core.settings import Weighing

_FOR = ("hallmark", "typical", "occasional")
SOMETHING_ELSE = "something-else"
_FEW = ("no finding bears", "only one finding bears")
LEADING, POSSIBLE, LESS_LIKELY = 0.6, 0.25, 0.08  # share of the best share from which a band holds (ours, uncalibrated)


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """One clue of a condition as it stands: what it contributes, and why.

    `witnesses` are the concepts of the findings that match it. `within` names the other clue of the condition that
    the same findings match already: this one is listed and not counted again.
    """

    clue: Clue
    standing: Standing
    contribution: float
    witnesses: frozenset[str] = frozenset()
    within: str = ""

    @property
    def supports(self) -> bool:
        """Does it match, and speak for the condition?"""
        return self.clue.strength in _FOR and _matches(self)


class Scored(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A condition with its weighed clues and structural score S(c)."""

    condition: Condition
    weights: tuple[Weight, ...]
    structural: float
    retrieval: float = 0.0
    raised_by: tuple[str, ...] = ()

    @cached_property
    def excluded(self) -> Weight | None:
        """The excluding clue that is present, if any."""
        return next((w for w in self.weights if w.clue.strength == "excludes" and _matches(w)), None)

    def present(self, *strengths: str) -> int:
        """How many different findings match clues of these strengths."""
        matched = [w.witnesses for w in self.weights if w.clue.strength in strengths and _matches(w) and not w.within]
        return distinct(matched)

    @cached_property
    def supported(self) -> bool:
        """Does at least one finding speak for it?"""
        return any(weight.supports for weight in self.weights)


def distinct(matched: Iterable[frozenset[str]]) -> int:
    """How many clues can be matched by a finding each of its own; those with the fewest choose first."""
    taken: set[str] = set()
    for witnesses in sorted(matched, key=lambda one: (len(one), sorted(one))):
        free = sorted(witnesses - taken)
        taken.update(free[:1])
    return len(taken)


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


def weigh(
    condition: Condition,
    ledger: Ledger,
    weights: Weighing,
    *,
    retrieval: float = 0.0,
    raised_by: tuple[str, ...] = (),
) -> Scored:
    """S(c) = sum(w * match) / sqrt(1 + sum |w| over clues that apply) + 0.25 * retrieval (direct.md section 3.2).

    A finding counts once a condition where it matches a clue and a more general one ("productive cough", "cough"):
    the stronger of the two, the more specific at a tie.
    """
    rows = [_weight(clue, ledger, weights) for clue in condition.clues if applies(clue.applies, ledger.patient)]
    rows = [_once(row, rows, ledger, weights) for row in rows]
    rows = _known_before(condition, rows, ledger, weights)
    plain = Scored(condition=condition, weights=(), structural=0.0, retrieval=retrieval, raised_by=raised_by)
    return rescored(plain, rows, weights)


def rescored(scored: Scored, rows: Sequence[Weight], weights: Weighing) -> Scored:
    """The condition with these rows: S(c) of direct.md section 3.2 over them."""
    size = math.sqrt(1 + math.fsum(abs(strength_weight(row.clue, weights)) for row in rows))
    score = math.fsum(row.contribution for row in rows) / size + weights.retrieval * scored.retrieval
    return msgspec.structs.replace(scored, weights=tuple(rows), structural=score)


def _known_before(condition: Condition, rows: list[Weight], ledger: Ledger, weights: Weighing) -> list[Weight]:
    """A condition that was known before today is no explanation of today (direct.md section 3.1).

    That it is known counts against it, as a row of its own, instead of for it; today's findings count as ever. The row
    is this program's rule: no publication is cited for it.
    """
    known = ledger.known_before(condition.concept)
    if not known:
        return rows
    clue = Clue(concept=condition.concept, strength="against", obtain="history", citation="")
    row = Weight(
        clue=clue, standing=Standing("present", known), contribution=contribution(clue, Standing("present"), weights)
    )
    return [*(other for other in rows if other.clue.concept != condition.concept), row]


def _weight(clue: Clue, ledger: Ledger, weights: Weighing) -> Weight:
    standing = ledger.standing(clue.concept)
    return Weight(
        clue=clue,
        standing=standing,
        contribution=contribution(clue, standing, weights),
        witnesses=ledger.concepts(standing.findings) or frozenset({clue.concept}),
    )


def _once(row: Weight, rows: Sequence[Weight], ledger: Ledger, weights: Weighing) -> Weight:
    """The weight, or nothing where another clue of the condition counts the same findings."""
    if not _positive(row):
        return row
    mine = abs(strength_weight(row.clue, weights))
    for other in rows:
        if not _positive(other) or (other.contribution > 0) != (row.contribution > 0):
            continue
        theirs = abs(strength_weight(other.clue, weights))
        general = ledger.is_kind_of(other.clue.concept, row.clue.concept) and _same(row, other)
        special = ledger.is_kind_of(row.clue.concept, other.clue.concept) and _same(other, row)
        if (general and theirs >= mine) or (special and theirs > mine):
            return msgspec.structs.replace(row, contribution=0.0, within=other.clue.concept)
    return row


def _same(general: Weight, special: Weight) -> bool:
    """Is the general clue matched by no finding but those that match the special one?"""
    return set(general.standing.findings) <= set(special.standing.findings)


def _positive(weight: Weight) -> bool:
    """Is it a clue that is matched by something present?"""
    return weight.clue.polarity == "present" and _matches(weight)


def touched(scored: Scored) -> bool:
    """Is a condition a candidate by its clues: one hallmark, or two other findings that support it?"""
    return scored.present("hallmark") >= 1 or scored.present("typical", "occasional") >= 2


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
        weigh(
            condition,
            ledger,
            weights,
            retrieval=retrieval.get(condition.slug, 0.0),
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


def band_of(scored: Scored, share: float, best: float, weights: Weighing) -> Band:
    """The band of a condition; one that no finding supports and nobody raised is not better than unlikely."""
    if scored.excluded is not None:
        return "excluded"
    if not scored.supported and not scored.raised_by:
        return "unlikely"
    return band(share, best, scored.structural, weights)


def best_share(scored: Sequence[Scored], shares: Mapping[str, float]) -> float:
    """The share that bands compare with: the best of those that something supports; else the best of all."""
    standing = [s for s in scored if s.supported or s.raised_by] or scored
    return max((shares.get(s.condition.slug, 0.0) for s in standing), default=0.0)


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
    return distinct(w.witnesses for s in scored for w in s.weights if w.contribution > 0 and _positive(w))
