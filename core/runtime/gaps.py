"""What is not known and would matter most: value of information, questions, next tests (direct.md section 4).

Pure. The value of a clue is the expected drop of the entropy of the combined distribution if it were known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from core.domain.assessment import NextTest
from core.domain.condition import Clue
from core.domain.evidence import Gap, Obtain, Question
from core.domain.hypothesis import Band
from core.domain.ports import Knowledge
from core.runtime import weighing
from core.runtime.ledger import Ledger, State
from core.runtime.weighing import Scored
from core.settings import Weighing

TOP = 5
MOST_QUESTIONS = 3
MOST_TESTS = 5
PRESENT = 0.5  # probability that an unknown clue is present when nothing better is known
EFFORT: dict[Obtain, float] = {
    "history": 1.0,
    "examination": 1.0,
    "laboratory": 0.8,
    "ecg": 0.8,
    "imaging": 0.6,
    "other": 0.6,
}
ASKABLE = ("history", "examination")


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers a what-if needs: candidates, ledger, weights, the model's z-scores and its weight."""

    scored: tuple[Scored, ...]
    ledger: Ledger
    weights: Weighing
    model: Mapping[str, float]
    beta: float

    def distribution(self, scored: Sequence[Scored] | None = None) -> dict[str, float]:
        """The combined distribution, of these candidates or of re-weighed ones."""
        rows = self.scored if scored is None else scored
        return weighing.shares(rows, self.model, tau=self.weights.tau, beta=self.beta)

    def what_if(self, concept: str, state: State) -> dict[str, float]:
        """The distribution if one concept were settled; only conditions with that clue are weighed again."""
        assumed = self.ledger.assume(concept, state)
        return self.distribution(
            [
                weighing.weigh(s.condition, assumed, self.weights, retrieval=s.retrieval)
                if any(w.clue.concept == concept for w in s.weights)
                else s
                for s in self.scored
            ]
        )


def missing(frame: Frame, knowledge: Knowledge, *, closed: frozenset[str]) -> tuple[Gap, ...]:
    """Unknown clues of the top five, most valuable first; `closed` concepts were asked already."""
    before = frame.distribution()
    top = sorted(
        (s for s in frame.scored if s.excluded is None), key=lambda s: (-before[s.condition.slug], s.condition.slug)
    )[:TOP]
    clues = _unknown(top)
    gaps = [
        _gap(clue, frame, knowledge, before=before, top=top)
        for concept, clue in sorted(clues.items())
        if concept not in closed
    ]
    return tuple(sorted(gaps, key=lambda gap: (-gap.value_bits, gap.concept)))


def _unknown(top: Sequence[Scored]) -> dict[str, Clue]:
    """One clue a concept, the critical one where conditions differ."""
    found: dict[str, Clue] = {}
    for scored in top:
        for weight in scored.weights:
            clue = weight.clue
            if weight.standing.state in ("unknown", "contradicted") and (
                clue.concept not in found or (clue.critical and not found[clue.concept].critical)
            ):
                found[clue.concept] = clue
    return found


def _gap(clue: Clue, frame: Frame, knowledge: Knowledge, *, before: Mapping[str, float], top: Sequence[Scored]) -> Gap:
    present = frame.what_if(clue.concept, "present")
    absent = frame.what_if(clue.concept, "absent")
    expected = PRESENT * weighing.entropy(present) + (1 - PRESENT) * weighing.entropy(absent)
    drop = max(0.0, weighing.entropy(before) - expected) * EFFORT[clue.obtain]
    separates = tuple(s.condition.slug for s in top if any(w.clue.concept == clue.concept for w in s.weights))
    concept = knowledge.concept(clue.concept)
    return Gap(
        concept=clue.concept,
        name=concept.name if concept else clue.concept,
        obtain=clue.obtain,
        why=_why(top, before=before, present=present, absent=absent, frame=frame),
        critical=clue.critical,
        value_bits=round(drop, 4),
        separates=separates,
    )


def _why(
    top: Sequence[Scored],
    *,
    before: Mapping[str, float],
    present: Mapping[str, float],
    absent: Mapping[str, float],
    frame: Frame,
) -> str:
    """In words: whose place changes most, and from which band to which."""
    moved = max(top, key=lambda s: (_shift(s, before, present, absent), s.condition.slug))
    slug, title = moved.condition.slug, moved.condition.title
    state, after = max(
        (("present", present), ("absent", absent)), key=lambda pair: abs(pair[1].get(slug, 0.0) - before[slug])
    )
    was, becomes = _band(moved, before, frame), _band(moved, after, frame)
    verb = "raise" if after.get(slug, 0.0) > before[slug] else "lower"
    if was == becomes:
        return f"{state} would {verb} {title} (it would stay {was})"
    return f"{state} would {verb} {title} from {was} to {becomes}"


def _shift(
    scored: Scored, before: Mapping[str, float], present: Mapping[str, float], absent: Mapping[str, float]
) -> float:
    slug = scored.condition.slug
    return max(abs(present.get(slug, 0.0) - before[slug]), abs(absent.get(slug, 0.0) - before[slug]))


def _band(scored: Scored, distribution: Mapping[str, float], frame: Frame) -> Band:
    share = distribution.get(scored.condition.slug, 0.0)
    named = [value for slug, value in distribution.items() if slug != weighing.SOMETHING_ELSE]
    structural = max(scored.structural, frame.weights.least_score)
    return weighing.band(share, max(named, default=0.0), structural, frame.weights)


def contradiction_gaps(
    contradictions: Sequence[str], knowledge: Knowledge, *, closed: frozenset[str]
) -> tuple[Gap, ...]:
    """Concepts that the case both states and denies, as gaps to be asked first."""
    gaps = []
    for identifier in sorted(set(contradictions) - closed):
        concept = knowledge.concept(identifier)
        name = concept.name if concept else identifier
        gaps.append(
            Gap(
                concept=identifier,
                name=name,
                obtain="history",
                why="the documents both state and deny it",
                critical=True,
                kind="contradiction",
            )
        )
    return tuple(gaps)


def question(contradicted: Sequence[Gap], gaps: Sequence[Gap]) -> Question | None:
    """At most three things to ask: contradictions, then critical, then by value; None when nothing can be asked."""
    askable = sorted(
        (gap for gap in gaps if gap.obtain in ASKABLE and (gap.critical or gap.value_bits > 0)),
        key=lambda gap: (not gap.critical, -gap.value_bits, gap.concept),
    )
    chosen = (*contradicted, *askable)[:MOST_QUESTIONS]
    if not chosen:
        return None
    return Question(gaps=chosen, wording=tuple(_wording(gap) for gap in chosen))


def _wording(gap: Gap) -> str:
    if gap.kind == "contradiction":
        return f"{gap.name}: is it present? {gap.why[0].upper()}{gap.why[1:]}."
    return f"{gap.name}: present or absent? It matters: {gap.why}."


def next_tests(gaps: Sequence[Gap], titles: Mapping[str, str]) -> tuple[NextTest, ...]:
    """At most five tests, each naming the conditions it separates; critical ones first."""
    tests = sorted(
        (gap for gap in gaps if gap.obtain not in ASKABLE),
        key=lambda gap: (not gap.critical, -gap.value_bits, gap.concept),
    )[:MOST_TESTS]
    return tuple(
        NextTest(
            concept=gap.concept,
            name=gap.name,
            obtain=gap.obtain,
            separates=tuple(titles.get(slug, slug) for slug in gap.separates),
            why=gap.why,
            value_bits=gap.value_bits,
        )
        for gap in tests
    )
