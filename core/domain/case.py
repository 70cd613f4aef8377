"""A case and its items. Immutable: new data makes a new revision. Pure values; bytes lie in the artifact store."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

import msgspec


class Patient(msgspec.Struct, frozen=True, kw_only=True):
    """Identity as far as the files state it; empty where they do not."""

    name: str = ""
    patient_id: str = ""
    birth_date: str = ""
    sex: str = ""


class Hidden(msgspec.Struct, frozen=True):
    """Characters [start, end) of a document that a reader of the page would not see, and why ("white text")."""

    start: int
    end: int
    why: str


class Note(msgspec.Struct, frozen=True, kw_only=True, tag="note"):
    """A text document. `sha256` is of the original bytes, offsets of evidence count characters of `text`.

    `pages` are the offsets at which pages start (empty: the form has no pages); `source` says what it was read from.
    """

    id: str
    title: str
    text: str
    sha256: str
    encoding: str = "utf-8"
    written_on: str = ""
    source: Literal["text", "pdf", "docx", "fhir", "dicom"] = "text"
    pages: tuple[int, ...] = ()
    hidden: tuple[Hidden, ...] = ()

    def page(self, offset: int) -> int | None:
        """Number (from 1) of the page that holds the character at `offset`; None where there are no pages."""
        return bisect_right(self.pages, offset) or None


class LabRow(msgspec.Struct, frozen=True, kw_only=True):
    """One laboratory result as printed. `number` is None when the value is not numeric ("<5" keeps `value` only).

    `loinc` is the code of the test where the source states one.
    """

    row: int
    test: str
    value: str
    number: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    range_text: str = ""
    flag: str = ""
    collected_at: str = ""
    loinc: str = ""


class LabTable(msgspec.Struct, frozen=True, kw_only=True, tag="labs"):
    """A laboratory table with units and reference ranges kept as printed."""

    id: str
    title: str
    rows: tuple[LabRow, ...]
    sha256: str


class ImageRef(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    """A single picture (PNG, JPEG). `preview_sha256` names an 8-bit PNG artifact that the window may show."""

    id: str
    title: str
    sha256: str
    preview_sha256: str
    width: int
    height: int
    modality: str = ""
    view: str = ""
    laterality: str = ""
    acquired_on: str = ""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of a series found: code S01-S14 (imaging.md section 4.6), how grave, one sentence."""

    code: str
    level: Literal["info", "warn", "fail", "error"]
    text: str


class SeriesRef(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """A DICOM series: header facts, number of readable instances and one rendered slice."""

    id: str
    title: str
    study_uid: str
    series_uid: str
    modality: str
    instances: int
    sha256: str
    preview_sha256: str
    rows: int = 0
    columns: int = 0
    frames: int = 1
    body_part: str = ""
    view: str = ""
    laterality: str = ""
    acquired_on: str = ""
    window: str = ""
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


class EhrTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of an EHR extract: its columns in order, and how many rows it has."""

    name: str
    columns: tuple[str, ...]
    rows: int


class EhrDatabase(msgspec.Struct, frozen=True, kw_only=True, tag="ehr"):
    """An EHR extract in SQLite, kept as it came; read only, statement by statement, in a child of its own."""

    id: str
    title: str
    sha256: str
    tables: tuple[EhrTable, ...]


Item = Note | LabTable | ImageRef | SeriesRef | EhrDatabase


class Unread(msgspec.Struct, frozen=True):
    """A file that was not read (wholly or in part), and why, in one sentence."""

    name: str
    reason: str


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of one patient's problem at one revision (1, 2, ...)."""

    id: str
    title: str
    revision: int
    created_at: str
    patient: Patient = Patient()
    items: tuple[Item, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(item for item in self.items if isinstance(item, Note))

    @property
    def tables(self) -> tuple[LabTable, ...]:
        return tuple(item for item in self.items if isinstance(item, LabTable))

    @property
    def pictures(self) -> tuple[ImageRef | SeriesRef, ...]:
        return tuple(item for item in self.items if isinstance(item, ImageRef | SeriesRef))

    @property
    def extracts(self) -> tuple[EhrDatabase, ...]:
        return tuple(item for item in self.items if isinstance(item, EhrDatabase))

    @property
    def unread_files(self) -> int:
        """How many files were not read, wholly or in part; one file may have several reasons."""
        return len({entry.name for entry in self.unread})

    def item(self, identifier: str) -> Item | None:
        """The item of that id, if the case has it."""
        return next((item for item in self.items if item.id == identifier), None)


class CaseSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the case list."""

    id: str
    title: str
    revision: int
    created_at: str
    items: int
    unread: int
    state: str = "new data"
    last_run: str = ""
