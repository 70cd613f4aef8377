"""A case from text and a work-up over it, in process: for tests of the workflow's own logic and its accuracy."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core import codec
from core.domain import event as ev
from core.domain import memory as fold
from core.domain.assessment import Assessment
from core.domain.case import Case, LabTable, Note
from core.domain.evidence import Answer, Question
from core.domain.memory import WorkingMemory
from core.domain.ports import Backbone, Knowledge, Retriever
from core.domain.report import Report
from core.domain.task import task_from_case
from core.errors import Waiting
from core.readers import table as table_reader
from core.retrieval import catalogue, knowledge
from core.runtime import report
from core.runtime.run import Run
from core.settings import Settings
from core.store import migrations
from core.store.cases import Cases
from core.store.database import open_database
from core.store.journal import Journal, RunRow
from core.workflows.direct import VERSION, direct

DATA = Path(__file__).parent.parent / "data"
E = TypeVar("E")
Answering = Callable[[Question], tuple[Answer, ...]]
AT = "2026-11-30T08:00:00.000+00:00"


class Worked(msgspec.Struct, frozen=True, kw_only=True):
    """What a work-up left: assessment (None: it waits), folded memory, the journal's events, the run's row."""

    assessment: Assessment | None
    memory: WorkingMemory
    events: tuple[ev.Event, ...]
    row: RunRow

    @property
    def done(self) -> Assessment:
        assert self.assessment is not None, "the run waits"
        return self.assessment

    @property
    def searches(self) -> list[str]:
        """What was searched for, by hash."""
        return [event.query_sha256 for event in self.of(ev.Retrieved)]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def report(self, case: Case) -> Report:
        """The run's report, as after its end."""
        return report.build(case, self.row, msgspec.structs.replace(self.memory, assessment=self.assessment))


@lru_cache(maxsize=1)
def retriever() -> Retriever:
    """The starter set, indexed once a test session."""
    folder = Path(tempfile.mkdtemp(prefix="wardround-knowledge-"))
    (folder / "profile").mkdir()
    _store, _index, found, _starter = catalogue.open_knowledge(folder / "profile", folder / "cache", "test")
    return found


@lru_cache(maxsize=1)
def known() -> knowledge.StarterKnowledge:
    return knowledge.packaged()


def note(text: str, *, identifier: str = "n1", title: str = "note.txt") -> Note:
    return Note(id=identifier, title=title, text=text, sha256=codec.sha256(text.encode()))


def table(text: str, *, identifier: str = "t1", title: str = "labs.csv") -> LabTable:
    """A laboratory table from CSV, read as an import reads it."""
    rows = table_reader.read(text.strip().encode(), limit_bytes=1_000_000).rows
    return LabTable(id=identifier, title=title, rows=rows, sha256=codec.sha256(text.encode()))


def case_of(*items: Note | LabTable, identifier: str = "c1") -> Case:
    return Case(id=identifier, title=identifier, revision=1, created_at=AT, items=items)


def vignettes(folder: str = "vignettes") -> list[dict[str, Any]]:
    """All vignettes of a folder of the data folder, by file name."""
    return [tomllib.loads(path.read_text("utf-8")) for path in sorted((DATA / folder).glob("*.toml"))]


def vignette_case(row: dict[str, Any]) -> Case:
    items: list[Note | LabTable] = [note(row["note"])]
    if row.get("labs", "").strip():
        items.append(table(row["labs"]))
    return case_of(*items, identifier=row["id"])


def example(letter: str) -> Case:
    """The notes and tables of a shipped example case; its picture is left out."""
    folder = resources.files("core.runtime.examples").joinpath(letter)
    items: list[Note | LabTable] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        text, identifier = file.read_text("utf-8"), f"i{len(items) + 1}"
        if file.name.endswith(".csv"):
            items.append(table(text, identifier=identifier, title=file.name))
        else:
            items.append(note(text, identifier=identifier, title=file.name))
    return case_of(*items, identifier=f"example-{letter}")


def work_up(
    profile: Path,
    case: Case,
    *,
    backbone: Backbone | None = None,
    settings: Settings | None = None,
    answering: Answering | None = None,
    run_id: str = "r1",
    question: str = "",
    library: tuple[Retriever, Knowledge] | None = None,
) -> Worked:
    """Run `direct` over a case; with `answering` the run waits, is answered by it, and is resumed until it ends.

    `library`: what is known and searched, without it the starter set.
    """
    chosen = settings or Settings()
    if answering is not None:
        chosen = msgspec.structs.replace(chosen, on_question="wait")
    folder = profile / run_id
    folder.mkdir()
    database = open_database(folder / "workbench.db", migrations.workbench)
    try:
        journal = Journal(database)
        Cases(database).save(case, "test", AT)
        journal.queue(_row(case, chosen, run_id, question))
        assessment = _attempt(journal, case, backbone, run_id, library)
        while assessment is None and answering is not None:
            asked = journal.open_question(run_id)
            assert asked is not None and isinstance(asked.event, ev.QuestionAsked)
            journal.answer(run_id, answering(asked.event.question), "test")
            assessment = _attempt(journal, case, backbone, run_id, library)
        recorded = journal.events(run_id)
        return Worked(
            assessment=assessment,
            memory=fold.fold(recorded),
            events=tuple(row.event for row in recorded),
            row=journal.run(run_id),
        )
    finally:
        database.close()


def _attempt(
    journal: Journal,
    case: Case,
    backbone: Backbone | None,
    run_id: str,
    library: tuple[Retriever, Knowledge] | None,
) -> Assessment | None:
    searched, knows = library or (retriever(), known())
    try:
        return direct(case, Run(journal.run(run_id), journal, backbone=backbone, retriever=searched, knowledge=knows))
    except Waiting:
        return None


def _row(case: Case, settings: Settings, run_id: str, question: str) -> RunRow:
    return RunRow(
        id=run_id,
        case_id=case.id,
        revision=case.revision,
        task=task_from_case(case, question),
        workflow="direct",
        version=VERSION,
        mode="adaptive",
        backbone="",
        settings=settings,
        seed=1,
        actor="test",
        status="queued",
        resumes=0,
        created_at=AT,
    )
