"""What a DICOM file is: parsed, checked before any decoder runs, its header facts. Never decodes pixels.

Runs on foreign bytes in the decode child only. Checks and codes: imaging.md 4.1 and 4.3 (D01-D19).
"""

from __future__ import annotations

import io
import logging
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pydicom
from pydicom import config
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.errors import InvalidDicomError
from pydicom.filereader import _read_file_meta_info, read_preamble
from pydicom.multival import MultiValue
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from core.domain.case import Patient
from core.errors import UserError
from core.imaging.facts import Instance

INFLATED_BYTES = 64 << 20
DEPTH = 64
# One plugin a syntax, and no second try: decoders differ by a grey level on the same lossy file.
PLUGINS = {
    "1.2.840.10008.1.2": "",
    "1.2.840.10008.1.2.1": "",
    "1.2.840.10008.1.2.2": "",
    "1.2.840.10008.1.2.1.99": "",
    "1.2.840.10008.1.2.4.50": "pillow",
    "1.2.840.10008.1.2.4.51": "pillow",
    "1.2.840.10008.1.2.4.90": "pylibjpeg",
    "1.2.840.10008.1.2.4.91": "pylibjpeg",
    "1.2.840.10008.1.2.4.201": "pylibjpeg",
    "1.2.840.10008.1.2.4.202": "pylibjpeg",
    "1.2.840.10008.1.2.4.203": "pylibjpeg",
    "1.2.840.10008.1.2.5": "pylibjpeg",
}
LOSSY_SYNTAXES = {f"1.2.840.10008.1.2.4.{n}" for n in (50, 51, 81, 91, 203)}
VIDEO = tuple(f"1.2.840.10008.1.2.4.{n}" for n in range(100, 110))
JPEG_XL = ("1.2.840.10008.1.2.4.110", "1.2.840.10008.1.2.4.111", "1.2.840.10008.1.2.4.112")
GREY = ("MONOCHROME1", "MONOCHROME2")
COLOUR = ("RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT")
PALETTE = "PALETTE COLOR"

# pydicom's own log repeats element values, which are patient data.
logging.getLogger("pydicom").propagate = False


