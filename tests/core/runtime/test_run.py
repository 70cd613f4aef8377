"""Effects through `Run`: committed before returned, answered from the journal, refused when the program differs."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from core.domain import event as ev
from core.domain import memory as fold
from core.domain.action import CallTool
from core.domain.assessment import Assessment
from core.domain.chat import ModelReply, ModelRequest
from core.domain.evidence import Answer
from core.domain.ports import OnDelta, Query
from core.errors import BugError, Cancelled, ModelError, StoreError, Waiting
from core.runtime.budget import Budget
from core.runtime.run import Hooks, Run
from core.settings import Settings
from core.store.journal import Journal
from models.scripted import ScriptedBackbone
from tests.helpers.runs import ACTOR, CASE, QUESTION, TOY_REPLIES, Doubler, OneHit, Shelf, request, start, toy

EFFECTS = 6  # of `toy`: rank, sample, reply, retrieve and two tool calls; a question is no effect of ours


class Killed(BaseException):
    """Stands for the end of the process."""


class Dying(Journal):
    """A journal whose process ends just before, or just after, the n-th commit."""

    def __init__(self, journal: Journal, *, at: int, after: bool) -> None:
        super().__init__(journal._database)
        self.left, self.after = at, after

    def append(self, run_id: str, event: ev.Event, *, branch: str, key: str, actor: str) -> ev.Recorded:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        row = super().append(run_id, event, branch=branch, key=key, actor=actor)
        if self.left == 0:
            raise Killed
        return row


class Effects(Hooks):
    """Counts executed effects by key."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def effect(self, key: str) -> None:
        self.seen[key] += 1


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    return Shelf(profile)


def model() -> ScriptedBackbone:
    return ScriptedBackbone(TOY_REPLIES)


def told(journal: Journal, run_id: str = "r1") -> list[tuple[str, str, ev.Event]]:
    """What the journal says, without times."""
    rows = []
    for row in journal.events(run_id):
        event = row.event
        if isinstance(event, ev.ToolFinished):
            event = msgspec.structs.replace(event, seconds=0.0)
        rows.append((row.branch, row.key, event))
    return rows


def whole(shelf: Shelf) -> tuple[Assessment, list[tuple[str, str, ev.Event]]]:
    row = shelf.queue(id="whole")
    result = toy(CASE, start(row, shelf.journal, backbone=model()))
    return result, told(shelf.journal, "whole")


def test_every_effect_is_in_the_journal_under_its_place(shelf: Shelf) -> None:
    _, events = whole(shelf)
    assert [(branch, key, type(event).__name__) for branch, key, event in events] == [
        ("", "1.note", "EvidenceAdded"),
        ("", "2.rank", "ModelCalled"),
        ("", "2.rank=", "ModelReplied"),
        ("", "3.retrieve", "Retrieved"),
        ("", "4.tool", "ToolStarted"),
        ("", "4.tool=", "ToolFinished"),
        ("", "5.tool", "ToolStarted"),
        ("", "5.tool=", "ToolFailed"),
        ("", "6.ask", "QuestionAsked"),
        ("", "6.ask=", "QuestionAnswered"),
        ("side/", "side/1.sample", "ModelCalled"),
        ("side/", "side/1.sample=", "ModelReplied"),
        ("", "7.reply", "ModelCalled"),
        ("", "7.reply=", "ModelReplied"),
    ]


def test_a_replay_calls_nobody(shelf: Shelf) -> None:
    expected, events = whole(shelf)
    row = shelf.journal.run("whole")
    backbone, retriever, tool, effects = model(), OneHit(), Doubler(), Effects()
    again = toy(CASE, start(row, shelf.journal, backbone=backbone, retriever=retriever, tool=tool, hooks=effects))
    assert again == expected
    assert (backbone.total_calls, retriever.searches, tool.calls, effects.seen) == (0, 0, 0, Counter())
    assert told(shelf.journal, "whole") == events


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_commit_it_resumes_to_the_same_end(shelf: Shelf, after: bool) -> None:
    expected, events = whole(shelf)
    for at in range(1, len(events) + 1):
        row = shelf.queue(id=f"k{at}")
        effects = Effects()
        with pytest.raises(Killed):
            toy(CASE, start(row, Dying(shelf.journal, at=at, after=after), backbone=model(), hooks=effects))
        assert len(told(shelf.journal, row.id)) == (at if after else at - 1)
        result = toy(CASE, start(row, shelf.journal, backbone=model(), hooks=effects))
        assert result == expected
        assert told(shelf.journal, row.id) == events
        assert len(effects.seen) == EFFECTS
        assert sum(effects.seen.values()) <= EFFECTS + 1


