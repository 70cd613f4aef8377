"""What goes into and comes out of the knowledge store: packs, documents, concepts, index entries. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.passage import ConceptKind, Fact
from core.domain.terminology import Drug

PackKind = Literal["guideline", "literature", "vocabulary", "drug", "local"]
PackState = Literal["draft", "active", "superseded", "expired", "withdrawn", "quarantined"]
SectionClass = Literal[
    "overview", "symptoms", "causes", "tests", "criteria", "severity", "treatment", "prevention", "complications",
    "followup", "other",
]  # fmt: skip


SurfaceType = Literal["exact", "narrow", "broad", "related", "abbreviation"]


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a pack was made from."""

    name: str
    sha256: str
    bytes: int


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """An edition of one body of knowledge. Dates are ISO 8601 or empty; `source_url` is text, never opened."""

    id: str
    title: str
    kind: PackKind
    edition: str
    publisher: str
    licence_id: str
    importer: str
    importer_version: str
    files: tuple[SourceFile, ...]
    lang: str = "en"
    state: PackState = "draft"
    jurisdiction: str = ""
    issued_on: str = ""
    effective_from: str = ""
    review_by: str = ""
    expires_on: str = ""
    licence_text: str = ""
    source_url: str = ""
    replaces: str = ""
    added_by: str = ""
    added_at: str = ""
    approved_by: str = ""
    approved_at: str = ""


class Span(msgspec.Struct, frozen=True):
    """A chunk of a section: half-open character offsets into its text, and its length in tokens (or words)."""

    start: int
    end: int
    tokens: int


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document under one heading; `path` is the heading path ("Diagnosis > Tests")."""

    path: str
    section_class: SectionClass
    text: str
    spans: tuple[Span, ...]
    page_from: int | None = None
    page_to: int | None = None


class Doc(msgspec.Struct, frozen=True, kw_only=True):
    """A document; `source_key` is unique in its pack. `names` are the names of its concepts."""

    source_key: str
    title: str
    sections: tuple[Section, ...]
    aliases: tuple[str, ...] = ()
    group: str = ""
    url: str = ""
    lang: str = "en"
    published_on: str = ""
    summary: str = ""
    concepts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    page_count: int | None = None
    facts: tuple[Fact, ...] = ()


class Surface(msgspec.Struct, frozen=True):
    """A name of a concept as its vocabulary writes it; `norm` is what two spellings share, words joined by a blank."""

    text: str
    norm: str
    type: SurfaceType = "exact"
    lang: str = "en"


class Relation(msgspec.Struct, frozen=True):
    """To another concept (`target`, an id as `VOCAB:code`, or empty) or to what the vocabulary says in words."""

    rel: str
    target: str
    text: str = ""


class VocabularyConcept(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a vocabulary; `id` is `VOCAB:code`. Its name is a surface too where it is to be found in texts."""

    id: str
    name: str
    kind: ConceptKind
    surfaces: tuple[Surface, ...] = ()
    relations: tuple[Relation, ...] = ()
    definition: str = ""
    def_source: str = ""
    obsolete: bool = False
    replaced_by: str = ""

    @property
    def vocab(self) -> str:
        return self.id.partition(":")[0]

    @property
    def code(self) -> str:
        return self.id.partition(":")[2]


Item = Doc | VocabularyConcept | Drug


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A surface with the concept that bears it, as lookup and matcher see it."""

    concept: str
    vocab: str
    kind: ConceptKind
    text: str
    norm: str
    type: SurfaceType


class PutReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did, in documents, concepts and drugs; `docs`, `chunks`, `concepts` are what the pack holds now."""

    added: int
    changed: int
    removed: int
    unchanged: int
    chunks: int
    docs: int = 0
    concepts: int = 0
    repeated: int = 0

    @property
    def writes(self) -> int:
        return self.added + self.changed + self.removed


class Pending(msgspec.Struct, frozen=True):
    """An outbox row: the document `target` is to be put into the index or taken out of it."""

    seq: int
    target: str
    op: Literal["add", "delete"]


class PackCount(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a pack there is."""

    pack: str
    docs: int
    chunks: int


class DocEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A document as the index sees it; `n` is its number."""

    n: int
    id: str
    pack: str
    lang: str
    title: str
    aliases: tuple[str, ...]
    names: tuple[str, ...]
    concepts: tuple[str, ...]
    summary: str
    group: str


class ChunkEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk as the index sees it; `year` 0 = unknown."""

    cid: int
    key: str
    doc: str
    pack: str
    source: str
    lang: str
    section_class: str
    concepts: tuple[str, ...]
    year: int
    title: str
    text: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the record of changes: when, who, which pack, what was done, the state before and after, why."""

    at: str
    user: str
    pack: str
    what: str
    from_state: str
    to_state: str
    reason: str


class Fault(msgspec.Struct, frozen=True):
    """What a check of hashes found: the pack ("" = the record of changes), and one sentence."""

    pack: str
    text: str
