"""Concepts and drugs looked up by name, and names found in a text. Pure values; knows no vocabulary and no store."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.passage import ConceptKind

DrugMatch = Literal["exact", "synonym", "prefix", "fuzzy"]


class Drug(msgspec.Struct, frozen=True, kw_only=True):
    """What a label or formulary says of a drug; its names are the surfaces of the concept of the same id."""

    id: str
    name: str
    description: str = ""
    state: str = ""
    indication: str = ""
    dosage: tuple[str, ...] = ()
    contraindication: str = ""
    interaction: str = ""
    source: str = ""
    version: str = ""


class Entity(msgspec.Struct, frozen=True):
    """A name found: half-open offsets, its canonical concept, and all concepts that bear it or are one with it."""

    start: int
    end: int
    concept: str
    kind: ConceptKind
    concepts: tuple[str, ...]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The entry of a vocabulary that something was taken from: its id, its pack with edition, its recorded hash."""

    id: str
    pack: str
    title: str
    edition: str
    sha256: str


class NotFound(msgspec.Struct, frozen=True, tag="not found"):
    """No name of the installed vocabularies is near enough; at most three that are nearest."""

    asked: str
    near: tuple[str, ...] = ()


class Related(msgspec.Struct, frozen=True):
    """A relation as it is shown: kind, the other concept's id (may be empty) and its name or note."""

    rel: str
    id: str
    name: str


class ConceptFound(msgspec.Struct, frozen=True, tag="concept"):
    """A concept: how its name was matched, definition with its vocabulary, relations, source pack and edition.

    `origins` are the entries that were read: that of the concept, then that of the definition where it is another's.
    """

    asked: str
    how: str
    id: str
    name: str
    kind: ConceptKind
    definition: str
    def_source: str
    relations: tuple[Related, ...]
    synonyms: tuple[str, ...]
    others: tuple[str, ...]  # the same concept in other vocabularies
    source: str
    version: str
    origins: tuple[Origin, ...] = ()


class DrugFound(msgspec.Struct, frozen=True, tag="drug"):
    """A drug as its label or formulary describes it; `matched_as` is the name that fitted, `how` by what."""

    asked: str
    how: DrugMatch
    matched_as: str
    drug: Drug
    synonyms: tuple[str, ...]
    source: str
    version: str
    origin: Origin
