"""Findings and the evidence behind them. A statement without a source cannot be built. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

Polarity = Literal["present", "absent", "possible"]
Time = Literal["current", "past", "future"]
Who = Literal["patient", "family", "other"]
Abnormal = Literal["low", "normal", "high", "critical", "unknown"]
Obtain = Literal["history", "examination", "laboratory", "ecg", "imaging", "other"]
SourceKind = Literal["document", "cell", "image", "passage", "clinician", "derived"]


class Quantity(msgspec.Struct, frozen=True):
    """A number with its unit (UCUM spelling of `core.domain.units`)."""

    value: float
    unit: str


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a statement comes from.

    `reference` is a case item id (document, cell, image), a knowledge chunk key (passage), an actor (clinician) or a
    formula id (derived). `start`/`end` are character offsets into the item's text, `row`/`column` a table cell.
    `sha256` is the hash of the source's content; `label` is what a person reads ("GP letter, line 12").
    """

    kind: SourceKind
    reference: str
    sha256: str
    label: str
    start: int | None = None
    end: int | None = None
    row: int | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        if not self.reference:
            raise ValueError("provenance without a reference")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One observation about the patient (direct.md section 1).

    `id` is stable within a case revision ("f1", "f2", ... in canonical order). `text` is the quoted source text.
    `inputs` names the findings a derived finding rests on, `formula` how it was computed. `quantity` is the named
    quantity ("potassium", "heart_rate") where the finding is a measurement. `change` is latest minus the one before.
    """

    id: str
    concept: str
    name: str
    provenance: Provenance
    extractor: str
    text: str = ""
    polarity: Polarity = "present"
    time: Time = "current"
    who: Who = "patient"
    quantity: str = ""
    value: Quantity | None = None
    change: float | None = None
    collected_at: str | None = None
    abnormal: Abnormal = "unknown"
    reference_range: str = ""
    note: str = ""
    inputs: tuple[str, ...] = ()
    formula: str = ""

    @property
    def holds(self) -> bool:
        """Only present, current and of the patient counts as "has"."""
        return (self.polarity, self.time, self.who) == ("present", "current", "patient")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A citable statement: "e1", "e2", ... unique in a run; `finding` names the finding it stands for, if any."""

    id: str
    text: str
    provenance: Provenance
    finding: str = ""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Something not known that would matter: concept, where to get it, what it would change, its value in bits."""

    concept: str
    name: str
    obtain: Obtain
    why: str
    critical: bool = False
    value_bits: float = 0.0
    separates: tuple[str, ...] = ()
    kind: Literal["clue", "contradiction", "rung"] = "clue"  # "rung": none of the patient, but may the model run there?
    evidence: tuple[str, ...] = ()


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What the clinician is asked at one stop: at most three gaps, each with its wording and why it matters."""

    gaps: tuple[Gap, ...]
    wording: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One gap answered. `value` holds a quantity, `text` the clinician's own words (parsed, and read back)."""

    concept: str
    state: Literal["present", "absent", "not obtainable"]
    value: Quantity | None = None
    text: str = ""
