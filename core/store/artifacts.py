"""Bulk bytes by sha256: originals of a case, previews, whatever a tool made.

All bulk bytes pass through `put` and `read` (part file, fsync, rename, then the row): the one place where encryption at
rest will go. Bytes are checked against their name at every read.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from core import codec
from core.errors import StoreError
from core.store.database import Database, now

FOLDER = "artifacts"
_NAME = re.compile("[0-9a-f]{64}")


class Artifacts:
    """The artifact files of one profile."""

    def __init__(self, database: Database, profile: Path) -> None:
        self._database = database
        self._folder = profile / FOLDER

    def put(self, data: bytes, media_type: str, actor: str) -> str:
        """Keep bytes; returns their sha256. The same bytes twice are kept once."""
        name = codec.sha256(data)
        path = self._path(name)
        if not path.exists():
            _write_durably(path, data)
        with self._database.transaction(actor, "keep", name) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO artifact (sha256, bytes, media_type, at) VALUES (?, ?, ?, ?)",
                (name, len(data), media_type, now()),
            )
        return name

    def read(self, sha256: str) -> bytes:
        """The bytes of that name.

        Raises:
            StoreError: missing, or damaged on disk.
        """
        try:
            data = self._path(sha256 if _NAME.fullmatch(sha256) else "none").read_bytes()
        except FileNotFoundError as error:
            raise StoreError("A file of this case is missing from the profile.", code="artifact missing") from error
        if codec.sha256(data) != sha256:
            raise StoreError("A file of this case is damaged on disk (hash differs).", code="artifact damaged")
        return data

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256


def _write_durably(path: Path, data: bytes) -> None:
    """Part file, fsync, rename, fsync of the folder: after a power cut the file is whole or absent."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(path.parent.parent)
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise StoreError(f"The file could not be kept: {error.strerror}.", code="disk full") from error
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make directory entries durable where the system can (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
