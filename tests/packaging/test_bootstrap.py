"""The set-up's own machinery: stamps, sentences instead of tracebacks, locks that pin everything with hashes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import bootstrap
import lockfile
import machine
import pytest

SCRIPT = Path(bootstrap.__file__)
LOCKS = ("lock-build.txt", "lock.txt", "lock-dev.txt")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stamps and log of the set-up in a folder of this test."""
    monkeypatch.setattr(bootstrap, "STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(bootstrap, "LOG", tmp_path / "build" / "setup.log")
    return tmp_path


def plan(monkeypatch: pytest.MonkeyPatch, inputs: dict[str, str], ran: list[str]) -> None:
    """Two harmless steps whose inputs the test can change."""

    def act(name: str) -> None:
        bootstrap.STAMPS.mkdir(exist_ok=True)
        ran.append(name)

    def steps(goal: str) -> list[bootstrap.Step]:
        return [bootstrap.Step(name, goal + text, lambda name=name: act(name)) for name, text in inputs.items()]

    monkeypatch.setattr(bootstrap, "steps", steps)


def test_a_step_runs_once_for_the_same_inputs(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, ran = {"one": "a", "two": "b"}, []
    plan(monkeypatch, inputs, ran)
    bootstrap.set_up("demo")
    bootstrap.set_up("demo")
    assert ran == ["one", "two"]
    inputs["two"] = "changed"
    bootstrap.set_up("demo")
    assert ran == ["one", "two", "two"]


def test_progress_names_each_step_and_the_time(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(monkeypatch, {"one": "a", "two": "b"}, [])
    bootstrap.set_up("demo")
    assert capsys.readouterr().out.splitlines() == [
        "[1/2] one (at 0:00)",
        "[2/2] two (at 0:00)",
        "Set-up ready in 0:00.",
    ]


def test_a_failed_step_leaves_no_stamp(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise bootstrap.SetupProblem("The cable is out.")

    monkeypatch.setattr(bootstrap, "steps", lambda goal: [bootstrap.Step("one", goal, fail)])
    with pytest.raises(bootstrap.SetupProblem, match="cable"):
        bootstrap.set_up("demo")
    assert not bootstrap.is_done(bootstrap.steps("demo")[0])


FAILURES = {
    "known": (machine.SetupProblem("The cable is out."), "Set-up stopped: The cable is out.\n"),
    "system": (PermissionError(13, "Permission denied", "build"), "Set-up stopped: Permission denied (build).\n"),
    "person": (KeyboardInterrupt(), "Interrupted. Run the same command again: finished steps are kept.\n"),
    "fault": (ZeroDivisionError("x"), "Set-up stopped by a fault of its own (ZeroDivisionError('x')); please report "),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_is_one_sentence(
    name: str, scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem, sentence = FAILURES[name]

    def fail(goal: str) -> None:
        raise problem

    monkeypatch.setattr(bootstrap, "set_up", fail)
    assert bootstrap.main(["demo"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(sentence)
    assert said.count("\n") == 1


def test_unknown_goal_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        bootstrap.main(["dance"])
    assert stopped.value.code == 2
    assert "demo" in capsys.readouterr().err


def test_failed_command_gives_its_complaint_and_the_log(scratch: Path) -> None:
    bootstrap.LOG.parent.mkdir()
    code = "import sys; sys.exit('ERROR: no such wheel')"
    with pytest.raises(bootstrap.SetupProblem) as stopped:
        bootstrap.run("installing", [sys.executable, "-c", code])
    assert str(stopped.value) == f"installing failed (ERROR: no such wheel); the whole output is in {bootstrap.LOG}."


def test_no_network_is_said_in_words_of_its_own(scratch: Path) -> None:
    bootstrap.LOG.parent.mkdir()
    code = "print('NewConnectionError: unreachable'); raise SystemExit('ERROR: No matching distribution')"
    with pytest.raises(bootstrap.SetupProblem, match="the package index did not answer: check the network"):
        bootstrap.run("installing", [sys.executable, "-c", code])


def test_long_step_reports_progress(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.LOG.parent.mkdir()
    monkeypatch.setattr(bootstrap, "TICK_S", 0.1)
    bootstrap.run("compiling", [sys.executable, "-c", "import time; time.sleep(0.5)"])
    assert capsys.readouterr().out.startswith("    compiling ... 0:00\n")


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (59.9, "0:59"), (60, "1:00"), (754, "12:34")])
def test_clock(seconds: float, text: str) -> None:
    assert bootstrap.clock(seconds) == text


# ----------------------------------------------------------------------------------------------------- locks


def rows(name: str) -> dict[str, str]:
    return lockfile.read_rows((SCRIPT.parent / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOCKS)
def test_every_row_is_exact_and_hashed(name: str) -> None:
    locked = rows(name)
    assert locked
    for row in locked.values():
        assert re.match(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*[ ;\\]", row)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", row)


def test_lock_covers_what_the_project_asks_for() -> None:
    project = tomllib.loads((SCRIPT.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in project["dependencies"]]
    checks = [re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in project["optional-dependencies"]["dev"]]
    assert set(names) <= set(rows("lock.txt"))
    assert set(checks) <= set(rows("lock.txt")) | set(rows("lock-dev.txt"))


def test_engine_is_the_published_source() -> None:
    # sha256 of the only file of this version on the package index.
    wanted = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
    row = rows("lock.txt")[bootstrap.ENGINE]
    assert lockfile.version_of(row) == "0.3.36"
    assert re.findall(r"sha256:([0-9a-f]+)", row) == [wanted]


def test_rows_keep_their_hashes_together() -> None:
    text = (
        "# about\nOne_A==1.0 \\\n    --hash=sha256:a \\\n    --hash=sha256:b\ntwo==2 ; os_name == 'nt' \\\n  --hash=c\n"
    )
    found = lockfile.read_rows(text)
    assert list(found) == ["one-a", "two"]
    assert found["one-a"].count("--hash") == 2
    assert [lockfile.version_of(row) for row in found.values()] == ["1.0", "2"]


# ------------------------------------------------------------------------------------------------ the real thing


def test_second_start_is_quick_and_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARDROUND_HOME")
    if not all(bootstrap.is_done(step) for step in bootstrap.steps("test")):
        pytest.skip("this environment was not made by packaging/bootstrap.py")
    environment = {**os.environ, "PIP_NO_INDEX": "1"}
    started = time.monotonic()
    command = [sys.executable, str(SCRIPT), "setup"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"Set-up ready in 0:0\d\.\n", done.stdout)
    assert time.monotonic() - started < 5.0
