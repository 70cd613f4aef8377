"""What a foreign file is and what it says: one door to all readers. Runs in the decode child, on foreign bytes.

Knows no store but the look into an extract's tables, which happens in memory.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from core.errors import UserError
from core.imaging import objects, pictures
from core.imaging.facts import Directory, Paper
from core.readers import docx, fhir, html, kinds, pdf, table, text, workbook
from core.readers.fhir import Attached
from core.readers.table import TableDocument
from core.readers.text import TextDocument
from core.runtime.foreign import Extract, FileAnswer, Part, Parted, Refused, Start
from core.store import extract

Document = TextDocument | TableDocument
NOT_READ = "The document {title} in it was not read: {reason}"
DOCUMENTS: dict[str, Callable[[bytes, Start], Document]] = {
    "text": lambda data, start: text.read(data, limit_bytes=start.file_bytes),
    "table": lambda data, start: table.read(data, limit_bytes=start.file_bytes),
    "workbook": lambda data, start: workbook.read(data, limit_bytes=start.file_bytes),
    "PDF": lambda data, start: pdf.read(data, limit_bytes=start.file_bytes, limit_pages=start.pages),
    "Word document": lambda data, start: docx.read(data, limit_bytes=start.file_bytes),
    "HTML page": lambda data, start: html.read(data, limit_bytes=start.file_bytes),
}


def read(name: str, data: bytes, start: Start) -> tuple[FileAnswer, bytes]:
    """What a file says, and the preview's bytes (PNG) of a picture.

    Raises:
        UserError: the file is not read, with the reason.
    """
    found, blob = _read(kinds.choose(name, data), data, start)
    said = kinds.remark(name, data)
    if said and not isinstance(found, Directory | Refused):
        found = replace(found, remarks=(said, *found.remarks))
    return found, blob


def _read(kind: str, data: bytes, start: Start) -> tuple[FileAnswer, bytes]:
    if kind == "DICOM file":
        return _dicom(data, start), b""
    if kind == "picture":
        return pictures.read(data, limit_bytes=start.image_bytes)
    if kind == "database":
        found = extract.overview(data)
        return Extract(tables=found.tables, remarks=found.remarks), b""
    if kind == "FHIR":
        return _fhir(data, start), b""
    return _document(kind, data, start), b""


def _document(kind: str, data: bytes, start: Start) -> Document:
    if kind not in DOCUMENTS:
        raise UserError(f"It is of a kind that is not read here ({kind}).", code="kind")
    return DOCUMENTS[kind](data, start)


def _dicom(data: bytes, start: Start) -> FileAnswer:
    """A DICOM file; the PDF that it may hold is read here, too."""
    found, inner = objects.read(data, limit_bytes=start.image_bytes)
    if not isinstance(found, Paper) or not inner:
        return found
    said = pdf.read(inner, limit_bytes=start.file_bytes, limit_pages=start.pages)
    return replace(found, text=said.text, pages=said.pages, hidden=said.hidden, remarks=(*found.remarks, *said.remarks))


def _fhir(data: bytes, start: Start) -> Parted:
    """A FHIR file with the documents inside it; one that cannot be read costs a sentence."""
    found = fhir.read(data, limit_bytes=start.file_bytes)
    parts = [Part(one.title, _text(one.text, one.written_on)) for one in found.texts]
    remarks = list(found.remarks)
    for rows, title in ((found.laboratory, "Laboratory"), (found.earlier_signs, "Earlier vital signs")):
        if rows:
            parts.append(Part(title, TableDocument(rows=rows)))
    for attached in found.attached:
        try:
            parts.append(Part(attached.title, _attached(attached, start)))
        except UserError as error:
            remarks.append(NOT_READ.format(title=attached.title, reason=error.text))
    if not parts:
        raise UserError(f"The FHIR file holds nothing that could be read. {' '.join(remarks[:3])}", code="nothing")
    return Parted(parts=tuple(parts), patient=found.patient, remarks=tuple(remarks))


def _text(content: str, written_on: str) -> TextDocument:
    return TextDocument(text=content, encoding="utf-8", written_on=written_on)


def _attached(attached: Attached, start: Start) -> Document:
    """A document inside another file. Raises UserError: not what it is said to be, or not readable."""
    said = _document(kinds.choose(attached.title, attached.data), attached.data, start)
    is_dated = isinstance(said, TextDocument) and not attached.written_on
    return said if is_dated or isinstance(said, TableDocument) else replace(said, written_on=attached.written_on)
