"""The clinician's answers as findings: an answer is evidence with the person as its source.

Values and free words are read like a note of one sentence; what was asked itself stands as it was answered. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from core import codec
from core.domain.case import Case, Note
from core.domain.evidence import Answer, Finding, Provenance
from core.domain.ports import Knowledge
from core.runtime import findings, wording
from core.runtime.ledger import CLINICIAN
from core.runtime.perception.drafts import ALLERGY, DERIVED

_KEPT = (ALLERGY, DERIVED)  # extractors whose name means something to those who read the finding


def findings_of(
    answers: Sequence[Answer], known: Sequence[Finding], knowledge: Knowledge, *, at: str
) -> tuple[Finding, ...]:
    """New findings, numbered after the known ones; "not obtainable" without words gives none. `at`: when answered."""
    asked = {answer.concept for answer in answers if answer.state != "not obtainable"}
    found: list[Finding] = []
    for answer in answers:
        if answer.concept in asked:
            found.append(_asked(answer, knowledge, number=len(known) + len(found) + 1))
        said = [finding for finding in _read(answer, knowledge, at) if finding.concept not in asked]
        found += _renumbered(said, answer, first=len(known) + len(found) + 1)
    return tuple(found)


def _asked(answer: Answer, knowledge: Knowledge, *, number: int) -> Finding:
    return Finding(
        id=f"f{number}",
        concept=answer.concept,
        name=_name(answer, knowledge),
        polarity="present" if answer.state == "present" else "absent",
        text=answer.text,
        provenance=_source(answer),
        extractor=CLINICIAN,
    )


def _name(answer: Answer, knowledge: Knowledge) -> str:
    concept = knowledge.concept(answer.concept)
    return concept.name if concept else answer.concept


def _source(answer: Answer) -> Provenance:
    said = f": “{answer.text}”" if answer.text else ""
    return Provenance(
        kind="clinician", reference=CLINICIAN, sha256=codec.digest(answer), label=f"answered by the clinician{said}"
    )


def _read(answer: Answer, knowledge: Knowledge, at: str) -> Iterable[Finding]:
    """What value and words say of the patient now, read as a note: "Fever 38.9 °C. Cough since Monday"."""
    amount = wording.amount(answer.value.value, answer.value.unit) if answer.value else ""
    text = f"{_name(answer, knowledge)} {amount}. {answer.text}" if amount else answer.text
    if not text.strip():
        return ()
    note = Note(id="answer", title="answer", text=text, sha256=codec.sha256(text.encode()))
    case = Case(id="answer", title="answer", revision=1, created_at=at, items=(note,))
    read = findings.perceive(case, knowledge)
    return [finding for finding in read if (finding.time, finding.who) == ("current", "patient")]


def _renumbered(read: Sequence[Finding], answer: Answer, *, first: int) -> list[Finding]:
    """The findings with the person as source and ids that follow the known ones."""
    ids = {finding.id: f"f{number}" for number, finding in enumerate(read, start=first)}
    return [
        msgspec.structs.replace(
            finding,
            id=ids[finding.id],
            provenance=_source(answer),
            extractor=finding.extractor if finding.extractor in _KEPT else CLINICIAN,
            inputs=tuple(ids[source] for source in finding.inputs if source in ids),
        )
        for finding in read
    ]
