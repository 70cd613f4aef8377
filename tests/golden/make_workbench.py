"""Writes `workbench-<migration>.sql`: a small database as this version leaves it, for the versions that follow.

Run once at each release with the number of its last migration; files of earlier releases are never made again.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

import msgspec

from core.domain import event as ev
from core.domain.evidence import Answer
from core.store import migrations
from core.store.cases import Cases
from core.store.database import open_database
from core.store.journal import Journal
from tests.helpers.runs import ACTOR, AT, CASE, NOTE, QUESTION, a_row, an_assessment


def main(number: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workbench.db"
        database = open_database(path, migrations.workbench)
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
        database.close()
        connection = sqlite3.connect(path)
        connection.text_factory = str
        target = Path(__file__).with_name(f"workbench-{number}.sql")
        target.write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
