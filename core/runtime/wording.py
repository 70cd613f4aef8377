"""Findings in words: the one place where a finding becomes a phrase. Pure; no model, no urgency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain.condition import Clue
from core.domain.evidence import Answer, Finding
from core.domain.passage import Concept
from core.domain.units import find_unit, format_value
from core.runtime.ledger import ALLERGY

MOST_PROBLEMS = 24
_SHOWN_ONLY = ("LAB:", "IMAGE")
PROPER = ("African", "Clostridioides", "East Asian", "Guillain", "Kerley", "Kussmaul", "Parkinson", "Raynaud")
_LEAD = {"present": "", "absent": "No ", "possible": "Possible "}
_TIME = {"past": "in the past", "future": "as a possibility ahead"}
_WHO = {"family": "in the family", "other": "of another person"}
_RANGE = {"low": "low", "high": "high", "critical": "critical", "normal": "normal"}


def value_of(finding: Finding) -> str:
    """A measurement's number with its unit; a unit that is not known as it was written."""
    return amount(finding.value.value, finding.value.unit) if finding.value else ""


def amount(value: float, unit: str) -> str:
    """A number with its unit as a person reads it; an unknown unit as it was written."""
    known = find_unit(unit)
    return format_value(value, known) if known else f"{value:g} {unit}".rstrip()


def statement(finding: Finding) -> str:
    """A finding as a full statement, with value, range, time, change and formula where there are any."""
    if finding.extractor == ALLERGY and finding.polarity == "present":
        return f"Allergy recorded: {finding.name}"
    lead = _LEAD[finding.polarity]
    name = lowered(finding.name) if lead else finding.name
    value = f" {value_of(finding)}" if finding.value is not None else ""
    inside = "; ".join(_details(finding))
    return f"{lead}{name}{value}" + (f" ({inside})" if inside else "")


def _details(finding: Finding) -> Iterable[str]:
    if finding.extractor == ALLERGY:
        yield "as an allergy"
    if finding.time in _TIME:
        yield _TIME[finding.time]
    if finding.who in _WHO:
        yield _WHO[finding.who]
    if finding.value is not None and finding.abnormal in _RANGE:
        yield _RANGE[finding.abnormal]
    if finding.reference_range:
        yield f"reference {finding.reference_range}"
    if finding.change is not None and finding.value is not None:
        yield f"{_change(finding)} since the value before"
    if finding.formula:
        yield f"computed: {finding.formula}"
    if finding.note:
        yield finding.note


def _change(finding: Finding) -> str:
    """ "up 0.4 mmol/L"; the change is in the value's own unit."""
    if not finding.change or finding.value is None:
        return "no change"
    return f"{'up' if finding.change > 0 else 'down'} {amount(abs(finding.change), finding.value.unit)}"


def clue_name(concept: Concept | None, clue: Clue) -> str:
    """What a clue looks for; a disease to be asked for in the history is one that is already known."""
    if concept is None:
        return clue.concept
    if concept.kind == "disease" and clue.obtain == "history":
        return f"Known {lowered(concept.name)}"
    return concept.name


def lowered(name: str) -> str:
    """A name inside a phrase; abbreviations, and names that begin with a proper name, stay as they are."""
    if name.startswith(PROPER):
        return name
    return name[0].lower() + name[1:] if len(name) > 1 and name[1].islower() else name


def sentence(phrase: str) -> str:
    """A phrase as a sentence: capital, full stop."""
    text = phrase[:1].upper() + phrase[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def problems(findings: Iterable[Finding], relevant: Sequence[str]) -> tuple[str, ...]:
    """The problem list: present concepts and abnormal values by name, at most 24, those that matter to a clue first.

    `relevant` names the finding ids that touch a clue.
    """
    wanted = set(relevant)
    seen: dict[str, bool] = {}
    for finding in findings:
        phrase = _problem(finding)
        if phrase:
            seen[phrase] = seen.get(phrase, False) or finding.id in wanted
    ordered = sorted(seen, key=lambda phrase: (not seen[phrase], phrase))
    return tuple(ordered[:MOST_PROBLEMS])


def _problem(finding: Finding) -> str:
    if not finding.holds or finding.extractor == ALLERGY:
        return ""
    if not finding.quantity:  # a concept, or a drug with its dose; not a picture or a result that means nothing
        return "" if finding.concept.startswith(_SHOWN_ONLY) else lowered(finding.name)
    if finding.abnormal in ("low", "high", "critical"):
        return f"{lowered(finding.name)} {value_of(finding)} ({finding.abnormal})"
    return ""


def read_back(answer: Answer, name: str) -> str:
    """An answer as understood, to be shown to the person who gave it."""
    value = f" {amount(answer.value.value, answer.value.unit)}" if answer.value else ""
    return f"{name}: {answer.state}{value}" + (f" (“{answer.text}”)" if answer.text else "")


def joined(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
