"""Plain text (.txt, .md) to one string: encodings, line ends, and what had to be assumed. Knows no store."""

from __future__ import annotations

import msgspec

from core.errors import UserError
from core.readers import dates

HEAD_CHARACTERS = 600
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
ASSUMED = "It is not UTF-8; it was read as {name}, which is an assumption: accents and special signs may be wrong."
LOST = "Characters that could not be read and stand as \ufffd: {number}."


class TextDocument(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """The text with "\\n" as line end, the encoding it was read in, the first date in its head (ISO), remarks."""

    text: str
    encoding: str
    written_on: str = ""
    remarks: tuple[str, ...] = ()


def read(data: bytes, *, limit_bytes: int) -> TextDocument:
    """Read a text file.

    Raises:
        UserError: too large ("size"), binary data ("binary"), or nothing but blanks ("blank").
    """
    text, encoding, remarks = decode(data, limit_bytes=limit_bytes)
    if not text.strip():
        raise UserError("The file holds no text, only blanks.", code="blank")
    return TextDocument(
        text=text, encoding=encoding, written_on=dates.first_date(text[:HEAD_CHARACTERS]), remarks=remarks
    )


def decode(data: bytes, *, limit_bytes: int) -> tuple[str, str, tuple[str, ...]]:
    """Bytes to (text, encoding, remarks): UTF-8, UTF-16 by its byte order mark, else Windows-1252 or Latin-1.

    Raises:
        UserError: too large ("size") or binary data ("binary").
    """
    if len(data) > limit_bytes:
        raise UserError(
            f"The file is too large: {len(data) / 1e6:.1f} MB, the limit is {limit_bytes / 1e6:.0f} MB.", code="size"
        )
    text, encoding, remarks = _decoded(data)
    if "\x00" in text:
        raise UserError("The file holds binary data, not text.", code="binary")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding, remarks


def _decoded(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    if encoding := UTF16.get(data[:2]):
        return _utf16(data[2:], encoding)
    try:
        return data.decode("utf-8-sig"), "utf-8", ()
    except UnicodeDecodeError:
        pass
    if data.startswith(b"\xef\xbb\xbf"):
        text = data.decode("utf-8-sig", errors="replace")
        return text, "utf-8", (LOST.format(number=text.count("\ufffd")),)
    try:
        return data.decode("cp1252"), "windows-1252 (assumed)", (ASSUMED.format(name="Windows-1252"),)
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1 (assumed)", (ASSUMED.format(name="Latin-1"),)


def _utf16(data: bytes, encoding: str) -> tuple[str, str, tuple[str, ...]]:
    text = data.decode(encoding, errors="replace")
    lost = text.count("\ufffd")
    remarks = (LOST.format(number=lost),) if lost else ()
    return text, encoding, remarks