def test_memory_at_a_step_is_the_same_in_a_replay(shelf: Shelf) -> None:
    def watching(run: Run) -> list[tuple[int, int]]:
        seen = [(run.memory.last_n, len(run.memory.steps))]
        run.note(ev.EvidenceAdded(stage="one"))
        seen.append((run.memory.last_n, len(run.memory.steps)))
        run.rank(request("rank"), ("a", "b"))
        seen.append((run.memory.last_n, run.memory.model_calls))
        run.note(ev.EvidenceAdded(stage="two"))
        return [*seen, (run.memory.last_n, len(run.memory.steps))]

    row = shelf.queue()
    first = watching(start(row, shelf.journal, backbone=model()))
    assert first == [(0, 0), (1, 1), (3, 1), (4, 3)]
    assert watching(start(row, shelf.journal, backbone=model())) == first


def test_the_latest_record_at_a_step_is_the_same_in_a_replay(shelf: Shelf) -> None:
    def watching(run: Run) -> list[str]:
        seen = [str(run.last_record and run.last_record.prompt_name)]
        run.rank(request("rank"), ("a", "b"))
        seen.append(str(run.last_record and run.last_record.prompt_name))
        run.model(request("final", "final"))
        return [*seen, str(run.last_record and run.last_record.prompt_name)]

    row = shelf.queue()
    first = watching(start(row, shelf.journal, backbone=model()))
    assert first == ["None", "toy", "final"]
    assert watching(start(row, shelf.journal, backbone=model())) == first


class Mute(ScriptedBackbone):
    """Gives no candidate at all."""

    def sample(self, request: ModelRequest, n: int, on_delta: OnDelta) -> tuple[ModelReply, ...]:
        return ()


def test_a_call_without_a_reply_has_no_record(shelf: Shelf) -> None:
    run = start(shelf.queue(), shelf.journal, backbone=Mute())
    assert run.sample(request("draft", "draft"), 2) == ()
    assert run.last_record is None


def test_another_request_at_a_place_opens_read_only(shelf: Shelf) -> None:
    row = shelf.queue()
    start(row, shelf.journal, backbone=model()).rank(request("rank"), ("a", "b"))
    before = told(shelf.journal)
    with pytest.raises(StoreError, match="can be read, not continued") as refused:
        start(row, shelf.journal, backbone=model()).rank(request("rank"), ("a", "c"))
    assert refused.value.code == "replay"
    assert told(shelf.journal) == before


def test_another_kind_of_effect_at_a_place_opens_read_only(shelf: Shelf) -> None:
    row = shelf.queue()
    start(row, shelf.journal, backbone=model()).rank(request("rank"), ("a", "b"))
    before = told(shelf.journal)
    for act in (
        lambda run: run.note(ev.EvidenceAdded()),
        lambda run: run.retrieve(Query(text="x")),
        lambda run: run.sample(request("rank"), 2),
    ):
        with pytest.raises(StoreError) as refused:
            act(start(row, shelf.journal, backbone=model()))
        assert refused.value.code == "replay"
    assert told(shelf.journal) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda run: run.note(ev.EvidenceAdded(stage="a")), lambda run: run.note(ev.EvidenceAdded(stage="b"))),
        (lambda run: run.retrieve(Query(text="a")), lambda run: run.retrieve(Query(text="b"))),
        (
            lambda run: run.call(CallTool(tool="double", arguments="1")),
            lambda run: run.call(CallTool(tool="double", arguments="2")),
        ),
        (lambda run: run.ask(QUESTION), lambda run: run.ask(msgspec.structs.replace(QUESTION, wording=("Hm?",)))),
    ],
    ids=["note", "retrieve", "tool", "ask"],
)
def test_every_door_notices_a_changed_request(shelf: Shelf, first: object, second: object) -> None:
    row = shelf.queue()
    first(start(row, shelf.journal, backbone=None))  # type: ignore[operator]
    with pytest.raises(StoreError) as refused:
        second(start(row, shelf.journal, backbone=None))  # type: ignore[operator]
    assert refused.value.code == "replay"


def test_without_an_answer_the_run_waits_and_goes_on_later(shelf: Shelf) -> None:
    row = shelf.queue(settings=Settings(on_question="wait"))
    with pytest.raises(Waiting):
        start(row, shelf.journal, backbone=None).ask(QUESTION)
    assert shelf.journal.run("r1").status == "waiting"
    with pytest.raises(Waiting):
        start(row, shelf.journal, backbone=None).ask(QUESTION)
    assert len(told(shelf.journal)) == 1  # asked once

    given = (Answer(concept="calf-swelling", state="present"),)
    shelf.journal.answer("r1", given, ACTOR)
    assert shelf.journal.run("r1").status == "queued"
    assert start(row, shelf.journal, backbone=None).ask(QUESTION) == given


def test_headless_a_question_counts_as_not_obtainable(shelf: Shelf) -> None:
    answers = start(shelf.queue(), shelf.journal, backbone=None).ask(QUESTION)
    assert answers == (Answer(concept="calf-swelling", state="not obtainable"),)


