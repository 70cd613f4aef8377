"""A DICOMDIR: what it lists. A hint only: files that it does not list are read too, what it lists may be absent.

Foreign bytes: decode child only. It never opens the files that are named; paths that lead out are only reported.
"""

from __future__ import annotations

from pydicom.dataset import Dataset

from core.imaging import elements
from core.imaging.facts import Directory, Entry

OUTSIDE = ("", ".", "..")


def read(dataset: Dataset) -> Directory:
    """All files of the directory's records (PS3.3 F.3) in their order, parted from paths that lead out."""
    entries, refused = [], []
    records = list(dataset.get("DirectoryRecordSequence") or ())
    series = _series(records)
    for record in records:
        parts = elements.words(record, "ReferencedFileID")
        if not any(parts):
            continue
        path = "/".join(parts)
        if _leads_out(parts):
            refused.append(path)
        else:
            uid = elements.word(record, "ReferencedSOPInstanceUIDInFile")
            entries.append(Entry(path, series.get(record.seq_item_tell, ""), uid))
    return Directory(tuple(entries), tuple(refused))


def _series(records: list[Dataset]) -> dict[int, str]:
    """The series of each record by its place in the file: records hang together by offsets, not by their order."""
    by_place = {record.seq_item_tell: record for record in records}
    found: dict[int, str] = {}
    for record in records:
        if elements.word(record, "DirectoryRecordType") != "SERIES":
            continue
        place = elements.whole(record, "OffsetOfReferencedLowerLevelDirectoryEntity")
        while place is not None and place in by_place and place not in found:
            found[place] = elements.word(record, "SeriesInstanceUID")
            place = elements.whole(by_place[place], "OffsetOfTheNextDirectoryRecord")
    return found


def _leads_out(parts: tuple[str, ...]) -> bool:
    """A component is one name (PS3.10 8.2); anything that a file system could take for a way elsewhere is none."""
    return any(part in OUTSIDE or set(part) & set("/\\:\0") for part in parts)
