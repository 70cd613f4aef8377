"""Numbers in clinical prose: where they stand in time, and how a measurement becomes a draft.

Pure. Shared by the readers of vital signs, of the eye and of laboratory results in notes. Knows no concept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain.case import Note
from core.domain.evidence import Finding, Quantity, Time, Who
from core.runtime.perception.drafts import VITALS, Draft, note_source

IMPLAUSIBLE = "implausible as written"
_PAST = re.compile(
    r"\b(?:usual(?:ly)?|baseline|normally|normal for (?:him|her|them)|previous(?:ly)?|prior|in (?:19|20)\d\d|"
    r"(?<![-\u2013])(?<!years )(?<!year )old|untreated|"
    r"last (?:year|month|week|visit|clinic|admission)|years? ago|months? ago|at home|home readings?)\b",
    re.I,
)
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_PAST_BEHIND = re.compile(
    rf"(?:(?!\bfrom\b)[^.;,()\n]){{0,30}}?\s\(?(?:in (?:(?:19|20)\d\d|{_MONTH})|last (?:year|month|week)|"
    r"(?:years?|months?) ago|baseline|usual(?:ly)?|(?:per|in) old (?:chart|notes|records))\b"
    r"(?!\s*(?:value\s+)?(?:was|is|of|about|:)?\s*\d)"
)
_NOW = re.compile(r"\b(?:now|today|currently|on arrival|this morning|tonight)\b", re.I)
_AHEAD = re.compile(r"\b(?:target|aim(?:ing)?|goal|keep|maintain|if|should|until|unless|return|above which)\b", re.I)
_FAMILY = re.compile(r"\b(?:mother|father|brother|sister|wife|husband|son|daughter)(?:'s)?[ \t]+\S*[ \t]*$", re.I)
_CLAUSE = re.compile(r"[.;]\s|\n|\bbut\b|\bthen\b")
_BEFORE = 40  # characters looked at before a measurement


def time_of(text: str, start: int, end: int) -> Time:
    """Whether a measurement is of now, of the past or a target, by the words of its clause."""
    before = text[max(0, start - _BEFORE) : start]
    breaks = [match.end() for match in _CLAUSE.finditer(before)]
    before = before[breaks[-1] :] if breaks else before
    if _AHEAD.search(before):
        return "future"
    past = [match.end() for match in _PAST.finditer(before)]
    if past and not _NOW.search(before, past[-1]) and "," not in before[past[-1] :]:
        return "past"
    return "past" if _PAST_BEHIND.match(text, end) else "current"


def whose(text: str, start: int) -> Who:
    """Of the patient, unless a relative stands right before."""
    return "family" if _FAMILY.search(text[max(0, start - _BEFORE) : start]) else "patient"


def measured(
    note: Note,
    span: tuple[int, int],
    *,
    quantity: str,
    name: str,
    value: float,
    unit: str,
    note_text: str = "",
    inputs: Sequence[Draft] = (),
) -> Draft:
    """A measurement read from a note: concept "VS:<quantity>", value in `unit`."""
    start, end = span
    return Draft(
        finding=Finding(
            id="",
            concept=f"VS:{quantity}",
            name=name,
            provenance=note_source(note, start, end),
            extractor=VITALS,
            text=note.text[start:end],
            time=time_of(note.text, start, end),
            who=whose(note.text, start),
            quantity=quantity,
            value=Quantity(value, unit),
            collected_at=note.written_on or None,
            note=note_text,
        ),
        inputs=tuple(inputs),
    )
