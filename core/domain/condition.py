"""What a condition file says to a machine: clues and rules beside its text (direct.md section 2). Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.evidence import Obtain
from core.domain.passage import Fact, Passage, Source

Strength = Literal["hallmark", "typical", "occasional", "against", "excludes"]
Severity = Literal["critical", "serious", "caution"]


class Applies(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a clue concerns; None = everybody."""

    sex: str | None = None
    age_min: float | None = None
    age_max: float | None = None
    pregnancy: bool | None = None


class Clue(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that speaks for or against a condition."""

    concept: str
    strength: Strength
    obtain: Obtain
    citation: str
    polarity: Literal["present", "absent"] = "present"
    critical: bool = False
    applies: Applies = Applies()
    derived: bool = False


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A safety flag: `when` is in the arithmetic language with `has("concept")`."""

    id: str
    when: str
    flag: str
    severity: Severity
    action: str
    citation: str


class Derivation(msgspec.Struct, frozen=True, kw_only=True):
    """Where a derived clue was read: the passage, and the sentence of it that names the concept."""

    concept: str
    passage: Passage
    quote: str


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """A condition of the starter set, or of an imported guideline, then with derived clues: from where.

    `arises_from` names the conditions (slugs) that can be its source, `beyond_source` the concepts that none of them
    explains (sepsis and a local infection).
    """

    slug: str
    title: str
    concept: str
    aliases: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()
    hpo: tuple[str, ...] = ()
    group: str = ""
    lang: str = "en"
    edition: str = ""
    licence: str = ""
    sections: dict[str, str] = {}
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()
    clues: tuple[Clue, ...] = ()
    rules: tuple[Rule, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    arises_from: tuple[str, ...] = ()
    beyond_source: tuple[str, ...] = ()

    def derivation(self, concept: str) -> Derivation | None:
        """Where the derived clue of that concept was read."""
        return next((found for found in self.derivations if found.concept == concept), None)

    def source(self, key: str) -> Source | None:
        """The source of that key."""
        return next((source for source in self.sources if source.key == key), None)
