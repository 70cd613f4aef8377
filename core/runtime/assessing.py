"""The assessment in sentences: templates filled with values and links, in the report's fixed order (direct.md 5).

Every sentence carries evidence ids; one whose ids do not resolve is struck. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.domain import units
from core.domain.assessment import Assessment, NextTest, Section, Sentence
from core.domain.case import Case
from core.domain.chat import CallRecord
from core.domain.condition import Condition
from core.domain.evidence import Evidence, Finding
from core.domain.hypothesis import Differential, Hypothesis, Reason
from core.domain.passage import Fact, Passage
from core.domain.ports import Knowledge
from core.runtime import citation, gaps, quality, safety, wording
from core.runtime.differential import View, differential
from core.runtime.evidence_book import EvidenceBook
from core.settings import Weighing

SHOWN = 3  # reasons named in a sentence; the table holds all
_COMPARE = {">=": "at least", ">": "above", "<": "below", "<=": "at most", "=": "equal to"}


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What an assessment is written from."""

    case: Case
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
    case_id = book.case(material.case)
    ranked = differential(seen, knowledge, book, material.weights)
    flags = safety.flags(seen.ledger, material.quantities, knowledge, book)
    sections = _sections(material, ranked, book)
    known = {item.id: item for item in book.items}
    return Assessment(
        conclusion="ranked" if ranked.sufficient else "insufficient",
        headline=citation.resolve(_headline(ranked, case_id), known),
        differential=ranked,
        flags=flags,
        sections=tuple(_resolved(section, known) for section in sections),
        next_tests=_next_tests(seen, ranked, book),
        gaps=(*seen.contradicted, *seen.gaps),
        unavailable=(*quality.unavailable(material.case, seen.findings), *material.unanswered),
        not_used=quality.not_used(material.case, seen.findings),
        quality=quality.card(material.case, seen.findings),
        injections=material.injections,
        evidence=book.items,
        model=material.model,
    )


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
    leading = [h for h in ranked.hypotheses if h.band == "leading"] or list(ranked.hypotheses[:1])
    names = wording.joined([h.title for h in leading])
    reasons = _evidence(reason for h in leading for reason in h.for_[:SHOWN])
    text = f"Best supported by the findings: {names}."
    return Sentence(text=text, evidence=reasons or (case_id,))


def _evidence(reasons: Iterable[Reason]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cited for reason in reasons for cited in reason.evidence))


def _sections(material: Material, ranked: Differential, book: EvidenceBook) -> tuple[Section, ...]:
    conditions = {condition.slug: condition for condition in material.knowledge.conditions}
    leading = [h for h in ranked.hypotheses if h.band in ("leading", "possible")] if ranked.sufficient else []
    top = [h for h in ranked.hypotheses if h.band != "excluded"][: gaps.TOP]
    sections = (
        Section(id="conclusion", title="Conclusion", sentences=tuple(_place(h) for h in leading)),
        Section(id="summary", title="Summary by the model", sentences=_summary(material, book)),
        Section(
            id="criteria",
            title="Published criteria",
            sentences=tuple(
                sentence for h in top for sentence in _criteria(conditions[h.slug], material.quantities, book)
            ),
        ),
        Section(id="treatment", title="What guidelines say first", sentences=_treatment(material.treatment, book)),
        Section(id="excluded", title="Excluded", sentences=tuple(_excluded(ranked))),
        Section(id="contradictions", title="Contradictions", sentences=_contradictions(material.seen, book)),
    )
    return tuple(section for section in sections if section.sentences)


def _place(hypothesis: Hypothesis) -> Sentence:
    """Why a condition stands where it stands, with both parts of its score."""
    reasons = hypothesis.for_[:SHOWN]
    named = wording.joined([reason.text.lower() if reason.text[1:2].islower() else reason.text for reason in reasons])
    score = f"structural score {hypothesis.structural:.2f}"
    if hypothesis.model is not None:
        score += f", model {hypothesis.model:+.2f} (spread {hypothesis.spread:.2f})"
    supported = f"supported by {named}" if named else "raised by the notes only"
    return Sentence(
        text=f"{hypothesis.title}: {hypothesis.band}; {supported} ({score}).",
        evidence=_evidence(reasons) or hypothesis.raised_by,
    )


