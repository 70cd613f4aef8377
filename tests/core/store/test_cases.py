"""Cases by revision: whole, in order, never changed; and the list with the state of the latest run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from core.domain import event as ev
from core.domain.case import Case, ImageRef, LabRow, LabTable, Note, Patient, SeriesRef, Unread
from core.errors import StoreError, UserError
from tests.helpers.runs import ACTOR, AT, CASE, QUESTION, Shelf, an_assessment

LATER = "2026-02-02T00:00:00.000+00:00"
FULL = Case(
    id="full",
    title="Ärger mit µ: “quotes”",
    revision=1,
    created_at=LATER,
    patient=Patient(name="Example, Ada", patient_id="7", birth_date="1950-01-02", sex="F"),
    items=(
        Note(id="n1", title="note", text="Zeile eins\nZeile zwei", sha256="1" * 64),
        LabTable(
            id="t1",
            title="labs",
            sha256="2" * 64,
            rows=(LabRow(row=1, test="K", value="<5", unit="mmol/L", low=3.5, high=5.1),),
        ),
        ImageRef(id="i1", title="eye", sha256="3" * 64, preview_sha256="4" * 64, width=10, height=20),
        SeriesRef(
            id="s1",
            title="chest",
            study_uid="1.2",
            series_uid="1.3",
            modality="CR",
            instances=1,
            sha256="5" * 64,
            preview_sha256="6" * 64,
        ),
    ),
    unread=(Unread("x.exe", "not read"),),
)


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    return Shelf(profile)


def test_a_case_comes_back_whole(shelf: Shelf) -> None:
    shelf.cases.save(FULL, ACTOR, LATER)
    assert shelf.cases.load("full") == FULL


def test_revisions_stay_and_the_latest_is_the_default(shelf: Shelf) -> None:
    second = msgspec.structs.replace(CASE, revision=2, title="Breathlessness, again")
    shelf.cases.save(second, ACTOR, LATER)
    assert shelf.cases.load(CASE.id) == second
    assert shelf.cases.load(CASE.id, 1) == CASE
    for case, revision in ((CASE.id, 3), ("other", None)):
        with pytest.raises(UserError, match="There is no case"):
            shelf.cases.load(case, revision)


def test_a_revision_is_never_written_twice(shelf: Shelf) -> None:
    changed = msgspec.structs.replace(CASE, title="changed")
    with pytest.raises(StoreError):
        shelf.cases.save(changed, ACTOR, LATER)
    assert shelf.cases.load(CASE.id) == CASE
    assert shelf.cases.list()[0].title == CASE.title  # the failed step left nothing


def test_the_list_newest_first_with_counts(shelf: Shelf) -> None:
    shelf.cases.save(FULL, ACTOR, LATER)
    full, plain = shelf.cases.list()
    assert (full.id, full.items, full.unread, full.created_at) == ("full", 4, 1, LATER)
    assert (plain.id, plain.items, plain.unread, plain.created_at) == (CASE.id, 1, 0, AT)


def test_the_state_of_a_case_is_that_of_its_latest_run(shelf: Shelf) -> None:
    def state() -> tuple[str, str]:
        row = shelf.cases.list()[0]
        return row.state, row.last_run

    assert state() == ("new data", "")
    shelf.queue()
    assert state() == ("queued", "r1")
    shelf.journal.append("r1", ev.QuestionAsked(question=QUESTION), branch="", key="1.ask", actor=ACTOR)
    assert state() == ("waiting for your answer", "r1")
    finished = ev.RunFinished(assessment=an_assessment("x"))
    shelf.journal.append("r1", finished, branch="", key="finish", actor=ACTOR)
    assert state() == ("ready to read", "r1")
    shelf.queue(id="r2", created_at=LATER)
    assert state() == ("queued", "r2")
    shelf.cases.save(msgspec.structs.replace(CASE, revision=2), ACTOR, LATER)
    assert state() == ("new data", "r2")
