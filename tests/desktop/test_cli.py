"""The command line: what each command prints, its exit codes, and that nothing ever ends in a bare traceback."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import codec
from core.domain.pack import Licence, PackFile, PackManifest
from core.errors import BugError, Cancelled, ModelError, SecurityError, StoreError, UserError
from core.store.database import ProfileLock
from desktop.assembly import Stores
from desktop.cli import arguments, boundary, commands
from desktop.cli.terminal import Terminal, columns
from tests.helpers.program import command, environment, example_home, journal, reference, wardround

NOTE = "Mrs Doe is breathless since Monday. No chest pain. Heart rate 112/min."
LABS = "Test,Result,Unit,Reference\nPotassium,5.9,mmol/L,3.5-5.1\nSodium,139,mmol/L,135-145\n"


def cli(*given: str) -> int:
    """The command line in this process: parsed and guarded as the program does it."""
    return boundary.guard(lambda: commands.execute(arguments.parse(list(given))))


def values(captured: pytest.CaptureFixture[str]) -> Any:
    return json.loads(captured.readouterr().out)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of an invented patient, one of which cannot be read."""
    made = tmp_path / "letters"
    made.mkdir()
    (made / "letter.txt").write_text(NOTE)
    (made / "labs.csv").write_text(LABS)
    (made / "program.exe").write_bytes(b"MZ\x00\x00" * 100)
    return made


# ------------------------------------------------------------------------------------------------ usage and edges


