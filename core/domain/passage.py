"""Knowledge found: passages, hits, concepts, facts. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

ConceptKind = Literal[
    "disease", "finding", "anatomy", "drug", "drug-class", "test", "procedure", "organism", "other"
]


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
        """Author and year, as printed beside a statement."""
        first = self.authors.split(",")[0].split(" and ")[0].strip()
        return f"{first} {self.year}" if self.year else first


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
