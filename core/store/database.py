"""One SQLite file: open, pragmas, transactions, copy before migration; and the lock of a profile.

Every write goes through `Database.transaction(actor, act, about)`: one transaction a step, durable when it returns
(WAL, synchronous=FULL; trust.md section 5). Who acts is asked of `may`, which says yes until accounts exist.
"""

from __future__ import annotations

import getpass
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from core.errors import StoreError

if TYPE_CHECKING:  # sqlite_utils brings numpy: it is imported when a file is opened, not before the first paint
    from sqlite_utils import Database as Tables
    from sqlite_utils import Migrations

BUSY_SECONDS = 10
KEPT_COPIES = 3


def now() -> str:
    """The present moment in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def actor() -> str:
    """Who acts: the operating system's user until the program has accounts of its own."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "user"


def may(actor: str, act: str, about: str) -> bool:
    """May this person do this? Yes, until accounts exist; every act asks already."""
    return bool(actor and act)


class Database:
    """A connection to one migrated SQLite file; use it in the thread that opened it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    def query(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        """Rows of a read-only statement."""
        with _translated(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, *parameters: object) -> sqlite3.Row | None:
        """The first row, if any."""
        rows = self.query(sql, *parameters)
        return rows[0] if rows else None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads of one state of the file, whatever another process writes meanwhile."""
        with _translated(self.path):
            self._connection.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def transaction(self, actor: str, act: str, about: str) -> Iterator[sqlite3.Connection]:
        """One durable step: all or nothing.

        Raises:
            StoreError: disk full, locked for longer than 10 s, read-only, or not allowed.
        """
        if not may(actor, act, about):
            raise StoreError(f"{actor} may not {act} {about}.", code="not allowed")
        with _translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._connection.close()


def open_database(path: Path, migrations: Migrations, *, key: bytes | None = None) -> Database:
    """Open (or make) a database and bring its schema up to date; the file is copied before a migration.

    `key` is the door for encryption at rest, which comes with the trust issue; it must be None until then.

    Raises:
        StoreError: made by a newer version, damaged, not writable, locked.
    """
    if key is not None:
        raise StoreError("This version cannot open an encrypted profile.", code="encrypted")
    with _translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path)
        try:
            _bring_up_to_date(connection, migrations, path)
        except BaseException:
            connection.close()
            raise
    return Database(connection, path)


def _bring_up_to_date(connection: sqlite3.Connection, migrations: Migrations, path: Path) -> None:
    from sqlite_utils import Database as Tables

    tables = Tables(connection, execute_plugins=False)
    _refuse_newer(tables, migrations, path)
    if not migrations.pending(tables):
        return
    if tables.table_names():
        _copy(connection, path)
    _migrate(connection, tables, migrations)


def _migrate(connection: sqlite3.Connection, tables: Tables, migrations: Migrations) -> None:
    """Apply all that is pending, or none of it: a file in between would be too new for the version before.

    A second process waits here, and then finds nothing left to do.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        migrations.apply(tables)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "trusted_schema=0"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _refuse_newer(tables: Tables, migrations: Migrations, path: Path) -> None:
    known = {migration.name for migration in migrations.pending(tables)}
    applied = {migration.name for migration in migrations.applied(tables)}
    ours = {migration.name for migration in migrations._migrations}
    if applied - ours - known:
        raise StoreError(
            f"{path.name} was made by a newer version of Wardround. Install that version to open it.", code="newer"
        )


def _copy(connection: sqlite3.Connection, path: Path) -> None:
    """A whole copy beside the file, the last three kept."""
    target = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}.bak")
    with sqlite3.connect(target) as copy:
        connection.backup(copy)
    copy.close()
    for old in sorted(path.parent.glob(f"{path.name}.*.bak"))[:-KEPT_COPIES]:
        old.unlink()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences; what is left is a bug."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _known(error, path) from error
    except OSError as error:
        raise StoreError(f"{path.parent} cannot be used: {error.strerror}.", code="cannot open") from error
    except sqlite3.DatabaseError as error:
        if "malformed" in str(error) or "not a database" in str(error):
            raise StoreError(f"{path.name} is damaged. Restore it from a copy (*.bak).", code="damaged") from error
        raise StoreError(str(error), code="sqlite", known=False) from error


def _known(error: sqlite3.OperationalError, path: Path) -> StoreError:
    text = str(error)
    sentences = {
        "disk is full": ("The disk is full. Free some space and try again; nothing was lost.", "disk full"),
        "locked": (f"{path.name} is in use by another program. Try again in a moment.", "locked"),
        "readonly": (f"{path.name} cannot be written: the disk or file is read-only.", "read only"),
        "disk I/O": (f"The disk refused to write {path.name}. Check its space and health; nothing was lost.", "disk"),
        "unable to open": (f"{path.name} cannot be opened. Check that the folder exists and is yours.", "cannot open"),
        "decode to UTF-8": (f"{path.name} holds a damaged text. Restore it from a copy (*.bak).", "damaged"),
    }
    for part, (sentence, code) in sentences.items():
        if part in text:
            return StoreError(sentence, code=code)
    return StoreError(text, code="sqlite", known=False)


class ProfileLock:
    """One window or headless writer a profile; the lock dies with the process that holds it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "profile.lock"
        self._file: IO[bytes] | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            StoreError: another Wardround holds it.
        """
        with _translated(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            stream = self._path.open("ab")
        try:
            _lock(stream)
        except OSError as error:
            stream.close()
            raise StoreError(
                "Wardround is already open with this profile. Use that window, or close it first.",
                code="second process",
            ) from error
        self._file = stream

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(stream: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
