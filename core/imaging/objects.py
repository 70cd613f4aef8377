"""One DICOM file, whatever it holds: an image, a document, an electrocardiogram, a directory, or a sentence on it.

Foreign bytes: decode child only. The door of this package for the import; decodes no pixels.
"""

from __future__ import annotations

from core.imaging import dicom, directory, documents, header, soundness, waveform
from core.imaging.facts import Directory, Instance, Paper


def read(data: bytes, *, limit_bytes: int) -> tuple[Instance | Paper | Directory, bytes]:
    """What a DICOM file holds, and the bytes of the PDF that it encapsulates (else none).

    Raises:
        UserError: D01-D09, D13, D15-D19 (imaging.md 4.3), "kind" for a document of another type, "nodes" for a report
            that is too long, "listed" for an object that this release does not show.
    """
    with dicom.quiet():
        dataset = dicom.parse(data)
        kind = dicom.kind(dataset)
        if kind == "image":
            soundness.check(dataset, limit_bytes=limit_bytes)
            return header.instance(dataset), b""
        if kind == "waveform":
            return waveform.instance(dataset), b""
        if kind == "report":
            return documents.report(dataset), b""
        if kind == "pdf":
            return documents.pdf(dataset)
        if kind == "directory":
            return directory.read(dataset), b""
        raise dicom.listed(dataset)