def test_a_tools_refusal_is_an_observation_and_an_unknown_tool_a_bug(shelf: Shelf) -> None:
    run = start(shelf.queue(), shelf.journal, backbone=None)
    result = run.call(CallTool(tool="double", arguments="-3"))
    assert (result.failed, result.text) == (True, "double: not negative, please")
    with pytest.raises(BugError, match="no tool named halve"):
        run.call(CallTool(tool="halve", arguments="1"))


def test_a_stopped_run_ends_at_the_next_step_and_resumes(shelf: Shelf) -> None:
    expected, events = whole(shelf)
    row = shelf.queue()
    stop = threading.Event()

    class StopAtTool(Hooks):
        def effect(self, key: str) -> None:
            if key == "4.tool":
                stop.set()

    with pytest.raises(Cancelled) as stopped:
        toy(CASE, start(row, shelf.journal, backbone=model(), hooks=StopAtTool(), stop=stop))
    assert stopped.value.step == "5.tool"
    assert told(shelf.journal)[-1][1] == "4.tool="
    shelf.journal.append("r1", ev.RunCancelled(step="5.tool", steps_done=6), branch="", key="stop6", actor=ACTOR)
    assert toy(CASE, start(row, shelf.journal, backbone=model())) == expected
    assert [entry for entry in told(shelf.journal) if entry[1] != "stop6"] == events


def test_a_cancelled_run_still_answers_from_the_journal(shelf: Shelf) -> None:
    row = shelf.queue()
    start(row, shelf.journal, backbone=None).retrieve(Query(text="a"))
    stop = threading.Event()
    stop.set()
    run = start(row, shelf.journal, backbone=None, stop=stop)
    assert run.retrieve(Query(text="a")).path == "one:a"
    with pytest.raises(Cancelled):
        run.retrieve(Query(text="b"))


def test_a_failed_model_call_stays_failed(shelf: Shelf) -> None:
    class Broken(ScriptedBackbone):
        def reply(self, *_: object) -> None:  # type: ignore[override]
            self.calls["x"] += 1
            raise ModelError("The case is too long for this model.", code="too long")

    row = shelf.queue()
    for expected_calls in (1, 0):
        backbone = Broken({})
        with pytest.raises(ModelError) as failed:
            start(row, shelf.journal, backbone=backbone).model(request("x"))
        assert (failed.value.code, backbone.total_calls) == ("too long", expected_calls)
    assert [key for _, key, _ in told(shelf.journal)] == ["1.reply", "1.reply="]


def test_without_a_model_nothing_is_written(shelf: Shelf) -> None:
    with pytest.raises(ModelError) as refused:
        start(shelf.queue(), shelf.journal, backbone=None).model(request("x"))
    assert refused.value.code == "no model"
    assert told(shelf.journal) == []


def test_answered_model_calls_need_no_model(shelf: Shelf) -> None:
    row = shelf.queue()
    first = start(row, shelf.journal, backbone=model()).rank(request("rank"), ("a", "b"))
    assert start(row, shelf.journal, backbone=None).rank(request("rank"), ("a", "b")) == first


def test_the_budget_refuses_a_new_call_but_not_an_old_one(shelf: Shelf) -> None:
    row = shelf.queue()
    limits = (Budget(model_calls=1), Budget(tokens=1))
    for budget in limits:
        run = start(row, shelf.journal, backbone=model(), budget=budget)
        run.rank(request("rank"), ("a", "b"))  # recorded in the first round, answered in the second
        with pytest.raises(ModelError) as refused:
            run.rank(request("again"), ("a", "b"))
        assert refused.value.code == "budget"
    assert len(told(shelf.journal)) == 2


def test_branches_have_keys_and_chance_of_their_own(shelf: Shelf) -> None:
    run = start(shelf.queue(), shelf.journal, backbone=None)
    left, right = run.branch("left"), run.branch("right")
    left.note(ev.EvidenceAdded(stage="l"))
    right.branch("deep").note(ev.EvidenceAdded(stage="d"))
    run.note(ev.EvidenceAdded(stage="m"))
    assert [key for _, key, _ in told(shelf.journal)] == ["left/1.note", "right/deep/1.note", "1.note"]
    other = start(shelf.journal.run("r1"), shelf.journal, backbone=None)
    assert other.branch("left").rng.random() == left.rng.random()
    assert left.rng.random() != right.rng.random()


def test_hooks_hear_committed_rows_in_order(shelf: Shelf) -> None:
    class Listening(Hooks):
        def __init__(self) -> None:
            self.rows: list[ev.Recorded] = []
            self.text = ""

        def committed(self, row: ev.Recorded) -> None:
            assert row in Journal(shelf.database).events("r1")  # committed before it is told
            self.rows.append(row)

        def delta(self, text: str) -> None:
            self.text += text

    hooks = Listening()
    toy(CASE, start(shelf.queue(), shelf.journal, backbone=model(), hooks=hooks))
    assert tuple(hooks.rows) == shelf.journal.events("r1")
    assert "the end" in hooks.text
    assert fold.fold(hooks.rows) == fold.fold(shelf.journal.events("r1"))
