"""Logs refuse case text: what is not marked safe appears by its type's name only, in every way a record is made."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import log
from core.log import Safe

NAME = "Doe, Jane"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger("wardround")
    kept, level, propagate = list(logger.handlers), logger.level, logger.propagate
    logger.handlers.clear()
    yield logger
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], logger.propagate = kept, propagate
    logger.setLevel(level)


def test_only_marked_values_and_numbers_are_written(tmp_path: Path, root: logging.Logger) -> None:
    path = tmp_path / "w.log"
    log.to_file(path)
    subject = log.logger("store")
    subject.info("case %s of %s, %s rows, %s, %s, %s", Safe("c1"), NAME, 3, 2.5, True, None)
    subject.info("patient %(name)s has %(n)s", {"name": NAME, "n": 4})
    subject.info("list %s", [NAME])
    text = path.read_text()
    assert "case c1 of <str>, 3 rows, 2.5, True, <NoneType>" in text
    assert "patient <str> has 4" in text
    assert "list <list>" in text
    assert "Jane" not in text


def test_an_exceptions_message_is_not_written(tmp_path: Path, root: logging.Logger) -> None:
    path = tmp_path / "w.log"
    log.to_file(path)
    try:
        raise ValueError(NAME)
    except ValueError as error:
        log.logger("worker").exception("failed: %s", error)
    assert "failed: <ValueError>" in path.read_text()
    assert "Jane" not in path.read_text()


def test_a_file_is_opened_once_and_nothing_leaves_for_the_root(tmp_path: Path, root: logging.Logger) -> None:
    log.to_file(tmp_path / "a.log")
    log.to_file(tmp_path / "b.log")
    log.logger("window").info("hello")
    assert (tmp_path / "a.log").read_text().count("hello") == 1
    assert not (tmp_path / "b.log").exists()
    assert not root.propagate


def test_subjects_are_a_closed_list() -> None:
    assert {log.logger(subject).name for subject in log.SUBJECTS} == {f"wardround.{s}" for s in log.SUBJECTS}
    with pytest.raises(ValueError, match="no such log subject"):
        log.logger("patients")


def test_the_filter_is_installed_once() -> None:
    first = log.logger("store")
    count = len(first.filters)
    assert log.logger("store") is first
    assert len(first.filters) == count


def test_where_no_file_can_be_written_the_program_goes_on(tmp_path: Path, root: logging.Logger) -> None:
    (tmp_path / "folder.log").mkdir()
    log.to_file(tmp_path / "folder.log")
    log.logger("window").info("hello")
    assert [type(handler) for handler in root.handlers] == [logging.NullHandler]
