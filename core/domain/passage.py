"""Knowledge found: passages, hits, concepts, facts. Pure values."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

_PERSON = re.compile(r"[\w' -]+ [A-Z]{1,3}")  # "van Vugt SF"; a society has no initials
ConceptKind = Literal["disease", "finding", "anatomy", "drug", "drug-class", "test", "procedure", "organism", "other"]


class Concept(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the concept table; `parents` are is_a relations, `lab` the row it stands for ("potassium:high")."""

    id: str
    name: str
    kind: ConceptKind
    surfaces: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    lab: str = ""
    hpo: str = ""
    icd10: str = ""


class Mention(msgspec.Struct, frozen=True):
    """A concept's surface in a text, as half-open character offsets."""

    concept: str
    start: int
    end: int


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of a guideline or article with all that a citation needs."""

    cid: int
    key: str
    pack: str
    pack_title: str
    edition: str
    licence: str
    doc: str
    title: str
    section: str
    section_class: str
    start: int
    end: int
    text: str
    sha256: str
    review_status: str = "not reviewed by a clinician"


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A found passage: final score, and the rank in each branch that found it (1 = best)."""

    cid: int
    score: float
    ranks: dict[str, int]


class CasePassage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document of the case: item id, half-open offsets into its text, the words there, score."""

    document: str
    start: int
    end: int
    text: str
    score: float


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A published source that a condition file names."""

    key: str
    authors: str
    title: str
    journal: str = ""
    year: int = 0
    doi: str = ""
    identifier: str = ""

    @property
    def short(self) -> str:
        """First author or society, and year, as printed beside a statement."""
        first, _, others = self.authors.partition(",")
        name = first.split(" (")[0].strip() if "(" in first else first.strip()
        more = " et al." if others and _PERSON.fullmatch(name) else ""
        return f"{name}{more} {self.year}" if self.year else f"{name}{more}"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A cited number: what, in whom, compared how, in which unit, from where, and whether anyone has checked it."""

    id: str
    quantity: str
    population: str
    comparator: str
    unit: str
    kind: str
    statement: str
    citation: str
    low: float | None = None
    high: float | None = None
    locator: str = ""
    status: str = "unreviewed"
