"""EHR extracts: what a database holds after SQLite's own check, and a connection that cannot change it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import StoreError, UserError
from core.store import extract

STATEMENTS = (
    'CREATE TABLE "odd ""name""" (a, "b\u202ec")',
    "CREATE TABLE patients (subject_id INTEGER PRIMARY KEY, gender TEXT)",
    "INSERT INTO patients (gender) VALUES ('F'), ('M'), ('F')",
    "CREATE VIEW women AS SELECT * FROM patients WHERE gender = 'F'",
    "CREATE INDEX i ON patients (gender)",
)


def database(path: Path, *statements: str, log: bool = False) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        if log:
            connection.execute("PRAGMA journal_mode = WAL")
        for statement in statements or STATEMENTS:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


def test_tables_columns_and_rows(tmp_path: Path) -> None:
    found = extract.overview(database(tmp_path / "a.db"))
    assert [(table.name, table.columns, table.rows) for table in found.tables] == [
        ('odd "name"', ("a", "b\ufffdc"), 0),
        ("patients", ("subject_id", "gender"), 3),
    ]
    assert found.remarks == ()


def test_a_database_with_a_log_is_read_and_said(tmp_path: Path) -> None:
    found = extract.overview(database(tmp_path / "a.db", log=True))
    assert found.tables[1].rows == 3
    assert found.remarks == ("It was in use with a log beside it; what stands only in that log is not in this file.",)


def test_virtual_tables_are_named_and_not_opened(tmp_path: Path) -> None:
    data = database(tmp_path / "a.db", "CREATE TABLE t (x)", "CREATE VIRTUAL TABLE f USING fts5(body)")
    found = extract.overview(data)
    assert "f" not in [table.name for table in found.tables]
    assert found.remarks == ("Virtual tables are not read: f.",)


Change = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: b"", "database"),
        (lambda data: data[:50], "database"),
        (lambda data: b"x" + data[1:], "database"),
        (lambda data: data[:-4096], "damaged"),
        (lambda data: data[:4096] + b"\xff" * 100 + data[4196:], "damaged"),
        (lambda data: data[:16] + b"\x00\x03" + data[18:], "damaged"),
    ],
    ids=["empty", "header only", "encrypted", "cut", "page", "page size"],
)
def test_what_is_no_sound_database_is_refused(tmp_path: Path, change: Change, code: str) -> None:
    with pytest.raises(UserError) as caught:
        extract.overview(change(database(tmp_path / "a.db")))
    assert caught.value.code == code


def test_a_database_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no table"):
        extract.overview(database(tmp_path / "a.db", "CREATE TABLE t (x)", "DROP TABLE t"))


def test_a_connection_reads_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "Ж ü 你 é space.db"
    before = database(path, log=True)
    with closing(extract.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM patients").fetchone() == (3,)
        for statement in ("INSERT INTO patients DEFAULT VALUES", "DROP TABLE patients", "CREATE TABLE x (a)"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute(statement)
    assert path.read_bytes() == before
    assert {entry.name for entry in tmp_path.iterdir() if entry.is_file()} == {path.name}
    with pytest.raises(StoreError) as caught:
        extract.connect(tmp_path / "absent.db").execute("SELECT 1")
    assert caught.value.code == "extract"
