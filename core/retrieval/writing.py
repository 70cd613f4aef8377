"""How the index is written: commit, then every file made durable, then the outbox cleared (knowledge.md section 1).

Called under the writer's lock. A crash at any point leaves either the old index with its outbox, or one that the next
start recognises as unfinished. Knows no query.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
import tantivy

from core import codec
from core.errors import StoreError
from core.retrieval import schema
from core.retrieval.query import Filters, count
from core.retrieval.schema import DOCS, PASSAGES
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Pending

HEAP = 256_000_000  # bytes, one thread
COMMIT_CHUNKS = 20_000
BATCH_DOCS = 200
MOST_STALE = 0.2  # deleted documents count in BM25's statistics until merged; above this share all is built again
_STATE = "state.json"

Done = Literal["drained", "rebuilt"]


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    """What the index on disk was made from: `head` names the content of the database, `stale` counts deleted chunks."""

    version: int
    head: str
    stale: int = 0


def read_state(folder: Path) -> IndexState | None:
    """The state that the last complete write left; None if there is none."""
    try:
        return codec.decode((folder / _STATE).read_bytes(), IndexState)
    except (OSError, msgspec.DecodeError):
        return None


def write_index(folder: Path, store: KnowledgeStore, *, intact: bool) -> Done:
    """Apply the outbox, or build all again where that is not possible or would leave much deleted.

    Raises:
        StoreError: the disk refuses, or another program holds Tantivy's own lock.
    """
    head, pending = store.head(), store.pending()
    with _translated():
        if not intact:
            for part in (PASSAGES, DOCS):
                schema.make_part(folder / part, part)
        stale = _stale_after(folder, pending) if intact and pending else None
        if stale is None:
            _write_all(folder, store)
        else:
            _apply(folder, store, pending)
        for part in (PASSAGES, DOCS):
            schema.sync_files(folder / part)
        _write_state(folder, IndexState(version=schema.VERSION, head=head, stale=stale or 0))
    if pending:
        store.mark_done(pending)
    return "rebuilt" if stale is None else "drained"


def _stale_after(folder: Path, pending: Sequence[Pending]) -> int | None:
    """Deleted chunks that the index would hold after the outbox; None = too many, or so few in all that it is cheap."""
    index = schema.open_part(folder / PASSAGES)
    touched, total = count(index, Filters(docs=tuple(row.target for row in pending))), index.searcher().num_docs
    state = read_state(folder)
    stale = touched + (state.stale if state else 0)
    if touched and (total <= COMMIT_CHUNKS or stale > MOST_STALE * total):
        return None
    return stale


def _write_all(folder: Path, store: KnowledgeStore) -> None:
    (folder / _STATE).unlink(missing_ok=True)  # until the last commit this index is unfinished
    with _writer(folder, PASSAGES) as writer:
        writer.delete_all_documents()
        _add_chunks(writer, store, store.doc_ids())
    with _writer(folder, DOCS) as writer:
        writer.delete_all_documents()
        for entry in store.doc_entries():
            writer.add_document(schema.doc_document(entry))


def _apply(folder: Path, store: KnowledgeStore, pending: Sequence[Pending]) -> None:
    """Every document that the outbox names, out and (if it still exists) in again: the same twice is the same."""
    targets = tuple(dict.fromkeys(row.target for row in pending))
    with _writer(folder, PASSAGES) as writer:
        for target in targets:
            writer.delete_documents_by_term("doc", target)
        _add_chunks(writer, store, targets)
    with _writer(folder, DOCS) as writer:
        for target in targets:
            writer.delete_documents_by_term("doc", target)
        for entry in store.doc_entries(targets):
            writer.add_document(schema.doc_document(entry))


def _add_chunks(writer: tantivy.IndexWriter, store: KnowledgeStore, doc_ids: Sequence[str]) -> None:
    added = 0
    for first in range(0, len(doc_ids), BATCH_DOCS):
        for entry in store.chunk_entries(doc_ids[first : first + BATCH_DOCS]):
            writer.add_document(schema.chunk_document(entry))
            added += 1
            if added % COMMIT_CHUNKS == 0:
                writer.commit()


@contextmanager
def _writer(folder: Path, part: str) -> Iterator[tantivy.IndexWriter]:
    """A writer that commits at the end, waits for its merges and takes files away that no commit names."""
    writer = schema.open_part(folder / part).writer(HEAP, 1)
    try:
        yield writer
        writer.commit()
        writer.garbage_collect_files()
    finally:
        writer.wait_merging_threads()


def _write_state(folder: Path, state: IndexState) -> None:
    part = folder / f"{_STATE}.part"
    part.write_bytes(codec.encode(state))
    part.replace(folder / _STATE)
    schema.sync_files(folder)


@contextmanager
def _translated() -> Iterator[None]:
    """Tantivy's and the disk's errors as a sentence."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)[:200]
        raise StoreError(f"The knowledge index could not be written: {reason}.", code="index not written") from error
