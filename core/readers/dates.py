"""Dates as people and laboratories write them, to ISO 8601; what is ambiguous stays as it is. Knows no clock."""

from __future__ import annotations

import re
from datetime import date

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?:[T ,]+(?:at )?(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?)?"
_ZONE = r"(?P<zone>Z|[+-]\d{2}:?\d{2})?"
ISO = re.compile(rf"(?P<year>\d{{4}})-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}}){_TIME}{_ZONE}")
COMPACT = re.compile(
    r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?:(?P<hour>\d{2})(?P<minute>\d{2})\d{0,2})?"
)
DOTTED = re.compile(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){_TIME}")
SLASHED = re.compile(rf"(?P<first>\d{{1,2}})[/-](?P<second_part>\d{{1,2}})[/-](?P<year>\d{{4}}){_TIME}")
WORDED = re.compile(
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ -](?P<word>[A-Za-z]{{3,9}})\.?,?[ -](?P<year>\d{{4}}){_TIME}"
)
TIME_ONLY = re.compile(r"(\d{1,2})[:.h](\d{2})(?::\d{2})?")


def iso(text: str, *, day_first: bool | None = None) -> str:
    """A whole cell as ISO 8601 ("2026-03-14" or "2026-03-14T09:05"); "" where it is no date or ambiguous.

    `day_first` settles 03/04/2026; None leaves it unsettled unless one part is above 12.
    """
    for pattern in (ISO, DOTTED, WORDED, SLASHED, COMPACT):
        if match := pattern.fullmatch(text.strip()):
            return _written(match, day_first)
    return ""


def first_date(text: str) -> str:
    """The first unambiguous date anywhere in a text, as ISO 8601 without its time; "" if there is none."""
    found = [match for pattern in (ISO, DOTTED, WORDED, SLASHED) for match in pattern.finditer(text)]
    for match in sorted(found, key=lambda m: m.start()):
        if written := _written(match, None):
            return written[:10]
    return ""


def day_first(cells: list[str]) -> bool | None:
    """Does a column of slashed dates put the day first? None where no cell tells, or the cells disagree."""
    parts = [(int(m["first"]), int(m["second_part"])) for c in cells if (m := SLASHED.fullmatch(c.strip()))]
    days = any(first > 12 for first, _ in parts)
    months = any(second > 12 for _, second in parts)
    return None if days == months else days


def is_ambiguous(text: str) -> bool:
    """A slashed date whose day and month could be exchanged."""
    match = SLASHED.fullmatch(text.strip())
    return match is not None and not _written(match, None) and bool(_written(match, True))


def joined(day: str, time: str) -> str:
    """A date cell and a time cell as one text."""
    return f"{day.strip()} {time.strip()}" if TIME_ONLY.fullmatch(time.strip()) else day.strip()


def _written(match: re.Match[str], day_first: bool | None) -> str:
    parts = match.groupdict()
    day, month = _day_and_month(parts, day_first)
    try:
        found = date(int(parts["year"]), month, day).isoformat()
    except ValueError:
        return ""
    hour, minute, second = (parts.get(name) for name in ("hour", "minute", "second"))
    if hour is None or minute is None:
        return found
    if int(hour) > 23 or int(minute) > 59:
        return ""
    seconds = f":{second}" if second else ""
    return f"{found}T{int(hour):02}:{minute}{seconds}{parts.get('zone') or ''}"


def _day_and_month(parts: dict[str, str | None], day_first: bool | None) -> tuple[int, int]:
    """Day and month as numbers; (0, 0) where they cannot be told apart."""
    if word := parts.get("word"):
        short = word[:3].lower()
        return int(parts["day"] or 0), MONTHS.index(short) + 1 if short in MONTHS else 0
    if "first" not in parts:
        return int(parts["day"] or 0), int(parts["month"] or 0)
    first, second = int(parts["first"] or 0), int(parts["second_part"] or 0)
    if first == second or first > 12 or day_first:
        return first, second
    if second > 12 or day_first is False:
        return second, first
    return 0, 0
