"""The bytes of an import, file by file: what lies in folders, and what lies in archives among them.

An archive is taken apart by a decode child that asks for the blocks it needs; neither process ever holds the whole of
it. Opens no foreign bytes: it looks at the first of them only to see whether a file is an archive or may be large.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from core.domain.case import Unread
from core.errors import Cancelled, UserError
from core.isolate import GIB
from core.readers import archive
from core.readers.archive_guard import OFFICE_PARTS
from core.runtime.folder import Found, Listing
from core.runtime.foreign import MEGABYTE, Block, Done, Member, Next, Passed, Refused, Room, Unpack, Want
from core.settings import Settings

BLOCK = 4 << 20
HEAD = 512
SQLITE = b"SQLite format 3\x00"
OFFICE = (".docx", ".xlsx", ".docm", ".xlsm", ".pptx", ".odt", ".ods")
CHANGED = "It changed while it was being read; import it again."


class Opened(msgspec.Struct, frozen=True):
    """A file's name, bytes and sha256. `done` of `total` files were read before it."""

    name: str
    data: bytes
    sha256: str
    done: int
    total: int


class Sources:
    """Reads the files of a listing; a context manager, for the process that takes archives apart."""

    def __init__(self, settings: Settings, stop: threading.Event, room: Room | None = None) -> None:
        self._settings = settings
        self._stop = stop
        self._room = room or Room(settings, stop)

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *_: object) -> None:
        self._room.end()

    def files(self, listing: Listing, on_file: Callable[[int, int, str], None]) -> Iterator[Opened | Unread]:
        """Every file in the order of the listing, those of an archive in its own order.

        `on_file(done, total, name)` is called before each; the total grows by what archives turn out to hold.

        Raises:
            Cancelled: the import was stopped.
        """
        inside = 0
        for index, file in enumerate(listing.files):
            on_file(index + inside, len(listing.files) + inside, file.name)
            try:
                head = _head(Path(file.path))
                if not _is_archive(file.name, head):
                    data, sha256 = self._whole(Path(file.path), self._limit(head))
                    yield Opened(file.name, data, sha256, index + inside, len(listing.files) + inside)
                    continue
            except UserError as error:
                yield Unread(file.name, error.text)
                continue
            for found in self._members(file):
                if isinstance(found, Unread):
                    yield found
                    continue
                inside += 1
                done, total = index + inside, len(listing.files) + inside
                on_file(done, total, found[0])
                yield self._opened(*found, done, total)

    def _opened(self, name: str, data: bytes, done: int, total: int) -> Opened | Unread:
        limit = self._limit(data[:HEAD])
        if len(data) > limit:
            return Unread(name, _too_large(limit).text)
        return Opened(name, data, hashlib.sha256(data).hexdigest(), done, total)

    def _limit(self, head: bytes) -> int:
        """Bytes of the largest file of its kind: images of a scanner and databases may be larger than text."""
        if head[128:132] == b"DICM" or head.startswith(SQLITE):
            return int(self._settings.limits.image_gib * GIB)
        return self._settings.limits.file_mb * MEGABYTE

    def _whole(self, path: Path, limit: int) -> tuple[bytes, str]:
        """A file's bytes and their sha256, in blocks so that a stop is heard.

        Raises:
            UserError: larger than the limit, not readable, or changed meanwhile.
        """
        try:
            with path.open("rb") as stream:
                before = os.fstat(stream.fileno())
                if before.st_size > limit:
                    raise _too_large(limit)
                data, sha256 = self._blocks(stream, limit)
                after = os.fstat(stream.fileno())
        except OSError as error:
            raise UserError(f"The file could not be opened: {error.strerror}.", code="open") from error
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != after.st_size:
            raise UserError(CHANGED, code="changed")
        return data, sha256

    def _blocks(self, stream: BinaryIO, limit: int) -> tuple[bytes, str]:
        blocks: list[bytes] = []
        size, digest = 0, hashlib.sha256()
        while block := stream.read(BLOCK):
            if self._stop.is_set():
                raise Cancelled("import")
            size += len(block)
            if size > limit:
                raise _too_large(limit)
            digest.update(block)
            blocks.append(block)
        return b"".join(blocks) if len(blocks) != 1 else blocks[0], digest.hexdigest()

    # ------------------------------------------------------------------------------------------ archives

    def _members(self, file: Found) -> Iterator[tuple[str, bytes] | Unread]:
        """The files of an archive under its name; what it hid or lost as a sentence."""
        try:
            with Path(file.path).open("rb") as stream:
                yield from self._taken_apart(file.name, stream, os.fstat(stream.fileno()))
        except OSError as error:
            yield Unread(file.name, f"The file could not be opened: {error.strerror}.")

    def _taken_apart(self, name: str, stream: BinaryIO, facts: os.stat_result) -> Iterator[tuple[str, bytes] | Unread]:
        limits = self._settings.limits
        self._room.send(
            Unpack(
                name=name,
                size=facts.st_size,
                ratio=limits.zip_ratio,
                total_bytes=int(limits.zip_gib * GIB),
                entries=limits.zip_entries,
            )
        )
        while True:
            answer, blob = self._room.receive()
            match answer:
                case Want(offset, size):
                    self._room.send(Block(), _block(stream, offset, size))
                    continue
                case Member(inner):
                    yield f"{name}/{inner}", blob
                case Passed(inner, reason):
                    yield Unread(f"{name}/{inner}", reason)
                case Done():
                    break
                case Refused(_, reason):
                    yield Unread(name, reason)
                    break
                case _:
                    yield Unread(name, self._room.nonsense().reason)
                    break
            self._room.send(Next())
        now = os.fstat(stream.fileno())
        if (facts.st_size, facts.st_mtime_ns) != (now.st_size, now.st_mtime_ns):
            yield Unread(name, CHANGED)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError as error:
        raise UserError(f"The file could not be opened: {error.strerror}.", code="open") from error


def _is_archive(name: str, head: bytes) -> bool:
    """An archive by its first bytes, unless it is a document of an office program, which is a ZIP file too."""
    office = name.lower().endswith(OFFICE) or head[30:].startswith(OFFICE_PARTS)
    return archive.form(head) != "" and not office


def _block(stream: BinaryIO, offset: int, size: int) -> bytes:
    """What a child wants of an archive; never more than a block, whatever it asks for."""
    stream.seek(max(0, offset))
    return stream.read(min(max(0, size), BLOCK))


def _too_large(limit: int) -> UserError:
    return UserError(f"The file is too large: the limit is {limit / 1e6:.0f} MB.", code="size")
