"""The knowledge database: the only writer of tables `knowledge_*` (knowledge.md section 1).

SQLite is the truth; a search index is a cache that follows the outbox. Rows and their outbox rows are one transaction.
It must not know how a search works, and never sees patient text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from core import codec
from core.domain.passage import Fact, Passage
from core.errors import StoreError
from core.store import knowledge_docs, lifecycle, soundness, vocabulary
from core.store.database import Database, now
from core.store.knowledge_values import (
    ChunkEntry,
    Doc,
    DocEntry,
    Fault,
    Item,
    Pack,
    PackCount,
    PackState,
    Pending,
    PutReport,
    SourceFile,
)

FILE = "knowledge.db"  # in the profile
GENESIS = lifecycle.GENESIS
DAMAGED = ("passage changed", "damaged")  # codes of the errors of a text that is not what was imported
INDEXER = "index"  # who marks outbox rows done
_PASSAGE = """SELECT c.id AS cid, c.key, d.pack, p.title AS pack_title, p.edition, p.licence_id AS licence, d.id AS doc,
    d.title, s.path AS section, s.class AS section_class, c.start, c.end, s.text AS whole, c.text_sha256 AS sha256,
    s.text_sha256 AS whole_sha256 FROM knowledge_chunk c JOIN knowledge_section s ON s.id = c.section
    JOIN knowledge_doc d ON d.id = s.doc JOIN knowledge_pack p ON p.id = d.pack"""
_CHUNK_ENTRY = """SELECT c.id AS cid, c.key, c.start, c.end, d.id AS doc, d.pack, p.importer AS source, d.lang,
    s.class AS section_class, d.concepts, d.published_on, d.title, s.path, s.text FROM knowledge_doc d
    JOIN knowledge_pack p ON p.id = d.pack JOIN knowledge_section s ON s.doc = d.id
    JOIN knowledge_chunk c ON c.section = s.id WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY c.id"""
_COUNTS = """SELECT p.id AS pack, count(DISTINCT d.id) AS docs, count(c.id) AS chunks FROM knowledge_pack p
    LEFT JOIN knowledge_doc d ON d.pack = p.id LEFT JOIN knowledge_section s ON s.doc = d.id
    LEFT JOIN knowledge_chunk c ON c.section = s.id GROUP BY p.id ORDER BY p.id"""


class KnowledgeStore:
    """What is known besides the case, in one database; use it in the thread that opened the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.vocabulary = vocabulary.Vocabulary(database)
        self.lifecycle = lifecycle.Lifecycle(database)

    def close(self) -> None:
        """Close the database; the store cannot be used any more."""
        self._database.close()

    # ------------------------------------------------------------------------------------------------- writing

    def put_pack(self, pack: Pack, items: Iterable[Item], *, actor: str, reason: str = "") -> PutReport:
        """Make the pack hold exactly these documents, concepts and drugs: one transaction; what is unchanged stays.

        The items are taken one by one and may come from a generator; whatever it raises undoes all. A pack that comes
        in active supersedes at once the one that it replaces. Of a quarantined one everything is written anew.

        Raises:
            UserError: a licence that is not known, or "unknown" without its text.
            StoreError: the rows could not be written; nothing of them is there then.
        """
        lifecycle.check_licence(pack.licence_id, pack.licence_text, title=pack.title)
        with self._database.transaction(actor, "import knowledge", pack.id) as connection:
            before = lifecycle.state_of(connection, pack.id)
            _put_row(connection, pack, actor)
            report = _put_items(connection, pack.id, items, trusted=before != "quarantined")
            _seal(connection, pack)
            what = "import" if before is None else "replace"
            lifecycle.record(connection, actor, pack.id, what, (before or "", pack.state), reason)
            if pack.state == "active":
                lifecycle.supersede(connection, actor, pack.id)
        return report

    def set_state(self, pack_id: str, state: PackState, *, actor: str, reason: str) -> None:
        """Activate, retire or quarantine a pack; only active ones are searched.

        Raises:
            UserError: there is no such pack.
        """
        with self._database.transaction(actor, f"set state {state}", pack_id) as connection:
            lifecycle.move(connection, actor, pack_id, state, what="state", reason=reason)

    def mark_done(self, rows: Iterable[Pending]) -> None:
        """The index holds these outbox rows durably."""
        with self._database.transaction(INDEXER, "clear outbox", "knowledge") as connection:
            connection.executemany("UPDATE knowledge_outbox SET done = 1 WHERE seq = ?", [(row.seq,) for row in rows])

    # ------------------------------------------------------------------------------------------------- reading

    def packs(self) -> tuple[Pack, ...]:
        """All packs, by id."""
        return tuple(_pack(row) for row in self._database.query("SELECT * FROM knowledge_pack ORDER BY id"))

    def pack(self, pack_id: str) -> Pack | None:
        """The pack of that id."""
        row = self._database.one("SELECT * FROM knowledge_pack WHERE id = ?", pack_id)
        return _pack(row) if row else None

    def head(self) -> str:
        """Hash of the last change: names the content of the database."""
        row = self._database.one("SELECT hash FROM knowledge_change ORDER BY seq DESC LIMIT 1")
        return str(row["hash"]) if row else GENESIS

    def has_been(self, head: str) -> bool:
        """Whether this database once stood at that head."""
        return head == GENESIS or bool(self._database.one("SELECT 1 FROM knowledge_change WHERE hash = ?", head))

    def pending(self) -> tuple[Pending, ...]:
        """Outbox rows that no index is known to hold, oldest first."""
        rows = self._database.query("SELECT seq, target, op FROM knowledge_outbox WHERE done = 0 ORDER BY seq")
        return tuple(Pending(row["seq"], row["target"], row["op"]) for row in rows)

    def counts(self) -> tuple[PackCount, ...]:
        """Documents and chunks of every pack that has any, by id."""
        counts = (PackCount(**dict(row)) for row in self._database.query(_COUNTS))
        return tuple(count for count in counts if count.docs)

    def doc_ids(self, pack_id: str = "") -> tuple[str, ...]:
        """All documents, or those of one pack, in order of their numbers."""
        if pack_id:
            return knowledge_docs.ids(self._database, pack_id)
        return tuple(row["id"] for row in self._database.query("SELECT id FROM knowledge_doc ORDER BY n"))

    def doc_entries(self, ids: Sequence[str] | None = None) -> tuple[DocEntry, ...]:
        """Those documents (None = all) as the index sees them, in order of their numbers."""
        rows = self._database.query(
            """SELECT n, id, pack, lang, title, aliases, names, concepts, summary, "group" FROM knowledge_doc
               WHERE ?1 IS NULL OR id IN (SELECT value FROM json_each(?1)) ORDER BY n""",
            None if ids is None else _json(ids),
        )
        return tuple(_doc_entry(row) for row in rows)

    def docs_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Ids of the documents that have one of these ids or source keys, in order of their numbers."""
        rows = self._database.query(
            """SELECT id FROM knowledge_doc WHERE id IN (SELECT value FROM json_each(?1))
               OR source_key IN (SELECT value FROM json_each(?1)) ORDER BY n""",
            _json(names),
        )
        return tuple(row["id"] for row in rows)

    def chunk_entries(self, doc_ids: Sequence[str]) -> tuple[ChunkEntry, ...]:
        """The chunks of those documents as the index sees them, in order of their numbers."""
        return tuple(_chunk_entry(row) for row in self._database.query(_CHUNK_ENTRY, _json(doc_ids)))

    def passages(self, cids: Sequence[int]) -> tuple[Passage, ...]:
        """The passages of those numbers in the order asked; a number that is no longer there is left out.

        Raises:
            StoreError: a text on disk is not what was imported.
        """
        rows = self._database.query(f"{_PASSAGE} WHERE c.id IN (SELECT value FROM json_each(?))", _json(cids))
        found = {row["cid"]: _passage(row) for row in rows}
        return tuple(found[cid] for cid in cids if cid in found)

    def passage(self, key: str) -> Passage | None:
        """The passage that a citation names.

        Raises:
            StoreError: its text on disk is not what was imported.
        """
        row = self._database.one(f"{_PASSAGE} WHERE c.key = ?", key)
        return _passage(row) if row else None

    def sound_passages(self, cids: Sequence[int]) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
        """As `passages`, without those whose text is not what was imported; and the packs that these belong to."""
        try:
            return self.passages(cids), ()
        except StoreError as error:
            if error.code not in DAMAGED:
                raise
        found: list[Passage] = []
        broken: dict[str, None] = {}
        for cid in cids:
            try:
                found += self.passages((cid,))
            except StoreError as error:
                if error.code not in DAMAGED:
                    raise
                broken.setdefault(self._pack_of(cid))
        return tuple(found), tuple(broken)

    def _pack_of(self, cid: int) -> str:
        row = self._database.one(
            "SELECT d.pack FROM knowledge_chunk c JOIN knowledge_section s ON s.id = c.section "
            "JOIN knowledge_doc d ON d.id = s.doc WHERE c.id = ?",
            cid,
        )
        return str(row["pack"]) if row else ""

    def documents(self, pack_id: str) -> Iterator[tuple[str, Doc]]:
        """The documents of a pack as they were put in, each with its id.

        Raises:
            StoreError: one is damaged (code "damaged").
        """
        for identifier in knowledge_docs.ids(self._database, pack_id):
            found = self.document(identifier)
            if found is not None:
                yield identifier, found

    def document(self, doc_id: str) -> Doc | None:
        """The document of that id as it was put in. Raises StoreError: it is damaged (code "damaged")."""
        if not self._database.one("SELECT 1 FROM knowledge_doc WHERE id = ?", doc_id):
            return None
        try:
            return knowledge_docs.read(self._database, doc_id)
        except (msgspec.MsgspecError, IndexError) as error:
            raise StoreError(f"{doc_id} is damaged in the knowledge store.", code="damaged") from error

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document in order. Raises StoreError: a text on disk is not what was imported."""
        rows = self._database.query(f"{_PASSAGE} WHERE d.id = ? ORDER BY c.id", doc_id)
        return tuple(map(_passage, rows))

    def passage_hashes(self, pack_id: str) -> tuple[tuple[str, str], ...]:
        """Key and hash of every passage of a pack."""
        rows = self._database.query(
            "SELECT c.key, c.text_sha256 FROM knowledge_chunk c JOIN knowledge_section s ON s.id = c.section "
            "JOIN knowledge_doc d ON d.id = s.doc WHERE d.pack = ? ORDER BY c.id",
            pack_id,
        )
        return tuple((row["key"], row["text_sha256"]) for row in rows)

    def facts(self, doc_id: str) -> tuple[Fact, ...]:
        """The cited numbers of a document."""
        rows = self._database.query("SELECT payload FROM knowledge_fact WHERE doc = ? ORDER BY id", doc_id)
        return tuple(codec.decode(row["payload"], Fact) for row in rows)

    def verify(self) -> tuple[str, ...]:
        """Recompute every hash; one sentence for each text or change that is not what was recorded."""
        return tuple(fault.text for pack in self.packs() for fault in self.faults(pack)) + self.record_faults()

    def faults(self, pack: Pack, *, on_record: Callable[[], None] = lambda: None) -> Iterator[Fault]:
        """What of a pack is not as it was imported; `on_record` hears of each document and concept looked at."""
        row = self._database.one("SELECT sha256 FROM knowledge_pack WHERE id = ?", pack.id)
        sha256 = str(row["sha256"]) if row else ""
        return soundness.faults_of_pack(self._database, pack, recorded=sha256, on_record=on_record)

    def record_faults(self) -> tuple[str, ...]:
        """What of the record of changes does not fit its chain."""
        return tuple(fault.text for fault in soundness.faults_of_record(self._database))


