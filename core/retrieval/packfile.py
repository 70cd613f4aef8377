"""A knowledge pack as one file, `.wrpack`: its form, and how it is written, the same byte for byte each time.

A ZIP of manifest.json (role "knowledge"), LICENSE, facts.jsonl, docs.jsonl and concepts.jsonl, in this order, nothing
packed: deflate is not the same everywhere, and what is stored cannot blow up. No vectors, no index (knowledge.md
section 11, runtime.md section 9). Read by `packfile_reader`.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from core import codec
from core.domain.pack import Licence, PackFile
from core.domain.passage import Fact
from core.domain.terminology import Drug
from core.errors import UserError
from core.store import lifecycle
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Pack, PackKind, SourceFile, VocabularyConcept

SUFFIX = ".wrpack"
MANIFEST, LICENCE_FILE, FACTS, DOCS, CONCEPTS = (
    "manifest.json",
    "LICENSE",
    "facts.jsonl",
    "docs.jsonl",
    "concepts.jsonl",
)
MEMBERS = (MANIFEST, LICENCE_FILE, FACTS, DOCS, CONCEPTS)
ROLE, FORMAT = "knowledge", 1
WITHIN = "within this site"
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP can name
_MODE = 0o100644 << 16
# What a pack says of itself and takes along; its state, approval and the edition that it replaces stay at home.
CARRIED = ("title", "kind", "edition", "publisher", "jurisdiction", "lang", "issued_on", "effective_from") + (
    "review_by",
    "expires_on",
    "source_url",
    "importer",
    "importer_version",
)


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`manifest.json`. `sources`: the files that the pack was made of; `docs`, `concepts`, `drugs`, `facts`: counts."""

    id: str
    version: str
    role: str
    format: int
    licence: Licence
    title: str
    kind: PackKind
    edition: str
    publisher: str
    jurisdiction: str
    lang: str
    issued_on: str
    effective_from: str
    review_by: str
    expires_on: str
    source_url: str
    importer: str
    importer_version: str
    sources: tuple[SourceFile, ...]
    docs: int
    concepts: int
    drugs: int
    facts: int
    files: tuple[PackFile, ...]


class FactLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of facts.jsonl: the document's source key, and the fact."""

    doc: str
    fact: Fact


class WordLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of concepts.jsonl: a concept or a drug."""

    concept: VocabularyConcept | None = None
    drug: Drug | None = None


def export_pack(
    store: KnowledgeStore,
    pack_id: str,
    target: Path,
    *,
    actor: str,
    within_site: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Manifest:
    """Write a pack into a file, whole or not at all, and record for whom.

    Raises:
        UserError: no such pack, the program's own, damaged, or a licence by which it must stay within the site and
            nobody said that it does.
    """
    pack = store.pack(pack_id)
    if pack is None:
        raise lifecycle.no_such(pack_id)
    _refuse_export(store, pack, within_site)
    part = target.with_name(target.name + ".part")
    try:
        manifest = _write(store, pack, part, on_progress)
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()
    store.lifecycle.note_export(pack, actor=actor, reason=WITHIN if within_site else "")
    return manifest


def _refuse_export(store: KnowledgeStore, pack: Pack, within_site: bool) -> None:
    if pack.importer == "starter":
        raise UserError("The starter set ships with every Wardround and is not exported.", code="starter")
    if not lifecycle.may_leave_site(pack.licence_id) and not within_site:
        raise UserError(
            f"{pack.title} ({pack.licence_id}) may not be given to another organisation. If the file stays within "
            "this site, say so: --within-site.",
            code="licence",
        )
    fault = next(store.faults(pack), None)
    if pack.state == "quarantined" or fault is not None:
        said = f" {fault.text}" if fault else ""
        raise UserError(f"{pack.title} is damaged and is not exported.{said}", code="damaged")


def _write(store: KnowledgeStore, pack: Pack, path: Path, on_progress: Callable[[int, int], None]) -> Manifest:
    """Twice over the store: the manifest, which comes first, holds the hashes of what follows."""
    counted: dict[str, int] = {}
    parts: dict[str, Callable[[], Iterable[bytes]]] = {
        LICENCE_FILE: lambda: (f"{pack.licence_id}\n\n{pack.licence_text}".rstrip().encode() + b"\n",),
        FACTS: lambda: _lines(_facts(store, pack), counted, "facts"),
        DOCS: lambda: _lines(_documents(store, pack), counted, "docs"),
        CONCEPTS: lambda: _lines(_words(store, pack), counted, "words"),
    }
    total = 2 * len(parts)
    files = []
    for n, (name, lines) in enumerate(parts.items()):
        on_progress(n, total)
        files.append(_described(name, lines()))
    manifest = _manifest(store, pack, tuple(files), counted)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        _put(archive, MANIFEST, (codec.pretty(manifest).encode() + b"\n",))
        for n, (name, lines) in enumerate(parts.items(), start=len(parts)):
            on_progress(n, total)
            _put(archive, name, lines())
    return manifest


def _described(name: str, lines: Iterable[bytes]) -> PackFile:
    digest, size = hashlib.sha256(), 0
    for line in lines:
        digest.update(line)
        size += len(line)
    return PackFile(path=name, size=size, sha256=digest.hexdigest())


def _put(archive: zipfile.ZipFile, name: str, lines: Iterable[bytes]) -> None:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.create_system, info.external_attr = 3, _MODE
    with archive.open(info, "w", force_zip64=True) as stream:
        for line in lines:
            stream.write(line)


def _lines(values: Iterable[Any], counted: dict[str, int], name: str) -> Iterator[bytes]:
    counted[name] = 0
    for value in values:
        counted[name] += 1
        yield codec.encode(value) + b"\n"


def _documents(store: KnowledgeStore, pack: Pack) -> Iterator[Doc]:
    """By key: the numbers of a store are its own."""
    return (msgspec.structs.replace(doc, facts=()) for doc in _ordered(store, pack))


def _facts(store: KnowledgeStore, pack: Pack) -> Iterator[FactLine]:
    return (FactLine(doc.source_key, fact) for doc in _ordered(store, pack) for fact in doc.facts)


def _ordered(store: KnowledgeStore, pack: Pack) -> Iterator[Doc]:
    for identifier in sorted(store.doc_ids(pack.id)):
        doc = store.document(identifier)
        if doc is not None:
            yield doc


def _words(store: KnowledgeStore, pack: Pack) -> Iterator[WordLine]:
    ordered = sorted((item for _, item in store.vocabulary.of_pack(pack.id)), key=lambda item: (_kind(item), item.id))
    for item in ordered:
        yield WordLine(drug=item) if isinstance(item, Drug) else WordLine(concept=item)


def _kind(item: VocabularyConcept | Drug) -> bool:
    return isinstance(item, Drug)


def _manifest(store: KnowledgeStore, pack: Pack, files: tuple[PackFile, ...], counted: dict[str, int]) -> Manifest:
    drugs = sum(1 for _, item in store.vocabulary.of_pack(pack.id) if isinstance(item, Drug))
    return Manifest(
        id=pack.id,
        version=pack.edition,
        role=ROLE,
        format=FORMAT,
        licence=Licence(spdx=pack.licence_id, file=LICENCE_FILE),
        sources=pack.files,
        docs=counted["docs"],
        concepts=counted["words"] - drugs,
        drugs=drugs,
        facts=counted["facts"],
        files=files,
        **{name: getattr(pack, name) for name in CARRIED},
    )