@pytest.mark.parametrize(
    "given",
    [
        ["fly"],
        ["run"],
        ["run", "--case"],
        ["run", "--case", "c", "--mode", "fast"],
        ["import"],
        ["cases"],
        ["report", "r1", "--html", "--text"],
        ["bench"],
        ["knowledge", "search"],
        ["knowledge", "search", "cough", "-k", "0"],
        ["knowledge", "search", "cough", "-k", "-3"],
        ["knowledge", "search", "cough", "-k", "many"],
        ["import", "x.txt", "--title", " \n "],
        ["import", "x.txt", "--title", "x" * 201],
        ["import", ""],
        ["import", "x.txt", "--case", ""],
        ["knowledge", "add", ""],
        ["report", "r1", "--compare="],
        ["resume", ""],
        ["run", "--case", "c", "--seed", "-1"],
        ["run", "--case", "c", "--seed", str(2**64)],
        ["import", "x.txt", "--titl", "abbreviated"],
        ["run", "--case", "c", "--back", "none"],
        ["--prof", "demo", "cases", "list"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli(*given)
    assert ended.value.code == 2
    assert "usage: wardround" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        ["cases", "show", "nobody"],
        ["run", "--case", "nobody"],
        ["report", "r0"],
        ["resume", "r0"],
        ["import", "/no/such/path"],
        ["models", "verify", "no-such-pack"],
        ["cases", "search", " "],
        ["run", "--case", "c", "--on-question", "/no/such/file"],
    ],
    ids=" ".join,
)
def test_what_the_person_must_mend_is_one_sentence(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(*given) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith(".\n")
    assert captured.err.count("\n") == 1


def test_a_missing_model_or_workflow_is_said_before_the_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = example_home(home)
    for option, value in (("--backbone", "no-such-pack"), ("--workflow", "no-such-workflow")):
        assert cli("--profile", "demo", "run", "--case", case, option, value) == 1
        assert value in capsys.readouterr().err
    assert len(journal(home).runs()) == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("Do this."), 1, "Do this.\n"),
        (StoreError("The disk is full."), 1, "The disk is full.\n"),
        (SecurityError("Refused."), 1, "Refused.\n"),
        (ModelError("Too long."), 1, "Too long.\n"),
        (Cancelled("x"), 1, "Stopped.\n"),
        (KeyboardInterrupt(), 1, "Stopped.\n"),
        (PermissionError(13, "Permission denied", "/elsewhere/secret.txt"), 1, "Permission denied (secret.txt)"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (StoreError("no such table", known=False), 3, "crash-"),
        (BugError("rule"), 3, "crash-"),
        (ZeroDivisionError("Doe, Jane"), 3, "crash-"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_has_its_sentence_and_code(
    error: BaseException, code: int, said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert boundary.guard(fail) == code
    printed = capsys.readouterr().err
    assert said in printed
    assert "Traceback" not in printed
    assert "Jane" not in printed
    assert len(list((home / "logs").glob("crash-*"))) == (1 if code == 3 else 0)


def test_a_settings_file_that_is_wrong_is_named(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (profile / "settings.json").write_text('{"colour": "red"}')
    assert cli("cases", "list") == 1
    assert "colour" in capsys.readouterr().err


def test_who_writes_needs_the_profile_alone_who_reads_does_not(
    profile: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = ProfileLock(profile)
    lock.acquire()
    assert cli("cases", "list") == 0
    capsys.readouterr()
    assert cli("import", str(folder)) == 1
    assert "already open with this profile: a window, or another command." in capsys.readouterr().err
    lock.release()
    assert cli("import", str(folder)) == 0


# ------------------------------------------------------------------------------------------------ import and cases


def test_import_says_what_was_not_read_and_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("import", str(folder), "--title", "Doe letters") == 0
    said = capsys.readouterr().out
    assert "Case doe-letters, revision 1: 2 items." in said
    assert "Not read:\n  program.exe: " in said
    assert "wardround run --case doe-letters" in said

    (folder / "second.txt").write_text("Better on Tuesday.")
    assert cli("--json", "import", str(folder / "second.txt"), "--case", "doe-letters") == 0
    found = values(capsys)
    assert (found["case"], found["revision"], len(found["items"])) == ("doe-letters", 2, 3)
    assert [name for name, _ in found["unread"]] == ["program.exe"]


def test_cases_are_listed_shown_and_searched(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("cases", "list") == 0
    assert "No case yet." in capsys.readouterr().out
    cli("import", str(folder), "--title", "Doe letters")
    capsys.readouterr()
    assert cli("cases", "list") == 0
    assert "doe-letters  new data  -  2 items  1 not read  Doe letters" in capsys.readouterr().out
    assert cli("cases", "show", "doe-letters") == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("letter.txt", "labs.csv", "not read: program.exe"))
    assert cli("--json", "cases", "show", "doe-letters") == 0
    rows = [item["rows"] for item in values(capsys)["case"]["items"] if item["type"] == "labs"]
    assert [row["test"] for row in rows[0]] == ["Potassium", "Sodium"]
    for text, places in (("BREATHLESS", "letter.txt"), ("potassium", "labs.csv"), ("doe", "title or patient")):
        assert cli("cases", "search", text) == 0
        assert places in capsys.readouterr().out
    assert cli("cases", "search", "zebra") == 0
    assert "No case holds this text." in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ runs and reports


def test_a_run_from_the_command_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = example_home(home)
    assert cli("--json", "--profile", "demo", "run", "--case", case, "--backbone", "none", "--question", "Why?") == 0
    found = values(capsys)
    assert (found["case"], found["status"]) == (case, "finished")
    row = journal(home).run(found["run"])
    assert (row.backbone, row.task.question) == ("", "Why?")
    assert Path(found["html"]).is_file()


def test_a_run_beside_another(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example_home(home)
    run = reference(home)
    assert cli("--profile", "demo", "report", run, "--compare", run) == 0
    assert "Equal: Task and settings" in capsys.readouterr().out
    assert cli("--json", "--profile", "demo", "report", run, "--compare", run) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["one"], found["other"]) == (run, run)
    assert [part["differences"] for part in found["parts"]] == [[]] * 7
    assert cli("--profile", "demo", "report", run, "--compare", "r0") == 1
    assert "There is no run r0." in capsys.readouterr().err
    target = home / "c.pdf"
    assert cli("--profile", "demo", "report", run, "--compare", run, "--pdf", str(target)) == 1
    assert "A comparison is printed as text or --json" in capsys.readouterr().err
    assert not target.exists()


def test_the_report_in_every_form(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example_home(home)
    run = reference(home)

    def show(*more: str) -> str:
        assert cli("--profile", "demo", "report", run, *more) == 0
        return capsys.readouterr().out

    text = show()
    assert "CONCLUSION" in text
    assert show("--text") == text
    assert show("--html").startswith("<!DOCTYPE html>")
    assert json.loads(show("--json"))["run_id"] == run
    assert "Published" not in text
    assert len(show("--full").splitlines()) > len(text.splitlines()) + 10
    target = tmp_path / "report.html"
    assert show("--out", str(target)).strip() == str(target)
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert show("--out", str(tmp_path / "r.txt"))
    assert (tmp_path / "r.txt").read_text().strip() == text.strip()
    assert show("--out", str(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text())["run_id"] == run
    assert show("--json", "--out", str(tmp_path / "s.json")) == ""
    assert (tmp_path / "s.json").read_text() == (tmp_path / "r.json").read_text()
    kept = tmp_path / "letter.txt"
    kept.write_text("not a report")
    assert cli("--profile", "demo", "report", run, "--out", str(kept)) == 1
    assert "letter.txt is there already; nothing was written." in capsys.readouterr().err
    assert kept.read_text() == "not a report"


def test_a_question_waits_and_is_answered_from_a_file(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = example_home(home)
    given = ("--profile", "demo", "run", "--case", case, "--backbone", "none", "--on-question", "wait")
    assert cli(*given) == 1
    said = capsys.readouterr().err
    kept = journal(home)
    run = kept.runs()[0].id
    assert kept.run(run).status == "waiting"
    assert f"wardround resume {run} --on-question FILE" in said
    asked = kept.open_question(run)
    assert asked is not None
    gaps = asked.event.question.gaps  # type: ignore[union-attr]
    assert all(f"[{gap.concept}]" in said for gap in gaps)

    assert cli("--profile", "demo", "resume", run) == 1  # without answers it still waits
    file = tmp_path / "answers.toml"
    file.write_text(f'"{gaps[0].concept}" = "present"\n')
    capsys.readouterr()
    assert cli("--profile", "demo", "resume", run, "--on-question", str(file)) == 0
    answers = kept.events(run)[-1].event.assessment  # type: ignore[union-attr]
    assert kept.run(run).status == "finished"
    assert answers.conclusion
    states = [
        (answer.concept, answer.state)
        for row in kept.events(run)
        if (given_answers := getattr(row.event, "answers", ()))
        for answer in given_answers
    ]
    assert states[0] == (gaps[0].concept, "present")
    assert all(state == "not obtainable" for _, state in states[1:])


def test_resume_without_a_run(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("resume") == 0
    assert "There is no interrupted run." in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ knowledge, models


def test_knowledge_is_listed_and_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--json", "knowledge", "list") == 0
    (starter,) = values(capsys)
    assert (starter["id"], starter["state"], starter["concepts"]) == ("starter", "active", 0)
    assert cli("--json", "knowledge", "list", "--conditions") == 0
    rows = values(capsys)
    assert len(rows) >= 12
    assert {"pulmonary-embolism", "sepsis", "open-angle-glaucoma"} <= {row["slug"] for row in rows}
    assert all(row["clues"] >= 12 for row in rows)
    assert cli("knowledge", "list", "--conditions") == 0
    assert "Pulmonary embolism" in capsys.readouterr().out
    assert cli("--json", "knowledge", "search", "swollen calf and a raised D-dimer", "-k", "3") == 0
    hits = values(capsys)
    assert 1 <= len(hits) <= 3
    assert any("mbolism" in hit["passage"]["title"] for hit in hits)
    assert cli("knowledge", "search", "qqqq zzzz") == 0
    assert "No passage matches." in capsys.readouterr().out


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small pack that is intact."""
    place = tmp_path / "packs" / "tiny" / "1"
    place.mkdir(parents=True)
    data = b"weights" * 1000
    (place / "model.gguf").write_bytes(data)
    manifest = PackManifest(
        id="tiny",
        version="1",
        role="text",
        family="llama",
        template="chatml",
        params_b=0.1,
        quant="Q4",
        files=(PackFile(path="model.gguf", size=len(data), sha256=codec.sha256(data)),),
        licence=Licence(spdx="Apache-2.0"),
    )
    (place / "manifest.json").write_bytes(codec.encode(manifest))
    monkeypatch.setenv("WARDROUND_MODELS", str(tmp_path / "packs"))
    return place


def test_models_are_listed_and_verified(packs: Path, profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Stores(profile).close()  # what verify finds is remembered in a profile only
    assert cli("models", "list") == 0
    assert "tiny  1  text  ready" in capsys.readouterr().out
    assert cli("models", "verify") == 0
    assert "tiny 1: intact" in capsys.readouterr().out
    data = bytearray((packs / "model.gguf").read_bytes())
    data[4000] ^= 1
    (packs / "model.gguf").write_bytes(bytes(data))
    assert cli("models", "verify", "tiny") == 1
    assert "Model file is damaged (hash differs). Not loaded." in capsys.readouterr().out
    assert cli("--json", "models", "list") == 0
    assert [row["state"] for row in values(capsys)] == ["quarantined"]


def test_doctor_looks_at_everything(home: Path) -> None:
    example_home(home)
    done = wardround(home, "--json", "--profile", "demo", "doctor")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert {"python", "processor", "memory", "profile", "knowledge", "journal", "network", "window"} <= set(checks)
    for name in ("network", "journal", "knowledge", "numpy", "window"):
        assert checks[name]["state"] == "ok", checks[name]
    assert "denied" in checks["network"]["text"]
    assert done.returncode == (0 if all(check["state"] in ("ok", "optional") for check in checks.values()) else 1)


def test_doctor_says_how_to_get_a_missing_model(home: Path, tmp_path: Path) -> None:
    made = {**environment(home), "WARDROUND_MODELS": str(tmp_path / "none")}
    done = subprocess.run(command("doctor"), env=made, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "missing" in done.stdout
    assert "python3 packaging/bootstrap.py setup" in done.stdout


# ------------------------------------------------------------------------------------------------ the terminal


def test_progress_is_shown_on_a_terminal_and_taken_away(home: Path, folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("import", str(folder)), env=environment(home), stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # Linux says so at the end of a pseudo-terminal
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"\r[" in shown
    assert shown.rstrip(b" ").endswith(b"\r")  # the bar is gone at the end
    assert b"Case letters" in out
    assert b"\r" not in out


def test_without_a_terminal_nothing_is_drawn(home: Path, folder: Path) -> None:
    done = wardround(home, "import", str(folder))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves_is_no_error(home: Path) -> None:
    example_home(home)
    show = f'{sys.executable} -P -m desktop --profile demo --json cases show "$0"'
    pipe = f'{show} | head -c 1; echo "${{PIPESTATUS[0]}}" >&2'
    done = subprocess.run(
        ["bash", "-c", pipe, "acute-dyspnoea-after-knee-replacement"],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "0\n"


def test_columns_are_aligned() -> None:
    assert columns([("a", "bbb", "c"), ("aa", "b", "cc")]) == ["a   bbb  c", "aa  b    cc"]
    assert columns([]) == []


def test_json_keeps_everything_else_from_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(json=True)
    terminal.say("for people")
    terminal.value({"a": 1})
    terminal.remark("beside it")
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"a": 1}
    assert captured.err == "beside it\n"


def test_every_command_of_the_grammar_has_its_function() -> None:
    help_text = io.StringIO()
    arguments._parser().print_help(help_text)
    named = set(commands._PLACES)
    assert all(name in help_text.getvalue() for name in named)
    for name, place in commands._PLACES.items():
        module = __import__(place, fromlist=["COMMANDS"])
        assert name in module.COMMANDS
