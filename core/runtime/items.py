"""What a reader's answer becomes in a case: items without ids, and what is to be said about them. Pure.

Knows neither files nor the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from core.domain.case import Case, EhrDatabase, ImageRef, Item, LabTable, Note, SeriesRef
from core.domain.notices import notice
from core.imaging.facts import Instance, Paper, Picture
from core.imaging.series import Group
from core.readers import hidden
from core.readers.table import TableDocument
from core.readers.text import TextDocument
from core.runtime.foreign import Extract, FileAnswer, Parted, Refused

PREFIXES: dict[type, str] = {Note: "n", LabTable: "t", ImageRef: "i", SeriesRef: "s", EhrDatabase: "e"}
SIDES = {"right": "R", "left": "L", "od": "R", "os": "L", "re": "R", "le": "L"}
LOOKS = {"fundus": "fundus photograph", "retina": "fundus photograph", "ecg": "ECG", "cxr": "chest film"}
TWIN = "Same content as"
IMAGES_OFF = (
    "An image; not read. This installation works in the Text support profile, whose assessments rest on text and "
    "numbers alone: no image may enter them."
)
DECODE_CODES = {f"D{n:02}" for n in (*range(3, 10), 13, 18)}


class Source(msgspec.Struct, frozen=True):
    """The file that an item is of: its name, sha256, and the sha256 of its preview ("" without one)."""

    name: str
    sha256: str
    preview: str = ""


def items_of(source: Source, answer: FileAnswer) -> Iterator[Item]:
    """The items of a file that is no DICOM image."""
    match answer:
        case TextDocument() | TableDocument():
            yield _document(source.name, source.sha256, answer)
        case Parted():
            for part in answer.parts:
                yield _document(f"{source.name}: {part.title}", source.sha256, part.content)
        case Paper():
            yield Note(
                id="",
                title=f"{source.name}: {answer.title}" if answer.title else source.name,
                text=answer.text,
                sha256=source.sha256,
                written_on=answer.written_on,
                source="dicom",
                pages=answer.pages,
                hidden=answer.hidden,
            )
        case Extract():
            yield EhrDatabase(id="", title=source.name, sha256=source.sha256, tables=answer.tables)
        case Picture():
            yield _picture(source, answer)


def remarks_of(answer: FileAnswer) -> tuple[str, ...]:
    """What is to be said of a file that was read."""
    match answer:
        case Parted():
            own = (f"{part.title}: {remark}" for part in answer.parts for remark in _own(part.content))
            return (*answer.remarks, *own)
        case TextDocument() | TableDocument() | Paper():
            return _own(answer)
        case Extract() | Picture():
            return answer.remarks
    return ()


def _own(content: TextDocument | TableDocument | Paper) -> tuple[str, ...]:
    """Remarks but the one on hidden text, which was read: the note carries its places, the quality card says it."""
    spans = () if isinstance(content, TableDocument) else content.hidden
    return tuple(remark for remark in content.remarks if remark not in hidden.remark(spans))


def _document(title: str, sha256: str, content: TextDocument | TableDocument) -> Item:
    if isinstance(content, TableDocument):
        return LabTable(id="", title=title, rows=content.rows, sha256=sha256)
    return Note(
        id="",
        title=title,
        text=content.text,
        sha256=sha256,
        encoding=content.encoding,
        written_on=content.written_on,
        source=content.source,
        pages=content.pages,
        hidden=content.hidden,
    )


def _picture(source: Source, answer: Picture) -> ImageRef:
    words = re.findall(r"[a-z]+", source.name.rsplit("/", 1)[-1].lower())
    return ImageRef(
        id="",
        title=source.name,
        sha256=source.sha256,
        preview_sha256=source.preview,
        width=answer.width,
        height=answer.height,
        modality=next((LOOKS[word] for word in words if word in LOOKS), ""),
        laterality=next((SIDES[word] for word in words if word in SIDES), ""),
        acquired_on=answer.acquired_on,
    )


def media_type(answer: FileAnswer) -> str:
    """Of the bytes as received."""
    match answer:
        case Instance() | Paper():
            return "application/dicom"
        case TableDocument():
            return "text/csv"
        case Picture():
            return "image/*"
        case Extract():
            return "application/vnd.sqlite3"
        case TextDocument():
            return "application/pdf" if answer.source == "pdf" else "text/plain"
    return "application/octet-stream"


def series_title(group: Group) -> str:
    """The description that the scanner gives, else what is known of the series."""
    instance = group.middle.instance
    named = " ".join(part for part in (instance.modality, instance.body_part, instance.view) if part)
    return instance.description or named or group.name


def refusal(refused: Refused) -> str:
    """Why a file was not read; of an image in the words of notice N5."""
    return n5(refused) if refused.code in DECODE_CODES else refused.reason


def n5(refused: Refused) -> str:
    reason = refused.reason.rstrip(".")
    return notice("N5", reason=reason[:1].lower() + reason[1:])


def hashes(case: Case | None) -> set[str]:
    """Of every file that the case already has."""
    found: set[str] = set()
    for item in case.items if case else ():
        found.update(item.files if isinstance(item, SeriesRef) else (item.sha256,))
    return found
