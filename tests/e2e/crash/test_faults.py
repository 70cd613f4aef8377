"""The worker fails in every way of `--fault`; the command lives on, and the run ends as it would have ended anyway."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain.assessment import Assessment
from core.runtime.supervision import POISON
from tests.helpers.program import command, environment, example_home, journal, reference, wardround


class Outcome(msgspec.Struct):
    """What `wardround --json run` prints, as far as these tests look."""

    run: str
    status: str
    sentence: str


def run(home: Path, *arguments: str, scripted: float = 0.0) -> tuple[int, Outcome, str]:
    done = wardround(home, "--json", "--profile", "demo", *arguments, scripted=scripted)
    return done.returncode, codec.decode(done.stdout, Outcome), done.stderr


def result(home: Path, run_id: str) -> tuple[Assessment, list[str], tuple[str, ...]]:
    """Assessment, keys of all events, what does not fit the chain."""
    kept = journal(home)
    rows = kept.events(run_id)
    last = rows[-1].event
    assert isinstance(last, ev.RunFinished)
    return last.assessment, [row.key for row in rows], kept.verify(run_id)


@pytest.fixture
def case(home: Path) -> str:
    return example_home(home)


@pytest.mark.parametrize("kind", ["segv", "abort", "hang", "oom", "garbage"])
def test_a_fault_changes_nothing_in_the_result(home: Path, case: str, kind: str) -> None:
    code, hurt, errors = run(home, "run", "--case", case, "--fault", f"{kind}:5")
    assert (code, hurt.status, errors) == (0, "finished", "")
    assert result(home, hurt.run) == result(home, reference(home))
    resumes = journal(home).run(hurt.run).resumes
    assert resumes == 0 if kind == "garbage" else resumes > 0


def test_the_third_crash_of_one_step_stops_the_run_with_its_sentence(home: Path, case: str) -> None:
    code, stopped, errors = run(home, "run", "--case", case, "--fault", "abort:1")
    assert (code, stopped.status) == (1, "failed")
    assert errors == f"Run {stopped.run}: {POISON}\n"
    assert POISON.startswith("This step crashed the model process three times")
    rows = journal(home).events(stopped.run)
    assert isinstance(rows[-1].event, ev.RunFailed)
    code, again, _ = run(home, "run", "--case", case)  # the case is intact
    assert (code, again.status) == (0, "finished")


def test_faults_are_for_tests_only(home: Path, case: str) -> None:
    made = environment(home)
    del made["WARDROUND_TESTING"]
    arguments = command("--profile", "demo", "run", "--case", case, "--fault", "segv")
    done = subprocess.run(arguments, env=made, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--fault is for tests only" in done.stderr


# ------------------------------------------------------------------------------------- stopped and killed from outside


def started(home: Path, case: str) -> subprocess.Popen[str]:
    """A run whose model takes its time, in a process group of its own as a shell would start it."""
    arguments = command("--profile", "demo", "run", "--case", case)
    return subprocess.Popen(
        arguments,
        env=environment(home, scripted=2.0),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_call(home: Path) -> str:
    """Until a model call is under way; returns the run's id."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        kept = journal(home)
        for row in kept.unfinished():
            if any(isinstance(event.event, ev.ModelCalled) for event in kept.events(row.id)):
                return row.id
        time.sleep(0.05)
    raise AssertionError("no model call began")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def children(pid: int) -> list[int]:
    """Empty as well where the process has just ended."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_a_stop_ends_with_the_run_id_and_how_to_go_on(home: Path, case: str, how: signal.Signals) -> None:
    process = started(home, case)
    run_id = wait_for_call(home)
    begun = time.monotonic()
    os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
    out, errors = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5
    assert process.returncode == 1
    assert errors == f"Run {run_id} was stopped. Go on with: wardround resume {run_id}\n"
    assert "Traceback" not in out + errors
    assert isinstance(journal(home).events(run_id)[-1].event, ev.RunCancelled)

    done = wardround(home, "--profile", "demo", "resume", run_id)
    assert done.returncode == 0, done.stderr
    assert journal(home).run(run_id).status == "finished"


def test_killed_from_outside_the_worker_goes_too_and_the_run_is_found_again(home: Path, case: str) -> None:
    process = started(home, case)
    run_id = wait_for_call(home)
    [worker] = children(process.pid)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 1.0
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(worker)
    assert [row.id for row in journal(home).unfinished()] == [run_id]

    done = wardround(home, "--profile", "demo", "resume")
    assert done.returncode == 0, done.stderr
    assert run_id in done.stdout
    assert journal(home).run(run_id).status == "finished"
    assert result(home, run_id) == result(home, reference(home))


@pytest.mark.parametrize("n", range(3))
def test_the_real_worker_process_killed_at_random_points(home: Path, case: str, n: int) -> None:
    """The whole chain of processes, fewer times than in test_worker_kills.py, which spares itself the imports."""
    process = quiet_run(home, case, scripted=1.0)
    killed = kill_after_steps(process, home, random.Random(n), most=2, within=0.5)
    latest = finished(process, home)
    assert killed
    assert latest != reference(home)
    assert result(home, latest) == result(home, reference(home))


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_the_real_model_killed_ten_times(home: Path, case: str) -> None:
    """Ten kills over a few runs of the real model, each after another step: the same assessment as without."""
    chance = random.Random(10)
    expected = finished(quiet_run(home, case, scripted=None), home)
    killed = 0
    while killed < 10:
        process = quiet_run(home, case, scripted=None)
        killed += kill_after_steps(process, home, chance, most=10 - killed, within=1.5)
        assert alike(home, finished(process, home), expected)


def quiet_run(home: Path, case: str, *, scripted: float | None) -> subprocess.Popen[str]:
    """A run of the real model, or of the scripted one that takes so many seconds a call."""
    arguments = command("--profile", "demo", "run", "--case", case)
    made = environment(home, scripted=scripted)
    return subprocess.Popen(arguments, env=made, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def kill_after_steps(
    process: subprocess.Popen[str], home: Path, chance: random.Random, *, most: int, within: float
) -> int:
    """Kill the worker up to `most` times, each time up to `within` seconds after another step began; how often."""
    killed, last = 0, ""
    while process.poll() is None:
        step = under_way(home)
        if killed < most and step not in ("", last):
            time.sleep(chance.uniform(0.0, within))
            killed += sum(end(worker) for worker in children(process.pid))
            last = step
        time.sleep(0.02)
    return killed


def finished(process: subprocess.Popen[str], home: Path) -> str:
    """Wait for the end, which must be a good one; returns the run's id."""
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    return journal(home).runs()[0].id


def under_way(home: Path) -> str:
    """The last step of the run that is not finished yet."""
    kept = journal(home)
    return next((kept.last_key(row.id) for row in kept.unfinished()), "")


def end(worker: int) -> bool:
    """Kill; False where it was gone already."""
    try:
        os.kill(worker, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def alike(home: Path, run_id: str, other: str) -> bool:
    """The same assessment but for the model record, whose times and prefix source may differ."""
    one, keys, faults = result(home, run_id)
    two, other_keys, _ = result(home, other)
    bare = [msgspec.structs.replace(assessment, model=None) for assessment in (one, two)]
    return bare[0] == bare[1] and keys == other_keys and faults == ()
