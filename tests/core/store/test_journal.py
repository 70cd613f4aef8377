"""The journal: rows and status in one step, the hash chain against tampering, questions, crashes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core import codec
from core.domain import event as ev
from core.domain.evidence import Answer
from core.errors import StoreError, UserError
from core.settings import Settings
from core.store.database import Database, open_database
from core.store.journal import GENESIS, Journal, answer_key
from core.store.migrations import workbench
from models.scripted import ScriptedBackbone
from tests.helpers.runs import ACTOR, CASE, QUESTION, TOY_REPLIES, Shelf, an_assessment, start, toy


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    return Shelf(profile)


def put(journal: Journal, event: ev.Event, key: str, run: str = "r1") -> ev.Recorded:
    return journal.append(run, event, branch="", key=key, actor=ACTOR)


def filled(shelf: Shelf) -> Journal:
    """A finished run of `toy` with its frame of events."""
    row = shelf.queue()
    put(shelf.journal, ev.RunStarted(**_STARTED), "start")
    assessment = toy(CASE, start(row, shelf.journal, backbone=ScriptedBackbone(TOY_REPLIES)))
    put(shelf.journal, ev.CaseOpened(case=CASE.id, revision=1, items=("n1",), task=row.task), "case")
    put(shelf.journal, ev.RunFinished(assessment=assessment), "finish")
    return shelf.journal


_STARTED = {
    "workflow": "toy",
    "version": "1",
    "mode": "adaptive",
    "seed": 7,
    "settings_sha256": codec.digest(Settings()),
    "profile": "text_support",
    "backbone": "scripted",
}


# ------------------------------------------------------------------------------------------------ rows


def test_a_run_comes_back_as_it_was_queued(shelf: Shelf) -> None:
    row = shelf.queue(settings=Settings(mode="paper"), seed=3)
    assert shelf.journal.run("r1") == row
    with pytest.raises(UserError, match="There is no run r2"):
        shelf.journal.run("r2")


def test_events_come_back_in_order_from_any_number_on(shelf: Shelf) -> None:
    journal = filled(shelf)
    rows = journal.events("r1")
    assert [row.n for row in rows] == list(range(1, len(rows) + 1))
    assert [row.seq for row in rows] == sorted(row.seq for row in rows)
    assert journal.events("r1", after=3) == rows[3:]
    assert journal.events("r1", after=99) == ()
    assert journal.last_key("r1") == "finish"
    assert journal.last_key("r9") == ""


def test_two_runs_do_not_mix(shelf: Shelf) -> None:
    shelf.queue()
    shelf.queue(id="r2")
    for n in range(3):
        put(shelf.journal, ev.EvidenceAdded(stage=str(n)), f"{n}.note", "r1")
        put(shelf.journal, ev.EvidenceAdded(stage=str(n)), f"{n}.note", "r2")
    assert [row.n for row in shelf.journal.events("r2")] == [1, 2, 3]
    assert shelf.journal.verify("r1") == shelf.journal.verify("r2") == ()


def test_an_event_of_no_run_is_refused(shelf: Shelf) -> None:
    with pytest.raises(StoreError):
        put(shelf.journal, ev.EvidenceAdded(), "1.note", "nobody")


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (ev.RunStarted(**_STARTED), "running"),
        (ev.RunFinished(assessment=an_assessment("x")), "finished"),
        (ev.RunFailed(code="c", text="t"), "failed"),
        (ev.RunCancelled(step="s", steps_done=1), "stopped"),
        (ev.QuestionAsked(question=QUESTION), "waiting"),
        (ev.QuestionAnswered(answers=(), actor="a"), "queued"),
        (ev.EvidenceAdded(), "queued"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_status_follows_the_event(shelf: Shelf, event: ev.Event, status: str) -> None:
    shelf.queue()
    put(shelf.journal, event, "k")
    assert shelf.journal.run("r1").status == status


def test_runs_of_a_case_newest_first_and_the_unfinished_oldest_first(shelf: Shelf) -> None:
    for n, status in enumerate(("finished", "queued", "stopped", "waiting", "running", "failed")):
        shelf.queue(id=f"r{n}", status=status, created_at=f"2026-01-0{n + 1}T00:00:00.000+00:00")
    assert [run.id for run in shelf.journal.runs(CASE.id)] == ["r5", "r4", "r3", "r2", "r1", "r0"]
    assert [run.id for run in shelf.journal.runs()] == ["r5", "r4", "r3", "r2", "r1", "r0"]
    assert shelf.journal.runs("other") == ()
    assert [run.id for run in shelf.journal.unfinished()] == ["r1", "r2", "r4"]


def test_a_resume_writes_no_event(shelf: Shelf) -> None:
    shelf.queue(status="stopped")
    shelf.journal.resumed("r1", ACTOR)
    assert (shelf.journal.run("r1").resumes, shelf.journal.run("r1").status) == (1, "running")
    assert shelf.journal.events("r1") == ()


def test_a_resume_of_a_waiting_run_leaves_it_waiting(shelf: Shelf) -> None:
    """Its replay ends at the question again, or its worker dies before that: both ways it waits, as it did."""
    shelf.queue()
    put(shelf.journal, ev.QuestionAsked(question=QUESTION), "1.ask")
    shelf.journal.resumed("r1", ACTOR)
    assert (shelf.journal.run("r1").resumes, shelf.journal.run("r1").status) == (1, "waiting")
    assert shelf.journal.unfinished() == ()
    shelf.journal.answer("r1", (), ACTOR)
    shelf.journal.resumed("r1", ACTOR)
    assert shelf.journal.run("r1").status == "running"


def test_crashes_are_counted_for_each_step(shelf: Shelf) -> None:
    shelf.queue()
    assert [shelf.journal.crashed("r1", "2.rank", ACTOR) for _ in range(3)] == [1, 2, 3]
    assert shelf.journal.crashed("r1", "3.rank", ACTOR) == 1


# ------------------------------------------------------------------------------------------------ questions


def test_the_open_question_is_the_last_unanswered_one(shelf: Shelf) -> None:
    shelf.queue()
    assert shelf.journal.open_question("r1") is None
    put(shelf.journal, ev.QuestionAsked(question=QUESTION), "1.ask")
    asked = shelf.journal.open_question("r1")
    assert asked is not None
    assert asked.key == "1.ask"
    given = (Answer(concept="calf-swelling", state="absent"),)
    answered = shelf.journal.answer("r1", given, ACTOR)
    assert answered.key == answer_key("1.ask")
    assert answered.event == ev.QuestionAnswered(answers=given, actor=ACTOR)
    assert shelf.journal.open_question("r1") is None
    with pytest.raises(UserError, match="waits for no answer"):
        shelf.journal.answer("r1", given, ACTOR)


class Overtaken(Database):
    """A connection that is overtaken: before each of its steps begins, `meanwhile` happens on another one."""

    meanwhile: Callable[[], object]

    @contextmanager
    def transaction(self, actor: str, act: str, about: str) -> Iterator[sqlite3.Connection]:
        self.meanwhile()
        with super().transaction(actor, act, about) as connection:
            yield connection


def test_of_two_answers_at_once_one_counts(shelf: Shelf) -> None:
    shelf.queue()
    put(shelf.journal, ev.QuestionAsked(question=QUESTION), "1.ask")
    other = open_database(shelf.database.path, workbench)
    slow = Overtaken(other._connection, other.path)
    first = (Answer(concept="calf-swelling", state="absent"),)
    slow.meanwhile = lambda: shelf.journal.answer("r1", first, ACTOR)
    with pytest.raises(UserError, match="waits for no answer"):
        Journal(slow).answer("r1", (Answer(concept="calf-swelling", state="present"),), ACTOR)
    assert shelf.journal.events("r1")[-1].event == ev.QuestionAnswered(answers=first, actor=ACTOR)
    assert len(shelf.journal.events("r1")) == 2
    other.close()


def test_a_key_is_written_once(shelf: Shelf) -> None:
    shelf.queue()
    shelf.queue(id="r2")
    put(shelf.journal, ev.EvidenceAdded(stage="a"), "1.note")
    put(shelf.journal, ev.EvidenceAdded(stage="a"), "1.note", "r2")
    with pytest.raises(StoreError) as twice:
        put(shelf.journal, ev.EvidenceAdded(stage="b"), "1.note")
    assert not twice.value.known
    assert shelf.journal.verify("r1") == ()


# ------------------------------------------------------------------------------------------------ hash chain


def test_an_untouched_chain_verifies_and_starts_at_zero(shelf: Shelf) -> None:
    journal = filled(shelf)
    assert journal.verify("r1") == ()
    first = shelf.database.one("SELECT * FROM event WHERE run_id = 'r1' ORDER BY n")
    assert first is not None
    assert first["prev_hash"] == GENESIS
    # The hash by hand: SHA-256 over the canonical JSON list of what stands in the row.
    fields = [GENESIS, "r1", 1, "", "RunStarted", "start", first["at"], bytes(first["payload"]).decode()]
    assert first["hash"] == codec.sha256(codec.encode(fields))


def payload(shelf: Shelf) -> None:
    run(shelf, "UPDATE event SET payload = replace(payload, 'embolism', 'pneumonia') WHERE n = 3")


def time(shelf: Shelf) -> None:
    run(shelf, "UPDATE event SET at = '1999-01-01T00:00:00.000+00:00' WHERE n = 5")


def key(shelf: Shelf) -> None:
    run(shelf, "UPDATE event SET key = '9.rank' WHERE n = 3")


def removed(shelf: Shelf) -> None:
    run(shelf, "DELETE FROM event WHERE n = 4")


def no_text(shelf: Shelf) -> None:
    run(shelf, "UPDATE event SET payload = x'ff00ff' WHERE n = 3")


def swapped(shelf: Shelf) -> None:
    run(shelf, "UPDATE event SET n = -n WHERE n IN (4, 5)")
    run(shelf, "UPDATE event SET n = CASE n WHEN -4 THEN 5 ELSE 4 END WHERE n < 0")


def inserted(shelf: Shelf) -> None:
    columns = "run_id, branch, kind, at, payload, prev_hash, hash"
    run(shelf, "UPDATE event SET n = n + 100 WHERE n > 6")
    run(shelf, f"INSERT INTO event (n, key, {columns}) SELECT 7, '9.note', {columns} FROM event WHERE n = 6")
    run(shelf, "UPDATE event SET n = n - 99 WHERE n > 100")


def beheaded(shelf: Shelf) -> None:
    run(shelf, "DELETE FROM event WHERE n = 1")
    run(shelf, "UPDATE event SET n = n - 1 WHERE n > 1")


def cut_off(shelf: Shelf) -> None:
    run(shelf, "DELETE FROM event WHERE n >= 14")


def cut_with_its_status(shelf: Shelf) -> None:
    cut_off(shelf)
    run(shelf, "UPDATE run SET status = 'running'")


def emptied(shelf: Shelf) -> None:
    run(shelf, "DELETE FROM event")
    run(shelf, "UPDATE run SET status = 'queued'")


def reseeded(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET seed = 8")


def other_settings(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET settings = replace(settings, 'adaptive', 'paper')")


def no_settings(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET settings = 'garbage'")


def other_workflow(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET workflow = 'direct'")


def other_version(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET version = '2'")


def other_model(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET backbone = 'other'")


def other_task(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET task = replace(task, 'What is it?', 'Why?')")


def other_revision(shelf: Shelf) -> None:
    run(shelf, "UPDATE run SET revision = 2")


def rehashed(shelf: Shelf) -> None:
    """A changed row with a hash that fits its content: the next row's link gives it away."""
    payload(shelf)
    row = shelf.database.one("SELECT * FROM event WHERE n = 3")
    assert row is not None
    fields = [row["prev_hash"], "r1", 3, row["branch"], row["kind"], row["key"], row["at"]]
    with shelf.database.transaction(ACTOR, "tamper", "r1") as connection:
        digest = codec.digest([*fields, str(row["payload"])])
        connection.execute("UPDATE event SET hash = ? WHERE n = 3", (digest,))


