"""Schema of the databases, changed only by appended migrations (design convention 8).

Never edit a migration that was released: append one. A copy of the file is made before pending ones are applied
(`core.store.database`). Needs no other module of the program.
"""

from __future__ import annotations

from sqlite_utils import Database as Tables
from sqlite_utils import Migrations

workbench = Migrations("workbench")
knowledge = Migrations("knowledge")


@workbench(name="0001_foundation")
def _foundation(db: Tables) -> None:
    for statement in (
        """CREATE TABLE "case" (id TEXT PRIMARY KEY, title TEXT NOT NULL, revision INTEGER NOT NULL,
           created_at TEXT NOT NULL, actor TEXT NOT NULL)""",
        """CREATE TABLE case_item (case_id TEXT NOT NULL REFERENCES "case"(id), revision INTEGER NOT NULL,
           payload BLOB NOT NULL, sha256 TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (case_id, revision))""",
        """CREATE TABLE artifact (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL, media_type TEXT NOT NULL,
           at TEXT NOT NULL)""",
        """CREATE TABLE run (id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES "case"(id),
           revision INTEGER NOT NULL, task BLOB NOT NULL, workflow TEXT NOT NULL, version TEXT NOT NULL,
           mode TEXT NOT NULL, backbone TEXT NOT NULL, settings BLOB NOT NULL, seed INTEGER NOT NULL,
           actor TEXT NOT NULL, status TEXT NOT NULL, resumes INTEGER NOT NULL DEFAULT 0,
           created_at TEXT NOT NULL, head_n INTEGER NOT NULL, head_hash TEXT NOT NULL)""",
        """CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL REFERENCES run(id),
           n INTEGER NOT NULL, branch TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL,
           payload BLOB NOT NULL, prev_hash TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (run_id, n),
           UNIQUE (run_id, key))""",
        """CREATE TABLE crash (run_id TEXT NOT NULL, key TEXT NOT NULL, times INTEGER NOT NULL,
           PRIMARY KEY (run_id, key))""",
        """CREATE TABLE pack (id TEXT NOT NULL, version TEXT NOT NULL, state TEXT NOT NULL, detail TEXT NOT NULL,
           at TEXT NOT NULL, PRIMARY KEY (id, version))""",
        """CREATE TABLE consent (actor TEXT NOT NULL, text_hash TEXT NOT NULL, at TEXT NOT NULL,
           PRIMARY KEY (actor, text_hash))""",
        "CREATE INDEX run_by_case ON run(case_id, created_at)",
        "CREATE INDEX event_by_run ON event(run_id, n)",
    ):
        db.execute(statement)


@knowledge(name="0001_foundation")
def _knowledge(db: Tables) -> None:
    for statement in (
        """CREATE TABLE knowledge_pack (id TEXT PRIMARY KEY, title TEXT NOT NULL, kind TEXT NOT NULL,
           edition TEXT NOT NULL, publisher TEXT NOT NULL, jurisdiction TEXT NOT NULL, lang TEXT NOT NULL,
           issued_on TEXT NOT NULL, effective_from TEXT NOT NULL, review_by TEXT NOT NULL, expires_on TEXT NOT NULL,
           licence_id TEXT NOT NULL, licence_text TEXT NOT NULL, source_url TEXT NOT NULL, importer TEXT NOT NULL,
           importer_version TEXT NOT NULL, files BLOB NOT NULL, state TEXT NOT NULL, replaces TEXT NOT NULL,
           added_by TEXT NOT NULL, added_at TEXT NOT NULL, approved_by TEXT NOT NULL, approved_at TEXT NOT NULL)""",
        # AUTOINCREMENT: an index that lags behind must never find another text under a number it knows.
        """CREATE TABLE knowledge_doc (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
           pack TEXT NOT NULL REFERENCES knowledge_pack(id), source_key TEXT NOT NULL, title TEXT NOT NULL,
           aliases BLOB NOT NULL, "group" TEXT NOT NULL, url TEXT NOT NULL, lang TEXT NOT NULL,
           published_on TEXT NOT NULL, summary TEXT NOT NULL, concepts BLOB NOT NULL, names BLOB NOT NULL,
           page_count INTEGER, text_sha256 TEXT NOT NULL)""",
        """CREATE TABLE knowledge_section (id INTEGER PRIMARY KEY, doc TEXT NOT NULL REFERENCES knowledge_doc(id),
           n INTEGER NOT NULL, path TEXT NOT NULL, class TEXT NOT NULL, page_from INTEGER, page_to INTEGER,
           text TEXT NOT NULL, text_sha256 TEXT NOT NULL, UNIQUE (doc, n))""",
        """CREATE TABLE knowledge_chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
           section INTEGER NOT NULL REFERENCES knowledge_section(id), start INTEGER NOT NULL, end INTEGER NOT NULL,
           tokens INTEGER NOT NULL, text_sha256 TEXT NOT NULL)""",
        """CREATE TABLE knowledge_fact (id TEXT PRIMARY KEY, doc TEXT NOT NULL REFERENCES knowledge_doc(id),
           payload BLOB NOT NULL)""",
        """CREATE TABLE knowledge_outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL,
           op TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0)""",
        """CREATE TABLE knowledge_change (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,
           "user" TEXT NOT NULL, pack TEXT NOT NULL, what TEXT NOT NULL, from_state TEXT NOT NULL,
           to_state TEXT NOT NULL, reason TEXT NOT NULL, prev_hash TEXT NOT NULL, hash TEXT NOT NULL)""",
        "CREATE INDEX doc_by_pack ON knowledge_doc(pack)",
        "CREATE INDEX chunk_by_section ON knowledge_chunk(section)",
        "CREATE INDEX fact_by_doc ON knowledge_fact(doc)",
        "CREATE INDEX outbox_open ON knowledge_outbox(seq) WHERE done = 0",
        "CREATE INDEX change_by_hash ON knowledge_change(hash)",
    ):
        db.execute(statement)


