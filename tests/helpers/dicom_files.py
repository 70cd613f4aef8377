"""DICOM files for tests: pydicom's own samples, changed samples, and objects built from nothing. Of nobody."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import UID, ExplicitVRLittleEndian

FILES = Path(pydicom.__file__).parent / "data" / "test_files"
LIMIT = 2 << 30
CT, SC = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.7"
ENHANCED_CT, PDF = "1.2.840.10008.5.1.4.1.1.2.1", "1.2.840.10008.5.1.4.1.1.104.1"
REPORT, ECG = "1.2.840.10008.5.1.4.1.1.88.33", "1.2.840.10008.5.1.4.1.1.9.1.1"
ROOT = "1.2.840.10008.1.2"


def packaged(name: str) -> bytes:
    return (FILES / name).read_bytes()


def saved(dataset: Dataset) -> bytes:
    stream = io.BytesIO()
    dataset.save_as(stream)
    return stream.getvalue()


def edited(dataset: Dataset, **elements: object) -> Dataset:
    """Elements set (None: deleted)."""
    for keyword, value in elements.items():
        if keyword == "TransferSyntaxUID":
            dataset.file_meta.TransferSyntaxUID = UID(str(value))

        elif value is None and keyword in dataset:
            delattr(dataset, keyword)
        elif value is None:
            continue

        else:
            setattr(dataset, keyword, value)
    return dataset


def changed(name: str, **elements: object) -> bytes:
    """A packaged file with some elements set (None: deleted)."""
    return saved(edited(pydicom.dcmread(FILES / name), **elements))


def with_long_syntax(uid: str) -> bytes:
    """The packaged JPEG 2000 slice under a syntax of 24 characters that pydicom has no name for."""
    plain = packaged("MR_small_jp2klossless.dcm")
    longer = plain.replace(b"UI\x16\x001.2.840.10008.1.2.4.90", b"UI\x18\x00" + uid.encode() + b"\0")
    start = longer.index(b"UL\x04\x00") + 4
    length = int.from_bytes(longer[start : start + 4], "little") + 2
    return longer[:start] + length.to_bytes(4, "little") + longer[start + 4 :]


def thing(sop_class: str, **elements: object) -> FileDataset:
    """An object of a class with the elements that every one has."""
    meta = FileMetaDataset()
    meta.FileMetaInformationGroupLength = 0  # counted when the file is written

    meta.MediaStorageSOPClassUID = UID(sop_class)
    meta.MediaStorageSOPInstanceUID = UID(str(elements.get("SOPInstanceUID", "1.2.3.4")))
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    known = {
        "SpecificCharacterSet": "ISO_IR 192",
        "SOPClassUID": sop_class,
        "SOPInstanceUID": "1.2.3.4",
        "StudyInstanceUID": "1.2.3",
        "SeriesInstanceUID": "1.2.3.1",
        "PatientName": "Example^Nora",
        "PatientID": "E-1",
        "PatientBirthDate": "19600101",
        "ContentDate": "20261118",
        "ContentTime": "114500",
    }
    edited(dataset, **known)
    edited(dataset, **elements)
    return dataset


def image(values: np.ndarray, *, sop_class: str = SC, frames: int = 0, **elements: object) -> FileDataset:
    """A native image of an array: rows x columns (x 3), or frames first. Elements given go before those found."""
    rows, columns = values.shape[1 if frames else 0], values.shape[2 if frames else 1]
    samples = 3 if values.shape[-1] == 3 and values.ndim == (4 if frames else 3) else 1
    bits = 8 * values.dtype.itemsize
    found: dict[str, object] = {
        "Rows": rows,
        "Columns": columns,
        "SamplesPerPixel": samples,
        "PhotometricInterpretation": "RGB" if samples == 3 else "MONOCHROME2",
        "BitsAllocated": bits,
        "BitsStored": bits,
        "HighBit": bits - 1,
        "PixelRepresentation": int(values.dtype.kind == "i"),
        "PixelData": values.tobytes() + b"\0" * (values.nbytes % 2),
    }
    if samples == 3:
        found["PlanarConfiguration"] = 0
    if frames:
        found["NumberOfFrames"] = frames
    return thing(sop_class, **{**found, **elements})


def slice_of(number: int, z: float, **elements: object) -> FileDataset:
    """A small CT slice: 8 x 8, 1 mm pixels, axial, at z mm."""
    values = np.full((8, 8), number, np.int16)
    known: dict[str, object] = {
        "Modality": "CT",
        "SOPInstanceUID": f"1.2.3.1.{number}",
        "InstanceNumber": number,
        "ImagePositionPatient": [0.0, 0.0, z],
        "ImageOrientationPatient": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        "PixelSpacing": [1.0, 1.0],
        "FrameOfReferenceUID": "1.2.3.9",
        "RescaleSlope": 1,
        "RescaleIntercept": -1024,
        "ImageType": ["ORIGINAL", "PRIMARY", "AXIAL"],
    }
    return image(values, sop_class=CT, **{**known, **elements})


def item(**elements: object) -> Dataset:
    return edited(Dataset(), **elements)


def code(value: str, scheme: str, meaning: str) -> Sequence:
    return Sequence([item(CodeValue=value, CodingSchemeDesignator=scheme, CodeMeaning=meaning)])


def enhanced(stacks: int, planes: int) -> bytes:
    """An enhanced CT, its frames in a shuffled order: stacks of planes 2 mm apart, each stack turned its own way."""
    turns = ([1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, -1], [1, 0, 0, 0, 0, -1])
    normals = (np.array([0, 0, 1]), np.array([-1, 0, 0]), np.array([0, 1, 0]))
    order = np.random.default_rng(4).permutation(stacks * planes)
    frames = []
    for n in order.tolist():
        stack, plane = divmod(n, planes)
        indices = [stack + 1, plane + 1]
        content = item(StackID=str(stack + 1), InStackPositionNumber=plane + 1, DimensionIndexValues=indices)
        frames.append(
            item(
                FrameContentSequence=[content],
                PlanePositionSequence=[item(ImagePositionPatient=[float(x) for x in 2 * plane * normals[stack]])],
                PlaneOrientationSequence=[item(ImageOrientationPatient=turns[stack])],
            )
        )  # fmt: skip
    shared = item(
        PixelMeasuresSequence=[item(PixelSpacing=[0.5, 0.5], SliceThickness=2)],
        PixelValueTransformationSequence=[item(RescaleSlope=1, RescaleIntercept=-1024, RescaleType="HU")],
    )
    values = np.stack([np.full((4, 4), n, np.uint16) for n in order])
    pointers = [item(DimensionIndexPointer=0x00209056), item(DimensionIndexPointer=0x00209057)]
    dataset = image(
        values, sop_class=ENHANCED_CT, frames=len(values), Modality="CT", InstanceNumber=1,
        FrameOfReferenceUID="1.2.3.9",
        ImageType=["ORIGINAL", "PRIMARY", "VOLUME"], DimensionIndexSequence=pointers,
        PerFrameFunctionalGroupsSequence=frames, SharedFunctionalGroupsSequence=[shared],
    )  # fmt: skip
    return saved(dataset)


def electrocardiogram(leads: dict[str, np.ndarray], *, rate: float, unit: str = "uV", **channel: object) -> bytes:
    """Leads as 16-bit samples of 1 unit each, unless the channel's elements say otherwise."""
    samples = np.stack(list(leads.values()), axis=1).astype("<i2")
    known = {"ChannelSensitivity": 1, "ChannelSensitivityCorrectionFactor": 1, "ChannelBaseline": 0}
    channels = [
        item(
            ChannelSourceSequence=code(name, "TEST", f"Lead {name}"),
            ChannelSensitivityUnitsSequence=code(unit, "UCUM", unit),
            WaveformBitsStored=16,
            **{**known, **channel},
        )
        for name in leads
    ]
    group = item(
        MultiplexGroupLabel="RHYTHM", NumberOfWaveformChannels=len(leads), NumberOfWaveformSamples=len(samples),
        SamplingFrequency=rate, ChannelDefinitionSequence=channels, WaveformBitsAllocated=16,
        WaveformSampleInterpretation="SS", WaveformData=samples.tobytes(),
    )  # fmt: skip
    group["WaveformData"].VR = "OW"
    return saved(thing(ECG, Modality="ECG", WaveformSequence=[group]))
