"""The clinician's own question of a run: the conditions that it raises, as findings that count as nothing else.

Pure. "Is this a pulmonary embolism?" makes it a candidate, like a note's "?PE"; it is no evidence for it. It must not
know how anything is weighed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core import codec
from core.domain.evidence import Finding, Provenance
from core.domain.ports import Knowledge
from core.domain.task import WORK_UP, TaskInput
from core.runtime.ledger import CLINICIAN

Span = tuple[int, int]
INQUIRY = "question-1"
LABEL = "the question of this run"


def own(task: TaskInput) -> str:
    """The clinician's question; empty where nobody asked more than the work-up itself."""
    return "" if task.question == WORK_UP else task.question


def raised(task: TaskInput, known: Sequence[Finding], knowledge: Knowledge) -> tuple[Finding, ...]:
    """The diseases that the question names, as possible, numbered after the known findings.

    Also those in a negative ("can embolism be ruled out?"): what is asked is open. Not those of relatives or the past.
    """
    question = own(task)
    places = {identifier: span for span, identifier in sorted(_named(question, knowledge), reverse=True)}
    numbered = enumerate(sorted(places, key=places.__getitem__), start=len(known) + 1)
    return tuple(_finding(f"f{n}", identifier, question, places[identifier], knowledge) for n, identifier in numbered)


def _named(question: str, knowledge: Knowledge) -> Iterator[tuple[Span, str]]:
    """The places of diseases, with their concepts; a condition's own short names ("PE") need no context here."""
    if not question:
        return
    for annotated in knowledge.annotate(question):
        concept = knowledge.concept(annotated.mention.concept)
        of_patient = annotated.who == "patient" and annotated.time in ("current", "future")
        if concept is not None and concept.kind == "disease" and of_patient:
            yield (annotated.mention.start, annotated.mention.end), concept.id
    for condition in knowledge.conditions:
        for short in (alias for alias in condition.aliases if alias.isupper()):
            match = re.search(rf"\b{re.escape(short)}\b", question)
            if match:
                yield match.span(), condition.concept


def _finding(identifier: str, concept: str, question: str, place: Span, knowledge: Knowledge) -> Finding:
    entry = knowledge.concept(concept)
    start, end = place
    return Finding(
        id=identifier,
        concept=concept,
        name=entry.name if entry else concept,
        polarity="possible",
        text=question[start:end],
        extractor=INQUIRY,
        provenance=Provenance(
            kind="clinician",
            reference=CLINICIAN,
            sha256=codec.sha256(question.encode()),
            label=LABEL,
            start=start,
            end=end,
        ),
    )
