BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'knowledge','0001_foundation','2026-12-01 02:32:12.251255+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'knowledge','0002_vocabulary','2026-12-01 02:32:12.252372+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'knowledge','0003_lifecycle','2026-12-01 02:32:12.253231+00:00');
CREATE TABLE knowledge_change (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,
           "user" TEXT NOT NULL, pack TEXT NOT NULL, what TEXT NOT NULL, from_state TEXT NOT NULL,
           to_state TEXT NOT NULL, reason TEXT NOT NULL, prev_hash TEXT NOT NULL, hash TEXT NOT NULL);
INSERT INTO "knowledge_change" VALUES(1,'2026-12-01T02:32:12.208+00:00','tester','lib','import','','active','','0000000000000000000000000000000000000000000000000000000000000000','60f4c219fa3c4ce7caf50fafd1395335d2e4859718c6422438bd41af5aa66e11');
CREATE TABLE knowledge_chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
           section INTEGER NOT NULL REFERENCES knowledge_section(id), start INTEGER NOT NULL, end INTEGER NOT NULL,
           tokens INTEGER NOT NULL, text_sha256 TEXT NOT NULL);
INSERT INTO "knowledge_chunk" VALUES(1,'lib:a#1',1,0,16,4,'7b1ee3c7067adb3f291290ee592cf08664cbe48f041d11eaadc94633e1974cbc');
INSERT INTO "knowledge_chunk" VALUES(2,'lib:a#2',2,0,20,5,'f011e49ae8c417266b63eb73fef14361561a67287f9369e9c8626af78e031942');
CREATE TABLE knowledge_concept (n INTEGER PRIMARY KEY, id TEXT NOT NULL, vocab TEXT NOT NULL,
           code TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, definition TEXT NOT NULL,
           def_source TEXT NOT NULL, pack TEXT NOT NULL REFERENCES knowledge_pack(id), obsolete INTEGER NOT NULL,
           replaced_by TEXT NOT NULL, sha256 TEXT NOT NULL, UNIQUE (id, pack));
INSERT INTO "knowledge_concept" VALUES(1,'T:1','T','1','gout','disease','Pain.','','lib',0,'','fd6487a4f55771f335c0452fc6dd9248263435909bc4a3a00e5d337c578a5c08');
CREATE TABLE knowledge_doc (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
           pack TEXT NOT NULL REFERENCES knowledge_pack(id), source_key TEXT NOT NULL, title TEXT NOT NULL,
           aliases BLOB NOT NULL, "group" TEXT NOT NULL, url TEXT NOT NULL, lang TEXT NOT NULL,
           published_on TEXT NOT NULL, summary TEXT NOT NULL, concepts BLOB NOT NULL, names BLOB NOT NULL,
           page_count INTEGER, text_sha256 TEXT NOT NULL);
INSERT INTO "knowledge_doc" VALUES(1,'lib:a','lib','a','Golden guideline',X'5B5D','','','en','','',X'5B5D',X'5B5D',NULL,'d8e64f68fa2d99c75d843cd5717131b9a781d43ab769c58b6023a9fb8b3f8c4b');
CREATE TABLE knowledge_drug (id TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
           state TEXT NOT NULL, indication TEXT NOT NULL, dosage BLOB NOT NULL, contraindication TEXT NOT NULL,
           interaction TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL,
           pack TEXT NOT NULL REFERENCES knowledge_pack(id), sha256 TEXT NOT NULL, PRIMARY KEY (id, pack));
INSERT INTO "knowledge_drug" VALUES('T:9','salt','','','None known.',X'5B226F6E652073706F6F6E225D','','','','','lib','f55a08f6df9fe232a9cc104c80bc9f5835638be300963644a2dfeeca8d06a8d0');
CREATE TABLE knowledge_fact (id TEXT PRIMARY KEY, doc TEXT NOT NULL REFERENCES knowledge_doc(id),
           payload BLOB NOT NULL);
INSERT INTO "knowledge_fact" VALUES('lib:a/k','lib:a',X'7B226964223A226B222C227175616E74697479223A22706F7461737369756D222C22706F70756C6174696F6E223A226164756C7473222C22636F6D70617261746F72223A223E3D222C22756E6974223A226D6D6F6C2F4C222C226B696E64223A22646961676E6F73746963222C2273746174656D656E74223A22506F7461737369756D206F6620352E35206D6D6F6C2F4C206F72206D6F726520697320686967682E222C226369746174696F6E223A2278222C226C6F77223A352E352C2268696768223A6E756C6C2C226C6F6361746F72223A22222C22737461747573223A22756E7265766965776564227D');
CREATE TABLE knowledge_outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL,
           op TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);
