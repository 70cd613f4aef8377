"""The assessment in sentences: templates filled with values and links, in the report's fixed order (direct.md 5).

Every sentence carries evidence ids; one whose ids do not resolve is struck. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.domain.assessment import Assessment, NextTest, Section, Sentence
from core.domain.case import Case
from core.domain.chat import CallRecord
from core.domain.condition import Condition
from core.domain.evidence import Evidence, Finding
from core.domain.hypothesis import Band, Differential, Hypothesis, Reason
from core.domain.passage import Passage
from core.domain.ports import Knowledge
from core.runtime import citation, criteria, gaps, inquiry, quality, safety, wording
from core.runtime.differential import View, differential
from core.runtime.evidence_book import EvidenceBook
from core.runtime.weighing import SOMETHING_ELSE
from core.settings import Weighing

SHOWN = 3  # reasons named in a sentence; the table holds all


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What an assessment is written from."""

    case: Case
    question: str = ""
    seen: View
    quantities: Mapping[str, Finding]
    knowledge: Knowledge
    weights: Weighing
    treatment: tuple[Passage, ...] = ()
    summary: tuple[str, ...] = ()
    injections: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    model: CallRecord | None = None


def assess(material: Material) -> Assessment:
    """The whole assessment, with every sentence resolved."""
    seen, knowledge = material.seen, material.knowledge
    book = EvidenceBook(seen.findings)
    ranked = differential(seen, knowledge, book, material.weights)
    case_id = book.case(material.case)
    flags = safety.flags(seen.ledger, material.quantities, knowledge, book)
    sections = _sections(material, ranked, book, case_id)
    known = {item.id: item for item in book.items}
    cited = _clue_rows(seen, ranked, book)
    card = quality.card(material.case, seen.findings)
    return Assessment(
        conclusion="ranked" if ranked.sufficient else "insufficient",
        headline=citation.resolve(_headline(ranked, case_id), known),
        differential=ranked,
        flags=flags,
        sections=tuple(_resolved(section, known) for section in sections),
        next_tests=_next_tests(material, ranked, cited),
        gaps=tuple(
            msgspec.structs.replace(gap, evidence=cited.get(gap.concept, ()))
            for gap in (*seen.contradicted, *seen.gaps)
        ),
        unavailable=(*quality.unavailable(material.case, seen.findings), *_unanswered(material.unanswered)),
        quality=card,
        injections=material.injections,
        evidence=book.items,
        model=material.model,
    )


def _unanswered(names: Sequence[str]) -> Iterable[str]:
    if names:
        yield f"answers about {wording.joined(tuple(map(wording.lowered, names)))}"


def _resolved(section: Section, known: Mapping[str, Evidence]) -> Section:
    """Our own sentences must cite what exists; the model's were checked when they were taken in."""
    if section.id == "summary":
        return section
    sentences = tuple(citation.resolve(sentence, known) for sentence in section.sentences)
    return msgspec.structs.replace(section, sentences=sentences)


def _headline(ranked: Differential, case_id: str) -> Sentence:
    if not ranked.sufficient:
        text = f"Insufficient evidence for a ranking: {ranked.why_insufficient}."
        return Sentence(text=text, evidence=(case_id,))
    leading = _banded(ranked, ("leading",)) or ranked.hypotheses[:1]
    names = wording.joined([wording.lowered(h.title) for h in leading])
    reasons = _evidence(reason for h in leading for reason in _counted(h))
    return Sentence(text=f"Best supported by the findings: {names}.", evidence=reasons or (case_id,))


def _banded(ranked: Differential, bands: Sequence[Band]) -> tuple[Hypothesis, ...]:
    """The conditions in these bands; "something else" is none."""
    return tuple(h for h in ranked.hypotheses if h.band in bands and h.slug != SOMETHING_ELSE)


def _counted(hypothesis: Hypothesis) -> tuple[Reason, ...]:
    """What speaks for it most, each finding once."""
    return tuple(reason for reason in hypothesis.for_ if reason.weight)[:SHOWN]


def _evidence(reasons: Iterable[Reason]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cited for reason in reasons for cited in reason.evidence))


def _sections(material: Material, ranked: Differential, book: EvidenceBook, case_id: str) -> tuple[Section, ...]:
    conditions = {condition.slug: condition for condition in material.knowledge.conditions}
    shown = _banded(ranked, ("leading", "possible")) if ranked.sufficient else ()
    asked = frozenset(item.id for item in book.items if item.provenance.label == inquiry.LABEL)
    sections = (
        Section(id="question", title="Question", sentences=tuple(_question(material.question, ranked, asked, case_id))),
        Section(id="conclusion", title="Conclusion", sentences=tuple(_places(shown, ranked, asked, case_id))),
        Section(id="summary", title="Summary by the model", sentences=_summary(material, book)),
        Section(
            id="criteria",
            title="Published criteria",
            sentences=tuple(sentence for h in shown for sentence in _criteria(h, conditions, material, book)),
        ),
        Section(id="treatment", title="What guidelines say first", sentences=_treatment(material.treatment, book)),
        Section(id="excluded", title="Excluded", sentences=tuple(_excluded(ranked))),
        Section(id="contradictions", title="Contradictions", sentences=_contradictions(material.seen, book)),
    )
    return tuple(section for section in sections if section.sentences)