# ---------------------------------------------------------------------------------------------------- rows written


def _seal(connection: sqlite3.Connection, pack: Pack) -> None:
    """Write the hash over the pack and all that it holds now."""

    def rows(statement: str, parameter: str) -> list[sqlite3.Row]:
        return connection.execute(statement, (parameter,)).fetchall()

    sha256 = soundness.pack_sha256(pack, soundness.contents(rows, pack.id))
    connection.execute("UPDATE knowledge_pack SET sha256 = ? WHERE id = ?", (sha256, pack.id))


def _put_row(connection: sqlite3.Connection, pack: Pack, actor: str) -> None:
    fields: dict[str, Any] = {name: getattr(pack, name) for name in pack.__struct_fields__}
    fields |= {"files": codec.encode(pack.files), "added_by": actor, "added_at": now()}
    names = ", ".join(fields)
    updates = ", ".join(f"{name} = excluded.{name}" for name in fields if name != "id")
    connection.execute(
        f"INSERT INTO knowledge_pack ({names}) VALUES ({', '.join('?' * len(fields))}) "
        f"ON CONFLICT (id) DO UPDATE SET {updates}",
        tuple(fields.values()),
    )


def _put_items(connection: sqlite3.Connection, pack_id: str, items: Iterable[Item], *, trusted: bool) -> PutReport:
    docs = knowledge_docs.Rows(connection, pack_id, trusted=trusted)
    words = vocabulary.Rows(connection, pack_id, trusted=trusted)
    for item in items:
        if isinstance(item, Doc):
            docs.put(item)
        else:
            words.put(item)
    (held, chunks), concepts = docs.finish(), words.finish()
    done = docs.done + words.done
    names = ("added", "changed", "removed", "unchanged", "repeated")
    return PutReport(**{name: done[name] for name in names}, docs=held, chunks=chunks, concepts=concepts)


