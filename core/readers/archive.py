"""Archives (ZIP, tar, tar.gz, gzip) read in place, one member at a time; nothing is ever written to a disk.

A member that breaks a rule is a `Refusal` and the rest goes on; an archive that grows out of proportion ends there. The
rules: names stay inside (no absolute path, "..", drive letter, backslash), no link or device, no password, no archive
within an archive, at most 100 times its size and 20 GiB in all, at most 200,000 entries, each name once (NFC).
Reading may be stopped by a stream whose `read` raises Cancelled. Knows no store and not what the files mean.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import msgspec

from core.errors import UserError
from core.readers import archive_tar, archive_zip
from core.readers.archive_guard import (
    HEAD,
    Bomb,
    Budget,
    Counted,
    Guarded,
    Limits,
    Member,
    Refusal,
    shown,
    too_large,
)

__all__ = ["Bomb", "Content", "Limits", "Member", "Refusal", "contents", "form", "members"]

WHOLE = 1 << 62
ZIPS = (b"PK\x03\x04", b"PK\x05\x06")


class Content(msgspec.Struct, frozen=True):
    """A member's clean relative name and its bytes."""

    name: str
    data: bytes


def form(head: bytes) -> str:
    """ "zip", "gzip", "tar" or "" by the first 512 bytes."""
    if head.startswith(ZIPS):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    return "tar" if len(head) >= HEAD and archive_tar.is_header(head[:HEAD]) else ""


def contents(
    stream: BinaryIO, *, name: str, limits: Limits, wanted: Callable[[str], bool] = lambda _: True
) -> Iterator[Content | Refusal]:
    """Every member whose name is wanted, whole. Raises as `members`; a bomb is the last refusal."""
    for member in members(stream, name=name, limits=limits):
        if isinstance(member, Refusal):
            yield member
        elif wanted(member.name):
            yield _content(member)


def _content(member: Member) -> Content | Refusal:
    try:
        return Content(member.name, member.read())
    except UserError as error:
        return Refusal(member.name, error.code, error.text)


def members(stream: BinaryIO, *, name: str, limits: Limits) -> Iterator[Member | Refusal]:
    """The files of an archive; `stream` is seekable, `name` is the archive's (a .gz names its one file by it).

    A member is read through its stream before the next one is asked for; reading raises UserError: Bomb ("ratio",
    "total": nothing follows), "size" or "damaged" (this member only). What goes wrong between two members is the last
    refusal, under the archive's name.

    Raises:
        UserError: no archive ("kind"), nothing of it can be read ("damaged"), or too many entries (Bomb, "entries").
    """
    size = stream.seek(0, 2)
    stream.seek(0)
    budget = Budget(limits, size)
    found = _opened(stream, name, budget)
    seen: set[str] = set()
    begun = False
    while not budget.is_spent:
        try:
            member = next(found, None)
            if isinstance(member, Member):
                member = _settled(member, seen)
        except UserError as error:
            if not begun:
                raise
            yield Refusal(shown(name), error.code, error.text)
            return
        if member is None:
            return
        begun = True
        yield member


def _opened(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Member | Refusal]:
    head = stream.read(HEAD)
    stream.seek(0)
    kind = form(head)
    if kind == "zip":
        return archive_zip.members(stream, budget)
    if kind == "tar":
        return archive_tar.members(stream, budget)
    if kind == "gzip":
        return _gunzipped(stream, name, budget)
    raise UserError("This is not an archive that can be read (ZIP, tar, tar.gz or gzip).", code="kind")


def _gunzipped(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Member | Refusal]:
    """The members of the tar inside, or the one file."""
    counted = Counted(stream)
    with gzip.GzipFile(fileobj=cast(BinaryIO, counted)) as unpacked:
        inner = cast(BinaryIO, unpacked)
        whole = io.BufferedReader(Guarded(inner, budget, lambda: counted.count, WHOLE), 1 << 16)
        try:
            head = whole.peek(HEAD)[:HEAD]
        except UserError as error:
            raise UserError("The gzip archive is damaged or cut short.", code=error.code) from error
        if len(head) == HEAD and archive_tar.is_header(head):
            yield from archive_tar.members(whole, budget)
            return
        budget.enter()
        yield Member(_stem(name), _Rest(cast(BinaryIO, whole), budget.limits.member_bytes))


def _stem(name: str) -> str:
    """ "notes.txt.gz" holds notes.txt."""
    inner = shown(name).rsplit("/", 1)[-1]
    return inner[:-3] if inner.lower().endswith(".gz") and len(inner) > 3 else inner


def _settled(member: Member, seen: set[str]) -> Member | Refusal:
    """The member, unless its name came before or it is an archive again."""
    if member.name in seen:
        return Refusal(member.name, "twice", "Its name stands twice in the archive; the first one was taken.")
    try:
        nested = member.is_archive()
    except Bomb:
        raise
    except UserError as error:
        return Refusal(member.name, error.code, error.text)
    if nested:
        return Refusal(member.name, "nested", "It is an archive inside an archive; unpack it and import it by itself.")
    seen.add(member.name)
    return member


class _Rest(io.RawIOBase):
    """The rest of a guarded stream, up to a member's limit. Reading raises UserError ("size")."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise too_large(self._limit)
        buffer[: len(data)] = data
        return len(data)
