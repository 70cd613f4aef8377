"""One weighing of a case as a value: candidates, scores, the model's part, gaps, and the differential to show.

Pure but for the model's ranking, which is handed in. direct.md sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.domain.evidence import Finding, Gap, Question
from core.domain.hypothesis import Differential, Hypothesis, Reason
from core.domain.ports import Found, Knowledge
from core.runtime import contradictions as contradicting
from core.runtime import gaps as gap_rules
from core.runtime import sources, weighing, wording
from core.runtime.contradictions import Contradiction
from core.runtime.evidence_book import EvidenceBook
from core.runtime.ledger import Ledger, Patient
from core.runtime.ranking import ModelRank
from core.runtime.weighing import Scored, Weight
from core.settings import Weighing

_DISEASE = "disease"


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A case weighed: what was found, how conditions stand, what is missing."""

    findings: tuple[Finding, ...]
    ledger: Ledger
    scored: tuple[Scored, ...]
    shares: Mapping[str, float]
    rank: ModelRank | None
    beta: float
    why_insufficient: str
    contradictions: tuple[Contradiction, ...]
    contradicted: tuple[Gap, ...]
    gaps: tuple[Gap, ...]

    @property
    def titles(self) -> dict[str, str]:
        """Slug to title of the candidates."""
        return {s.condition.slug: s.condition.title for s in self.scored}

    def order(self) -> tuple[Scored, ...]:
        """Candidates by share, excluded ones last, ties by slug."""
        return tuple(
            sorted(
                self.scored,
                key=lambda s: (
                    s.excluded is not None,
                    -self.shares.get(s.condition.slug, 0.0),
                    s.condition.slug,
                ),
            )
        )


def candidates(
    findings: Sequence[Finding], found: Found, knowledge: Knowledge, *, patient: Patient, weights: Weighing
) -> tuple[Ledger, tuple[Scored, ...]]:
    """The ledger and the conditions worth weighing."""
    ledger = Ledger(findings, knowledge, patient)
    scored = weighing.candidates(
        knowledge.conditions,
        ledger,
        weights,
        retrieval=_retrieval(found, knowledge),
        raised=_raised(findings, knowledge),
    )
    settled = sources.settle(scored, ledger, weights)
    return ledger, tuple(sorted(settled, key=lambda s: (-s.structural, s.condition.slug)))


def _retrieval(found: Found, knowledge: Knowledge) -> dict[str, float]:
    """Best passage score a condition, scaled to 0..1; conditions are recognised by their title."""
    slugs = {condition.title: condition.slug for condition in knowledge.conditions}
    best: dict[str, float] = {}
    for hit, passage in zip(found.hits, found.passages, strict=True):
        slug = slugs.get(passage.title)
        if slug is not None:
            best[slug] = max(best.get(slug, 0.0), hit.score)
    return weighing.minmax(best)


def _raised(findings: Sequence[Finding], knowledge: Knowledge) -> dict[str, tuple[str, ...]]:
    """Conditions that the notes themselves raise: "?PE", "known COPD"."""
    raised: dict[str, list[str]] = {}
    for condition in knowledge.conditions:
        for finding in findings:
            concept = knowledge.concept(finding.concept)
            if (
                concept is not None
                and concept.kind == _DISEASE
                and finding.provenance.kind in ("document", "clinician")
                and (finding.time, finding.who) == ("current", "patient")
                and finding.polarity != "absent"
                and condition.concept in knowledge.ancestors(finding.concept)
            ):
                raised.setdefault(condition.slug, []).append(finding.id)
    return {slug: tuple(ids) for slug, ids in raised.items()}


def touching(scored: Iterable[Scored]) -> tuple[str, ...]:
    """Finding ids that touch a clue of a candidate."""
    return tuple(
        sorted({f for s in scored for w in s.weights if w.contribution or w.within for f in w.standing.findings})
    )


def view(
    ledger: Ledger,
    scored: tuple[Scored, ...],
    knowledge: Knowledge,
    *,
    rank: ModelRank | None,
    beta: float,
    weights: Weighing,
    closed: frozenset[str],
) -> View:
    """Combine structure and model, and find what is missing; `closed` concepts were asked already."""
    z = rank.z if rank else {}
    frame = gap_rules.Frame(scored=scored, ledger=ledger, weights=weights, model=z, beta=beta if rank else 0.0)
    contradictions = contradicting.contradictions(ledger, scored, knowledge)
    return View(
        findings=ledger.findings,
        ledger=ledger,
        scored=scored,
        shares=frame.outcome().shares,
        rank=rank,
        beta=frame.beta,
        why_insufficient=weighing.insufficient(scored, weighing.informative(scored), weights),
        contradictions=contradictions,
        contradicted=gap_rules.contradiction_gaps([c.concept for c in contradictions if c.open], knowledge),
        gaps=gap_rules.missing(frame, knowledge, closed=closed),
    )