def run(shelf: Shelf, sql: str) -> None:
    with shelf.database.transaction(ACTOR, "tamper", "r1") as connection:
        assert connection.execute(sql).rowcount > 0


@pytest.mark.parametrize(
    ("tamper", "place"),
    [
        (payload, "event 3 "),
        (time, "event 5 "),
        (key, "event 3 "),
        (removed, "event 5 "),
        (no_text, "event 3 "),
        (swapped, "event 4 "),
        (inserted, "event 7 "),
        (beheaded, "event 1 "),
        (cut_off, "run r1 is finished, but its events end before that"),
        (rehashed, "event 4 "),
        (cut_with_its_status, "run r1 had event 17 as its last, but ends with another"),
        (emptied, "run r1 had event 17 as its last, but ends with another"),
        (reseeded, "run r1 was begun with another seed "),
        (other_settings, "run r1 was begun with another set of settings "),
        (no_settings, "run r1 was begun with another set of settings "),
        (other_workflow, "run r1 was begun with another workflow "),
        (other_version, "run r1 was begun with another workflow "),
        (other_model, "run r1 was begun with another model "),
        (other_task, "run r1 was begun with another task "),
        (other_revision, "run r1 was begun with another case "),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_tampering_is_found(shelf: Shelf, tamper: Callable[[Shelf], None], place: str) -> None:
    journal = filled(shelf)
    tamper(shelf)
    faults = journal.verify("r1")
    assert faults
    assert place in faults[0] + " "


@pytest.mark.parametrize("damage", ["'garbage'", "'null'", "x'00000000'", "'{\"event\":null}'"])
def test_complaint_C4_a_damaged_row_is_named_and_the_others_are_read(shelf: Shelf, damage: str) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#872: one null made a whole chat unopenable. A replay still refuses the row."""
    journal = filled(shelf)
    whole = journal.events("r1")
    run(shelf, f"UPDATE event SET payload = {damage} WHERE n = 4")
    with pytest.raises(StoreError, match="Event 4 of this run is damaged") as damaged:
        journal.events("r1")
    assert damaged.value.code == "damaged event"
    legible = journal.legible("r1")
    assert legible[3].event == ev.EventDamaged()
    assert (*legible[:3], *legible[4:]) == (*whole[:3], *whole[4:])
    assert journal.legible("r1", after=4) == whole[4:]
