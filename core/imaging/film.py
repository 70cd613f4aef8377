"""A chest film phantom as a DICOM object, of a made-up person. Writes only what it was given; reads nothing."""

from __future__ import annotations

import io
import uuid

import msgspec
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import UID, DigitalXRayImageStorageForPresentation, ExplicitVRLittleEndian

from core.imaging.pictures import Bytes2D as Bytes


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Whose film it says it is: a made-up person. Dates as in DICOM, "20261118"."""

    name: str = "Example^Phantom"
    patient_id: str = "EXAMPLE-0"
    birth_date: str = ""
    sex: str = "O"
    study_date: str = "20261118"
    study_time: str = "114500"


def write_chest_film(pixels: Bytes, who: Identity) -> bytes:
    """The film as a DICOM file: Digital X-Ray Image Storage - For Presentation, PA, MONOCHROME2, 8 bit."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = DigitalXRayImageStorageForPresentation
    meta.MediaStorageSOPInstanceUID = _uid(who, "instance")
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    film = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    for name, value in {**_who(who), **_how(pixels)}.items():
        setattr(film, name, value)
    film.SOPClassUID = meta.MediaStorageSOPClassUID
    stream = io.BytesIO()
    film.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def _uid(who: Identity, level: str) -> UID:
    """A UID of the UUID-derived kind (PS3.5 B.2), the same for the same person, date and level."""
    named = uuid.uuid5(uuid.NAMESPACE_OID, f"{who.patient_id} {who.study_date} {who.study_time} {level}")
    return UID(f"2.25.{named.int}")


def _who(who: Identity) -> dict[str, str]:
    """Patient, study, series and equipment."""
    return {
        "SpecificCharacterSet": "ISO_IR 192",
        "PatientName": who.name,
        "PatientID": who.patient_id,
        "PatientBirthDate": who.birth_date,
        "PatientSex": who.sex,
        "StudyInstanceUID": _uid(who, "study"),
        "SeriesInstanceUID": _uid(who, "series"),
        "SOPInstanceUID": _uid(who, "instance"),
        "StudyDate": who.study_date,
        "StudyTime": who.study_time,
        "ContentDate": who.study_date,
        "ContentTime": who.study_time,
        "AcquisitionDate": who.study_date,
        "AcquisitionTime": who.study_time,
        "AccessionNumber": "",
        "ReferringPhysicianName": "",
        "StudyID": "1",
        "StudyDescription": "Chest film (phantom)",
        "SeriesDescription": "Chest PA (phantom)",
        "Manufacturer": "Wardround phantom",
        "Modality": "DX",
        "PresentationIntentType": "FOR PRESENTATION",
    }


def _how(pixels: Bytes) -> dict[str, str | int | bytes | list[str] | list[float]]:
    """Projection, pixels and display (PS3.3 A.26)."""
    return {
        "SeriesNumber": 1,
        "InstanceNumber": 1,
        "ImageType": ["DERIVED", "PRIMARY"],
        "BodyPartExamined": "CHEST",
        "ViewPosition": "PA",
        "PatientOrientation": ["L", "F"],
        "ImageLaterality": "U",
        "BurnedInAnnotation": "NO",
        "LossyImageCompression": "00",
        "PixelIntensityRelationship": "LOG",
        "PixelIntensityRelationshipSign": -1,
        "PresentationLUTShape": "IDENTITY",
        "ImagerPixelSpacing": [0.4, 0.4],
        "SamplesPerPixel": 1,
        "PhotometricInterpretation": "MONOCHROME2",
        "Rows": int(pixels.shape[0]),
        "Columns": int(pixels.shape[1]),
        "BitsAllocated": 8,
        "BitsStored": 8,
        "HighBit": 7,
        "PixelRepresentation": 0,
        "RescaleIntercept": "0",
        "RescaleSlope": "1",
        "RescaleType": "US",
        "WindowCenter": "128",
        "WindowWidth": "256",
        "PixelData": pixels.tobytes(),
    }
