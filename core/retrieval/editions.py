"""Editions of a guideline: until when one holds, and what another one changes (knowledge.md section 11).

Pure functions of packs, sections and a day that is handed in. It must not know a clock, a store or a case.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

import msgspec

from core.domain.notices import notice
from core.errors import UserError
from core.retrieval.terms import norm
from core.settings import Settings
from core.store.knowledge_values import Doc, Pack

GUIDELINES = ("guideline", "local")  # kinds that expire by their date of issue alone
REVIEW_MONTHS = 12
SAME = 90.0  # ratio of rapidfuzz
MOST_COMPARED = 1_000  # sections without a partner by heading on one side; above that, only headings are compared
Verdict = Literal["same", "changed", "added", "removed"]
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


# ------------------------------------------------------------------------------------------------------------ dates


class Calendar(NamedTuple):
    """What day it is, and how long guidelines hold (the settings guideline_*)."""

    today: Callable[[], date]
    years: int = 5
    notice_days: int = 60
    grace_days: int = 90

    @classmethod
    def of(cls, settings: Settings, today: Callable[[], date]) -> Calendar:
        """By a profile's settings."""
        return cls(
            today, settings.guideline_expiry_years, settings.guideline_notice_days, settings.guideline_grace_days
        )


def parse_date(text: str) -> date | None:
    """ISO 8601: a day, or the first one of a month or year; None for anything else."""
    match = _DATE.fullmatch(text.strip())
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)) if match else None
    except ValueError:
        return None


def checked_date(text: str, what: str) -> str:
    """A date that a person typed, as it is kept; raises UserError with a sentence."""
    if text and parse_date(text) is None:
        raise UserError(f"{text!r} is no date for {what}. Write it as 2026-03-31, 2026-03 or 2026.", code="date")
    return text.strip()


def expires_on(pack: Pack, years: int = 5) -> date | None:
    """The last day on which a pack holds: as it says, else 12 months after its review, else years after its issue."""
    if day := parse_date(pack.expires_on):
        return day
    if day := parse_date(pack.review_by):
        return _later(day, REVIEW_MONTHS)
    issued = parse_date(pack.issued_on)
    return _later(issued, 12 * years) if issued and pack.kind in GUIDELINES else None


def _later(day: date, months: int) -> date:
    """The same day that many months on, or the last one of a shorter month."""
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    year = min(max(years, 1), 9999)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def due(packs: Iterable[Pack], calendar: Calendar) -> tuple[tuple[str, str], ...]:
    """Active packs whose time is over, each with its last day."""
    today = calendar.today()
    ends = ((pack.id, expires_on(pack, calendar.years)) for pack in packs if pack.state == "active")
    return tuple((identifier, day.isoformat()) for identifier, day in ends if day and day < today)


def is_searched(pack: Pack, calendar: Calendar | None) -> bool:
    """Is a pack searched by default: active, or expired for no longer than the days of grace?"""
    if pack.state != "expired" or calendar is None:
        return pack.state == "active"
    day = expires_on(pack, calendar.years)
    return day is not None and calendar.today() <= day + timedelta(days=calendar.grace_days)


def remark(pack: Pack, packs: Sequence[Pack], calendar: Calendar | None = None) -> str:
    """What a reader must know of an edition before trusting it; "" where there is nothing."""
    dated = edition_of(pack)
    if pack.state == "superseded":
        newer = next((other for other in packs if other.replaces == pack.id and other.state != "draft"), None)
        return notice("N14", date=dated, newer=edition_of(newer) if newer else "a newer one")
    if pack.state == "withdrawn":
        return f"This guideline edition ({dated}) is withdrawn."
    if pack.state == "quarantined":
        return f"This guideline edition ({dated}) is damaged on this computer."
    day = expires_on(pack, calendar.years if calendar else 5)
    if pack.state == "expired":
        return f"This guideline edition ({dated}) expired on {day}." if day else f"This edition ({dated}) expired."
    if calendar and day and pack.state == "active" and day - calendar.today() <= timedelta(days=calendar.notice_days):
        return f"This guideline edition ({dated}) expires on {day}."
    return ""


