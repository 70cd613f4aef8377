"""Writes `workbench-<migration>.sql` and `knowledge-<migration>.sql`: small databases of every schema there was.

Run after a migration was appended: `python -m tests.golden.make_databases`. What is there already is never made again.
A schema is made by its migrations alone; of the rows that this version writes it gets the columns that it has.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
from sqlite_utils import Migrations

from core.domain import event as ev
from core.domain.evidence import Answer
from core.domain.pack import Calibration
from core.domain.passage import Fact
from core.domain.terminology import Drug
from core.store import migrations
from core.store.cases import Cases
from core.store.database import Database, open_database
from core.store.journal import Journal
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Surface, VocabularyConcept
from core.store.packs import Packs
from tests.helpers.runs import ACTOR, AT, CASE, NOTE, QUESTION, a_row, an_assessment
from tests.helpers.shelf import doc, pack

FOLDER = Path(__file__).parent
FACT = Fact(
    id="k", quantity="potassium", population="adults", comparator=">=", low=5.5, unit="mmol/L", kind="diagnostic",
    statement="Potassium of 5.5 mmol/L or more is high.", citation="x",
)  # fmt: skip
GOUT = VocabularyConcept(id="T:1", name="gout", kind="disease", surfaces=(Surface("Gout", "gout"),), definition="Pain.")


def fill_workbench(database: Database) -> None:
    """A case, and a run of it with a question that was answered."""
    note = msgspec.structs.replace(NOTE, text="Breathless since Monday.")
    case = msgspec.structs.replace(CASE, id="golden", title="Golden case", items=(note,))
    Cases(database).save(case, ACTOR, AT)
    row = a_row(id="rgolden", case_id="golden")
    journal = Journal(database)
    journal.queue(row)
    answers = (Answer(concept="calf-swelling", state="present"),)
    events: tuple[tuple[str, ev.Event], ...] = (
        ("case", ev.CaseOpened(case="golden", revision=1, items=("n1",), task=row.task)),
        ("1.note", ev.EvidenceAdded(stage="Findings")),
        ("2.ask", ev.QuestionAsked(question=QUESTION)),
        ("2.ask=", ev.QuestionAnswered(answers=answers, actor=ACTOR)),
        ("finish", ev.RunFinished(assessment=an_assessment("Golden headline."))),
    )
    for key, event in events:
        journal.append("rgolden", event, branch="", key=key, actor=ACTOR)
    measured = Calibration(pack="p", n_ctx=2048, rung="cpu", peak=1, tok_s=2.0, tokens=3)
    Packs(database).calibrate(measured, actor=ACTOR)


def fill_knowledge(database: Database) -> None:
    """A collection of one document with a number, a term and a drug."""
    document = doc("a", "Give 5 mg daily.", "A second part of it.", title="Golden guideline", facts=(FACT,))
    items = (document, GOUT, Drug(id="T:9", name="salt", indication="None known.", dosage=("one spoon",)))
    KnowledgeStore(database).put_pack(pack(), items, actor=ACTOR)


SETS: tuple[tuple[Migrations, Callable[[Database], None]], ...] = (
    (migrations.workbench, fill_workbench),
    (migrations.knowledge, fill_knowledge),
)


def up_to(number: int, all_of_them: Migrations) -> Migrations:
    """The first migrations of a set."""
    made = Migrations(all_of_them.name)
    made._migrations.extend(all_of_them._migrations[:number])
    return made


def name_of(migrated: Migrations, number: int) -> str:
    """The file of the schema after so many migrations, "workbench-0001.sql"."""
    return f"{migrated.name}-{migrated._migrations[number - 1].name[:4]}.sql"


def dumped(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = str
        return "\n".join(connection.iterdump()) + "\n"


def copy_rows(source: Path, target: Path) -> None:
    """Of every table of the target the rows of the source, in the columns that the target has."""
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("ATTACH ? AS today", (str(source),))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE '%sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            names = ", ".join(f'"{row[1]}"' for row in connection.execute(f'PRAGMA main.table_info("{table}")'))
            connection.execute(f'INSERT INTO main."{table}" ({names}) SELECT {names} FROM today."{table}"')


def main() -> None:
    for migrated, fill in SETS:
        with tempfile.TemporaryDirectory() as folder:
            today = Path(folder) / "today.db"
            with closing(open_database(today, migrated)) as database:
                fill(database)
            for number in range(1, len(migrated._migrations) + 1):
                file, path = FOLDER / name_of(migrated, number), Path(folder) / f"{number}.db"
                if not file.exists():
                    open_database(path, up_to(number, migrated)).close()
                    copy_rows(today, path)
                    file.write_text(dumped(path), encoding="utf-8")


if __name__ == "__main__":
    main()
