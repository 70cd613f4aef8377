"""EHR extracts in SQLite: what a foreign database holds, and a connection that can only read it.

An extract is an artifact, kept byte for byte as it was received, and is never written to. `overview` runs on foreign
bytes, in the decode child, in memory: no file is opened there. Statements on an extract are another module's business.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from pathlib import Path

import msgspec

from core.domain.case import EhrTable
from core.errors import StoreError, UserError

HEADER = b"SQLite format 3\x00"
HEADER_BYTES = 100
IN_MEMORY_BYTES = 1 << 30  # the most that SQLite holds in memory (SQLITE_CONFIG_MEMDB_MAXSIZE)
TABLES, COLUMNS, NAME_CHARACTERS = 2000, 2000, 200
VERSIONS = slice(18, 20)  # file format write and read version: 1 rollback journal, 2 write-ahead log (fileformat2, 1.3)
READ_ONLY = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of an extract in the order of their names, and what is to be said of it."""

    tables: tuple[EhrTable, ...]
    remarks: tuple[str, ...] = ()


def overview(data: bytes) -> Overview:
    """What a database holds, after SQLite's own check of all its pages.

    Raises:
        UserError: no database or an encrypted one ("database"), larger than 1 GiB ("size"), cut short or damaged
            ("damaged"), no table in it ("no tables").
    """
    if len(data) > IN_MEMORY_BYTES:
        raise UserError("The database is too large: the limit is 1 GiB.", code="size")
    if not data.startswith(HEADER) or len(data) < HEADER_BYTES:
        raise UserError("This is not an SQLite database, or it is encrypted.", code="database")
    _check_length(data)
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(_without_log(data))
        for pragma in READ_ONLY:
            connection.execute(pragma)
        _check(connection)
        return _overview(connection, has_log=data[VERSIONS] == b"\x02\x02")
    except sqlite3.Error as error:
        raise UserError("The database is damaged.", code="damaged") from error
    finally:
        connection.close()


def _check_length(data: bytes) -> None:
    """The header says how many pages there are (fileformat2, 1.3.7: valid where the two change counters agree)."""
    page = int.from_bytes(data[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(data[28:32], "big")
    if pages and data[24:28] == data[92:96] and len(data) < page * pages:
        raise UserError(
            f"The database is cut short: {len(data):,} of {page * pages:,} bytes are there.", code="damaged"
        )


def _without_log(data: bytes) -> bytes:
    """A database in write-ahead mode can only be read in memory when it is said to be in the other mode."""
    if data[VERSIONS] != b"\x02\x02":
        return data
    return data[: VERSIONS.start] + b"\x01\x01" + data[VERSIONS.stop :]


def _check(connection: sqlite3.Connection) -> None:
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise UserError("The database is damaged: SQLite's check of its pages failed.", code="damaged")


def _overview(connection: sqlite3.Connection, *, has_log: bool) -> Overview:
    found = connection.execute(
        "SELECT name, sql LIKE 'CREATE VIRTUAL%' AS is_virtual FROM sqlite_schema "
        r"WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT ?",
        (TABLES + 1,),
    ).fetchall()
    names = [name for name, is_virtual in found[:TABLES] if not is_virtual]
    if not names:
        raise UserError("The database has no table.", code="no tables")
    remarks = []
    if len(found) > TABLES:
        remarks.append(f"It has more than {TABLES:,} tables; the others are not listed.")
    if virtual := [shown(name) for name, is_virtual in found[:TABLES] if is_virtual]:
        remarks.append(f"Virtual tables are not read: {', '.join(virtual[:5])}{', …' if len(virtual) > 5 else ''}.")
    if has_log:
        remarks.append("It was in use with a log beside it; what stands only in that log is not in this file.")
    return Overview(tables=tuple(_table(connection, name) for name in names), remarks=tuple(remarks))


def _table(connection: sqlite3.Connection, name: str) -> EhrTable:
    columns = connection.execute("SELECT name FROM pragma_table_info(?) LIMIT ?", (name, COLUMNS)).fetchall()
    quoted = '"' + name.replace('"', '""') + '"'
    (rows,) = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()
    return EhrTable(name=name, columns=tuple(shown(column) for (column,) in columns), rows=rows)


def shown(name: str) -> str:
    """A name as it may be printed: control and direction characters as "\ufffd", at most 200 characters."""
    kept = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else "\ufffd" for c in name)
    return "".join(kept)[:NAME_CHARACTERS]


def connect(path: Path) -> sqlite3.Connection:
    """A connection that reads an extract where it lies and cannot change it.

    Raises:
        StoreError: it cannot be opened.
    """
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        for pragma in READ_ONLY:
            connection.execute(pragma)
    except sqlite3.Error as error:
        raise StoreError("The EHR extract of this case cannot be opened.", code="extract") from error
    return connection