def _summary(material: Material, book: EvidenceBook) -> tuple[Sentence, ...]:
    known = {item.id: item for item in book.items}
    checked = []
    for written in material.summary:
        text, cites = citation.split_cites(written)
        checked.append(citation.check(text, cites, known, material.knowledge))
    return tuple(checked)


def _criteria(condition: Condition, quantities: Mapping[str, Finding], book: EvidenceBook) -> Iterable[Sentence]:
    """Published cut-offs whose quantity is known: met or not met, with both numbers."""
    for fact in condition.facts:
        finding = quantities.get(fact.quantity)
        if fact.kind == "diagnostic" and finding is not None and finding.value is not None:
            met = _met(fact, finding)
            if met is not None:
                yield Sentence(
                    text=f"{condition.title}, {_cut_off(fact)} ({fact.population}): {'met' if met else 'not met'}; "
                    f"{finding.name} is {wording.value_of(finding)}.",
                    evidence=(book.finding(finding.id), book.fact(condition, fact)),
                )


def _cut_off(fact: Fact) -> str:
    if fact.low is not None and fact.high is not None:
        return f"{fact.quantity} {fact.low:g} to {fact.high:g} {fact.unit}"
    limit = fact.low if fact.low is not None else fact.high
    return f"{fact.quantity} {_COMPARE.get(fact.comparator, fact.comparator)} {limit:g} {fact.unit}"


def _met(fact: Fact, finding: Finding) -> bool | None:
    """Is the cut-off met? None when units do not convert or the comparison is not a number's."""
    value = _in_unit(finding, fact)
    if value is None:
        return None
    if fact.low is not None and fact.high is not None:
        return fact.low <= value <= fact.high
    limit = fact.low if fact.low is not None else fact.high
    if limit is None:
        return None
    rules = {">=": value >= limit, ">": value > limit, "<=": value <= limit, "<": value < limit, "=": value == limit}
    return rules.get(fact.comparator)


def _in_unit(finding: Finding, fact: Fact) -> float | None:
    if finding.value is None:
        return None
    try:
        given, wanted = units.parse_unit(finding.value.unit), units.parse_unit(fact.unit)
        return units.convert_analyte(fact.quantity, finding.value.value, given, wanted)
    except (units.UnknownUnit, units.WrongDimension):
        return None


def _treatment(passages: Sequence[Passage], book: EvidenceBook) -> tuple[Sentence, ...]:
    """The first guideline passage on treatment of the leading condition, quoted."""
    return tuple(
        Sentence(
            text=f"{passage.title}, {passage.section}, {passage.pack_title} edition {passage.edition} "
            f"({passage.review_status}): “{' '.join(passage.text.split())}”",
            evidence=(book.passage(passage),),
        )
        for passage in passages[:1]
    )


def _excluded(ranked: Differential) -> Iterable[Sentence]:
    for hypothesis in ranked.hypotheses:
        if hypothesis.band == "excluded":
            cited = tuple(e for reason in hypothesis.against if reason.strength == "excludes" for e in reason.evidence)
            yield Sentence(text=f"{hypothesis.title}: excluded by {hypothesis.excluded_because}.", evidence=cited)


def _contradictions(seen: View, book: EvidenceBook) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            text=f"{gap.name}: stated in one place and denied in another; counted as unknown.",
            evidence=tuple(book.finding(finding) for finding in seen.ledger.standing(gap.concept).findings),
        )
        for gap in seen.contradicted
    )


def _next_tests(seen: View, ranked: Differential, book: EvidenceBook) -> tuple[NextTest, ...]:
    """Tests worth doing, each citing the clue rows that make it so."""
    by_concept = {
        reason.concept: reason.evidence for h in reversed(ranked.hypotheses[: gaps.TOP]) for reason in h.missing
    }
    return tuple(
        msgspec.structs.replace(test, evidence=by_concept.get(test.concept, ()))
        for test in gaps.next_tests(seen.gaps, seen.titles)
    )
