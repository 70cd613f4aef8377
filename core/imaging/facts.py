"""What imaging says of one file: header facts of a DICOM image, a picture, a drawn frame. Values only.

No numpy, no Pillow, no pydicom here, so that the process that never opens foreign bytes can read the answers.
"""

from __future__ import annotations

import msgspec

from core.domain.case import Patient


class Instance(msgspec.Struct, frozen=True, kw_only=True, tag="dicom"):
    """What one DICOM image says of itself. Positions in mm (patient coordinates, LPS), dates ISO 8601."""

    study_uid: str
    series_uid: str
    sop_uid: str
    modality: str
    rows: int
    columns: int
    patient: Patient = Patient()
    frames: int = 1
    number: int | None = None
    position: tuple[float, ...] = ()
    orientation: tuple[float, ...] = ()
    description: str = ""
    body_part: str = ""
    view: str = ""
    laterality: str = ""
    acquired_on: str = ""
    window: str = ""
    remarks: tuple[str, ...] = ()


class Picture(msgspec.Struct, frozen=True, kw_only=True, tag="picture"):
    """Size in pixels as seen upright, date of the exposure (ISO 8601) where the file states it, remarks."""

    width: int
    height: int
    acquired_on: str = ""
    remarks: tuple[str, ...] = ()


class Rendered(msgspec.Struct, frozen=True, kw_only=True, tag="rendered"):
    """Which frame was drawn (from 0), and the window used, "C 40 W 400"; "" for colour."""

    frame: int
    window: str = ""
