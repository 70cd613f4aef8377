"""The files of one import, walked in place: plain files, folders, and members of ZIP, tar and gzip archives.

Nothing is unpacked to a disk; archives go through the guard of `core.readers.archive`. A walk may be repeated. It must
not know what the files mean.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from core.errors import UserError
from core.readers import archive
from core.retrieval.sources.material import Skipped
from core.store.knowledge_values import SourceFile

MEMBER_BYTES = 512 << 20
LIMITS = archive.Limits(member_bytes=MEMBER_BYTES)
PACKED = (".zip", ".gz", ".tgz", ".tar")
HEAD = 8192
LONGEST_LINE = 8_000_000  # bytes
LOOKED_AT, SNIFFED = 200, 4  # files, and members of an archive, looked into to find their form


class File(NamedTuple):
    """One file or member: its name, and its bytes as a stream that is good until the next one is asked for."""

    name: str
    stream: BinaryIO

    def lines(self) -> Iterator[str]:
        """The lines of a UTF-8 text with their ends.

        Raises:
            UserError: not UTF-8 ("encoding"), or a line longer than 8 MB ("size").
        """
        number = 0
        while raw := self.stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(raw) > LONGEST_LINE:
                raise UserError(f"{self.name}: line {number} is longer than {LONGEST_LINE:,} bytes.", code="size")
            try:
                yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise UserError(f"{self.name}: line {number} is not UTF-8.", code="encoding") from error


class Files:
    """Iterating opens one file after the other. `refusals` are the members that the last walk could not open."""

    def __init__(
        self,
        paths: Sequence[Path],
        suffixes: tuple[str, ...] = (),
        *,
        on_read: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._suffixes = suffixes
        self._on_read = on_read
        self.paths = tuple(_listed(paths, suffixes))
        self.refusals: list[Skipped] = []
        if not self.paths:
            raise UserError("There is no file to import.", code="no file")

    def __iter__(self) -> Iterator[File]:
        return self.walk()

    def walk(self, *, newest_first: bool = False) -> Iterator[File]:
        """The files in order of their names, or from the last to the first."""
        self.refusals.clear()
        for path in reversed(self.paths) if newest_first else self.paths:
            yield from self._inside(path)

    def _inside(self, path: Path) -> Iterator[File]:
        """A file itself, or what an archive holds."""
        with _opened(path) as raw:
            stream = io.BufferedReader(_Watched(raw, self._on_read), 1 << 16)
            if path.name.lower().endswith(PACKED):
                yield from self._members(path, cast(BinaryIO, stream))
            else:
                yield File(path.name, cast(BinaryIO, stream))

    def _members(self, path: Path, stream: BinaryIO) -> Iterator[File]:
        for member in archive.members(stream, name=path.name, limits=LIMITS):
            if isinstance(member, archive.Refusal):
                self.refusals.append(Skipped(f"{path.name}, {member.name}", member.reason))
            elif not self._suffixes or member.name.lower().endswith(self._suffixes):
                yield File(member.name, cast(BinaryIO, member.stream))

    def heads(self) -> Iterator[tuple[Path, str, bytes]]:
        """Where it lies, name and first bytes of the first files, of an archive the first members."""
        self.refusals.clear()
        for path in self.paths[:LOOKED_AT]:
            for file in islice(self._inside(path), SNIFFED):
                yield path, file.name, file.stream.read(HEAD)

    def total_bytes(self) -> int:
        """Bytes of all files as they lie on the disk."""
        return sum(path.stat().st_size for path in self.paths)

    def identities(self) -> tuple[SourceFile, ...]:
        """Name, hash and length of every file."""
        return tuple(_identity(path) for path in self.paths)


def _listed(paths: Sequence[Path], suffixes: tuple[str, ...]) -> Iterator[Path]:
    """The files, those of a folder by name; links are not followed."""
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
            yield from (p for p in found if not suffixes or p.name.lower().endswith((*suffixes, *PACKED)))
        elif path.is_file():
            yield path
        else:
            raise UserError(f"There is no file {path.name}.", code="no file")


def _opened(path: Path) -> io.FileIO:
    try:
        return io.FileIO(path)
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}.", code="no file") from error


def _identity(path: Path) -> SourceFile:
    with _opened(path) as stream:
        return SourceFile(
            name=path.name, sha256=hashlib.file_digest(stream, "sha256").hexdigest(), bytes=path.stat().st_size
        )


class _Watched(io.RawIOBase):
    """A raw file whose reads are told of; the listener may raise to stop."""

    def __init__(self, inner: io.FileIO, on_read: Callable[[int], None]) -> None:
        self._inner = inner
        self._on_read = on_read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        size = self._inner.readinto(buffer) or 0
        self._on_read(size)
        return size
