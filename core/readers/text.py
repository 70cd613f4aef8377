"""Plain text (.txt, .md) to one string: encodings, line ends, and what had to be assumed. Knows no store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from core.domain.case import Hidden
from core.errors import UserError
from core.readers import dates, hidden

HEAD_CHARACTERS = 600
SAMPLE_BYTES = 4096
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
MOSTLY = 0.4  # of the bytes in even or odd places that are zero in UTF-16 of any alphabet but the Asian ones
FOREIGN = 0.3  # of the bytes above ASCII: no Western text in one byte a letter has so many accents
ASSUMED = "It is not UTF-8; it was read as {name}, which is an assumption: accents and special signs may be wrong."
LOST = "Characters that could not be read and stand as \ufffd: {number}."
UNMARKED = "It is UTF-16 without a mark; it was read as such."


class TextDocument(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """The text with "\n" as line end, the encoding it was read in, the first date in its head (ISO), remarks.

    `pages` are the offsets at which pages start (none: the form has no pages), `hidden` what a reader would not see.
    """

    text: str
    encoding: str
    written_on: str = ""
    remarks: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    source: Literal["text", "pdf", "docx"] = "text"


def read(data: bytes, *, limit_bytes: int) -> TextDocument:
    """Read a text file.

    Raises:
        UserError: empty ("D02"), too large ("size"), binary data ("binary"), an encoding that cannot be told
            ("encoding"), or nothing but blanks ("blank").
    """
    text, encoding, remarks = decode(data, limit_bytes=limit_bytes)
    if not text.strip():
        raise UserError("The file holds no text, only blanks.", code="blank")
    found = hidden.in_text(text)
    return TextDocument(
        text=text,
        encoding=encoding,
        written_on=written_on(text),
        remarks=remarks + hidden.remark(found),
        hidden=found,
    )


def written_on(text: str) -> str:
    """The first date in the head of a document, ISO 8601; "" if there is none."""
    return dates.first_date(text[:HEAD_CHARACTERS])


def listed(found: Sequence[object]) -> str:
    """ "3, 7 and 12 more" for a sentence."""
    shown = ", ".join(map(str, found[:5]))
    return shown if len(found) <= 5 else f"{shown} and {len(found) - 5} more"


def refuse_size(data: bytes, limit_bytes: int) -> None:
    """Raises UserError: empty ("D02") or too large ("size")."""
    if not data:
        raise UserError("The file is empty (0 bytes).", code="D02")
    if len(data) > limit_bytes:
        raise UserError(
            f"The file is too large: {len(data) / 1e6:.1f} MB, the limit is {limit_bytes / 1e6:.0f} MB.", code="size"
        )


def decode(data: bytes, *, limit_bytes: int) -> tuple[str, str, tuple[str, ...]]:
    """Bytes to (text, encoding, remarks): UTF-8, UTF-16 by its mark or by evidence, else Windows-1252 or Latin-1.

    Raises:
        UserError: as `read`, but for "blank".
    """
    refuse_size(data, limit_bytes)
    text, encoding, remarks = _decoded(data)
    if "\x00" in text:
        raise UserError("The file holds binary data, not text.", code="binary")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding, remarks


def unmarked_utf16(data: bytes) -> str:
    """ "utf-16-le" or "utf-16-be" where every second byte is mostly zero and the others never are; else ""."""
    sample = data[:SAMPLE_BYTES]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(len(sample) // 2, 1)
    if len(data) % 2 or min(even, odd) or max(even, odd) <= MOSTLY * half:
        return ""
    encoding = "utf-16-le" if odd else "utf-16-be"
    shown = sample[: 2 * half].decode(encoding, errors="replace")
    return "" if any(ord(character) < 32 and character not in "\t\n\f\r" for character in shown) else encoding


def _decoded(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    if encoding := UTF16.get(data[:2]):
        return _utf16(data[2:], encoding)
    if encoding := unmarked_utf16(data):
        text, _, remarks = _utf16(data, encoding)
        return text, encoding, (UNMARKED, *remarks)
    try:
        return data.decode("utf-8-sig"), "utf-8", ()
    except UnicodeDecodeError:
        pass
    if data.startswith(b"\xef\xbb\xbf"):
        text = data.decode("utf-8-sig", errors="replace")
        return text, "utf-8", (LOST.format(number=text.count("\ufffd")),)
    return _western(data)


def _western(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """One byte a letter. What reads as accents only is another writing, and would be garbled."""
    above = sum(byte > 127 for byte in data[: 16 * SAMPLE_BYTES])
    if above > FOREIGN * min(len(data), 16 * SAMPLE_BYTES) and above > 8:
        raise UserError("The encoding of the text cannot be told; save it as UTF-8.", code="encoding")
    try:
        return data.decode("cp1252"), "windows-1252 (assumed)", (ASSUMED.format(name="Windows-1252"),)
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1 (assumed)", (ASSUMED.format(name="Latin-1"),)


def _utf16(data: bytes, encoding: str) -> tuple[str, str, tuple[str, ...]]:
    text = data.decode(encoding, errors="replace")
    lost = text.count("\ufffd")
    remarks = (LOST.format(number=lost),) if lost else ()
    return text, encoding, remarks