@contextmanager
def quiet() -> Iterator[None]:
    """pydicom without its warnings: what matters of them is checked here and said in a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config.settings.reading_validation_mode = config.IGNORE
        yield


def read_header(data: bytes, *, limit_bytes: int) -> Instance:
    """Header facts of a DICOM image that passed every check that needs no decoder.

    Raises:
        UserError: codes D01, D03-D08, D15-D19, or "kind" for an object without an image.
    """
    with quiet():
        dataset = parse(data)
        check(dataset, limit_bytes=limit_bytes)
        return _instance(dataset)


def parse(data: bytes) -> Dataset:
    """The data set; its syntax is in `file_meta.TransferSyntaxUID`, also for a file without a meta header.

    Raises:
        UserError: D01 no DICOM file, D03 cut short, D15 damaged, D16 nested too deep, D17 inflates to too much,
            D19 no transfer syntax.
    """
    try:
        _check_deflated(data)
        dataset = pydicom.dcmread(io.BytesIO(data), force=True)
        _check_depth(dataset)
    except InvalidDicomError as error:
        raise UserError("This is not a DICOM file.", code="D01") from error
    except RecursionError as error:
        raise UserError(f"The DICOM header is nested deeper than {DEPTH} levels.", code="D16") from error
    if len(dataset) == 0:
        raise UserError("The DICOM file is cut short or damaged: no element of its header could be read.", code="D03")
    _settle_syntax(dataset, has_preamble=data[128:132] == b"DICM")
    return dataset


def _check_deflated(data: bytes) -> None:
    """Inflate a deflated data set ourselves, with a limit: pydicom would take all that comes."""
    stream = io.BytesIO(data)
    if read_preamble(stream, True) is None:
        return
    meta = _read_file_meta_info(stream)
    if meta.get("TransferSyntaxUID") != DeflatedExplicitVRLittleEndian:
        return
    try:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        inflater.decompress(stream.read(), INFLATED_BYTES)
    except zlib.error as error:
        raise UserError("The compressed DICOM header is damaged.", code="D15") from error
    if inflater.unconsumed_tail:
        raise UserError(f"The DICOM file unpacks to more than {INFLATED_BYTES >> 20} MiB.", code="D17")


def _check_depth(dataset: Dataset) -> None:
    """Walk the sequences with a stack of our own, so that no nesting is too deep to be measured."""
    waiting = [(dataset, 1)]
    while waiting:
        found, depth = waiting.pop()
        if depth > DEPTH:
            raise UserError(f"The DICOM header is nested deeper than {DEPTH} levels.", code="D16")
        for element in found.values():
            if element.VR == "SQ":
                waiting.extend((item, depth + 1) for item in found[element.tag].value)


def _settle_syntax(dataset: Dataset, *, has_preamble: bool) -> None:
    """A file with a meta header must name its syntax; one without any has the encoding that it was parsed with."""
    meta = getattr(dataset, "file_meta", None)
    if meta is not None and meta.get("TransferSyntaxUID"):
        return
    if has_preamble or not (dataset.get("SOPClassUID") and dataset.get("SOPInstanceUID")):
        code = "D19" if has_preamble else "D01"
        text = "The DICOM file does not name its transfer syntax; a guess could show a wrong image."
        raise UserError(text if has_preamble else "This is not a DICOM file.", code=code)
    implicit, little = dataset.original_encoding
    dataset.file_meta = FileMetaDataset()
    explicit = ExplicitVRLittleEndian if little else ExplicitVRBigEndian
    dataset.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else explicit


# ------------------------------------------------------------------------------------------------ checks


def check(dataset: Dataset, *, limit_bytes: int) -> None:
    """Everything that must hold before a decoder may run.

    Raises:
        UserError: D03-D08, D18, or "kind".
    """
    if "PixelData" not in dataset:
        raise _no_image(dataset)
    syntax = str(dataset.file_meta.TransferSyntaxUID)
    _check_syntax(syntax, dataset)
    _check_description(dataset)
    declared = declared_bytes(dataset)
    if declared > limit_bytes:
        size = f"{dataset.Columns} x {dataset.Rows} x {frames(dataset)}"
        text = (
            f"The image is too large: {size} ({declared / 2**30:.1f} GiB), the limit is {limit_bytes / 2**30:.1f} GiB."
        )
        raise UserError(text, code="D05")
    _check_length(dataset, declared, encapsulated=bool(PLUGINS[syntax]))


def _no_image(dataset: Dataset) -> UserError:
    if "Rows" in dataset and "FloatPixelData" not in dataset and "DoubleFloatPixelData" not in dataset:
        return UserError("The DICOM file is cut short: it describes an image, but holds no pixel data.", code="D03")
    named = dataset.get("SOPClassUID") or dataset.file_meta.get("MediaStorageSOPClassUID")
    kind = getattr(named, "name", "") or "an unknown kind of object"
    if kind == "Media Storage Directory Storage":
        return UserError("A DICOMDIR is only an index; the files beside it are read one by one.", code="kind")
    if kind.endswith("Image Storage"):
        return UserError(f"The DICOM file says that it is an image ({kind}), but holds no pixels.", code="D04")
    return UserError(f"This DICOM file holds no image that this version shows ({kind}).", code="kind")


def _check_syntax(syntax: str, dataset: Dataset) -> None:
    name = dataset.file_meta.TransferSyntaxUID.name
    if syntax.startswith(VIDEO) and syntax not in JPEG_XL:
        raise UserError(f"Video is not supported ({name}).", code="D08")
    if syntax not in PLUGINS:
        raise UserError(f"Compression not supported: {'JPEG XL' if syntax in JPEG_XL else name}.", code="D06")
    if syntax in ("1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51") and dataset.get("BitsAllocated", 8) != 8:
        raise UserError("12-bit JPEG is not supported.", code="D07")


def _check_description(dataset: Dataset) -> None:
    """Rows, Columns, bits, samples, colour model: present and possible (PS3.3 C.7.6.3)."""
    wanted: dict[str, Callable[[int], bool]] = {
        "Rows": lambda n: 1 <= n <= 65535,
        "Columns": lambda n: 1 <= n <= 65535,
        "SamplesPerPixel": lambda n: n in (1, 3),
        "BitsAllocated": lambda n: n in (1, 8, 16, 32),
        "BitsStored": lambda n: 1 <= n <= dataset.BitsAllocated,
        "PixelRepresentation": lambda n: n in (0, 1),
    }
    for name, holds in wanted.items():
        value = dataset.get(name)
        if not isinstance(value, int) or not holds(value):
            raise UserError(f"The image description is incomplete or contradictory: {name}.", code="D04")
    colour = str(dataset.get("PhotometricInterpretation", ""))
    if not colour:
        text = "The image description is incomplete or contradictory: PhotometricInterpretation."
        raise UserError(text, code="D04")
    if colour not in (*GREY, *COLOUR, PALETTE):
        raise UserError(f"Colour model not supported: {colour}.", code="D18")
    if (dataset.SamplesPerPixel == 3) != (colour in COLOUR):
        raise UserError("The image description is incomplete or contradictory: SamplesPerPixel.", code="D04")


def frames(dataset: Dataset) -> int:
    """Number of frames, at least 1."""
    value = dataset.get("NumberOfFrames")
    return max(1, int(value)) if isinstance(value, int) else 1


def declared_bytes(dataset: Dataset) -> int:
    """Size of the decoded pixels by the header."""
    pixels = int(dataset.Rows) * int(dataset.Columns) * frames(dataset)
    return -(-pixels * int(dataset.SamplesPerPixel) * int(dataset.BitsAllocated) // 8)


def _check_length(dataset: Dataset, declared: int, *, encapsulated: bool) -> None:
    raw = dataset.get_item("PixelData").value or b""
    if encapsulated:
        if raw[:4] != b"\xfe\xff\x00\xe0":
            raise UserError("The image description is incomplete or contradictory: PixelData.", code="D04")
        return
    if dataset.PhotometricInterpretation == "YBR_FULL_422":
        declared = declared * 2 // 3
    if len(raw) < declared:
        text = f"The DICOM file is cut short: {len(raw):,} of {declared:,} bytes of pixels are there."
        raise UserError(text, code="D03")


# ------------------------------------------------------------------------------------------------ facts


def _instance(dataset: Dataset) -> Instance:
    number = dataset.get("InstanceNumber")
    return Instance(
        study_uid=word(dataset, "StudyInstanceUID"),
        series_uid=word(dataset, "SeriesInstanceUID"),
        sop_uid=word(dataset, "SOPInstanceUID"),
        modality=word(dataset, "Modality"),
        rows=int(dataset.Rows),
        columns=int(dataset.Columns),
        frames=frames(dataset),
        patient=_patient(dataset),
        number=int(number) if isinstance(number, int) else None,
        position=tuple(decimals(dataset, "ImagePositionPatient")),
        orientation=tuple(decimals(dataset, "ImageOrientationPatient")),
        description=word(dataset, "SeriesDescription"),
        body_part=word(dataset, "BodyPartExamined"),
        view=word(dataset, "ViewPosition"),
        laterality=word(dataset, "ImageLaterality") or word(dataset, "Laterality"),
        acquired_on=_acquired(dataset),
        window=_window(dataset),
        remarks=tuple(_remarks(dataset)),
    )


def word(dataset: Dataset, name: str) -> str:
    """An element's first value as one line of text; "" if absent."""
    value = dataset.get(name)
    if isinstance(value, MultiValue | list):
        value = value[0] if len(value) else None
    return "" if value is None else " ".join(str(value).replace("\x00", "").split())


