"""Databases of every schema there was: they open and read today, and an update that fails leaves them as they were.

They are dumps, so that their content can be read in review (`tests/golden/make_databases.py`).
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.domain.memory import fold
from core.store import migrations
from core.store.cases import Cases
from core.store.database import Database, open_database
from core.store.journal import Journal
from core.store.knowledge import KnowledgeStore
from core.store.packs import Packs
from tests.golden.make_databases import FACT, FOLDER, GOUT, name_of, up_to
from tests.helpers.shelf import doc, pack

SETS = {"workbench": migrations.workbench, "knowledge": migrations.knowledge}
FILES = sorted(file.stem for file in FOLDER.glob("*.sql"))


def old(name: str, folder: Path) -> Path:
    """The golden database of that name as its version left it: in WAL mode, closed."""
    path = folder / f"{name.split('-', maxsplit=1)[0]}.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    return path


def check_workbench(database: Database, *, schema: int) -> None:
    case = Cases(database).load("golden")
    journal = Journal(database)
    memory = fold(journal.events("rgolden"))
    assert (case.title, case.notes[0].text) == ("Golden case", "Breathless since Monday.")
    assert journal.run("rgolden").status == "finished"
    assert journal.verify("rgolden") == ()
    assert memory.assessment is not None
    assert memory.assessment.headline.text == "Golden headline."
    assert [row.n for row in journal.events("rgolden")] == [1, 2, 3, 4, 5]
    measured = Packs(database).calibration("p", n_ctx=2048, rung="cpu")
    assert (measured is not None) == (schema >= 2)


def check_knowledge(database: Database, *, schema: int) -> None:
    store = KnowledgeStore(database)
    assert store.verify() == ()
    held = store.pack("lib")
    assert held is not None
    assert (held.title, held.state, store.doc_ids()) == ("Library", "active", ("lib:a",))
    assert [passage.text for passage in store.passages_of("lib:a")] == ["Give 5 mg daily.", "A second part of it."]
    assert [fact.low for fact in store.facts("lib:a")] == [FACT.low]
    assert [change.what for change in store.lifecycle.changes("lib")] == ["import"]
    gout, salt = store.vocabulary.concept("T:1"), store.vocabulary.drug("T:9")
    assert (gout is not None, salt is not None) == (schema >= 2, schema >= 2)
    assert gout is None or gout.definition == GOUT.definition
    store.put_pack(pack(edition="2"), [doc("b", "A new edition.")], actor="tester")  # and it goes on
    assert (store.doc_ids(), store.verify()) == (("lib:b",), ())


CHECKS = {"workbench": check_workbench, "knowledge": check_knowledge}


@pytest.mark.parametrize("name", FILES)
def test_complaint_C3_every_schema_there_was_opens_and_reads(name: str, tmp_path: Path) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#1015; janhq/jan#1881: an update, and all that was kept is gone."""
    kind, number = name.split("-")
    path = old(name, tmp_path)
    with closing(open_database(path, SETS[kind])) as database:
        CHECKS[kind](database, schema=int(number))
    assert len(list(tmp_path.glob("*.bak"))) == (int(number) < len(SETS[kind]._migrations))  # the old one is kept


@pytest.mark.parametrize("name", FILES)
def test_complaint_C3_a_failed_update_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    """janhq/jan#8357; chatboxai/chatbox#2270: an update that broke half-way took the chats with it.

    The last of all migrations fails after it wrote; the file is byte for byte the old one, even where others went well.
    """
    kind, number = name.split("-")
    path = old(name, tmp_path)
    before = path.read_bytes()
    broken = up_to(len(SETS[kind]._migrations), SETS[kind])

    @broken(name="9999_broken")
    def _broken(db: object) -> None:
        db.execute("CREATE TABLE half (x)")  # type: ignore[attr-defined]
        raise RuntimeError("power")

    with pytest.raises(RuntimeError, match="power"):
        open_database(path, broken)
    assert path.read_bytes() == before
    assert not [file for file in tmp_path.iterdir() if file.suffix in (".db-wal", ".db-shm")]
    open_database(path, up_to(int(number), SETS[kind])).close()  # the version that made it still opens it
    with closing(open_database(path, SETS[kind])) as database:
        CHECKS[kind](database, schema=int(number))


def test_every_migration_has_its_golden_database() -> None:
    wanted = {
        name_of(migrated, number)
        for migrated in SETS.values()
        for number in range(1, len(migrated._migrations) + 1)
    }  # fmt: skip
    lacking = wanted - {f"{name}.sql" for name in FILES}
    assert not lacking, f"{lacking}: run python -m tests.golden.make_databases"
    for name in FILES:
        text = (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
        applied = re.findall(r"INSERT INTO \"_sqlite_migrations\" VALUES\(\d+,'(\w+)','(\d{4})_", text)
        kind, number = name.split("-")
        assert applied == [(kind, f"{n:04}") for n in range(1, int(number) + 1)]