INSERT INTO "knowledge_outbox" VALUES(1,'lib:a','add',0);
CREATE TABLE knowledge_pack (id TEXT PRIMARY KEY, title TEXT NOT NULL, kind TEXT NOT NULL,
           edition TEXT NOT NULL, publisher TEXT NOT NULL, jurisdiction TEXT NOT NULL, lang TEXT NOT NULL,
           issued_on TEXT NOT NULL, effective_from TEXT NOT NULL, review_by TEXT NOT NULL, expires_on TEXT NOT NULL,
           licence_id TEXT NOT NULL, licence_text TEXT NOT NULL, source_url TEXT NOT NULL, importer TEXT NOT NULL,
           importer_version TEXT NOT NULL, files BLOB NOT NULL, state TEXT NOT NULL, replaces TEXT NOT NULL,
           added_by TEXT NOT NULL, added_at TEXT NOT NULL, approved_by TEXT NOT NULL, approved_at TEXT NOT NULL, sha256 TEXT NOT NULL DEFAULT '');
INSERT INTO "knowledge_pack" VALUES('lib','Library','local','1','us','','en','','','','','own','','','test','1',X'5B7B226E616D65223A2266222C22736861323536223A2231222C226279746573223A317D5D','active','','tester','2026-12-01T02:32:12.206+00:00','','','c89af3eced5995bf5c9fd19e0e7167167a3a92d9a49e9744503060e4e4cdcfea');
CREATE TABLE knowledge_relation (a INTEGER NOT NULL REFERENCES knowledge_concept(n), rel TEXT NOT NULL,
           b TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE knowledge_section (id INTEGER PRIMARY KEY, doc TEXT NOT NULL REFERENCES knowledge_doc(id),
           n INTEGER NOT NULL, path TEXT NOT NULL, class TEXT NOT NULL, page_from INTEGER, page_to INTEGER,
           text TEXT NOT NULL, text_sha256 TEXT NOT NULL, UNIQUE (doc, n));
INSERT INTO "knowledge_section" VALUES(1,'lib:a',0,'Part 0','overview',NULL,NULL,'Give 5 mg daily.','7b1ee3c7067adb3f291290ee592cf08664cbe48f041d11eaadc94633e1974cbc');
INSERT INTO "knowledge_section" VALUES(2,'lib:a',1,'Part 1','tests',NULL,NULL,'A second part of it.','f011e49ae8c417266b63eb73fef14361561a67287f9369e9c8626af78e031942');
CREATE TABLE knowledge_surface (concept INTEGER NOT NULL REFERENCES knowledge_concept(n),
           text TEXT NOT NULL, norm TEXT NOT NULL, type TEXT NOT NULL, lang TEXT NOT NULL);
INSERT INTO "knowledge_surface" VALUES(1,'Gout','gout','exact','en');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX doc_by_pack ON knowledge_doc(pack);
CREATE INDEX chunk_by_section ON knowledge_chunk(section);
CREATE INDEX fact_by_doc ON knowledge_fact(doc);
CREATE INDEX outbox_open ON knowledge_outbox(seq) WHERE done = 0;
CREATE INDEX change_by_hash ON knowledge_change(hash);
CREATE INDEX concept_by_pack ON knowledge_concept(pack);
CREATE INDEX surface_by_norm ON knowledge_surface(norm);
CREATE INDEX surface_by_concept ON knowledge_surface(concept);
CREATE INDEX relation_by_concept ON knowledge_relation(a);
CREATE INDEX relation_by_target ON knowledge_relation(b);
CREATE INDEX drug_by_pack ON knowledge_drug(pack);
CREATE INDEX change_by_pack ON knowledge_change(pack, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('knowledge_doc',1);
INSERT INTO "sqlite_sequence" VALUES('knowledge_chunk',2);
INSERT INTO "sqlite_sequence" VALUES('knowledge_outbox',1);
INSERT INTO "sqlite_sequence" VALUES('knowledge_change',1);
COMMIT;
