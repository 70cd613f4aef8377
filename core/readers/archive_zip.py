"""The members of a ZIP file, one at a time, for `core.readers.archive`. Unpacks stored and deflated members only."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from core.errors import UserError
from core.readers.archive_guard import BROKEN, Bomb, Budget, Counted, Guarded, Member, Refusal, refuse_name, tidied

END, END64, ENTRY = b"PK\x05\x06", b"PK\x06\x06", b"PK\x01\x02"
END_BYTES, LOCATOR_BYTES, END64_BYTES = 22, 20, 56
COMMENT_BYTES = 65_535
DIRECTORY_BYTES = 128 << 20
ENCRYPTED = 0x41  # bits of the general flags: encrypted, strongly encrypted
UTF8_NAME = 0x800
METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd", 99: "AES encryption"}


def members(stream: BinaryIO, budget: Budget) -> Iterator[Member | Refusal]:
    """Files and refusals in the order of the directory.

    Raises:
        UserError: the archive cannot be opened ("damaged"), or it has too many entries (Bomb, "entries").
    """
    _check_directory(stream, budget)
    counted = Counted(stream)
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, counted))
    except BROKEN as error:
        raise _damaged() from error
    with archive:
        for info in archive.infolist():
            budget.enter()
            if not info.is_dir():
                yield from _member(archive, info, counted, budget)


def _check_directory(stream: BinaryIO, budget: Budget) -> None:
    """Refuse a directory with too many entries before `zipfile` makes an object of each."""
    size, end = _directory(stream)
    if size > DIRECTORY_BYTES:
        raise Bomb("The directory of the archive is too large to be read.", code="entries")
    stream.seek(max(0, end - size))
    # A signature may stand in a name by chance: four times the limit leaves room for that.
    if stream.read(size).count(ENTRY) > 4 * budget.limits.entries:
        raise Bomb(f"The archive has more than {budget.limits.entries:,} entries.", code="entries")


def _directory(stream: BinaryIO) -> tuple[int, int]:
    """Declared bytes of the directory, and where it ends."""
    whole = stream.seek(0, 2)
    tail_bytes = min(whole, END_BYTES + COMMENT_BYTES + LOCATOR_BYTES + END64_BYTES)
    stream.seek(whole - tail_bytes)
    tail = stream.read(tail_bytes)
    at = tail.rfind(END)
    if at < 0 or len(tail) < at + END_BYTES:
        raise _damaged()
    wide = at - LOCATOR_BYTES - END64_BYTES
    if wide >= 0 and tail[wide : wide + 4] == END64:
        return int.from_bytes(tail[wide + 40 : wide + 48], "little"), whole - tail_bytes + wide
    return int.from_bytes(tail[at + 12 : at + 16], "little"), whole - tail_bytes + at


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, counted: Counted, budget: Budget
) -> Iterator[Member | Refusal]:
    name = _name(info)
    if refused := _refusal(info, name):
        yield Refusal(tidied(name), *refused)
        return
    start = counted.count
    try:
        inner = archive.open(info)
    except BROKEN:
        yield Refusal(tidied(name), "damaged", "It is damaged inside the archive and could not be unpacked.")
        return
    with inner:
        packed = Guarded(cast(BinaryIO, inner), budget, lambda: counted.count - start, budget.limits.member_bytes)
        yield Member(tidied(name), packed)


def _name(info: zipfile.ZipInfo) -> str:
    """The name as written; UTF-8 without its flag, which many packers forget, by evidence."""
    name = info.orig_filename
    if info.flag_bits & UTF8_NAME:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _refusal(info: zipfile.ZipInfo, name: str) -> tuple[str, str] | None:
    mode = info.external_attr >> 16
    if refused := refuse_name(name):
        return refused
    if stat.S_ISLNK(mode):
        return "link", "It is a link, not a file."
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "device", "It is a device or pipe, not a file."
    if info.flag_bits & ENCRYPTED or info.compress_type == 99:
        return "encrypted", "It is protected by a password."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        method = METHODS.get(info.compress_type, f"method {info.compress_type}")
        return "method", f"It is packed by a method that is not read ({method})."
    return None


def _damaged() -> UserError:
    return UserError("The ZIP archive is damaged or cut short: its directory cannot be read.", code="damaged")
