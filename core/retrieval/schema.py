"""The two Tantivy indexes: their fields, how an entry becomes a document, how a folder is opened and made durable.

`passages` holds one document a chunk, `docs` one a document (stage 1 of the search). Nothing is stored: text comes from
SQLite by number. Knows neither queries nor when to write.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import tantivy

from core.retrieval.analysis import EXACT, RAW, STEM, for_stem, normalised, register
from core.store.artifacts import sync_folder
from core.store.knowledge_values import ChunkEntry, DocEntry

VERSION = 1  # of fields and analysis: another version on disk is deleted and built again
PASSAGES, DOCS = "passages", "docs"
_PASSAGE_FIELDS: Mapping[str, tuple[str, ...]] = {
    RAW: ("key", "doc", "pack", "source", "lang", "class", "concept"), STEM: ("title", "body"), EXACT: ("exact",)
}  # fmt: skip
_DOC_FIELDS: Mapping[str, tuple[str, ...]] = {
    RAW: ("doc", "pack", "lang", "concept"), STEM: ("title", "aliases", "names", "summary", "group"), EXACT: ()
}  # fmt: skip
_NUMBERS = {PASSAGES: ("cid", "year"), DOCS: ("cid",)}


def schema(part: str) -> tantivy.Schema:
    """The fields of `passages` or `docs`; in `docs`, `cid` is the document's number."""
    builder = tantivy.SchemaBuilder()
    for analyzer, names in (_PASSAGE_FIELDS if part == PASSAGES else _DOC_FIELDS).items():
        option = "basic" if analyzer == RAW else "freq"
        for name in names:
            builder.add_text_field(name, stored=False, tokenizer_name=analyzer, index_option=option)
    for name in _NUMBERS[part]:
        builder.add_unsigned_field(name, stored=False, indexed=True, fast=True)
    return builder.build()


def schema_fields(part: str) -> frozenset[str]:
    """The names of the fields of `passages` or `docs`."""
    named = _PASSAGE_FIELDS if part == PASSAGES else _DOC_FIELDS
    return frozenset(name for names in named.values() for name in names) | frozenset(_NUMBERS[part])


def open_part(folder: Path) -> tantivy.Index:
    """An existing index, with its analysers.

    Raises:
        ValueError, OSError: there is none, or it cannot be read.
    """
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")
    register(index)
    index.reload()
    return index


def make_part(folder: Path, part: str) -> None:
    """An empty index in place of whatever was there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    register(tantivy.Index(schema(part), path=str(folder)))


def chunk_document(entry: ChunkEntry) -> tantivy.Document:
    """What the index knows of a chunk."""
    document = tantivy.Document()
    for field, value in (
        ("key", entry.key), ("doc", entry.doc), ("pack", entry.pack), ("source", entry.source), ("lang", entry.lang),
        ("class", entry.section_class), ("title", for_stem(entry.title)), ("body", for_stem(entry.text)),
        ("exact", normalised(f"{entry.title}\n{entry.text}")),
    ):  # fmt: skip
        document.add_text(field, value)
    for concept in entry.concepts:
        document.add_text("concept", concept)
    document.add_unsigned("cid", entry.cid)
    document.add_unsigned("year", entry.year)
    return document


def doc_document(entry: DocEntry) -> tantivy.Document:
    """What the index knows of a document as a whole."""
    document = tantivy.Document()
    for field, value in (("doc", entry.id), ("pack", entry.pack), ("lang", entry.lang)):
        document.add_text(field, value)
    for field, values in (
        ("title", (entry.title,)), ("aliases", entry.aliases), ("names", entry.names), ("summary", (entry.summary,)),
        ("group", (entry.group,)),
    ):  # fmt: skip
        for text in values:
            document.add_text(field, for_stem(text))
    for concept in entry.concepts:
        document.add_text("concept", concept)
    document.add_unsigned("cid", entry.n)
    return document


def sync_files(folder: Path) -> None:
    """fsync of every file of a folder and of the folder: Tantivy's last rename is not durable by itself."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix != ".lock":
            with path.open("r+b") as stream:
                os.fsync(stream.fileno())
    sync_folder(folder)
