"""What an archive may do: names that stay inside, and a budget that counts what comes out while it comes out.

Nothing that an archive says of itself is believed: sizes and ratios are measured on the bytes. Knows no archive form.
"""

from __future__ import annotations

import io
import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from core.errors import UserError

FLOOR = 1 << 20  # bytes that may come out whatever the ratio: an empty picture packs a thousandfold and harms nobody
NAME_CHARACTERS = 1000
HEAD = 512
# What zipfile, gzip and zlib raise on damaged input.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,  # among them what zipfile raises for a feature that it does not know
)
PACKED = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"BZh", b"\xfd7zXZ\x00")
OFFICE_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"mimetype", b"customXml/")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes a member and all members may unpack to, entries an archive may have, times that it may grow."""

    member_bytes: int
    total_bytes: int = 20 << 30
    entries: int = 200_000
    ratio: int = 100


class Refusal(msgspec.Struct, frozen=True):
    """A member that was not read: its cleaned name, a stable code, and one sentence."""

    name: str
    code: str
    reason: str


class Bomb(UserError):
    """The archive grows out of proportion; nothing more is read from it."""


class Budget:
    """What has come out of one archive so far, against its limits and its own size in bytes."""

    def __init__(self, limits: Limits, archive_bytes: int) -> None:
        self.limits = limits
        self.is_spent = False
        self._archive_bytes = archive_bytes
        self._out = 0
        self._entries = 0

    def enter(self) -> None:
        """Count an entry. Raises Bomb ("entries")."""
        self._entries += 1
        if self._entries > self.limits.entries:
            raise self._ended(f"The archive has more than {self.limits.entries:,} entries.", "entries")

    def take(self, size: int, *, member_out: int, member_in: int) -> None:
        """Count bytes that came out; of this member, `member_out` came out of `member_in`. Raises Bomb."""
        self._out += size
        ratio = self.limits.ratio
        if member_out > max(FLOOR, ratio * member_in) or self._out > max(FLOOR, ratio * self._archive_bytes):
            raise self._ended(f"It unpacks to more than {ratio} times its size; the archive was left there.", "ratio")
        if self._out > self.limits.total_bytes:
            most = self.limits.total_bytes / (1 << 30)
            raise self._ended(f"The archive unpacks to more than {most:.3g} GiB; it was left there.", "total")

    def _ended(self, text: str, code: str) -> Bomb:
        self.is_spent = True
        return Bomb(text, code=code)


class Guarded(io.RawIOBase):
    """A stream of unpacked bytes that is counted as it is read.

    Reading raises UserError: Bomb ("ratio", "total"), "size" (the member alone is too large), "damaged".
    """

    def __init__(self, inner: BinaryIO, budget: Budget, packed: Callable[[], int], limit: int) -> None:
        self._inner = inner
        self._budget = budget
        self._packed = packed
        self._limit = limit
        self._out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            data = self._inner.read(len(buffer))
        except BROKEN as error:
            raise UserError("It is damaged inside the archive and could not be unpacked.", code="damaged") from error
        self._out += len(data)
        self._budget.take(len(data), member_out=self._out, member_in=self._packed())
        if self._out > self._limit:
            raise too_large(self._limit)
        buffer[: len(data)] = data
        return len(data)


class Counted:
    """A seekable stream that counts the bytes read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self.count = 0
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True


class Member:
    """A file in an archive: a clean relative name and its bytes as a stream, good until the next member is met."""

    def __init__(self, name: str, guarded: io.RawIOBase) -> None:
        self.name = name
        self.stream = io.BufferedReader(guarded, 1 << 16)

    def read(self) -> bytes:
        """All of it. Raises UserError as `Guarded`."""
        return self.stream.read()

    def is_archive(self) -> bool:
        """Does it hold an archive again? Office documents, which are ZIP files too, do not count."""
        head = self.stream.peek(HEAD)[:HEAD]
        if head.startswith(b"PK\x03\x04") and head[30:].startswith(OFFICE_PARTS):
            return False
        return head.startswith(PACKED) or head[257:262] == b"ustar"


def too_large(limit: int) -> UserError:
    return UserError(f"The file is too large: it unpacks to more than {limit / 1e6:.0f} MB.", code="size")


def shown(name: str) -> str:
    """A name as it may be printed: NFC, control and direction characters as "\ufffd", at most 1,000 characters."""
    kept = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else "\ufffd" for c in name)
    return unicodedata.normalize("NFC", "".join(kept))[:NAME_CHARACTERS]


def tidied(name: str) -> str:
    """A safe name without "./" and doubled slashes; a folder's has no slash at its end."""
    return "/".join(part for part in shown(name).split("/") if part not in ("", "."))


def refuse_name(name: str) -> tuple[str, str] | None:
    """Code and sentence against a member's name; None where it stays inside the archive."""
    rules = (
        (not tidied(name), "name", "Its name is empty."),
        (len(name) > NAME_CHARACTERS, "name", "Its name is longer than 1,000 characters."),
        ("\x00" in name, "name", "Its name holds a zero byte."),
        ("\\" in name, "backslash", "Its name holds a backslash, which can lead out of the archive."),
        (name.startswith("/"), "absolute", "Its name is an absolute path."),
        (re.match("[A-Za-z]:", name) is not None, "drive", "Its name begins with a drive letter."),
        (".." in name.split("/"), "outside", "Its name leads out of the archive (..)."),
    )
    return next(((code, sentence) for broken, code, sentence in rules if broken), None)
