"""`wardround knowledge` for guidelines and vocabularies of one's own, as typed: add, approve, search, retire, show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop.cli import arguments, boundary, commands

GUIDELINE = """---
title: Ward guideline on hiccups
edition: 2026
licence: own
---
# Symptoms
Singultus that lasts longer than forty-eight hours is called persistent. Ask for reflux and for steroids.

# Treatment
Ward staff try breath holding first and record how long the hiccups lasted.
"""
TERMS = """format-version: 1.2
data-version: own/2026-11-30

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0100247
name: Recurrent singultus
def: "Contractions of the diaphragm that repeat several times a minute." [own:1]
synonym: "Hiccups" EXACT []
is_a: HP:0000001 ! All
"""


def main(given: list[str]) -> int:
    """The command line in this process: parsed and guarded as the program does it."""
    return boundary.guard(lambda: commands.execute(arguments.parse(given)))


def cli(*given: str) -> int:
    return main(["--profile", "demo", "knowledge", *given])


def added(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, object]:
    assert main(["--json", "--profile", "demo", "knowledge", "add", *given]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def found(capsys: pytest.CaptureFixture[str]) -> bool:
    """Does a search find the guideline of ours?"""
    capsys.readouterr()
    assert main(["--json", "--profile", "demo", "knowledge", "search", "persistent singultus"]) == 0
    return any("hiccups" in hit["passage"]["title"].lower() for hit in json.loads(capsys.readouterr().out))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hiccups.md"
    path.write_text(GUIDELINE)
    return path


def test_a_guideline_is_a_draft_until_a_person_approves_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = added(capsys, str(file), "--licence", "own")
    pack = str(report["pack"])
    assert (report["state"], report["docs"], report["skipped"]) == ("draft", 1, [])
    assert not found(capsys)
    assert cli("approve", pack) == 0
    assert "is in use, approved by" in capsys.readouterr().out
    assert found(capsys)
    again = added(capsys, str(file), "--licence", "own")
    assert (again["state"], again["put"]["unchanged"]) == ("active", 1)  # type: ignore[index]
    assert cli("retire", pack, "--reason", "replaced on the ward") == 0
    assert not found(capsys)
    assert cli("show", pack) == 0
    told = capsys.readouterr().out
    assert "state: withdrawn" in told
    assert [word in told for word in ("approve", "retire", "replaced on the ward")] == [True] * 3
    assert cli("show") == 0
    assert "starter" in capsys.readouterr().out
    assert cli("verify") == 0
    assert "every text is as it was imported" in capsys.readouterr().out


def test_a_vocabulary_is_looked_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hp.obo").write_text(TERMS)
    report = added(capsys, str(tmp_path / "hp.obo"), "--licence", "own")
    assert (report["state"], report["concepts"]) == ("active", 2)
    assert cli("lookup", "hiccups") == 0
    told = capsys.readouterr().out
    assert "Recurrent singultus  [HP:0100247]" in told
    assert "Contractions of the diaphragm" in told
    assert cli("lookup", "zzz") == 1
    assert "No installed vocabulary has zzz" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["approve", "nobody"], "There is no knowledge pack nobody"),
        (["retire", "nobody", "--reason", "x"], "There is no knowledge pack nobody"),
        (["show", "nobody"], "There is no knowledge pack nobody."),
        (["add", "FILE", "--licence", "mine"], "The licence 'mine'"),
        (["add", "/no/such/file.md"], "There is no file file.md."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_a_sentence(
    given: list[str], sentence: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(*(str(file) if word == "FILE" else word for word in given)) == 1
    told = capsys.readouterr()
    assert sentence in told.err
    assert "Traceback" not in told.err
