"""The engine against a worker that finishes, dies, hangs, is deaf, refuses or talks nonsense (runtime.md section 6)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.domain import event as ev
from core.domain.case import Case
from core.domain.task import TaskInput
from core.runtime import supervision
from core.settings import Settings
from core.store import migrations
from core.store.cases import Cases
from core.store.database import open_database
from core.store.journal import Journal, RunRow
from desktop import engine as module
from desktop.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "tests" / "helpers" / "double_worker.py"
AT = "2026-11-30T08:00:00+00:00"
PATIENCE = 20_000


def run_row(identifier: str) -> RunRow:
    return RunRow(
        id=identifier,
        case_id="c1",
        revision=1,
        task=TaskInput(question="What is it?"),
        workflow="direct",
        version="1",
        mode="adaptive",
        backbone="",
        settings=Settings(),
        seed=0,
        actor="tester",
        status="queued",
        resumes=0,
        created_at=AT,
    )


@pytest.fixture
def journal(profile: Path) -> Iterator[Journal]:
    database = open_database(profile / "workbench.db", migrations.workbench)
    Cases(database).save(Case(id="c1", title="A case", revision=1, created_at=AT), "tester", AT)
    journal = Journal(database)
    for identifier in ("r1", "r2"):
        journal.queue(run_row(identifier))
    yield journal
    database.close()


Make = Callable[[str], Engine]


@pytest.fixture
def make(qtbot: QtBot, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    engines: list[Engine] = []

    def made(way: str) -> Engine:
        command = [sys.executable, str(WORKER), way, str(tmp_path / "starts")]
        engines.append(Engine(command, journal=journal, actor="tester"))
        return engines[-1]

    yield made
    for engine in engines:
        engine.close()


def starts(folder: Path) -> int:
    return int((folder / "starts").read_text())


def test_two_runs_one_after_the_other_in_one_process(qtbot: QtBot, make: Make, tmp_path: Path) -> None:
    engine = make("finish")
    began: list[str] = []
    ended: list[tuple[str, str]] = []
    engine.began.connect(began.append)
    engine.ended.connect(lambda run, status: ended.append((run, status)))
    with qtbot.waitSignals([engine.committed, engine.committed], timeout=PATIENCE):
        engine.execute("r1")
        engine.execute("r2")
        engine.execute("r2")
        assert engine.current == "r1"
        assert engine.pending("r2")
    qtbot.waitUntil(lambda: len(ended) == 2, timeout=PATIENCE)
    assert ended == [("r1", "finished"), ("r2", "finished")]
    assert began == ["r1", "r2"]
    assert starts(tmp_path) == 1
    assert engine.current == ""


def test_memory_above_two_gigabytes_arrives_whole(qtbot: QtBot, make: Make) -> None:
    engine = make("finish")
    with qtbot.waitSignal(engine.alive, timeout=PATIENCE) as heard:
        engine.execute("r1")
    assert heard.args == [3_000_000_000, 12.5]


def test_worker_environment_waits_passively_on_small_machines(
    qtbot: QtBot, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    engine = make("finish")
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE):
        engine.execute("r1")
    seen = Path(f"/proc/{engine.pid}/environ").read_bytes().split(b"\0")
    assert b"OMP_WAIT_POLICY=passive" in seen
    assert b"HF_HUB_OFFLINE=1" in seen


def test_stalled_worker_is_started_again_between_two_runs_and_once_only(
    qtbot: QtBot, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """runtime.md 4.7, rule 3: not during the run; the next worker waits passively and is told to use fewer threads."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    engine = make("stall")
    for run, expected in (("r1", 1), ("r2", 2), ("r1", 2)):
        with qtbot.waitSignal(engine.ended, timeout=PATIENCE):
            engine.execute(run)
        assert starts(tmp_path) == expected
    seen = Path(f"/proc/{engine.pid}/environ").read_bytes().split(b"\0")
    assert {b"OMP_WAIT_POLICY=passive", b"WARDROUND_FEWER_THREADS=1"} <= set(seen)


def test_third_crash_at_one_step_ends_the_run_with_its_sentence(
    qtbot: QtBot, make: Make, journal: Journal, tmp_path: Path
) -> None:
    engine = make("die")
    told: list[str] = []
    engine.restarted.connect(lambda _run, words: told.append(words))
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        engine.execute("r1")
    assert heard.args == ["r1", "failed"]
    assert len(told) == supervision.MOST_CRASHES - 1
    assert starts(tmp_path) == supervision.MOST_CRASHES
    last = journal.events("r1")[-1].event
    assert isinstance(last, ev.RunFailed)
    assert last.text == supervision.POISON


def test_silent_worker_is_ended_and_the_run_tried_again(
    qtbot: QtBot, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "BUSY_SILENCE_S", 0.5)
    monkeypatch.setattr(module, "TICK_MS", 100)
    engine = make("silent")
    with qtbot.waitSignal(engine.restarted, timeout=PATIENCE):
        engine.execute("r1")
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        pass
    assert heard.args == ["r1", "failed"]
    assert starts(tmp_path) == supervision.MOST_CRASHES


def test_stop_is_announced_at_once_named_and_then_forced(
    qtbot: QtBot, make: Make, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NAME_BUSY_STEP_S", 0.4)
    monkeypatch.setattr(supervision, "STOP_GRACE_S", 0.8)
    engine = make("deaf")
    stages: list[int] = []
    engine.stopping.connect(lambda _run, stage: stages.append(stage))
    with qtbot.waitSignal(engine.alive, timeout=PATIENCE):
        engine.execute("r1")
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        engine.stop()
        assert stages == [0]
        engine.stop()
    assert stages == [0, 1, 2]
    assert heard.args == ["r1", "stopped"]
    assert journal.run("r1").status == "stopped"


def test_refusal_at_the_start_is_said_once_and_not_counted_as_a_crash(
    qtbot: QtBot, make: Make, journal: Journal, tmp_path: Path
) -> None:
    engine = make("refuse")
    told: list[str] = []
    engine.faulted.connect(told.append)
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        engine.execute("r1")
    assert heard.args == ["r1", "queued"]
    assert told == ["workbench.db is in use by another program."]
    assert starts(tmp_path) == 1
    assert journal.crashed("r1", "", "tester") == 1


def test_nonsense_lines_are_skipped(qtbot: QtBot, make: Make) -> None:
    engine = make("garbage")
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        engine.execute("r1")
    assert heard.args == ["r1", "finished"]


def test_missing_program_is_a_sentence(qtbot: QtBot, journal: Journal, tmp_path: Path) -> None:
    engine = Engine([str(tmp_path / "absent")], journal=journal, actor="tester")
    told: list[str] = []
    engine.faulted.connect(told.append)
    with qtbot.waitSignal(engine.ended, timeout=PATIENCE) as heard:
        engine.execute("r1")
    assert heard.args == ["r1", "queued"]
    assert told == [module.NOT_STARTED]
    engine.close()
