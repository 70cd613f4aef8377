"""What a file is: by its content first, by its name where the content does not tell. Reads no further, knows no store.

Kinds that `choose` returns: "text" (.txt, .md), "table" (.csv, .tsv), "workbook" (.xlsx), "PDF", "Word document",
"HTML page", "FHIR" (JSON), "picture", "DICOM file", "database" (SQLite), "archive" (ZIP, tar, gzip).
"""

from __future__ import annotations

import io
import re
import zipfile

from core.errors import UserError
from core.readers.archive_guard import BROKEN, OFFICE_PARTS
from core.readers.text import unmarked_utf16

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"PK\x05\x06", "ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"),
    (b"GIF8", "GIF picture"),
    (b"BM", "BMP picture"),
    (b"II*\x00", "TIFF picture"),
    (b"MM\x00*", "TIFF picture"),
    (b"\x1f\x8b", "gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!", "RAR archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"GGUF", "model file"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"\xcf\xfa\xed\xfe", "program"),
    (b"\xca\xfe\xba\xbe", "program"),
    (b"{\\rtf", "RTF document"),
)
SHORT = {"BMP picture", "program", "RAR archive", "bzip2 archive", "model file"}  # may begin a text
ONNX = re.compile(rb"\x08[\x01-\x14]\x12[\x01-\x40][\x20-\x7e]{4}")  # ModelProto: ir_version, producer_name
CONTENT_TYPES = (
    (re.compile(rb"wordprocessingml\.document\.main|ms-word\.document\.macroEnabled\.main"), "Word document"),
    (re.compile(rb"spreadsheetml\.sheet\.main|ms-excel\.sheet\.macroEnabled\.main"), "Excel workbook"),
)
OPEN_DOCUMENT = b"mimetypeapplication/"  # at byte 30 of OpenDocument and EPUB files
PROTECTED = "EncryptedPackage".encode("utf-16-le")
PAGE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
RESOURCE = re.compile(rb'"resourceType"\s*:\s*"')
HEAD = 1 << 16
NAMES = {
    "txt": "text",
    "md": "text",
    "csv": "table",
    "tsv": "table",
    "png": "PNG picture",
    "jpg": "JPEG picture",
    "jpeg": "JPEG picture",
    "tif": "TIFF picture",
    "tiff": "TIFF picture",
    "gif": "GIF picture",
    "bmp": "BMP picture",
    "webp": "WebP picture",
    "dcm": "DICOM file",
    "dicom": "DICOM file",
    "pdf": "PDF document",
    "docx": "Word document",
    "docm": "Word document",
    "xlsx": "Excel workbook",
    "xlsm": "Excel workbook",
    "htm": "HTML page",
    "html": "HTML page",
    "json": "FHIR record",
    "ndjson": "FHIR record",
    "db": "SQLite database",
    "sqlite": "SQLite database",
    "sqlite3": "SQLite database",
    "zip": "ZIP archive",
    "tar": "tar archive",
    "gz": "gzip archive",
    "tgz": "gzip archive",
}
PICTURES = ("PNG picture", "JPEG picture", "TIFF picture", "GIF picture", "BMP picture", "WebP picture")
ARCHIVES = ("ZIP archive", "tar archive", "gzip archive")
OFFICE = ("Word document", "Excel workbook")
READ_AS = {
    **dict.fromkeys(PICTURES, "picture"),
    **dict.fromkeys(ARCHIVES, "archive"),
    "DICOM file": "DICOM file",
    "PDF document": "PDF",
    "Word document": "Word document",
    "Excel workbook": "workbook",
    "HTML page": "HTML page",
    "FHIR record": "FHIR",
    "SQLite database": "database",
}
REFUSED = {
    "program": ("kind", "This is a program; it is neither read nor run."),
    "model file": ("kind", "This is a model file, not a document; models are imported on the model page."),
    "protected office document": ("password", "This office document is protected by a password."),
}
BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
# Group 0002 or 0008, with its length first or another element: DICOM without its 128-byte preamble.
BARE_GROUPS = (b"\x02\x00", b"\x08\x00", b"\x00\x08")
GROUP_LENGTHS = (b"\x00\x00UL\x04\x00", b"\x00\x00\x04\x00\x00\x00")


def extension(name: str) -> str:
    """The last suffix in lower case without its dot; "" where there is none."""
    stem = name.rsplit("/", 1)[-1]
    return stem.rsplit(".", 1)[1].lower() if "." in stem.lstrip(".") else ""


# ------------------------------------------------------------------------------------------------ by content


def looks_like(data: bytes) -> str:
    """The kind that the content shows, in the words of a sentence ("PDF document"); "text", "unknown binary data"."""
    if data[128:132] == b"DICM":
        return "DICOM file"
    if signed := _signed(data):
        return _zipped(data) if signed == "ZIP archive" else signed
    if data[257:262] == b"ustar":
        return "tar archive"
    if _is_text(data):
        return _written(data)
    if ONNX.match(data) or _is_safetensors(data):
        return "model file"
    is_bare = data[:2] in BARE_GROUPS and (data[2:4] != b"\x00\x00" or data[2:8] in GROUP_LENGTHS)
    return "DICOM file" if is_bare else "unknown binary data"


