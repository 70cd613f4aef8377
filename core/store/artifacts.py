"""Bulk bytes by sha256: originals of a case, previews, whatever a tool made.

All bulk bytes pass through `put`, `batch` and `read`: the one place where encryption at rest will go. A file is whole
or absent after a power cut (written aside, fsync, rename, fsync of the folder), and files come before the rows that
name them. Bytes are checked against their name at every read.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from core import codec
from core.errors import Cancelled, StoreError
from core.store.database import Database, now

FOLDER = "artifacts"
INCOMING = "incoming-"
STALE_S = 24 * 3600
SYNCS = 8  # files at a time
WORTH_IT = 1 << 16  # bytes of a file whose writing back is begun at once
CLEAR_S = 0.1
_NAME = re.compile("[0-9a-f]{64}")


class Artifacts:
    """The artifact files of one profile."""

    def __init__(self, database: Database, profile: Path) -> None:
        self._database = database
        self._folder = profile / FOLDER

    def put(self, data: bytes, media_type: str, actor: str) -> str:
        """Keep bytes; returns their sha256. The same bytes twice are kept once."""
        with self.batch(actor) as batch:
            name = batch.add(data, media_type)
            batch.keep(threading.Event())
        return name

    @contextmanager
    def batch(self, actor: str) -> Iterator[Batch]:
        """Collect many files and keep them all at once; left without `keep`, none of them stays."""
        batch = Batch(self._database, self._folder, actor)
        try:
            yield batch
        finally:
            batch.clear()

    def read(self, sha256: str) -> bytes:
        """The bytes of that name.

        Raises:
            StoreError: missing, or damaged on disk.
        """
        try:
            data = self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise StoreError("A file of this case is missing from the profile.", code="artifact missing") from error
        if codec.sha256(data) != sha256:
            raise StoreError("A file of this case is damaged on disk (hash differs).", code="artifact damaged")
        return data

    def path(self, sha256: str) -> Path:
        """Where the file of that name lies; for readers that cannot take bytes. Nothing but a hash reaches a file."""
        return _place(self._folder, sha256)


class Batch:
    """Files on their way into the store: written aside as they come, made durable together.

    Writing back begins with `add` (where the system can be asked for it), so that `keep` finds most of it done.
    """

    def __init__(self, database: Database, folder: Path, actor: str) -> None:
        self._database = database
        self._folder = folder
        self._actor = actor
        self._aside = folder / f"{INCOMING}{os.getpid()}-{time.monotonic_ns()}"
        self._rows: dict[str, tuple[int, str]] = {}
        self._parts: dict[str, Path] = {}

    def add(self, data: bytes, media_type: str, *, sha256: str = "") -> str:
        """Take bytes (their sha256 may be given); returns it. Raises StoreError: disk full, or not writable."""
        name = sha256 or codec.sha256(data)
        if name in self._rows:
            return name
        if not _place(self._folder, name).exists():
            part = self._aside / f"{name}.part"
            with _writing():
                if not self._parts:
                    _sweep(self._folder)
                    self._aside.mkdir(parents=True, exist_ok=True)
                self._parts[name] = part
                _write(part, data)
        self._rows[name] = (len(data), media_type)
        return name

    def describe(self, sha256: str, media_type: str) -> None:
        """Say what a file of this batch is."""
        self._rows[sha256] = (self._rows[sha256][0], media_type)

    def read(self, sha256: str) -> bytes:
        """The bytes of a file of this batch, kept or not. Raises KeyError for another one."""
        self._rows[sha256]
        return self._parts.get(sha256, _place(self._folder, sha256)).read_bytes()

    def drop(self, sha256: str) -> None:
        """Leave a file out again."""
        self._rows.pop(sha256, None)
        if part := self._parts.pop(sha256, None):
            part.unlink(missing_ok=True)

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._rows

    def keep(self, stop: threading.Event) -> None:
        """Make all files durable, then their rows, in one transaction.

        Raises:
            StoreError: disk full or not writable; files that are there already carry no row and harm nobody.
            Cancelled: `stop` was set.
        """
        with _writing(), ThreadPoolExecutor(SYNCS, "artifacts") as together:
            # At once, so that the file system may settle many of them in one turn.
            list(together.map(lambda part: _sync(part, stop), self._parts.values()))
            list(together.map(sync_folder, self._rename()))
        at = now()
        rows = [(name, size, media_type, at) for name, (size, media_type) in self._rows.items()]
        with self._database.transaction(self._actor, "keep", f"{len(rows)} files") as connection:
            _insert(connection, rows)

    def _rename(self) -> set[Path]:
        """Put the files where they belong; returns the folders whose entries changed."""
        changed = set()
        for name, part in self._parts.items():
            place = _place(self._folder, name)
            if not place.parent.is_dir():
                place.parent.mkdir(parents=True, exist_ok=True)
                changed.add(self._folder)
            part.replace(place)
            changed.add(place.parent)
        self._parts.clear()
        return changed

    def clear(self) -> None:
        """Remove what was written aside and not kept; what takes longer than a person waits goes on beside."""
        self._parts.clear()
        if self._aside.exists():
            tidying = threading.Thread(target=shutil.rmtree, args=(self._aside, True), name="artifacts", daemon=True)
            tidying.start()
            tidying.join(CLEAR_S)


def _insert(connection: sqlite3.Connection, rows: list[tuple[str, int, str, str]]) -> None:
    connection.executemany("INSERT OR IGNORE INTO artifact (sha256, bytes, media_type, at) VALUES (?, ?, ?, ?)", rows)


def _place(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / sha256 if _NAME.fullmatch(sha256) else folder / "no" / "none"


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"The file could not be kept: {error.strerror}.", code="disk full") from error


def _write(path: Path, data: bytes) -> None:
    """Write, and ask the system to begin writing back now."""
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        if len(data) >= WORTH_IT and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _sync(path: Path, stop: threading.Event) -> None:
    if stop.is_set():
        raise Cancelled("keep")
    # Opened for writing: Windows flushes no file that was opened for reading.
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed a day ago or more had written aside."""
    for aside in folder.glob(f"{INCOMING}*"):
        with contextlib.suppress(OSError):
            if time.time() - aside.stat().st_mtime > STALE_S:
                shutil.rmtree(aside, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make directory entries durable where the system can (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
