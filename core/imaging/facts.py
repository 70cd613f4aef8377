"""What imaging says of one file: header facts of a DICOM image, a document, a directory, a picture. Values only.

No numpy, no Pillow, no pydicom here, so that the process that never opens foreign bytes can read the answers.
"""

from __future__ import annotations

import msgspec

from core.domain.case import Hidden, Patient


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One frame of an enhanced multi-frame object: where it lies (mm, LPS) and to which stack it belongs.

    `stack` are the frame's dimension indices but that of the position (PS3.3 C.7.6.17), `rank` its place within.
    """

    position: tuple[float, ...] = ()
    orientation: tuple[float, ...] = ()
    spacing: tuple[float, ...] = ()
    stack: tuple[str, ...] = ()
    rank: int | None = None


class Instance(msgspec.Struct, frozen=True, kw_only=True, tag="dicom"):
    """What one DICOM image says of itself. Positions in mm (patient coordinates, LPS), dates ISO 8601.

    `spacing` is PixelSpacing (rows apart, columns apart, mm). `lossy` is the ratio "10 : 1", "ratio unknown", or "" for
    an image that was never compressed with loss. `burned_in` says why text may be part of the pixels, "" if nothing
    hints at it (imaging.md section 12). `announced` is the number of slices that the header promises for its series.
    `decoder` is the one plugin that decodes this syntax, with its version. `places` only for enhanced multi-frame.
    An electrocardiogram is an image, too: `rows` and `columns` are those of the picture that is drawn of it.
    """

    study_uid: str
    series_uid: str
    sop_uid: str
    modality: str
    rows: int
    columns: int
    patient: Patient = Patient()
    issuer: str = ""
    sop_class: str = ""
    frames: int = 1
    number: int | None = None
    position: tuple[float, ...] = ()
    orientation: tuple[float, ...] = ()
    spacing: tuple[float, ...] = ()
    frame_of_reference: str = ""
    places: tuple[Place, ...] = ()
    image_type: tuple[str, ...] = ()
    acquisition: str = ""
    echo: str = ""
    phase: str = ""
    samples: int = 1
    photometric: str = ""
    slope: float | None = None
    intercept: float | None = None
    syntax: str = ""
    decoder: str = ""
    lossy: str = ""
    burned_in: str = ""
    announced: int | None = None
    description: str = ""
    body_part: str = ""
    view: str = ""
    laterality: str = ""
    acquired_on: str = ""
    window: str = ""
    remarks: tuple[str, ...] = ()


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a structured report: its path ("1.3.2") and the characters [start, end) of the text that show it."""

    path: str
    start: int
    end: int


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A NUM node: value as coded, unit (UCUM), concept code and scheme, and what the concept is called."""

    path: str
    name: str
    value: float
    unit: str = ""
    code: str = ""
    scheme: str = ""


class Paper(msgspec.Struct, frozen=True, kw_only=True, tag="paper"):
    """A document inside DICOM: a structured report as text, or (`kind` "pdf") a PDF whose bytes come beside.

    `text`, `pages` and `hidden` of a PDF are filled in by whoever reads the PDF. Dates ISO 8601.
    """

    kind: str
    title: str
    patient: Patient = Patient()
    issuer: str = ""
    study_uid: str = ""
    series_uid: str = ""
    sop_uid: str = ""
    sop_class: str = ""
    written_on: str = ""
    text: str = ""
    pages: tuple[int, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    nodes: tuple[Node, ...] = ()
    numbers: tuple[Number, ...] = ()
    remarks: tuple[str, ...] = ()


class Entry(msgspec.Struct, frozen=True):
    """A file that a DICOMDIR lists: its path below the folder of the DICOMDIR ("A/B/C"), its series and instance."""

    path: str
    series_uid: str
    sop_uid: str


class Directory(msgspec.Struct, frozen=True, tag="directory"):
    """A DICOMDIR, a hint only: what it lists, and the paths that it must not name as they lead out of its folder."""

    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()


class Picture(msgspec.Struct, frozen=True, kw_only=True, tag="picture"):
    """Size in pixels as seen upright, date of the exposure (ISO 8601) where the file states it, remarks."""

    width: int
    height: int
    acquired_on: str = ""
    remarks: tuple[str, ...] = ()


class Rendered(msgspec.Struct, frozen=True, kw_only=True, tag="rendered"):
    """Which frame was drawn (from 0), the window used ("C 40 W 400"; "" for colour), its hash and its decoder.

    `frame_sha256` is of the stored values (`pixels.frame_sha256`), "" for a drawn electrocardiogram.
    """

    frame: int
    window: str = ""
    frame_sha256: str = ""
    decoder: str = ""