def decimals(dataset: Dataset, name: str) -> list[float]:
    """An element's values as numbers; [] if absent or no numbers."""
    value = dataset.get(name)
    values = list(value) if isinstance(value, MultiValue | list) else [] if value in (None, "") else [value]
    try:
        return [float(item) for item in values]
    except (TypeError, ValueError):
        return []


def _patient(dataset: Dataset) -> Patient:
    born = _iso_date(word(dataset, "PatientBirthDate"))
    name = ", ".join(part for part in word(dataset, "PatientName").split("=")[0].split("^") if part)
    sex = word(dataset, "PatientSex").upper()
    return Patient(name=name, patient_id=word(dataset, "PatientID"), birth_date=born, sex=sex if sex in "MFO" else "")


def _iso_date(text: str) -> str:
    digits = text.replace(".", "")
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" if len(digits) == 8 and digits.isdecimal() else ""


def _acquired(dataset: Dataset) -> str:
    """Date and, where known, time of the content, ISO 8601."""
    moment = word(dataset, "AcquisitionDateTime")
    day = moment[:8] or word(dataset, "AcquisitionDate") or word(dataset, "ContentDate") or word(dataset, "StudyDate")
    clock = (
        moment[8:14] or word(dataset, "AcquisitionTime") or word(dataset, "ContentTime") or word(dataset, "StudyTime")
    )
    found = _iso_date(day)
    return f"{found}T{clock[:2]}:{clock[2:4]}" if found and clock[:4].isdecimal() and len(clock) >= 4 else found


def _window(dataset: Dataset) -> str:
    centre, width = decimals(dataset, "WindowCenter"), decimals(dataset, "WindowWidth")
    return f"C {centre[0]:g} W {width[0]:g}" if centre and width else ""


def _remarks(dataset: Dataset) -> Iterator[str]:
    syntax = str(dataset.file_meta.TransferSyntaxUID)
    if word(dataset, "LossyImageCompression") == "01" or syntax in LOSSY_SYNTAXES:
        ratio = decimals(dataset, "LossyImageCompressionRatio")
        yield f"Lossy compressed image ({f'{ratio[0]:g} : 1' if ratio else 'ratio unknown'})"
    if PLUGINS[syntax]:
        yield "Pixel integrity: not verifiable (first import of compressed data)"
    if word(dataset, "BurnedInAnnotation").upper() == "YES":
        yield "Text is burned into the image"
