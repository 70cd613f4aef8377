"""The assessment: what a run ends with, and the report is made of. Every sentence carries evidence ids. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.chat import CallRecord
from core.domain.evidence import Evidence, Gap
from core.domain.hypothesis import Differential


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report. A struck one stays visible with its reason (N17)."""

    text: str
    evidence: tuple[str, ...]
    struck: bool = False
    reason: str = ""


class SafetyFlag(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that fired: shown first, whatever the differential says."""

    rule: str
    severity: Literal["critical", "serious", "caution"]
    text: str
    action: str
    citation: str
    evidence: tuple[str, ...]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A titled block of sentences, in the report's fixed order."""

    id: str
    title: str
    sentences: tuple[Sentence, ...]


class NextTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test worth doing, the concepts it would settle, and the conditions it separates."""

    concepts: tuple[str, ...]
    name: str
    obtain: str
    separates: tuple[str, ...]
    why: str
    value_bits: float
    evidence: tuple[str, ...] = ()


class QualityItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the input-quality card."""

    kind: str
    text: str


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run.

    `conclusion` "insufficient" means: insufficient evidence; the report then says what would help. `evidence` holds
    every item that any sentence cites, so that the assessment is complete in itself.
    """

    conclusion: Literal["ranked", "insufficient"]
    headline: Sentence
    differential: Differential
    flags: tuple[SafetyFlag, ...] = ()
    sections: tuple[Section, ...] = ()
    next_tests: tuple[NextTest, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unavailable: tuple[str, ...] = ()
    quality: tuple[QualityItem, ...] = ()
    injections: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    model: CallRecord | None = None

    def find(self, identifier: str) -> Evidence | None:
        """The evidence of that id."""
        return next((item for item in self.evidence if item.id == identifier), None)
