"""The clinician's answers as findings: an answer is evidence with the person as its source. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core import codec
from core.domain.evidence import Answer, Finding, Polarity, Provenance
from core.domain.ports import Knowledge
from core.runtime.ledger import CLINICIAN


def findings_of(
    answers: Iterable[Answer], known: Sequence[Finding], knowledge: Knowledge, *, actor: str
) -> tuple[Finding, ...]:
    """New findings, numbered after the known ones; "not obtainable" gives none."""
    found: list[Finding] = []
    for answer in answers:
        for concept, polarity in _said(answer, knowledge):
            entry = knowledge.concept(concept)
            found.append(
                Finding(
                    id=f"f{len(known) + len(found) + 1}",
                    concept=concept,
                    name=entry.name if entry else concept,
                    polarity=polarity,
                    value=answer.value,
                    text=answer.text,
                    provenance=Provenance(
                        kind="clinician", reference=actor, sha256=codec.digest(answer), label=f"answered by {actor}"
                    ),
                    extractor=CLINICIAN,
                )
            )
    return tuple(found)


def _said(answer: Answer, knowledge: Knowledge) -> Iterable[tuple[str, Polarity]]:
    """The asked concept, and whatever else the free text names."""
    if answer.state != "not obtainable":
        yield answer.concept, "present" if answer.state == "present" else "absent"
    for annotated in knowledge.annotate(answer.text):
        if annotated.mention.concept == answer.concept or (annotated.who, annotated.time) != ("patient", "current"):
            continue
        if annotated.polarity in ("present", "absent"):
            yield annotated.mention.concept, "present" if annotated.polarity == "present" else "absent"


def read_back(answer: Answer, name: str) -> str:
    """The answer as understood, to be shown to the person who gave it."""
    return f"{name}: {answer.state}" + (f" ({answer.text})" if answer.text else "")