def edition_of(pack: Pack) -> str:
    """An edition as it is named to a reader."""
    return pack.edition or pack.issued_on or "undated"


# --------------------------------------------------------------------------------------------- what has changed


class Part(NamedTuple):
    """A section as it is compared: document, heading path, text."""

    doc: str
    path: str
    text: str


class SectionChange(msgspec.Struct, frozen=True, kw_only=True):
    """One section of two editions; `similar` 0-100 for a changed one, `numbers` as "5, 7 → 5, 8" where they differ."""

    verdict: Verdict
    doc: str
    path: str
    similar: float = 0.0
    numbers: str = ""
    before: str = ""
    after: str = ""


def parts(docs: Iterable[Doc]) -> list[Part]:
    """The sections of documents in order."""
    return [Part(doc.title, section.path, section.text) for doc in docs for section in doc.sections]


def compare(old: Sequence[Part], new: Sequence[Part]) -> tuple[SectionChange, ...]:
    """What the new edition says otherwise, section by section, in its order; then what it no longer holds.

    Partners are found by document and heading, then by heading, then by text. Partners at least 90 % alike are the
    same, unless their numbers differ: a dose is one letter of a thousand.
    """
    partner = _partners(old, new)
    changes = [_change(old[partner[n]] if n in partner else None, part) for n, part in enumerate(new)]
    kept = set(partner.values())
    gone = (part for n, part in enumerate(old) if n not in kept)
    return (*changes, *(SectionChange(verdict="removed", doc=p.doc, path=p.path, before=p.text) for p in gone))


def _partners(old: Sequence[Part], new: Sequence[Part]) -> dict[int, int]:
    """New section -> the old one that it stands for."""
    found: dict[int, int] = {}
    for key in (lambda p: (norm(p.doc), norm(p.path)), lambda p: norm(p.path)):
        free: dict[object, list[int]] = {}
        taken = set(found.values())
        for n in reversed([n for n in range(len(old)) if n not in taken]):
            free.setdefault(key(old[n]), []).append(n)
        for n, part in enumerate(new):
            if n not in found and free.get(key(part)):
                found[n] = free[key(part)].pop()
    return found | _by_text(old, new, found)


def _by_text(old: Sequence[Part], new: Sequence[Part], found: dict[int, int]) -> dict[int, int]:
    """Sections under another heading, by their texts."""
    from rapidfuzz import fuzz, process

    taken = set(found.values())
    left = {n: part.text for n, part in enumerate(old) if n not in taken}
    waiting = [n for n in range(len(new)) if n not in found]
    more: dict[int, int] = {}
    if max(len(left), len(waiting)) > MOST_COMPARED:
        return more
    for n in waiting:
        best = process.extractOne(new[n].text, left, scorer=fuzz.ratio, score_cutoff=SAME)
        if best:
            more[n] = best[2]
            del left[best[2]]
    return more


def _change(old: Part | None, new: Part) -> SectionChange:
    from rapidfuzz import fuzz

    if old is None:
        return SectionChange(verdict="added", doc=new.doc, path=new.path, after=new.text)
    similar = fuzz.ratio(old.text, new.text)
    before, after = _NUMBERS.findall(old.text), _NUMBERS.findall(new.text)
    return SectionChange(
        verdict="same" if similar >= SAME and before == after else "changed",
        doc=new.doc,
        path=new.path,
        similar=round(similar, 1),
        numbers="" if before == after else f"{_told(before, after)} → {_told(after, before)}",
        before=old.text,
        after=new.text,
    )


def _told(numbers: Sequence[str], others: Sequence[str]) -> str:
    """The numbers that the other edition does not have, or all where only their order differs."""
    own = [number for number in dict.fromkeys(numbers) if number not in others]
    return ", ".join(own) or "–"
