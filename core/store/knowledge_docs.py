"""Documents of one pack: rows of knowledge_doc, _section, _chunk, _fact and the outbox, written and read back whole.

Writing runs in the transaction of `core.store.knowledge`; unchanged documents keep their numbers. Knows no pack row and
no concept.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from core import codec
from core.domain.passage import Fact
from core.store.database import Database
from core.store.knowledge_values import Doc, Section, Span

_DELETE = (
    "DELETE FROM knowledge_fact WHERE doc = ?",
    "DELETE FROM knowledge_chunk WHERE section IN (SELECT id FROM knowledge_section WHERE doc = ?)",
    "DELETE FROM knowledge_section WHERE doc = ?",
    "DELETE FROM knowledge_doc WHERE id = ?",
)


def text_sha256(text: str) -> str:
    """Hash of a section's or passage's text, as its row records it."""
    return codec.sha256(text.encode())


class Rows:
    """What the pack holds already, and what was done. Without `trusted` nothing that is there is believed to be so."""

    def __init__(self, connection: sqlite3.Connection, pack_id: str, *, trusted: bool = True) -> None:
        self._connection = connection
        self._pack = pack_id
        self._trusted = trusted
        rows = connection.execute("SELECT id, text_sha256 FROM knowledge_doc WHERE pack = ?", (pack_id,))
        self._old: dict[str, str] = {row["id"]: row["text_sha256"] for row in rows}
        self.done: Counter[str] = Counter()

    def put(self, doc: Doc) -> None:
        """Write one unless exactly it is there; the second of one key counts as repeated and is left out."""
        identifier, digest = f"{self._pack}:{doc.source_key}", codec.digest(doc)
        before = self._old.pop(identifier, None)
        if before == digest and self._trusted:
            self.done["unchanged"] += 1
            return
        if before is None and self._is_there(identifier):
            self.done["repeated"] += 1
            return
        self.done["added" if before is None else "changed"] += 1
        if before is not None:
            self._delete(identifier)
        self._insert(identifier, doc, digest)
        self._post(identifier, "add")

    def finish(self) -> tuple[int, int]:
        """Delete what the new content does not hold; returns the numbers of documents and passages now."""
        for identifier in self._old:
            self._delete(identifier)
            self._post(identifier, "delete")
        self.done["removed"] += len(self._old)
        row = self._connection.execute(
            "SELECT count(DISTINCT d.n), count(c.id) FROM knowledge_doc d "
            "LEFT JOIN knowledge_section s ON s.doc = d.id LEFT JOIN knowledge_chunk c ON c.section = s.id "
            "WHERE d.pack = ?",
            (self._pack,),
        )
        docs, chunks = row.fetchone()
        return int(docs), int(chunks)

    def _is_there(self, identifier: str) -> bool:
        return bool(self._connection.execute("SELECT 1 FROM knowledge_doc WHERE id = ?", (identifier,)).fetchone())

    def _post(self, target: str, op: str) -> None:
        self._connection.execute("INSERT INTO knowledge_outbox (target, op) VALUES (?, ?)", (target, op))

    def _delete(self, identifier: str) -> None:
        for statement in _DELETE:
            self._connection.execute(statement, (identifier,))

    def _insert(self, identifier: str, doc: Doc, digest: str) -> None:
        self._connection.execute(
            'INSERT INTO knowledge_doc (id, pack, source_key, title, aliases, "group", url, lang, published_on, '
            "summary, concepts, names, page_count, text_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (identifier, self._pack, doc.source_key, doc.title, codec.encode(doc.aliases), doc.group, doc.url)
            + (doc.lang, doc.published_on, doc.summary, codec.encode(doc.concepts), codec.encode(doc.names))
            + (doc.page_count, digest),
        )
        self._insert_sections(identifier, doc)
        self._connection.executemany(
            "INSERT INTO knowledge_fact (id, doc, payload) VALUES (?, ?, ?)",
            [(f"{identifier}/{fact.id}", identifier, codec.encode(fact)) for fact in doc.facts],
        )

    def _insert_sections(self, identifier: str, doc: Doc) -> None:
        number = 0
        for n, section in enumerate(doc.sections):
            row = self._connection.execute(
                "INSERT INTO knowledge_section (doc, n, path, class, page_from, page_to, text, text_sha256) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (identifier, n, section.path, section.section_class, section.page_from, section.page_to)
                + (section.text, text_sha256(section.text)),
            ).lastrowid
            for span in section.spans:
                number += 1
                self._connection.execute(
                    "INSERT INTO knowledge_chunk (key, section, start, end, tokens, text_sha256) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (f"{identifier}#{number}", row, span.start, span.end, span.tokens)
                    + (text_sha256(section.text[span.start : span.end]),),
                )


# ------------------------------------------------------------------------------------------------------- read back


def ids(database: Database, pack_id: str) -> tuple[str, ...]:
    """The documents of a pack, in order of their numbers."""
    rows = database.query("SELECT id FROM knowledge_doc WHERE pack = ? ORDER BY n", pack_id)
    return tuple(row["id"] for row in rows)


def read(database: Database, identifier: str) -> Doc:
    """A document as it was put in.

    Raises:
        StoreError, msgspec.MsgspecError: its rows are damaged.
    """
    row = database.query("SELECT * FROM knowledge_doc WHERE id = ?", identifier)[0]
    spans: dict[int, list[Span]] = {}
    for chunk in database.query(
        "SELECT section, start, end, tokens FROM knowledge_chunk WHERE section IN "
        "(SELECT id FROM knowledge_section WHERE doc = ?) ORDER BY id",
        identifier,
    ):
        spans.setdefault(chunk["section"], []).append(Span(chunk["start"], chunk["end"], chunk["tokens"]))
    sections = database.query("SELECT * FROM knowledge_section WHERE doc = ? ORDER BY n", identifier)
    facts = database.query("SELECT payload FROM knowledge_fact WHERE doc = ? ORDER BY rowid", identifier)
    return Doc(
        source_key=row["source_key"],
        title=row["title"],
        sections=tuple(_section(section, spans.get(section["id"], ())) for section in sections),
        aliases=codec.decode(row["aliases"], tuple[str, ...]),
        group=row["group"],
        url=row["url"],
        lang=row["lang"],
        published_on=row["published_on"],
        summary=row["summary"],
        concepts=codec.decode(row["concepts"], tuple[str, ...]),
        names=codec.decode(row["names"], tuple[str, ...]),
        page_count=row["page_count"],
        facts=tuple(codec.decode(fact["payload"], Fact) for fact in facts),
    )


def _section(row: sqlite3.Row, spans: Sequence[Span]) -> Section:
    return Section(
        path=row["path"],
        section_class=row["class"],
        text=row["text"],
        spans=tuple(spans),
        page_from=row["page_from"],
        page_to=row["page_to"],
    )
