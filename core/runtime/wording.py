"""Findings in words: the one place where a finding becomes a phrase. Pure; no model, no urgency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain.evidence import Finding
from core.domain.units import format_value, parse_unit

MOST_PROBLEMS = 24
_QUOTE = 90


def value_of(finding: Finding) -> str:
    """A measurement's number with its unit."""
    return format_value(finding.value.value, parse_unit(finding.value.unit)) if finding.value else ""


def statement(finding: Finding) -> str:
    """A finding as a full statement, with value, range, time, change and formula where there are any."""
    if finding.value is None:
        return f"{_polarity(finding)}{_context(finding)}"
    parts = [f"{finding.name} {value_of(finding)}"]
    inside: list[str] = [finding.abnormal] if finding.abnormal in ("low", "high", "critical", "normal") else []
    if finding.reference_range:
        inside.append(f"reference {finding.reference_range}")
    if inside:
        parts.append(f"({', '.join(inside)})")
    if finding.change is not None:
        parts.append(f"change {finding.change:+g} since the value before")
    if finding.formula:
        parts.append(f"computed: {finding.formula}")
    if finding.note:
        parts.append(f"[{finding.note}]")
    return " ".join(parts)


def _polarity(finding: Finding) -> str:
    if finding.extractor == "allergy":
        return f"Allergy recorded: {finding.name}"
    lead = {"present": "", "absent": "No ", "possible": "Possible "}[finding.polarity]
    return lead + (_lowered(finding.name) if lead else finding.name)


def _lowered(name: str) -> str:
    """A name inside a phrase; abbreviations stay as they are."""
    return name[0].lower() + name[1:] if len(name) > 1 and name[1].islower() else name


def _context(finding: Finding) -> str:
    words = []
    if finding.time == "past":
        words.append("in the past")
    if finding.time == "future":
        words.append("as a possibility ahead")
    if finding.who == "family":
        words.append("in the family")
    if finding.who == "other":
        words.append("of another person")
    if finding.formula:
        words.append(f"by {finding.formula}")
    if finding.note:
        words.append(finding.note)
    return f" ({', '.join(words)})" if words else ""


def quote(finding: Finding) -> str:
    """The source's own words, shortened."""
    text = " ".join(finding.text.split())
    return text if len(text) <= _QUOTE else text[: _QUOTE - 1] + "…"


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
    if not finding.holds or finding.extractor == "allergy":
        return ""
    if finding.value is None:
        return _lowered(finding.name)
    if finding.abnormal in ("low", "high", "critical"):
        return f"{_lowered(finding.name)} {value_of(finding)} ({finding.abnormal})"
    return ""


def joined(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