def _question(question: str, ranked: Differential, asked: frozenset[str], case_id: str) -> Iterable[Sentence]:
    """What the clinician asked, and where the conditions stand that the question names."""
    if question:
        yield Sentence(text=f"Question: “{question}”", evidence=(case_id,))
    for hypothesis in ranked.hypotheses:
        cited = tuple(identifier for identifier in hypothesis.raised_by if identifier in asked)
        if cited:
            stands = hypothesis.band if ranked.sufficient else "not ranked, the evidence does not suffice"
            yield Sentence(text=f"{hypothesis.title}, raised by the question: {stands}.", evidence=cited)


def _places(
    shown: Sequence[Hypothesis], ranked: Differential, asked: frozenset[str], case_id: str
) -> Iterable[Sentence]:
    yield from (_place(hypothesis, asked, case_id) for hypothesis in shown)
    other = next(h for h in ranked.hypotheses if h.slug == SOMETHING_ELSE)
    if shown:
        text = f"An explanation outside the {len(ranked.hypotheses) - 1} conditions weighed: {other.band}."
        yield Sentence(text=text, evidence=(case_id,))


def _place(hypothesis: Hypothesis, asked: frozenset[str], case_id: str) -> Sentence:
    """Why a condition stands where it stands, with both parts of its score."""
    reasons = _counted(hypothesis)
    score = f"weight of clues {hypothesis.structural:.2f}"
    if hypothesis.model is not None:
        score += f", model's ranking {hypothesis.model:+.2f}, unstable by {hypothesis.spread or 0.0:.2f}"
    named = wording.joined([wording.lowered(reason.text) for reason in reasons])
    supported = f"supported by {named}" if named else _source(hypothesis, asked)
    return Sentence(
        text=f"{hypothesis.title}: {hypothesis.band}, {supported} ({score}).",
        evidence=_evidence(reasons) or hypothesis.raised_by or (case_id,),
    )


def _source(hypothesis: Hypothesis, asked: frozenset[str]) -> str:
    """Why a condition without support stands there at all."""
    if not hypothesis.raised_by:
        return "found by the guideline search only"
    return f"raised by the {'question' if asked.issuperset(hypothesis.raised_by) else 'notes'} only"


def _summary(material: Material, book: EvidenceBook) -> tuple[Sentence, ...]:
    known = {item.id: item for item in book.items}
    checked = []
    for written in material.summary:
        text, cites = citation.split_cites(written)
        checked.append(citation.check(text, cites, known, material.knowledge))
    return tuple(checked)


def _criteria(
    hypothesis: Hypothesis, conditions: Mapping[str, Condition], material: Material, book: EvidenceBook
) -> Iterable[Sentence]:
    """Cut-offs of a condition; of a leading one also those that nobody measured."""
    condition, patient = conditions[hypothesis.slug], material.seen.ledger.patient
    yield from criteria.measured(condition, material.quantities, patient, book)
    if hypothesis.band == "leading":
        yield from criteria.unmeasured(condition, material.quantities, patient, book)


def _treatment(passages: Sequence[Passage], book: EvidenceBook) -> tuple[Sentence, ...]:
    """The guideline passages on first treatment, quoted."""
    return tuple(
        Sentence(
            text=f"{passage.title}, {passage.section}, {passage.pack_title} edition {passage.edition} "
            f"({passage.review_status}): “{' '.join(passage.text.split())}”",
            evidence=(book.passage(passage),),
        )
        for passage in passages
    )


def _excluded(ranked: Differential) -> Iterable[Sentence]:
    for hypothesis in ranked.hypotheses:
        if hypothesis.band == "excluded":
            cited = tuple(e for reason in hypothesis.against if reason.strength == "excludes" for e in reason.evidence)
            yield Sentence(text=f"{hypothesis.title}: excluded by {hypothesis.excluded_because}.", evidence=cited)


def _contradictions(seen: View, book: EvidenceBook) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(text=found.text, evidence=tuple(book.finding(finding) for finding in found.findings))
        for found in seen.contradictions
    )


def _clue_rows(seen: View, ranked: Differential, book: EvidenceBook) -> dict[str, tuple[str, ...]]:
    """What makes a concept worth knowing: the clue rows of all conditions that it would bear on, by concept."""
    cited: dict[str, dict[str, None]] = {}
    for hypothesis in ranked.hypotheses:
        for reason in hypothesis.missing:
            cited.setdefault(reason.concept, {}).update(dict.fromkeys(reason.evidence))
    for found in seen.contradictions:
        cited.setdefault(found.concept, {}).update((book.finding(finding), None) for finding in found.findings)
    return {concept: tuple(rows) for concept, rows in cited.items()}


def _next_tests(material: Material, ranked: Differential, cited: Mapping[str, tuple[str, ...]]) -> tuple[NextTest, ...]:
    """Tests worth doing, each citing the clue rows that make it so."""
    seen = material.seen
    worth = {h.slug for h in _banded(ranked, gaps.IN_QUESTION)} if ranked.sufficient else None
    return tuple(
        msgspec.structs.replace(
            test, evidence=tuple(dict.fromkeys(e for concept in test.concepts for e in cited.get(concept, ())))
        )
        for test in gaps.next_tests(seen.gaps, seen.titles, material.knowledge, worth=worth)
    )
