"""Every hash of the knowledge recomputed: sections, passages, documents, concepts, packs, and the chain of changes.

Finds what was changed in the file by damage or by hand, and says where in one sentence each. It must not mend anything
and knows no search.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from core import codec
from core.errors import StoreError
from core.store import knowledge_docs
from core.store.database import Database
from core.store.knowledge_values import Fault, Pack
from core.store.lifecycle import GENESIS
from core.store.vocabulary import Vocabulary

# What is no content of a pack: its state, and who did what when. That stands in the record of changes.
_ACTS = ("state", "added_by", "added_at", "approved_by", "approved_at")
_SECTIONS = """SELECT path, text, text_sha256 FROM knowledge_section WHERE doc = ? ORDER BY n"""
_CHUNKS = """SELECT c.key, c.start, c.end, c.text_sha256, s.text FROM knowledge_chunk c
    JOIN knowledge_section s ON s.id = c.section WHERE s.doc = ? ORDER BY c.id"""


def pack_sha256(pack: Pack, contents: list[list[str]]) -> str:
    """Hash over what a pack says of itself and over the hashes of all that it holds."""
    fields = {name: value for name, value in msgspec.structs.asdict(pack).items() if name not in _ACTS}
    return codec.digest([fields, contents])


def contents(rows: Callable[[str, str], list[sqlite3.Row]], pack_id: str) -> list[list[str]]:
    """The recorded hashes of the documents, concepts and drugs of a pack. `rows` queries: statement, parameter."""
    found = [
        rows("SELECT text_sha256 AS sha256 FROM knowledge_doc WHERE pack = ? ORDER BY id", pack_id),
        rows("SELECT sha256 FROM knowledge_concept WHERE pack = ? ORDER BY id", pack_id),
        rows("SELECT sha256 FROM knowledge_drug WHERE pack = ? ORDER BY id", pack_id),
    ]
    return [[row["sha256"] for row in part] for part in found]


def faults_of_pack(database: Database, pack: Pack, *, recorded: str, on_record: Callable[[], None]) -> Iterator[Fault]:
    """All that is not as it was imported; `recorded` is the pack's own hash, `on_record` hears of each record."""
    for identifier in knowledge_docs.ids(database, pack.id):
        on_record()
        yield from _read(pack, f"Document {identifier}", partial(_doc_faults, database, pack, identifier))
    yield from _read(pack, "Its vocabulary", lambda: _word_faults(database, pack, on_record))
    yield from _read(pack, "Its list of contents", lambda: _pack_faults(database, pack, recorded))


def _read(pack: Pack, what: str, look: Callable[[], Iterator[Fault]]) -> Iterator[Fault]:
    """What a look finds; rows that cannot even be read are a fault of their own."""
    try:
        yield from look()
    except (msgspec.MsgspecError, IndexError):
        yield Fault(pack.id, f"{what} cannot be read.")
    except StoreError as error:
        if error.code != "damaged":
            raise
        yield Fault(pack.id, f"{what} cannot be read.")


def _doc_faults(database: Database, pack: Pack, identifier: str) -> Iterator[Fault]:
    found = [
        *(
            f"Section {row['path']} of {identifier} was changed on disk."
            for row in database.query(_SECTIONS, identifier)
            if knowledge_docs.text_sha256(row["text"]) != row["text_sha256"]
        ),
        *(
            f"Passage {row['key']} was changed on disk."
            for number, row in enumerate(database.query(_CHUNKS, identifier), start=1)
            if row["key"] != f"{identifier}#{number}"
            or knowledge_docs.text_sha256(row["text"][row["start"] : row["end"]]) != row["text_sha256"]
        ),
    ]
    if not found and codec.digest(knowledge_docs.read(database, identifier)) != _doc_sha256(database, identifier):
        found.append(f"Document {identifier} was changed on disk.")
    return (Fault(pack.id, text) for text in found)


def _doc_sha256(database: Database, identifier: str) -> str:
    return str(database.query("SELECT text_sha256 FROM knowledge_doc WHERE id = ?", identifier)[0]["text_sha256"])


def _word_faults(database: Database, pack: Pack, on_record: Callable[[], None]) -> Iterator[Fault]:
    for sha256, item in Vocabulary(database).of_pack(pack.id):
        on_record()
        if codec.digest(item) != sha256:
            yield Fault(pack.id, f"Entry {item.id} was changed on disk.")


def _pack_faults(database: Database, pack: Pack, recorded: str) -> Iterator[Fault]:
    if recorded and pack_sha256(pack, contents(database.query, pack.id)) != recorded:
        yield Fault(pack.id, "What is recorded of the pack, or the list of what it holds, was changed on disk.")
    last = database.one("SELECT to_state FROM knowledge_change WHERE pack = ? ORDER BY seq DESC LIMIT 1", pack.id)
    if last is None or last["to_state"] != pack.state:
        yield Fault(pack.id, "Its state is not the one that the record of changes says.")


def faults_of_record(database: Database) -> Iterator[Fault]:
    """Rows of the record of changes that do not fit the chain."""
    prev = GENESIS
    for row in database.query("SELECT * FROM knowledge_change ORDER BY seq"):
        fields = [row[name] for name in ("at", "user", "pack", "what", "from_state", "to_state", "reason")]
        if row["prev_hash"] != prev or row["hash"] != codec.digest([prev, *fields]):
            yield Fault("", f"Change {row['seq']} of the knowledge record does not fit the chain.")
        prev = row["hash"]
