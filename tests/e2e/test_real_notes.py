"""Real notes and vignettes, written as files, imported and worked up: each ends with an answer that cites its sources.

Read in place from the folder of public data sets; nothing of them is kept here. Chosen by rule: the lowest sha256 of
the row id.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import models
from core.bench.loaders.mcq import load_mirage
from core.bench.loaders.medcalc import load_medcalc
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.domain.ports import Backbone
from core.domain.report import Report
from core.domain.task import task_from_case
from core.runtime import report
from core.runtime.intake import import_paths
from core.runtime.run import Run
from core.settings import Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import Database, now, open_database
from core.store.journal import Journal, RunRow
from core.workflows.direct import NAME, VERSION, direct
from tests.helpers import workup

EACH = 10
CPU_S = 1.0  # direct.md acceptance 8: model off, after import
PACK = "smollm2-135m-instruct-q4_1"

pytestmark = pytest.mark.data


def lowest(rows: Mapping[str, str], count: int) -> dict[str, str]:
    """The texts of the rows with the lowest sha256 of the row id; a text that stands twice is taken once."""
    chosen: dict[str, str] = {}
    for identifier in sorted(rows, key=lambda row: hashlib.sha256(row.encode()).hexdigest()):
        if rows[identifier] not in chosen.values():
            chosen[identifier] = rows[identifier]
    return dict(list(chosen.items())[:count])


@pytest.fixture(scope="module")
def texts(data: Path) -> dict[str, str]:
    """Ten notes and ten vignettes, by name."""
    notes = {row.id: row.note for row in load_medcalc(data)}
    vignettes = {row.id: row.question for row in load_mirage(data, "medqa") if "-year-old" in row.question}
    named = {f"note-{key}": text for key, text in lowest(notes, EACH).items()}
    return named | {f"vignette-{key}": text for key, text in lowest(vignettes, EACH).items()}


class Desk:
    """A profile in which texts are imported as files and worked up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database: Database = open_database(folder / "workbench.db", migrations.workbench)
        self.cases, self.journal = Cases(self.database), Journal(self.database)

    def take(self, name: str, text: str) -> Case:
        """Write a text as a file and import it."""
        path = self.folder / f"{name}.txt"
        path.write_text(text, "utf-8")
        return import_paths(
            (path,),
            case_id=None,
            title=name,
            settings=Settings(),
            cases=self.cases,
            artifacts=Artifacts(self.database, self.folder),
            actor="tester",
            clock=now,
            on_progress=lambda done, total, name: None,
            stop=threading.Event(),
        )

    def work_up(self, case: Case, backbone: Backbone | None) -> tuple[Assessment, Report, float]:
        """Assessment, report, and the processor seconds that the workflow took."""
        row = RunRow(
            id=f"r-{case.id}",
            case_id=case.id,
            revision=case.revision,
            task=task_from_case(case),
            workflow=NAME,
            version=VERSION,
            mode="adaptive",
            backbone=PACK if backbone else "",
            settings=Settings(),
            seed=1,
            actor="tester",
            status="queued",
            resumes=0,
            created_at=now(),
        )
        self.journal.queue(row)
        run = Run(row, self.journal, backbone=backbone, retriever=workup.retriever(), knowledge=workup.known())
        began = time.process_time()
        assessment = direct(case, run)
        spent = time.process_time() - began
        concluded = msgspec.structs.replace(run.memory, assessment=assessment)
        return assessment, report.build(case, row, concluded), spent


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    workup.retriever(), workup.known()  # loaded once a session, as the worker does; no part of a run's time
    made = Desk(tmp_path_factory.mktemp("desk"))
    made.work_up(made.take("warm", "A 60-year-old man with a cough and a fever of 38.5."), None)
    yield made
    made.database.close()


def check(assessment: Assessment, shown: Report) -> None:
    """An answer; every sentence cites evidence that exists, in the assessment and in the report."""
    assert assessment.conclusion in ("ranked", "insufficient")
    assert (assessment.conclusion == "insufficient") == assessment.headline.text.startswith("Insufficient evidence")
    known = {item.id for item in assessment.evidence}
    sections = [sentence for section in assessment.sections for sentence in section.sentences]
    for sentence in (assessment.headline, *sections):
        assert sentence.evidence and set(sentence.evidence) <= known and not sentence.struck, sentence.text
    for flag in assessment.flags:
        assert flag.evidence and set(flag.evidence) <= known, flag.text
    cited = [identifier for line in report.all_lines(shown) for identifier in line.evidence]
    assert cited and all(shown.find(identifier) for identifier in cited)
    assert report.text(shown).strip()


def test_ten_notes_and_ten_vignettes_end_with_an_answer(texts: dict[str, str], desk: Desk) -> None:
    assert len(texts) == 2 * EACH
    for name, text in texts.items():
        case = desk.take(name, text)
        assert len(case.notes) == 1 and not case.unread, name
        assessment, shown, spent = desk.work_up(case, None)
        check(assessment, shown)
        assert assessment.evidence and spent < CPU_S, (name, spent)


@pytest.mark.weights
def test_three_of_them_with_the_model(texts: dict[str, str], tmp_path: Path, smollm2: Path) -> None:
    """The model ranks; the answer stands as well."""
    desk = Desk(tmp_path)
    backbone = models.open_backbone(PACK, packs=smollm2.parent.parent)
    try:
        ranked = []
        for name in sorted(texts, key=lambda key: -len(texts[key]))[:3]:
            assessment, shown, _ = desk.work_up(desk.take(name, texts[name]), backbone)
            check(assessment, shown)
            ranked.append(assessment.differential.model_used)
        assert any(ranked)
    finally:
        backbone.close()
        desk.database.close()