# ------------------------------------------------------------------------------------------------------- rows read


def _json(values: Sequence[object]) -> str:
    return codec.encode(list(values)).decode()


def _pack(row: sqlite3.Row) -> Pack:
    fields = dict(row)
    del fields["sha256"]
    try:
        fields["files"] = codec.decode(fields["files"], tuple[SourceFile, ...])
    except msgspec.MsgspecError as error:
        text = f"The list of files of the knowledge pack {fields['id']} is damaged. Restore knowledge.db from a copy."
        raise StoreError(text, code="damaged") from error
    return Pack(**fields)


def _doc_entry(row: sqlite3.Row) -> DocEntry:
    fields = dict(row)
    for name in ("aliases", "names", "concepts"):
        fields[name] = codec.decode(fields[name], tuple[str, ...])
    return DocEntry(**fields)


def _chunk_entry(row: sqlite3.Row) -> ChunkEntry:
    fields = dict(row)
    text, start, end = fields.pop("text"), fields.pop("start"), fields.pop("end")
    year = str(fields.pop("published_on"))[:4]
    fields["concepts"] = codec.decode(fields["concepts"], tuple[str, ...])
    fields["title"] = f"{fields['title']} {fields.pop('path')}".strip()
    return ChunkEntry(**fields, text=text[start:end], year=int(year) if year.isdecimal() else 0)


def _passage(row: sqlite3.Row) -> Passage:
    fields = dict(row)
    whole, whole_sha256 = fields.pop("whole"), fields.pop("whole_sha256")
    text = whole[fields["start"] : fields["end"]]
    if knowledge_docs.text_sha256(text) != fields["sha256"] or knowledge_docs.text_sha256(whole) != whole_sha256:
        raise StoreError(
            f"A passage of {fields['pack_title']} was changed on disk (hash differs). "
            "Restore knowledge.db from a copy, or remove it and import its packs again.",
            code="passage changed",
        )
    return Passage(**fields, text=text)
