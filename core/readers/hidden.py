"""Text that a reader of the page would not see: found, never dropped. Knows no file form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.domain.case import Hidden

WHITE = "white text"
ZERO_WIDTH = "zero-width characters"
TURNED = "characters that turn the direction of writing"
NEAR_WHITE = 230  # of 255 in red, green and blue: a contrast below 1.25 to white paper (WCAG 2.2, contrast ratio)
_NOTHING = "\u200b\u180e\u2060-\u2064\ufeff\U000e0000-\U000e007f"
_JOINERS = "\u200c\u200d\u200e\u200f\u061c"  # needed in Arabic, Persian and Indic writing, not among Latin letters
INVISIBLE = re.compile(f"[{_NOTHING}]+|(?<![^\x00-\x7f])[{_JOINERS}]+(?![^\x00-\x7f])")
OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]+")


def in_text(text: str) -> tuple[Hidden, ...]:
    """Zero-width characters and overrides of the direction, in any text."""
    if text.isascii():
        return ()
    found = [Hidden(*match.span(), ZERO_WIDTH) for match in INVISIBLE.finditer(text)]
    found += [Hidden(*match.span(), TURNED) for match in OVERRIDES.finditer(text)]
    return joined(found)


def joined(spans: Iterable[Hidden]) -> tuple[Hidden, ...]:
    """In their order, neighbours of the same reason as one."""
    found: list[Hidden] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if found and found[-1].why == span.why and span.start <= found[-1].end:
            found[-1] = Hidden(found[-1].start, max(span.end, found[-1].end), span.why)
        elif span.start < span.end:
            found.append(span)
    return tuple(found)


def moved(spans: Iterable[Hidden], by: int) -> list[Hidden]:
    return [Hidden(span.start + by, span.end + by, span.why) for span in spans]


def is_near_white(red: int, green: int, blue: int) -> bool:
    return min(red, green, blue) >= NEAR_WHITE


def remark(spans: Iterable[Hidden]) -> tuple[str, ...]:
    """One sentence on all hidden text of a document; none where nothing is hidden."""
    reasons: dict[str, int] = {}
    for span in spans:
        reasons[span.why] = reasons.get(span.why, 0) + span.end - span.start
    if not reasons:
        return ()
    listed = ", ".join(f"{why} ({count} characters)" for why, count in sorted(reasons.items()))
    return (f"Hidden text was found, kept and marked: {listed}.",)
