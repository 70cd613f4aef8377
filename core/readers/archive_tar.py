"""The members of a tar file, one after the other, for `core.readers.archive`; the stream is read forwards only.

Headers are read here and not by `tarfile` alone, because the long-name and pax headers before a member may declare any
size. Forms: POSIX ustar and pax, GNU long names (IEEE Std 1003.1, pax; GNU tar manual, "Basic Tar Format").
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from core.errors import UserError
from core.readers.archive_guard import Budget, Member, Refusal, refuse_name, tidied, too_large

BLOCK = 512
STEP = 1 << 20
EXTRA_BYTES = 64 << 10  # of a long name or a pax header
FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)
LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, b"g"


def is_header(block: bytes) -> bool:
    """Do 512 bytes form a tar header with a right checksum?"""
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def members(stream: BinaryIO, budget: Budget) -> Iterator[Member | Refusal]:
    """Files and refusals in their order.

    Raises:
        UserError: damaged or cut short ("damaged"), or too many entries (Bomb, "entries").
    """
    extra: dict[str, str] = {}
    while (header := _header(stream)) is not None:
        budget.enter()
        if header.type in (LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL):
            extra |= _extra(stream, header)
            continue
        name, size = extra.get("path", header.name), int(extra.get("size", header.size))
        sparse = header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in extra)
        extra = {}
        if header.type in LINKS or header.type not in (*FILES, tarfile.GNUTYPE_SPARSE):
            size = 0 if header.type in LINKS or not header.size else size
        part = _Part(stream, size)
        if header.type != tarfile.DIRTYPE:
            refused = _refusal(header, name, size, sparse=sparse, limit=budget.limits.member_bytes)
            yield Refusal(tidied(name), *refused) if refused else Member(tidied(name), part)
        if budget.is_spent:
            return
        part.skip(padded=True)


def _header(stream: BinaryIO) -> tarfile.TarInfo | None:
    block = stream.read(BLOCK)
    if not block.strip(b"\0"):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise _damaged() from error
    if header.size < 0:
        raise _damaged()
    return header


def _extra(stream: BinaryIO, header: tarfile.TarInfo) -> dict[str, str]:
    """What a header before a member says of it: path and size (pax), or a long name (GNU)."""
    if header.size > EXTRA_BYTES:
        raise UserError("The tar archive has a header that is too large to be read.", code="damaged")
    part = _Part(stream, header.size)
    data = part.read(header.size) or b""
    part.skip(padded=True)
    if header.type == LONG_NAME:
        return {"path": data.rstrip(b"\0").decode("utf-8", "replace")}
    return _pax(data) if header.type == PAX else {}


def _pax(data: bytes) -> dict[str, str]:
    """Records "<length> <key>=<value>\\n"."""
    found: dict[str, str] = {}
    while data:
        length, blank, _ = data.partition(b" ")
        if not blank or not length.isdigit() or not len(length) < int(length) <= len(data):
            raise _damaged()
        key, _, value = data[len(length) + 1 : int(length) - 1].decode("utf-8", "replace").partition("=")
        if key == "size" and not value.isdigit():
            raise _damaged()
        found[key] = value
        data = data[int(length) :]
    return found


def _refusal(header: tarfile.TarInfo, name: str, size: int, *, sparse: bool, limit: int) -> tuple[str, str] | None:
    if refused := refuse_name(name):
        return refused
    if header.type in LINKS:
        return "link", "It is a link, not a file."
    if sparse:
        return "device", "It is a sparse file, which is not read."
    if header.type not in FILES:
        return "device", "It is a device or pipe, not a file."
    if size > limit:
        return "size", too_large(limit).text
    return None


def _damaged() -> UserError:
    return UserError("The tar archive is damaged or cut short.", code="damaged")


class _Part(io.RawIOBase):
    """The next `size` bytes of a stream."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(len(buffer), self._left))
        if self._left and buffer and not data:
            raise _damaged()
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def skip(self, *, padded: bool) -> None:
        """Pass over what was not read, and over the padding to whole blocks."""
        left = self._left + (-self._size % BLOCK if padded else 0)
        self._left = 0
        while left:
            data = self._stream.read(min(left, STEP))
            if not data:
                raise _damaged()
            left -= len(data)
