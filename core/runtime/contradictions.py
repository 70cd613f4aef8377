"""Where a case contradicts itself: what is both stated and denied, and ages or sexes that cannot be one person's.

Pure. A special form that is present contradicts the denial of its general form ("left calf swelling", "no leg
swelling"). Where a number stands against a word, the number counts and the contradiction is said. It must not know
how anything is asked or shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from core.domain.evidence import Finding
from core.domain.ports import Knowledge
from core.runtime import wording
from core.runtime.ledger import Ledger, Patient
from core.runtime.perception.background import AGE, DISPUTED, FEMALE, MALE
from core.runtime.perception.drafts import DERIVED
from core.runtime.weighing import Scored


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """One contradiction in words, with the ids of the findings on both sides.

    `open` ones leave a concept unknown until somebody settles it; the others are only said.
    """

    concept: str
    name: str
    text: str
    findings: tuple[str, ...]
    open: bool


def contradictions(ledger: Ledger, scored: Iterable[Scored], knowledge: Knowledge) -> tuple[Contradiction, ...]:
    """All of a case: of the person, of what the text denies, and of every clue of a candidate; general ones first."""
    clues = {weight.clue.concept for s in scored for weight in s.weights if weight.standing.disputed}
    concepts = clues | {concept for concept in _denials(ledger.findings) if ledger.standing(concept).disputed}
    ordered = sorted(concepts, key=lambda concept: (len(knowledge.ancestors(concept)), concept))
    found = [_of_concept(concept, ledger, knowledge) for concept in ordered]
    said_of = {c.concept for c in found if not c.open}
    kept = [c for c in found if c.open or said_of.isdisjoint(knowledge.ancestors(c.concept) - {c.concept})]
    return (*_of_person(ledger.findings), *kept)


def denied(findings: Sequence[Finding], knowledge: Knowledge) -> tuple[str, ...]:
    """The concepts that current text denies although they, or a special form of them, are present."""
    ledger = Ledger(findings, knowledge, Patient())
    return tuple(sorted(concept for concept in _denials(findings) if ledger.standing(concept).disputed))


def _denials(findings: Iterable[Finding]) -> set[str]:
    return {finding.concept for finding in findings if finding.polarity == "absent" and finding.extractor != DERIVED}


def _of_concept(concept: str, ledger: Ledger, knowledge: Knowledge) -> Contradiction:
    standing = ledger.standing(concept)
    entry = knowledge.concept(concept)
    name = entry.name if entry else concept
    if standing.against:
        text = f"{name}: denied in words, but measured; the number counts."
    else:
        sides = _sides([finding for finding in ledger.findings if finding.id in standing.findings])
        text = f"{name}: stated in one place and denied in another{sides}; counted as unknown."
    cited = (*standing.findings, *standing.against)
    return Contradiction(concept=concept, name=name, text=text, findings=cited, open=not standing.against)


def _sides(findings: Sequence[Finding]) -> str:
    """What is stated and what is denied, where they are not the same concept."""
    stated, refused = (
        wording.joined(sorted({wording.lowered(f.name) for f in findings if f.polarity == polarity}))
        for polarity in ("present", "absent")
    )
    return "" if stated == refused else f" ({stated} stated, {refused} denied)"


def _of_person(findings: Sequence[Finding]) -> Iterable[Contradiction]:
    disputed = [finding for finding in findings if finding.note == DISPUTED]
    for name, concepts in (("Age", (AGE,)), ("Sex", (MALE, FEMALE))):
        rows = [finding for finding in disputed if finding.concept in concepts]
        values = sorted({wording.value_of(f) or wording.lowered(f.name).removesuffix(" sex") for f in rows})
        if rows:
            yield Contradiction(
                concept=rows[0].concept,
                name=name,
                text=f"{name}: stated as {wording.joined(values)}; counted as unknown.",
                findings=tuple(finding.id for finding in rows),
                open=False,
            )
