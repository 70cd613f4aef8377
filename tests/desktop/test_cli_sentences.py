"""The command line for who is new to it: sentences for what is typed wrong, no traces where one only looks, a journal
that was changed, a question that nobody can answer."""

from __future__ import annotations

import json
import threading
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

from core.domain import event as ev
from core.settings import Settings
from core.store.database import open_database
from core.store.migrations import workbench
from desktop.assembly import Workbench
from desktop.cli import arguments, boundary, commands
from desktop.cli.terminal import Terminal
from desktop.state import jobs
from tests.helpers.program import example_home, journal, reference, wardround


def cli(*given: str) -> int:
    """The command line in this process: parsed and guarded as the program does it."""
    return boundary.guard(lambda: commands.execute(arguments.parse(list(given))))


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli("--version")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"wardround {version('wardround')}\n"


@pytest.mark.parametrize(
    "given",
    [["cases", "list"], ["cases", "show", "c"], ["cases", "search", "x"], ["report", "r0"], ["models", "list"],
     ["models", "verify", "none"], ["knowledge", "list"], ["knowledge", "search", "cough"]],
    ids=" ".join,
)  # fmt: skip
def test_who_only_reads_makes_no_profile(given: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for named in ([], ["--profile", "demo"], ["--profile", str(home / "typing-error")]):
        assert cli(*named, *given) in (0, 1)
    assert {entry.name for entry in home.iterdir()} <= {"logs", "cache", "packs"}


@pytest.mark.parametrize("given", [["cases", "list"], ["report", "r0"]], ids=" ".join)
def test_a_profile_that_is_not_there_is_said(given: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--profile", str(home / "typing-error"), *given) == 1
    assert capsys.readouterr().err.startswith(f"There is no profile in {home / 'typing-error'}. ")


def test_a_title_of_two_lines_stays_on_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.txt").write_text("Breathless since Monday.")
    assert cli("import", str(tmp_path / "letter.txt"), "--title", "Doe\n  letters") == 0
    assert "Case doe-letters, revision 1: 1 item.\n" in capsys.readouterr().out
    assert cli("cases", "list") == 0
    assert capsys.readouterr().out == "doe-letters  new data  -  1 item    Doe letters\n"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no/such/x.html", "There is no folder {tmp}/no/such. Make it first."),
        (".", "{tmp} is a folder. Name a file: --out {tmp}/report.html"),
        ("x.doc", "A report is written as .html, .pdf, .txt or .json, not as .doc."),
    ],
)
def test_a_report_that_cannot_be_written_there_is_a_sentence(
    target: str, said: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example_home(home)
    before = sorted(tmp_path.iterdir())
    assert cli("--profile", "demo", "report", reference(home), "--out", str(tmp_path / target)) == 1
    assert capsys.readouterr().err == said.format(tmp=tmp_path) + "\n"
    assert sorted(tmp_path.iterdir()) == before


def test_a_report_of_a_changed_journal_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example_home(home)
    run = reference(home)
    database = open_database(home / "demo" / "workbench.db", workbench)
    with database.transaction("tester", "tamper", run) as connection:
        connection.execute("UPDATE run SET seed = 99 WHERE id = ?", (run,))
    database.close()
    said = f"The journal of this run does not fit its hash chain: run {run} was begun with another seed"
    assert cli("--profile", "demo", "report", run) == 0
    assert said in capsys.readouterr().out
    bench = Workbench(home / "demo", Settings(), "tester")
    shown = jobs.build_report(bench, run)(lambda done, total, text: None, threading.Event())
    assert shown.report.banner[0].startswith(said)


def test_a_waiting_run_goes_on_when_nothing_can_be_asked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = example_home(home)
    given = ("--profile", "demo", "run", "--case", case, "--backbone", "none", "--on-question", "wait")
    assert cli(*given) == 1
    kept = journal(home)
    run = kept.runs()[0].id
    assert cli("--profile", "demo", "resume", run, "--on-question", "wait") == 1
    assert kept.run(run).status == "waiting"
    assert cli("--profile", "demo", "resume", run, "--on-question", "unavailable") == 0
    assert kept.run(run).status == "finished"
    answered = [row.event for row in kept.events(run) if isinstance(row.event, ev.QuestionAnswered)]
    assert answered
    assert {answer.state for event in answered for answer in event.answers} == {"not obtainable"}


@pytest.mark.parametrize(
    ("line", "ready"),
    [
        ("calf-swelling = present", '"calf-swelling" = "present"'),
        ('"leg pain" = "absent"\ncalf-swelling=not obtainable # nobody there', '"calf-swelling" = "not obtainable"'),
        ("calf-swelling: absent", '"calf-swelling" = "absent"'),
    ],
)
def test_a_line_without_quotes_is_given_back_ready(
    line: str, ready: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.toml").write_text(line)
    assert cli("run", "--case", "c", "--on-question", str(tmp_path / "a.toml")) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"line {line.count(chr(10)) + 1} lacks quotes. Write it so: {ready}.\n")


def test_a_word_that_is_no_file_lists_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("run", "--case", "c", "--on-question", "unavailible") == 1
    said = capsys.readouterr().err
    assert "`unavailable`, `wait`, or the name of an answer file; there is no file unavailible." in said


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.toml", "x = 1"), ("a.toml", 'x = "perhaps"'), ("a.json", "{"), ("a.json", '["x"]'), ("a.toml", "x = = 1")],
)
def test_an_answer_file_that_is_wrong_is_named(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    assert cli("run", "--case", "c", "--on-question", str(tmp_path / name)) == 1
    assert f"The answer file {tmp_path / name} is not usable" in capsys.readouterr().err


def test_an_answer_file_without_an_end_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with (tmp_path / "a.toml").open("wb") as stream:
        stream.truncate(1_000_001)
    assert cli("run", "--case", "c", "--on-question", str(tmp_path / "a.toml")) == 1
    assert capsys.readouterr().err == f"The answer file {tmp_path / 'a.toml'} is larger than 1,000,000 bytes.\n"


def test_a_command_whose_output_is_closed_ends_as_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert cli("cases", "list") == 0


def test_resume_of_what_was_interrupted_names_the_case(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = example_home(home)
    row = msgspec.structs.replace(journal(home).runs()[0], id="rnew", status="queued", backbone="", resumes=0)
    journal(home).queue(row)
    assert cli("--profile", "demo", "resume") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"Acute dyspnoea after knee replacement ({case}), run rnew"
    assert second.startswith("Run rnew. HTML report: ")


def test_doctor_makes_no_profile(home: Path) -> None:
    done = wardround(home, "--json", "doctor")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["profile"]["text"].startswith(f"{home / 'profile'} (not there yet")
    assert checks["knowledge"]["state"] == checks["journal"]["state"] == "ok"
    assert not (home / "profile").exists()


def test_the_parts_of_a_long_job_are_lines_where_nobody_draws_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    for json_wanted in (False, True):
        Terminal(json=json_wanted).part("building both indexes")
        assert capsys.readouterr() == ("", "building both indexes\n")
