"""Crash files: places and versions, never values or messages; and a sentence even where none can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop import crash

NAME = "Doe, Jane"


def broken(patient: str) -> None:
    try:
        {}[patient]
    except KeyError as error:
        raise ValueError(f"no result for {patient}") from error


def caught() -> ValueError:
    try:
        broken(NAME)
    except ValueError as error:
        return error
    raise AssertionError("nothing was raised")


def test_a_crash_file_holds_places_and_no_values(home: Path) -> None:
    path = Path(crash.write(caught()))
    text = path.read_text(encoding="utf-8")
    assert path.parent == home / "logs"
    lines = text.splitlines()
    assert lines[0].startswith("Wardround 0")
    assert lines[1] == "builtins.ValueError"
    assert "  tests/desktop/test_crash.py:" in text
    assert " in broken" in text
    assert "caused by builtins.KeyError" in lines
    assert "Jane" not in text
    assert str(Path(__file__).parents[2]) not in text  # nothing of the person's folders


def test_two_mistakes_are_two_files(home: Path) -> None:
    assert crash.write(caught()) != crash.write(caught())
    assert len(list((home / "logs").glob("crash-*.txt"))) == 2


def test_errors_that_name_each_other_end(home: Path) -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert Path(crash.write(first)).read_text().count("ValueError") == 2


def test_where_no_file_can_be_written_the_sentence_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "blocked").write_text("in the way")
    monkeypatch.setenv("WARDROUND_HOME", str(home / "blocked"))
    name = crash.write(caught())
    assert name == crash.NOT_WRITTEN
    assert crash.sentence(name).startswith("Wardround made a mistake. Your cases are intact.")