def question(seen: View, knowledge: Knowledge) -> Question | None:
    """What the clinician is asked, if anything; of the contradictions only those that bear on a candidate."""
    touched = {s.condition.concept for s in seen.scored} | {w.clue.concept for s in seen.scored for w in s.weights}
    weighty = [gap for gap in seen.contradicted if not touched.isdisjoint(knowledge.ancestors(gap.concept))]
    return gap_rules.question(weighty, seen.gaps, knowledge)


def differential(seen: View, knowledge: Knowledge, book: EvidenceBook, weights: Weighing) -> Differential:
    """The differential as it is shown: bands, for, against, missing, each cell with its evidence.

    "Something else" stands in it at the place of its share; excluded conditions come last.
    """
    best = weighing.best_share(seen.scored, seen.shares)
    rows = [
        _hypothesis(s, seen, knowledge, book, best=best, weights=weights, whole=place < gap_rules.TOP)
        for place, s in enumerate(seen.order())
    ]
    rows.append(_something_else(seen, best, weights))
    return Differential(
        hypotheses=tuple(sorted(rows, key=lambda h: (h.band == "excluded", -h.share, h.slug))),
        sufficient=not seen.why_insufficient,
        why_insufficient=seen.why_insufficient,
        model_used=seen.rank is not None,
        gaps=seen.gaps,
    )


def _something_else(seen: View, best: float, weights: Weighing) -> Hypothesis:
    """What none of the known conditions explains; it has no structure of its own."""
    share = seen.shares[weighing.SOMETHING_ELSE]
    return Hypothesis(
        slug=weighing.SOMETHING_ELSE,
        title="Something else, not in this list",
        concept="",
        band=weighing.band(share, max(best, share), 0.0, weights),
        structural=0.0,
        share=round(share, 4),
    )


def _hypothesis(
    scored: Scored,
    seen: View,
    knowledge: Knowledge,
    book: EvidenceBook,
    *,
    best: float,
    weights: Weighing,
    whole: bool,
) -> Hypothesis:
    """One row; `whole`: with what is missing too (the top five)."""
    slug = scored.condition.slug
    share = seen.shares.get(slug, 0.0)
    excluded = scored.excluded
    shown = [w for w in scored.weights if w.contribution or w.within or (whole and w.standing.state in _OPEN)]
    cells = [(weight, _reason(weight, scored, knowledge, book)) for weight in sorted(shown, key=_gravity)]
    z, spread = (seen.rank.z.get(slug), seen.rank.spread.get(slug)) if seen.rank else (None, None)
    return Hypothesis(
        slug=slug,
        title=scored.condition.title,
        concept=scored.condition.concept,
        band=weighing.band_of(scored, share, best, weights),
        structural=round(scored.structural, 3),
        share=round(share, 4),
        model=None if z is None else round(z, 3),
        spread=None if spread is None else round(spread, 3),
        for_=tuple(reason for weight, reason in cells if weight.contribution > 0 or weight.supports),
        against=tuple(
            reason for weight, reason in cells if weight.contribution < 0 or (weight.within and not weight.supports)
        ),
        missing=tuple(reason for weight, reason in cells if whole and weight.standing.state in _OPEN),
        raised_by=tuple(book.finding(finding) for finding in scored.raised_by),
        excluded_because=_reason(excluded, scored, knowledge, book).text if excluded else "",
    )


_OPEN = ("unknown", "contradicted")
_STRENGTHS = ("excludes", "hallmark", "typical", "against", "occasional")


def _gravity(weight: Weight) -> tuple[float, bool, int, str]:
    """Order of the cells: what counts most, what a sound work-up needs, then by strength."""
    clue = weight.clue
    return -abs(weight.contribution), not clue.critical, _STRENGTHS.index(clue.strength), clue.concept


def _reason(weight: Weight, scored: Scored, knowledge: Knowledge, book: EvidenceBook) -> Reason:
    """One cell: what stands in the case, what it means for the condition, and where both come from."""
    clue = weight.clue
    name = wording.clue_name(knowledge.concept(clue.concept), clue)
    source = scored.condition.source(clue.citation)
    return Reason(
        text=_cell(name, weight, knowledge),
        concept=clue.concept,
        strength=clue.strength,
        weight=round(weight.contribution, 3),
        evidence=(*(book.finding(f) for f in weight.standing.findings), book.clue(scored.condition, clue, name)),
        citation=source.short if source else clue.citation,
        derived=clue.derived,
    )


def _cell(name: str, weight: Weight, knowledge: Knowledge) -> str:
    """A clue as it stands, in words."""
    if weight.within:
        other = knowledge.concept(weight.within)
        return f"{name}, counted with {wording.lowered(other.name) if other else weight.within}"
    states = {"absent": f"{name}: absent", "contradicted": f"{name}: stated and denied"}
    return states.get(weight.standing.state, name)
