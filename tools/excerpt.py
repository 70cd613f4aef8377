"""Whole sentences of passages for an observation of limited length, and checks of what a model asks.

Knows no tool and no store.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from core.domain.evidence import Evidence, Provenance
from core.domain.terminology import Origin
from core.errors import ToolError
from core.retrieval.sentences import split
from core.retrieval.terms import norm
from core.runtime.registry import refusal

OBSERVATION = 2_400  # characters, unless a tool states another limit
TOO_LONG = "(no sentence is short enough to be shown; the evidence holds it)"
_LEFT_OUT = "… "


def asked(tool: str, text: str) -> str:
    """The text of an argument without blanks around it.

    Raises:
        ToolError: it is blank, or holds control characters.
    """
    if any(unicodedata.category(character) == "Cc" and not character.isspace() for character in text):
        raise refusal(tool, "bad_args", "the text holds control characters")
    if not text.strip():
        raise refusal(tool, "bad_args", "the text is empty")
    return text.strip()


def not_found(tool: str, what: str, near: Sequence[str]) -> ToolError:
    """The refusal of a name that nothing has, with the names that are near it."""
    return refusal(tool, "not_found", f"{what}; near names: {', '.join(near)}" if near else what)


def shares(texts: Sequence[str], query: str, *, each: int, room: int) -> tuple[str, ...]:
    """An excerpt of each text, at most `each` characters; what one leaves of `room` goes to those after it."""
    made: list[str] = []
    for place, text in enumerate(texts):
        made.append(excerpt(text, query, min(each, room // (len(texts) - place))))
        room -= len(made[-1])
    return tuple(made)


def excerpt(text: str, query: str, room: int) -> str:
    """Neighbouring whole sentences that fit and hold the most words of the query; of equal ones the first."""
    if len(whole := " ".join(text.split())) <= room:
        return whole
    wanted = frozenset(norm(query))
    spans = split(text)
    best, most = "", -1
    for first in range(len(spans)):
        shown = _from(text, spans, first, room)
        held = len(wanted.intersection(norm(shown)))
        if shown and held > most:
            best, most = shown, held
    return best or (TOO_LONG if len(TOO_LONG) <= room else "")


def _from(text: str, spans: Sequence[tuple[int, int]], first: int, room: int) -> str:
    """As many sentences as fit, from that one on; "" if not even it fits."""
    shown, mark = "", _LEFT_OUT if first else ""
    for _, end in spans[first:]:
        longer = mark + " ".join(text[spans[first][0] : end].split())
        if len(longer) > room:
            break
        shown = longer
    return shown


def entry_evidence(number: int, text: str, origin: Origin) -> Evidence:
    """Evidence of an entry of a vocabulary; numbered within one result."""
    label = f"{origin.id} ({origin.title}, edition {origin.edition})"
    source = Provenance(kind="passage", reference=f"{origin.pack}:{origin.id}", sha256=origin.sha256, label=label)
    return Evidence(id=f"e{number}", text=text, provenance=source)
