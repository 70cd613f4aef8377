"""Concepts, their names and relations, and drugs: tables knowledge_concept, _surface, _relation, _drug.

Written in the transaction of their pack (`core.store.knowledge` calls `put`); read through `Vocabulary`. What makes two
names the same is the caller's: a surface comes with its norm. It must not know importers, a matcher or a case.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence

from core import codec
from core.domain.terminology import Drug
from core.store.database import Database
from core.store.knowledge_values import Named, Relation, Surface, VocabularyConcept

_ACTIVE = "SELECT id FROM knowledge_pack WHERE state = 'active'"
_NAMED = """SELECT c.id AS concept, c.vocab, c.kind, s.text, s.norm, s.type FROM knowledge_surface s
    JOIN knowledge_concept c ON c.n = s.concept"""
_BATCH = 2_000  # rows fetched at once: the names of all vocabularies are never in memory twice


class Rows:
    """The concepts and drugs of one pack while it is written: what it holds already, and what was done.

    Without `trusted` nothing that is there is believed to be what its hash says.
    """

    def __init__(self, connection: sqlite3.Connection, pack_id: str, *, trusted: bool = True) -> None:
        self._connection = connection
        self._pack = pack_id
        self._trusted = trusted
        self._concepts = self._held("SELECT id, n, sha256 FROM knowledge_concept WHERE pack = ?")
        self._drugs = self._held("SELECT id, 0 AS n, sha256 FROM knowledge_drug WHERE pack = ?")
        self._seen: set[tuple[bool, str]] = set()
        self.done: Counter[str] = Counter()

    def put(self, item: VocabularyConcept | Drug) -> None:
        """Write one unless exactly it is there; the second of one id counts as repeated and is left out."""
        is_drug = isinstance(item, Drug)
        if (is_drug, item.id) in self._seen:
            self.done["repeated"] += 1
            return
        self._seen.add((is_drug, item.id))
        n, before = (self._drugs if is_drug else self._concepts).pop(item.id, (0, ""))
        digest = codec.digest(item)
        if before == digest and self._trusted:
            self.done["unchanged"] += 1
            return
        self.done["changed" if before else "added"] += 1
        if isinstance(item, Drug):
            self._insert_drug(item, digest)
            return
        if before:
            self._delete_concept(n)
        self._insert_concept(item, digest)

    def finish(self) -> int:
        """Delete what the new content does not hold; returns the number of concepts now."""
        for n, _ in self._concepts.values():
            self._delete_concept(n)
        for identifier in self._drugs:
            self._connection.execute("DELETE FROM knowledge_drug WHERE id = ? AND pack = ?", (identifier, self._pack))
        self.done["removed"] += len(self._concepts) + len(self._drugs)
        row = self._connection.execute("SELECT count(*) FROM knowledge_concept WHERE pack = ?", (self._pack,))
        return int(row.fetchone()[0])

    def _held(self, statement: str) -> dict[str, tuple[int, str]]:
        rows = self._connection.execute(statement, (self._pack,))
        return {row["id"]: (row["n"], row["sha256"]) for row in rows}

    def _insert_concept(self, concept: VocabularyConcept, digest: str) -> None:
        n = self._connection.execute(
            "INSERT INTO knowledge_concept (id, vocab, code, name, kind, definition, def_source, pack, obsolete, "
            "replaced_by, sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (concept.id, concept.vocab, concept.code, concept.name, concept.kind, concept.definition)
            + (concept.def_source, self._pack, concept.obsolete, concept.replaced_by, digest),
        ).lastrowid
        self._connection.executemany(
            "INSERT INTO knowledge_surface (concept, text, norm, type, lang) VALUES (?, ?, ?, ?, ?)",
            [(n, surface.text, surface.norm, surface.type, surface.lang) for surface in concept.surfaces],
        )
        self._connection.executemany(
            "INSERT INTO knowledge_relation (a, rel, b, text) VALUES (?, ?, ?, ?)",
            [(n, relation.rel, relation.target, relation.text) for relation in concept.relations],
        )

    def _insert_drug(self, drug: Drug, digest: str) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO knowledge_drug (id, name, description, state, indication, dosage, "
            "contraindication, interaction, source, version, pack, sha256) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (drug.id, drug.name, drug.description, drug.state, drug.indication, codec.encode(drug.dosage))
            + (drug.contraindication, drug.interaction, drug.source, drug.version, self._pack, digest),
        )

    def _delete_concept(self, n: int) -> None:
        for table, column in (("surface", "concept"), ("relation", "a"), ("concept", "n")):
            self._connection.execute(f"DELETE FROM knowledge_{table} WHERE {column} = ?", (n,))


class Vocabulary:
    """Reads concepts and drugs of the active packs; a concept that several packs hold comes from the first by id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def concept(self, identifier: str) -> VocabularyConcept | None:
        """The concept of that id with its surfaces and relations."""
        row = self._database.one(
            f"SELECT * FROM knowledge_concept WHERE id = ? AND pack IN ({_ACTIVE}) ORDER BY pack LIMIT 1", identifier
        )
        if row is None:
            return None
        return _concept(self._database, row)

    def of_pack(self, pack_id: str) -> Iterator[tuple[str, VocabularyConcept | Drug]]:
        """Everything that a pack of any state holds, as it was put in, each with its recorded hash.

        Raises:
            StoreError, msgspec.MsgspecError: the row that is due is damaged.
        """
        for row in self._rows("knowledge_concept", pack_id):
            yield row["sha256"], _concept(self._database, row)
        for row in self._rows("knowledge_drug", pack_id):
            yield row["sha256"], _drug(row)

    def _rows(self, table: str, pack_id: str) -> Iterator[sqlite3.Row]:
        last = -1
        while True:
            rows = self._database.query(
                f"SELECT rowid AS number, * FROM {table} WHERE pack = ? AND rowid > ? ORDER BY rowid LIMIT {_BATCH}",
                pack_id,
                last,
            )
            yield from rows
            if len(rows) < _BATCH:
                return
            last = rows[-1]["number"]

    def pack_of(self, identifier: str) -> str:
        """Id of the active pack that a concept or drug comes from; empty if none holds it."""
        row = self._database.one(
            f"SELECT pack FROM (SELECT id, pack FROM knowledge_concept UNION SELECT id, pack FROM knowledge_drug) "
            f"WHERE id = ? AND pack IN ({_ACTIVE}) ORDER BY pack LIMIT 1",
            identifier,
        )
        return str(row["pack"]) if row else ""

    def drug(self, identifier: str) -> Drug | None:
        """The drug of that id."""
        row = self._database.one(
            f"SELECT * FROM knowledge_drug WHERE id = ? AND pack IN ({_ACTIVE}) ORDER BY pack LIMIT 1", identifier
        )
        return _drug(row) if row else None

    def drug_names(self) -> dict[str, str]:
        """Ids of all drugs that have an entry, in order, each with the name of the entry that `drug` gives."""
        rows = self._database.query(
            f"SELECT id, name, min(pack) FROM knowledge_drug WHERE pack IN ({_ACTIVE}) GROUP BY id ORDER BY id"
        )
        return {row["id"]: row["name"] for row in rows}

    def has_drugs(self) -> bool:
        """Does an active pack hold an entry of a drug?"""
        return self._database.one(f"SELECT 1 FROM knowledge_drug WHERE pack IN ({_ACTIVE}) LIMIT 1") is not None

    def drug_pack(self, identifier: str) -> str:
        """Id of the active pack that `drug` reads the drug from; empty if none holds it."""
        row = self._database.one(
            f"SELECT min(pack) AS pack FROM knowledge_drug WHERE id = ? AND pack IN ({_ACTIVE})", identifier
        )
        return str(row["pack"] or "") if row else ""

    def named(self, norm: str) -> tuple[Named, ...]:
        """The names of active packs with exactly this norm, each concept once."""
        rows = self._database.query(f"{_NAMED} WHERE s.norm = ? AND c.pack IN ({_ACTIVE}) ORDER BY c.id", norm)
        found: dict[str, Named] = {}
        for row in rows:
            found.setdefault(row["concept"], Named(**dict(row)))
        return tuple(found.values())

    def one_with(self, identifiers: Sequence[str]) -> tuple[str, ...]:
        """Ids of all active concepts that share a UMLS or MeSH number with one of these; themselves included."""
        rows = self._database.query(
            f"""WITH given AS (SELECT n, id FROM knowledge_concept WHERE id IN (SELECT value FROM json_each(?))),
                number(b) AS (SELECT r.b FROM given CROSS JOIN knowledge_relation r ON r.a = given.n
                  WHERE r.rel = 'xref'
                  AND (r.b LIKE 'UMLS:%' OR r.b LIKE 'MSH:%') UNION SELECT id FROM given),
                same(n) AS (SELECT r.a FROM number CROSS JOIN knowledge_relation r ON r.b = number.b
                  WHERE r.rel = 'xref'
                  UNION SELECT c.n FROM number CROSS JOIN knowledge_concept c ON c.id = number.b)
                SELECT DISTINCT c.id FROM same CROSS JOIN knowledge_concept c ON c.n = same.n
                WHERE c.obsolete = 0 AND c.pack IN ({_ACTIVE}) ORDER BY c.id""",
            codec.encode(list(identifiers)).decode(),
        )
        return tuple(row["id"] for row in rows)

    def names(self, *, kinds: Sequence[str] = ()) -> Iterator[Named]:
        """Every name of the active packs, by concept number; only those kinds of concept where some are given."""
        last = 0
        while True:
            rows = self._database.query(
                f"SELECT s.rowid AS number, c.id AS concept, c.vocab, c.kind, s.text, s.norm, s.type "
                f"FROM knowledge_surface s CROSS JOIN knowledge_concept c ON c.n = s.concept WHERE s.rowid > ? "
                f"AND c.obsolete = 0 AND c.pack IN ({_ACTIVE}) AND (?2 = '[]' OR c.kind IN "
                f"(SELECT value FROM json_each(?2))) ORDER BY s.rowid LIMIT {_BATCH}",
                last,
                codec.encode(list(kinds)).decode(),
            )
            for row in rows:
                fields = dict(row)
                last = fields.pop("number")
                yield Named(**fields)
            if len(rows) < _BATCH:
                return

    def links(self, rel: str, vocab: str) -> Iterator[tuple[str, str]]:
        """Pairs (concept, target) of one relation to one vocabulary, in the active packs: xrefs to UMLS, say."""
        rows = self._database.query(
            f"SELECT c.id AS a, r.b FROM knowledge_relation r JOIN knowledge_concept c ON c.n = r.a "
            f"WHERE r.rel = ? AND r.b LIKE ? AND c.obsolete = 0 AND c.pack IN ({_ACTIVE}) ORDER BY r.rowid",
            rel,
            f"{vocab}:%",
        )
        return ((row["a"], row["b"]) for row in rows)

    def counts(self) -> dict[str, int]:
        """How many concepts each pack holds; packs without any are left out."""
        rows = self._database.query("SELECT pack, count(*) AS n FROM knowledge_concept GROUP BY pack ORDER BY pack")
        return {row["pack"]: row["n"] for row in rows}

    def fingerprint(self) -> str:
        """Names the state of all active vocabularies: a matcher built of another state is out of date."""
        rows = self._database.query(
            f"SELECT c.pack, count(*) AS n, max(c.n) AS last FROM knowledge_concept c WHERE c.pack IN ({_ACTIVE}) "
            f"GROUP BY c.pack ORDER BY c.pack"
        )
        return codec.digest([tuple(row) for row in rows])


def _concept(database: Database, row: sqlite3.Row) -> VocabularyConcept:
    surfaces = database.query(
        "SELECT text, norm, type, lang FROM knowledge_surface WHERE concept = ? ORDER BY rowid", row["n"]
    )
    relations = database.query("SELECT rel, b, text FROM knowledge_relation WHERE a = ? ORDER BY rowid", row["n"])
    return VocabularyConcept(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        surfaces=tuple(Surface(**dict(surface)) for surface in surfaces),
        relations=tuple(Relation(relation["rel"], relation["b"], relation["text"]) for relation in relations),
        definition=row["definition"],
        def_source=row["def_source"],
        obsolete=bool(row["obsolete"]),
        replaced_by=row["replaced_by"],
    )


def _drug(row: sqlite3.Row) -> Drug:
    fields = {name: row[name] for name in Drug.__struct_fields__}
    return Drug(**(fields | {"dosage": codec.decode(row["dosage"], tuple[str, ...])}))