def _signed(data: bytes) -> str:
    """By the signature at its start; "" where it has none."""
    if data.startswith(BOMS):
        return ""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP picture"
    for signature, kind in SIGNATURES:
        if data.startswith(signature) and not (kind in SHORT and _is_text(data)):
            is_protected = kind == "old office document" and PROTECTED in data
            return "protected office document" if is_protected else kind
    return ""


def _zipped(data: bytes) -> str:
    """Office documents are ZIP files; their content types tell them apart (ECMA-376 part 2, 7.2.3)."""
    if data[30:].startswith(OPEN_DOCUMENT):
        return "OpenDocument file"
    if not data[30:].startswith(OFFICE_PARTS):
        return "ZIP archive"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("[Content_Types].xml") as part:
            types = part.read(1 << 20)
    except (*BROKEN, KeyError):
        return "damaged office document"
    return next((kind for pattern, kind in CONTENT_TYPES if pattern.search(types)), "office document of another kind")


def _is_text(data: bytes) -> bool:
    """A byte order mark, UTF-16 by its zeros, or no NUL and few control characters in the first 64 KiB."""
    if data.startswith(BOMS) or unmarked_utf16(data):
        return True
    head = data[:HEAD]
    if b"\x00" in head:
        return False
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    return controls * 50 <= len(head)


def _written(data: bytes) -> str:
    """What kind of text: FHIR in JSON, HTML, or just text."""
    start = data.removeprefix(BOMS[0]).lstrip()[:1]
    if start == b"{" and RESOURCE.search(data):
        return "FHIR record"
    return "HTML page" if PAGE.match(data[:4096].removeprefix(BOMS[0]).decode("latin-1")) else "text"


def _is_safetensors(data: bytes) -> bool:
    return data[8:9] == b"{" and 2 <= int.from_bytes(data[:8], "little") <= 100 << 20


# ------------------------------------------------------------------------------------------------ with its name


def choose(name: str, data: bytes) -> str:
    """How to read a file: one of the kinds above. What has a name of another readable kind is read as what it is.

    Raises:
        UserError: empty ("D02"); a name that promises what the content is not ("lies"; "D01" for a .dcm); a kind that
            is not read ("kind", "password").
    """
    if not data:
        raise UserError("The file is empty (0 bytes).", code="D02")
    found, ending = looks_like(data), extension(name)
    said = NAMES.get(ending, "")
    if found == "text":
        return _text(said, ending)
    if found in ("damaged office document", "ZIP archive") and said in OFFICE:
        found = said  # its reader says what is wrong with it
    if found == "unknown binary data" and said == "SQLite database":
        found = said  # perhaps an encrypted one; its reader says so
    if read_as := READ_AS.get(found):
        if said == "DICOM file" and found != said:
            raise _no_dicom(ending, found)
        return read_as
    raise _refused(said, ending, found)


def remark(name: str, data: bytes) -> str:
    """One sentence where a file has the name of another kind than it was read as; "" where the two agree."""
    found, ending = looks_like(data), extension(name)
    said = NAMES.get(ending, "")
    if found == "ZIP archive" and said in OFFICE:
        return ""
    if not said or found not in READ_AS or READ_AS[found] == READ_AS.get(said):
        return ""
    return f"Named .{ending}, but it is {_a(found)}; it was read as that."


def _text(said: str, ending: str) -> str:
    if said in ("text", "table") or not ending:
        return said or "text"
    if said in ("HTML page", "FHIR record"):
        return READ_AS[said]
    raise _refused(said, ending, "text")


def _refused(said: str, ending: str, found: str) -> UserError:
    if said == "DICOM file":
        return _no_dicom(ending, found)
    if said and found not in ("protected office document", "office document of another kind", "OpenDocument file"):
        what = f"Its name says {said} (.{ending}), its content is {_a(found)}; it was not read."
        return UserError(what, code="lies")
    if found in REFUSED:
        code, sentence = REFUSED[found]
        return UserError(sentence, code=code)
    what = f".{ending} files" if found in ("text", "unknown binary data") and ending else _a(found)
    return UserError(f"This version does not read {what}.", code="kind")


def _no_dicom(ending: str, found: str) -> UserError:
    return UserError(f"This is not a DICOM file: its name ends in .{ending}, its content is {found}.", code="D01")


def _a(kind: str) -> str:
    """The kind as it stands in a sentence."""
    if kind in ("text", "unknown binary data"):
        return kind
    return (
        f"an {kind}" if kind.startswith(("RTF ", "old ", "Excel ", "office ", "OpenD", "HTML", "xz ")) else f"a {kind}"
    )
