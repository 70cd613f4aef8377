"""The worker's loop on doubles: what comes in as lines, what is committed, what goes out as notices."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from core.domain import event as ev
from core.domain.case import Case
from core.errors import ModelError, UserError
from core.runtime import protocol
from core.runtime.run import Run
from core.runtime.service import NO_MODEL, _speed
from core.settings import Settings
from models.scripted import ScriptedBackbone
from tests.helpers.desk import Bench, Desk
from tests.helpers.runs import QUESTION, Shelf, an_assessment, request


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    return Shelf(profile)


@pytest.fixture
def bench(shelf: Shelf) -> Bench:
    return Bench(shelf)


@pytest.fixture
def desk(bench: Bench) -> Iterator[Desk]:
    yield Desk(bench)


def kinds(shelf: Shelf, run_id: str = "r1") -> list[str]:
    return [type(row.event).__name__ for row in shelf.journal.events(run_id)]


def test_a_run_from_the_queue_to_the_assessment(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue()
    desk.feed(protocol.Hello(token="t"), protocol.RunCommand(run="r1"))
    desk.serve()
    assert kinds(shelf)[:2] == ["CaseOpened", "RunStarted"]
    assert kinds(shelf)[-1] == "RunFinished"
    assert shelf.journal.run("r1").status == "finished"
    rows = [notice.seq for notice in desk.told(protocol.Seq)]  # type: ignore[attr-defined]
    assert rows == [row.seq for row in shelf.journal.events("r1")]
    assert desk.told(protocol.Verify) == [protocol.Verify(pack="scripted", done=1, total=2)]
    assert desk.told(protocol.Loaded) == [protocol.Loaded(role="text", pack="scripted", rung="cpu", reason="")]
    assert desk.sent[-1] == protocol.Ended(run="r1", status="finished")
    assert bench.backbones[0].closed


def test_a_finished_run_is_not_executed_again(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue()
    desk.service.execute("r1")
    before = kinds(shelf)
    desk.service.execute("r1")
    assert kinds(shelf) == before
    assert bench.opened == 1
    assert shelf.journal.run("r1").resumes == 0


def test_a_model_stays_loaded_for_the_next_run(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    for name in ("r1", "r2"):
        shelf.queue(id=name)
        desk.service.execute(name)
    assert bench.opened == 1
    shelf.queue(id="r3", backbone="")
    desk.service.execute("r3")
    assert shelf.journal.run("r3").status == "failed"  # `toy` cannot do without a model


def test_resuming_writes_no_event_but_counts(shelf: Shelf, bench: Bench) -> None:
    shelf.queue(id="whole")
    Desk(bench).service.execute("whole")

    def die(key: str) -> None:
        if key == "4.tool":
            raise SystemExit  # what leaves the loop as a killed process would

    shelf.queue()
    bench.on_effect = die
    with pytest.raises(SystemExit):
        Desk(bench).service.execute("r1")
    bench.on_effect = lambda key: None
    Desk(bench).service.execute("r1")
    assert kinds(shelf) == kinds(shelf, "whole")
    assert shelf.journal.run("r1").resumes == 1


def test_a_cancel_stops_the_run_under_way_only(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue()
    shelf.queue(id="r2")
    at_tool, go_on = threading.Event(), threading.Event()

    def wait(key: str) -> None:
        if key == "4.tool" and not go_on.is_set():
            at_tool.set()
            assert go_on.wait(5)

    bench.on_effect = wait
    desk.feed(protocol.Cancel(), protocol.RunCommand(run="r1"))  # a cancel without a run is for nobody

    def steer() -> None:
        assert at_tool.wait(5)
        desk.feed(protocol.Cancel(), protocol.RunCommand(run="r2"), protocol.Ping())
        while not desk.told(protocol.Alive):
            threading.Event().wait(0.01)
        go_on.set()

    steering = threading.Thread(target=steer)
    steering.start()
    desk.serve()
    steering.join()
    assert desk.told(protocol.Ended) == [
        protocol.Ended(run="r1", status="stopped"),
        protocol.Ended(run="r2", status="finished"),
    ]
    assert desk.told(protocol.Cancelled) == [protocol.Cancelled(run="r1")]
    assert shelf.journal.events("r1")[-1].event == ev.RunCancelled(step="5.tool", steps_done=8)
    assert [run.id for run in shelf.journal.unfinished()] == ["r1"]


def test_a_run_may_wait(shelf: Shelf, desk: Desk) -> None:
    shelf.queue(settings=Settings(on_question="wait"))
    desk.service.execute("r1")
    assert desk.sent[-1] == protocol.Ended(run="r1", status="waiting")
    assert shelf.journal.run("r1").status == "waiting"
    desk.service.execute("r1")  # resumed without an answer
    assert desk.sent[-1] == protocol.Ended(run="r1", status="waiting")
    assert shelf.journal.run("r1").status == "waiting"


def test_a_waiting_run_whose_worker_dies_in_its_replay_waits_on(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue(settings=Settings(on_question="wait"))
    desk.service.execute("r1")

    def die(case: Case, run: Run) -> object:
        raise SystemExit

    bench.functions["toy"] = die
    with pytest.raises(SystemExit):
        desk.service.execute("r1")
    assert shelf.journal.run("r1").status == "waiting"


def test_a_line_that_is_no_command_is_a_fault_and_no_end(shelf: Shelf, desk: Desk) -> None:
    shelf.queue()
    desk.feed_raw(b"\xff nonsense\n")
    desk.feed(protocol.RunCommand(run="r1"))
    desk.serve()
    assert [fault.code for fault in desk.told(protocol.Fault)] == ["protocol"]  # type: ignore[attr-defined]
    assert shelf.journal.run("r1").status == "finished"


def test_another_version_of_the_workflow_is_read_only(shelf: Shelf, desk: Desk) -> None:
    shelf.queue(version="0")
    desk.service.execute("r1")
    committed, fault, ended = desk.sent
    assert isinstance(committed, protocol.Seq)
    assert isinstance(fault, protocol.Fault)
    assert fault.code == "replay"
    assert "it can be read, not continued" in fault.detail
    assert ended == protocol.Ended(run="r1", status="failed")
    assert kinds(shelf) == ["RunFailed"]  # so that `resume` does not try it again and again
    assert shelf.journal.run("r1").status == "failed"


def test_a_run_that_another_program_began_is_over(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue(settings=Settings(on_question="wait"))
    desk.service.execute("r1")

    def other(case: Case, run: Run) -> object:
        run.note(ev.EvidenceAdded(stage="something else"))
        return an_assessment("x")

    bench.functions["toy"] = other
    desk.service.execute("r1")
    assert isinstance(desk.sent[-2], protocol.Fault)
    assert desk.sent[-1] == protocol.Ended(run="r1", status="failed")
    last = shelf.journal.events("r1")[-1].event
    assert isinstance(last, ev.RunFailed)
    assert last.code == "replay"
    assert shelf.journal.unfinished() == ()
    assert shelf.journal.verify("r1") == ()


def test_an_unknown_run_is_a_sentence(desk: Desk) -> None:
    desk.service.execute("r9")
    assert desk.sent == [
        protocol.Fault(code="no such run", detail=desk.sent[0].detail),  # type: ignore[attr-defined]
        protocol.Ended(run="r9", status="failed"),
    ]
    assert "There is no run r9. `wardround cases list` shows" in desk.sent[0].detail  # type: ignore[attr-defined]


def test_a_bug_ends_the_run_and_names_a_crash_file(
    shelf: Shelf, bench: Bench, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(case: Case, run: Run) -> object:
        raise KeyError(case.notes[0].text)

    bench.functions["broken"] = broken
    shelf.queue(workflow="broken")
    with caplog.at_level(logging.ERROR, "wardround"):
        desk.service.execute("r1")
    failed = shelf.journal.events("r1")[-1].event
    assert isinstance(failed, ev.RunFailed)
    assert failed.code == "bug"
    assert "crash-KeyError.txt" in failed.text
    assert "Breathless" not in failed.text + caplog.text
    assert desk.sent[-1] == protocol.Ended(run="r1", status="failed")


@pytest.mark.parametrize("error", [ModelError("Too large.", code="m"), UserError("Not installed.", code="u")])
def test_a_model_that_cannot_be_loaded_is_announced(
    shelf: Shelf, bench: Bench, desk: Desk, error: ModelError | UserError
) -> None:
    bench.load_error = error
    bench.functions["quiet"] = lambda case, run: an_assessment(str(run.backbone))
    shelf.queue(workflow="quiet")
    desk.service.execute("r1")
    changed = shelf.journal.events("r1")[2].event
    assert changed == ev.RungChanged(from_rung="scripted", to_rung=NO_MODEL, reason=error.text)
    finished = shelf.journal.events("r1")[-1].event
    assert isinstance(finished, ev.RunFinished)
    assert finished.assessment.headline.text == "None"


def test_where_the_policy_forbids_it_the_run_fails_instead(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    bench.load_error = ModelError("Too large.", code="m")
    shelf.queue(settings=Settings(fallback="forbid"))
    desk.service.execute("r1")
    assert shelf.journal.events("r1")[-1].event == ev.RunFailed(code="m", text="Too large.")


def test_what_was_announced_holds_for_the_whole_run(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    def asking(case: Case, run: Run) -> object:
        run.ask(QUESTION)
        return an_assessment(str(run.backbone))

    bench.functions["asking"] = asking
    bench.load_error = ModelError("Too large.", code="m")
    shelf.queue(workflow="asking", settings=Settings(on_question="wait"))
    desk.service.execute("r1")
    bench.load_error = None
    shelf.journal.answer("r1", (), "tester")
    desk.service.execute("r1")
    finished = shelf.journal.events("r1")[-1].event
    assert isinstance(finished, ev.RunFinished)
    assert finished.assessment.headline.text == "None"
    assert bench.opened == 0


def test_a_run_that_used_its_model_is_not_continued_without_it(shelf: Shelf, bench: Bench) -> None:
    def die(key: str) -> None:
        if key == "4.tool":
            raise SystemExit

    bench.on_effect = die
    shelf.queue()
    with pytest.raises(SystemExit):
        Desk(bench).service.execute("r1")
    before = kinds(shelf)
    bench.on_effect, bench.load_error = (lambda key: None), UserError("Not installed.", code="u")
    desk = Desk(bench)
    desk.service.execute("r1")
    fault = desk.told(protocol.Fault)[0]
    assert isinstance(fault, protocol.Fault)
    assert fault.code == "model gone"
    assert kinds(shelf) == before
    bench.load_error = None
    desk.service.execute("r1")
    assert shelf.journal.run("r1").status == "finished"


def test_the_heartbeat_comes_once_a_second_while_an_effect_blocks(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    def block(key: str) -> None:
        if key == "3.retrieve":
            threading.Event().wait(2.5)

    bench.on_effect = block
    shelf.queue()
    desk.feed(protocol.RunCommand(run="r1"))
    desk.serve()
    beats = desk.told(protocol.Alive)
    assert len(beats) == 2
    assert beats[0] == protocol.Alive(rss=4096, tok_s=0.0, busy=True, card_used=1 << 30, card_total=4 << 30)


def test_shutdown_stops_the_run_under_way_and_starts_no_other(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue()
    shelf.queue(id="r2")

    def leave(key: str) -> None:
        if key == "3.retrieve":
            desk.feed(protocol.Shutdown())
            threading.Event().wait(0.3)

    bench.on_effect = leave
    desk.feed(protocol.RunCommand(run="r1"), protocol.RunCommand(run="r2"))
    desk.serve()
    assert desk.told(protocol.Ended) == [protocol.Ended(run="r1", status="stopped")]
    assert [run.status for run in shelf.journal.unfinished()] == ["stopped", "queued"]


def test_speed_counts_tokens_a_second_of_model_time() -> None:
    plain = ScriptedBackbone({"x": "a b c"}).reply(request("one two", "x"), lambda text: None)
    timed = msgspec.structs.replace(plain.record, tokens_in=90, tokens_out=10, ms_prefill=300.0, ms_decode=200.0)
    reply = msgspec.structs.replace(plain, record=timed)
    assert _speed(ev.ModelReplied(replies=(reply,))) == pytest.approx(100 / 0.5)
    assert _speed(ev.ModelReplied(replies=(plain,))) == 0.0  # scripted calls take no time