@knowledge(name="0002_vocabulary")
def _vocabulary(db: Tables) -> None:
    for statement in (
        # Two packs may hold one concept (subsets of an ontology): rows are told apart by number.
        """CREATE TABLE knowledge_concept (n INTEGER PRIMARY KEY, id TEXT NOT NULL, vocab TEXT NOT NULL,
           code TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, definition TEXT NOT NULL,
           def_source TEXT NOT NULL, pack TEXT NOT NULL REFERENCES knowledge_pack(id), obsolete INTEGER NOT NULL,
           replaced_by TEXT NOT NULL, sha256 TEXT NOT NULL, UNIQUE (id, pack))""",
        """CREATE TABLE knowledge_surface (concept INTEGER NOT NULL REFERENCES knowledge_concept(n),
           text TEXT NOT NULL, norm TEXT NOT NULL, type TEXT NOT NULL, lang TEXT NOT NULL)""",
        """CREATE TABLE knowledge_relation (a INTEGER NOT NULL REFERENCES knowledge_concept(n), rel TEXT NOT NULL,
           b TEXT NOT NULL, text TEXT NOT NULL)""",
        """CREATE TABLE knowledge_drug (id TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
           state TEXT NOT NULL, indication TEXT NOT NULL, dosage BLOB NOT NULL, contraindication TEXT NOT NULL,
           interaction TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL,
           pack TEXT NOT NULL REFERENCES knowledge_pack(id), sha256 TEXT NOT NULL, PRIMARY KEY (id, pack))""",
        "CREATE INDEX concept_by_pack ON knowledge_concept(pack)",
        "CREATE INDEX surface_by_norm ON knowledge_surface(norm)",
        "CREATE INDEX surface_by_concept ON knowledge_surface(concept)",
        "CREATE INDEX relation_by_concept ON knowledge_relation(a)",
        "CREATE INDEX relation_by_target ON knowledge_relation(b)",
        "CREATE INDEX drug_by_pack ON knowledge_drug(pack)",
    ):
        db.execute(statement)


@workbench(name="0002_calibration")
def _calibration(db: Tables) -> None:
    db.execute(
        """CREATE TABLE calibration (pack TEXT NOT NULL, n_ctx INTEGER NOT NULL, rung TEXT NOT NULL,
           peak INTEGER NOT NULL, tok_s REAL NOT NULL, tokens INTEGER NOT NULL, at TEXT NOT NULL,
           PRIMARY KEY (pack, n_ctx, rung))"""
    )


@knowledge(name="0003_lifecycle")
def _lifecycle(db: Tables) -> None:
    # Over a pack's own fields and the hashes of all it holds; "" = imported before there was one.
    db.execute("ALTER TABLE knowledge_pack ADD COLUMN sha256 TEXT NOT NULL DEFAULT ''")
    db.execute("CREATE INDEX change_by_pack ON knowledge_change(pack, seq)")
