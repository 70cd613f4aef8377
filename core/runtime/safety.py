"""Safety flags: rules over findings, and drugs against recorded allergies (direct.md section 2).

Shown first, whatever the differential says. Pure. A rule that needs an unknown number does not fire.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from core.domain import arithmetic, units
from core.domain.assessment import SafetyFlag
from core.domain.condition import Rule
from core.domain.evidence import Finding
from core.domain.passage import Source
from core.domain.ports import Knowledge
from core.runtime import wording
from core.runtime.evidence_book import EvidenceBook
from core.runtime.ledger import ALLERGY, Ledger

_HAS = re.compile(r'has\("([^"]+)"\)')
_UNDERSCORE = re.compile(r"(?<=[a-z])_(?=[a-z0-9])")
_ORDER = {"critical": 0, "serious": 1, "caution": 2}
_DRUGS = ("drug", "drug-class")


def flags(
    ledger: Ledger, quantities: Mapping[str, Finding], knowledge: Knowledge, book: EvidenceBook
) -> tuple[SafetyFlag, ...]:
    """All flags that apply, the gravest first."""
    found = [*_rule_flags(ledger, quantities, knowledge, book), *_allergy_flags(ledger, knowledge, book)]
    return tuple(sorted(found, key=lambda flag: (_ORDER[flag.severity], flag.rule, flag.text)))


def _rule_flags(
    ledger: Ledger, quantities: Mapping[str, Finding], knowledge: Knowledge, book: EvidenceBook
) -> Iterable[SafetyFlag]:
    values = {name: value for name, finding in quantities.items() if (value := _canonical(name, finding)) is not None}
    for rule in knowledge.rules:
        if arithmetic.holds(rule.when, values, ledger.has):
            yield _flag(rule, _behind(rule, ledger, quantities), knowledge, book)


def _canonical(name: str, finding: Finding) -> units.Quantity | None:
    """The value in the unit that rules are written in; None where it cannot be converted."""
    if finding.value is None or finding.note.startswith("implausible"):
        return None
    try:
        given, wanted = units.parse_unit(finding.value.unit), units.canonical(name)
        return units.Quantity(units.convert_analyte(name, finding.value.value, given, wanted), wanted)
    except (KeyError, units.UnknownUnit, units.WrongDimension):
        return None


def _behind(rule: Rule, ledger: Ledger, quantities: Mapping[str, Finding]) -> tuple[str, ...]:
    """The findings a rule rests on: the named quantities it reads and the concepts it asks for."""
    named = [quantities[name].id for name in sorted(arithmetic.names(rule.when)) if name in quantities]
    asked = [
        finding
        for concept in sorted(arithmetic.concepts(rule.when))
        if ledger.has(concept)
        for finding in ledger.standing(concept).findings
    ]
    return tuple(dict.fromkeys((*named, *asked)))


def _flag(rule: Rule, findings: Sequence[str], knowledge: Knowledge, book: EvidenceBook) -> SafetyFlag:
    source: Source | None = knowledge.source(rule.citation)
    return SafetyFlag(
        rule=rule.id,
        severity=rule.severity,
        text=rule.flag,
        action=rule.action,
        citation=source.short if source else rule.citation,
        evidence=(
            *(book.finding(finding) for finding in findings),
            book.rule(rule, source, _in_words(rule.when, knowledge)),
        ),
    )


def _in_words(when: str, knowledge: Knowledge) -> str:
    """A rule's condition with the names of concepts and quantities."""

    def name(match: re.Match[str]) -> str:
        concept = knowledge.concept(match[1])
        return wording.lowered(concept.name) if concept else match[1]

    return _UNDERSCORE.sub(" ", _HAS.sub(name, when))


def _allergy_flags(ledger: Ledger, knowledge: Knowledge, book: EvidenceBook) -> Iterable[SafetyFlag]:
    """A current drug that is, or belongs to the class of, a recorded allergy: one flag a drug."""
    allergies: dict[str, list[Finding]] = {}
    drugs: dict[str, list[Finding]] = {}
    for finding in ledger.findings:
        if finding.extractor == ALLERGY and finding.polarity == "present" and finding.who == "patient":
            allergies.setdefault(finding.concept, []).append(finding)
        elif finding.extractor != ALLERGY and finding.holds and _is_drug(finding.concept, knowledge):
            drugs.setdefault(finding.concept, []).append(finding)
    for concept, taken in drugs.items():
        recorded = [f for above in sorted(knowledge.ancestors(concept) & allergies.keys()) for f in allergies[above]]
        if recorded:
            names = wording.joined(tuple(dict.fromkeys(wording.lowered(finding.name) for finding in recorded)))
            yield SafetyFlag(
                rule="drug-allergy",
                severity="critical",
                text=f"{taken[0].name} is a current drug, and an allergy is recorded: {names}.",
                action="A clinician would check what the reaction was, and the drug chart.",
                citation="recorded in this case",
                evidence=tuple(book.finding(finding.id) for finding in (*taken, *recorded)),
            )


def _is_drug(identifier: str, knowledge: Knowledge) -> bool:
    concept = knowledge.concept(identifier)
    return concept is not None and concept.kind in _DRUGS
