"""What a file is, by its first bytes; and what its name says it is. Reads no content, knows no store."""

from __future__ import annotations

from core.errors import UserError

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"),
    (b"GIF8", "GIF picture"),
    (b"BM", "BMP picture"),
    (b"II*\x00", "TIFF picture"),
    (b"MM\x00*", "TIFF picture"),
    (b"\x1f\x8b", "gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!", "RAR archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"{\\rtf", "RTF document"),
)
NAMES = {
    "txt": "text",
    "md": "text",
    "csv": "table",
    "tsv": "table",
    "png": "PNG picture",
    "jpg": "JPEG picture",
    "jpeg": "JPEG picture",
    "dcm": "DICOM file",
    "dicom": "DICOM file",
}
PICTURES = ("PNG picture", "JPEG picture")
BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
# Group 0002 or 0008 in little endian, then a VR in capitals or a 4-byte length: DICOM without its 128-byte preamble.
BARE_GROUPS = (b"\x02\x00", b"\x08\x00", b"\x00\x08")


def extension(name: str) -> str:
    """The last suffix in lower case without its dot; "" where there is none."""
    stem = name.rsplit("/", 1)[-1]
    return stem.rsplit(".", 1)[1].lower() if "." in stem.lstrip(".") else ""


def looks_like(data: bytes) -> str:
    """The kind that the content shows: a kind of `SIGNATURES`, "DICOM file", "text", or "unknown binary data"."""
    if data[128:132] == b"DICM":
        return "DICOM file"
    if not data.startswith(BOMS):
        for signature, kind in SIGNATURES:
            if data.startswith(signature) and not (kind in ("BMP picture", "program") and _is_text(data)):
                return kind
    if _is_text(data):
        return "text"
    return "DICOM file" if data[:2] in BARE_GROUPS and data[2:4] != b"\x00\x00" else "unknown binary data"


def _is_text(data: bytes) -> bool:
    """A byte order mark, or no NUL and few control characters in the first 64 KiB."""
    if data.startswith(BOMS):
        return True
    head = data[: 1 << 16]
    if b"\x00" in head:
        return False
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    return controls * 50 <= len(head)


def choose(name: str, data: bytes) -> str:
    """How to read a file: "text", "table", "picture" or "DICOM file".

    Raises:
        UserError: empty ("D02"), not what its name says ("lies"; "D01" for a .dcm), of another kind ("kind").
    """
    if not data:
        raise UserError("The file is empty (0 bytes).", code="D02")
    found, ending = looks_like(data), extension(name)
    said = NAMES.get(ending, "")
    if said == "DICOM file" and found != "DICOM file":
        raise UserError(f"This is not a DICOM file: its name ends in .{ending}, its content is {found}.", code="D01")
    if said and not _agree(said, found):
        raise UserError(f"Its name says {said} (.{ending}), its content is {_a(found)}; it was not read.", code="lies")
    if found in PICTURES:
        return "picture"
    if found == "DICOM file":
        return found
    if found == "text" and (said or not ending):
        return said or "text"
    what = f".{ending} files" if found in ("text", "unknown binary data") and ending else _a(found)
    raise UserError(f"This version does not read {what}.", code="kind")


def _agree(said: str, found: str) -> bool:
    if said in ("text", "table"):
        return found == "text"
    return found == said or (said in PICTURES and found in PICTURES)


def _a(kind: str) -> str:
    """The kind as it stands in a sentence."""
    if kind in ("text", "unknown binary data"):
        return kind
    return f"an {kind}" if kind[:4] in ("RTF ", "old ") else f"a {kind}"
