"""Published cut-offs against the case's own numbers: met, not met, or not measured (direct.md section 4).

Pure. Only facts of kind "diagnostic" whose quantity the program measures; the fact's own words are shown, with the
population that it was stated for, so that the reader can judge whether it applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from core.domain import units
from core.domain.assessment import Sentence
from core.domain.condition import Condition
from core.domain.evidence import Finding
from core.domain.passage import Fact
from core.runtime import wording
from core.runtime.evidence_book import EvidenceBook
from core.runtime.ledger import Patient
from core.runtime.perception.analytes import packaged
from core.runtime.perception.numbers import IMPLAUSIBLE

_NO_CRITERION = ("age",)  # a cut-off for age says whom another fact is about
_NAMES = {
    "iop_max": "eye pressure",
    "lvef": "ejection fraction",
    "fev1_fvc": "FEV1/FVC",
    "cup_disc_max": "cup-disc ratio",
    "creatinine_rise_48h": "rise of creatinine within 48 h",
    "creatinine_ratio": "creatinine against its baseline",
}
_UNDER = re.compile(r"\b(?:under|younger than|up to|below) (\d+) years")
_OVER = re.compile(r"\b(?:above|over|older than|of) (\d+) years|\b(\d+) years or more")
_BETWEEN = re.compile(r"\bfrom (\d+) to (\d+) years")
_SEX = {"men": "male", "women": "female"}


def measured(
    condition: Condition, quantities: Mapping[str, Finding], patient: Patient, book: EvidenceBook
) -> Iterable[Sentence]:
    """One sentence for each cut-off whose quantity the case holds."""
    for fact in _facts(condition, patient):
        finding = quantities.get(fact.quantity)
        is_met = met(fact, finding) if finding else None
        if finding is not None and is_met is not None:
            here = f"{wording.lowered(finding.name)} is {wording.value_of(finding)}"
            yield Sentence(
                text=f"{fact.statement} Here {here}: cut-off {'met' if is_met else 'not met'}{_population(fact)}.",
                evidence=(book.finding(finding.id), book.fact(condition, fact)),
            )


def unmeasured(
    condition: Condition, quantities: Mapping[str, Finding], patient: Patient, book: EvidenceBook
) -> Iterable[Sentence]:
    """One sentence that names all quantities with a cut-off that the case does not hold."""
    facts = [fact for fact in _facts(condition, patient) if fact.quantity not in quantities]
    if facts:
        names = tuple(dict.fromkeys(_name(fact.quantity) for fact in facts))
        yield Sentence(
            text=f"{condition.title}: published cut-offs exist for {wording.joined(names)}, not found in this case.",
            evidence=tuple(book.fact(condition, fact) for fact in facts),
        )


def _facts(condition: Condition, patient: Patient) -> list[Fact]:
    return [fact for fact in condition.facts if _measurable(fact) and concerns(fact.population, patient)]


def _population(fact: Fact) -> str:
    """In whom the number holds, unless its own words say so."""
    words = re.findall(r"[a-z]{4,}", fact.population.lower())
    said = fact.statement.lower()
    return "" if all(word in said for word in words if word != "adults") else f" (stated for {fact.population})"


def _name(quantity: str) -> str:
    analyte = packaged().by_id.get(quantity)
    return wording.lowered(analyte.name) if analyte else _NAMES.get(quantity, quantity.replace("_", " "))


def _measurable(fact: Fact) -> bool:
    """Is it a diagnostic cut-off of a quantity that the program knows by name?"""
    if fact.kind != "diagnostic" or fact.quantity in _NO_CRITERION:
        return False
    try:
        units.canonical(fact.quantity)
    except KeyError:
        return False
    return True


def concerns(population: str, patient: Patient) -> bool:
    """Is the fact about such a patient, by the ages and the sex that its population names? Unknown counts as yes."""
    sex = next((_SEX[word] for word in population.split() if word in _SEX), "")
    if sex and patient.sex and sex != patient.sex:
        return False
    age = patient.age
    if age is None:
        return True
    if between := _BETWEEN.search(population):
        return int(between[1]) <= age <= int(between[2])
    under, over = _UNDER.search(population), _OVER.search(population)
    return not (under and age > int(under[1])) and not (over and age < int(over[1] or over[2]))


def met(fact: Fact, finding: Finding) -> bool | None:
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
    if finding.value is None or finding.note.startswith(IMPLAUSIBLE):
        return None
    try:
        given, wanted = units.parse_unit(finding.value.unit), units.parse_unit(fact.unit)
        return units.convert_analyte(fact.quantity, finding.value.value, given, wanted)
    except (units.UnknownUnit, units.WrongDimension):
        return None
