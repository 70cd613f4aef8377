"""How far a pregnancy is: "34+2 weeks", "at 36 weeks", "32/40", near words that speak of a pregnancy.

Pure. What a pregnancy means for results and diseases is derived elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.case import Note
from core.domain.evidence import Finding
from core.domain.ports import Knowledge
from core.runtime.perception.drafts import NOTES, Draft, note_source
from core.runtime.perception.numbers import time_of, whose

HALF, LONGEST, LEAST = 20, 43, 4  # weeks
_NEAR = 70  # characters on both sides in which a pregnancy is spoken of
_SINCE = r"(?:ago|before|later|after|history|old|of age|post-?\s?partum|postnatal)\b"
_WEEKS = re.compile(rf"\b(?P<n>\d{{1,2}})(?:\s*\+\s*[0-6])?\s*(?:-\s*)?(?:weeks?\b(?![\s-]+{_SINCE})|/40\b)")
_DURATION = re.compile(r"\b(?:for|over|past|last|born|born at|delivered at|delivery at|within)\s+(?:the\s+)?$", re.I)
_SPOKEN = re.compile(
    r"\b(?:pregnan\w*|gestation\w*|gravid\w*|primigravid\w*|primip\w*|multips?|multipar\w*|nullipar\w*|G\d\s?P\d|antenatal|"
    r"obstetric\w*|midwife|fetal|fetus|foetal|twins?|trimester|expecting)\b",
    re.I,
)


def gestation(note: Note, knowledge: Knowledge) -> Iterator[Draft]:
    """Pregnancy of under, or of at least, 20 weeks."""
    for match in _WEEKS.finditer(note.text):
        weeks = int(match["n"])
        near = note.text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        if LEAST <= weeks < LONGEST and _SPOKEN.search(near) and not _DURATION.search(note.text[: match.start()][-20:]):
            concept = "WR:late-pregnancy" if weeks >= HALF else "WR:early-pregnancy"
            entry = knowledge.concept(concept)
            yield Draft(
                finding=Finding(
                    id="",
                    concept=concept,
                    name=entry.name if entry else concept,
                    provenance=note_source(note, *match.span()),
                    extractor=NOTES,
                    text=match.group(),
                    time=time_of(note.text, *match.span()),
                    who=whose(note.text, match.start()),
                    collected_at=note.written_on or None,
                )
            )
