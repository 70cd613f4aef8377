"""The worker from outside: restart after a crash, the third crash, silence, stops, and a worker that gives up."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.domain import event as ev
from core.errors import ModelError, UserError
from core.runtime import protocol, supervision
from core.runtime.client import Patience, WorkerClient, worker_environment
from tests.helpers import fake_worker
from tests.helpers.runs import ACTOR, Shelf

HASTY = Patience(start=20.0, busy=0.5, stop=0.5)
Make = Callable[[str], WorkerClient]


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    found = Shelf(profile)
    found.queue()
    found.journal.append("r1", ev.EvidenceAdded(), branch="", key="1.note", actor=ACTOR)
    return found


@pytest.fixture
def heard() -> list[protocol.Notice]:
    return []


@pytest.fixture
def make(shelf: Shelf, tmp_path: Path, heard: list[protocol.Notice]) -> Iterator[Make]:
    clients: list[WorkerClient] = []

    def client(kind: str) -> WorkerClient:
        command = [sys.executable, str(Path(fake_worker.__file__)), kind, str(tmp_path / "starts")]
        made = WorkerClient(command, journal=shelf.journal, actor=ACTOR, on_notice=heard.append, patience=HASTY)
        clients.append(made)
        return made

    yield client
    for made in clients:
        made.close()


def starts(tmp_path: Path) -> int:
    return int((tmp_path / "starts").read_text())


def test_the_status_of_its_own_run_ends_the_wait(make: Make, heard: list[protocol.Notice]) -> None:
    assert make("finishes").run("r1") == "finished"
    assert [type(notice).__name__ for notice in heard] == ["Alive", "Ended"]  # the other run's end is passed on


def test_lines_that_are_no_notices_are_skipped(make: Make) -> None:
    assert make("garbage").run("r1") == "finished"


def test_a_stalled_worker_is_started_again_between_two_runs_once(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """runtime.md 4.7, rule 3."""
    client = make("stalls")
    for expected in (1, 2, 2):
        assert client.run("r1") == "finished"
        assert starts(tmp_path) == expected
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert "OMP_WAIT_POLICY" not in worker_environment({})
    calm = worker_environment({}, calm=True)
    assert (calm["OMP_WAIT_POLICY"], calm["WARDROUND_FEWER_THREADS"]) == ("passive", "1")


def test_after_a_crash_the_worker_is_started_again(make: Make, tmp_path: Path, shelf: Shelf) -> None:
    assert make("crash-once").run("r1") == "finished"
    assert starts(tmp_path) == 2
    assert not any(isinstance(row.event, ev.RunFailed) for row in shelf.journal.events("r1"))


def test_the_third_crash_at_one_step_stops_the_run(make: Make, tmp_path: Path, shelf: Shelf) -> None:
    assert make("crash").run("r1") == "failed"
    assert starts(tmp_path) == 3
    last = shelf.journal.events("r1")[-1].event
    assert last == ev.RunFailed(code="poison", text=supervision.POISON)
    assert "crashed the model process three times" in supervision.POISON
    assert shelf.journal.run("r1").status == "failed"


def test_crashes_at_different_steps_are_counted_apart(shelf: Shelf) -> None:
    for n in range(2, 6):
        assert supervision.after_crash(shelf.journal, "r1", ACTOR) == "resume"
        assert supervision.after_crash(shelf.journal, "r1", ACTOR) == "resume"
        shelf.journal.append("r1", ev.EvidenceAdded(), branch="", key=f"{n}.note", actor=ACTOR)
    assert shelf.journal.run("r1").status == "queued"


def test_a_silent_worker_is_ended_and_counts_as_crashed(make: Make, tmp_path: Path) -> None:
    began = time.monotonic()
    assert make("silent").run("r1") == "failed"
    assert starts(tmp_path) == 3
    assert time.monotonic() - began < 15


def test_a_stop_is_passed_on(make: Make, shelf: Shelf) -> None:
    stop = threading.Event()
    stop.set()
    assert make("stoppable").run("r1", stop) == "stopped"
    assert not any(isinstance(row.event, ev.RunCancelled) for row in shelf.journal.events("r1"))  # the worker's to say


def test_a_worker_that_does_not_stop_is_ended(make: Make, shelf: Shelf, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    assert make("silent").run("r1", stop) == "stopped"
    assert starts(tmp_path) == 1
    assert shelf.journal.events("r1")[-1].event == ev.RunCancelled(step="1.note", steps_done=1)
    assert [run.id for run in shelf.journal.unfinished()] == ["r1"]


def test_a_worker_that_gives_up_says_why_and_is_not_restarted(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Install the newer version") as gave_up:
        make("gives-up").run("r1")
    assert gave_up.value.code == "newer"
    assert starts(tmp_path) == 1


def test_a_worker_that_cannot_be_started(shelf: Shelf) -> None:
    client = WorkerClient(["/nowhere/at/all"], journal=shelf.journal, actor=ACTOR, on_notice=print)
    with pytest.raises(ModelError) as failed:
        client.run("r1")
    assert failed.value.code == "worker start"


def test_an_end_by_force_is_recorded_once(shelf: Shelf) -> None:
    for _ in range(2):
        supervision.stopped_by_force(shelf.journal, "r1", ACTOR)
    kinds = [type(row.event) for row in shelf.journal.events("r1")]
    assert kinds == [ev.EvidenceAdded, ev.RunCancelled]


def test_the_environment_is_offline_and_keeps_the_rest() -> None:
    found = worker_environment({"PATH": "/bin", "HF_HUB_OFFLINE": "0"})
    assert found["PATH"] == "/bin"
    assert found["HF_HUB_OFFLINE"] == found["TRANSFORMERS_OFFLINE"] == "1"
