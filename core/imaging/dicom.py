"""What a DICOM file is: parsed, checked before any decoder runs, sorted by the kind of its object. Decodes no pixels.

Runs on foreign bytes in the decode child only. Checks and codes: imaging.md 4.1 to 4.3 (D01-D19).
"""

from __future__ import annotations

import io
import logging
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import pydicom
from pydicom import config
from pydicom.datadict import dictionary_VR
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.errors import InvalidDicomError
from pydicom.filereader import _read_file_meta_info, read_preamble
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from core.errors import UserError
from core.imaging import elements, soundness

INFLATED_BYTES = 64 << 20
DEPTH = 64
Kind = Literal["image", "report", "pdf", "waveform", "directory", "other"]
# Classes whose names (PS3.6 A.1) do not show that they hold an image, or a report.
VOLUMES = ("Enhanced US Volume Storage",)
LOGS = ("Procedure Log Storage",)

# pydicom's own log repeats element values, which are patient data.
logging.getLogger("pydicom").propagate = False


@contextmanager
def quiet() -> Iterator[None]:
    """pydicom without its warnings: what matters of them is checked here and said in a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config.settings.reading_validation_mode = config.IGNORE
        yield


# ------------------------------------------------------------------------------------------------ parsing


def parse(data: bytes) -> Dataset:
    """The data set; its syntax is in `file_meta.TransferSyntaxUID`, also for a file without a meta header.

    Raises:
        UserError: D01 no DICOM file, D02 empty, D03 cut short, D15 damaged, D16 nested too deep, D17 inflates to too
            much, D19 no transfer syntax.
    """
    if not data:
        raise UserError("The file is empty (0 bytes).", code="D02")
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
    if DeflatedExplicitVRLittleEndian.encode() not in data[:4096] or read_preamble(stream, True) is None:
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
        for tag, element in found.items():
            if element.VR == "SQ" or (element.VR is None and _is_sequence(tag)):
                waiting.extend((item, depth + 1) for item in found[tag].value or ())


def _is_sequence(tag: int) -> bool:
    """By the dictionary: implicit encoding does not say."""
    try:
        return bool(dictionary_VR(tag) == "SQ")
    except KeyError:
        return False


def _settle_syntax(dataset: Dataset, *, has_preamble: bool) -> None:
    """A file with a meta header must name its syntax; one without any has the encoding that it was parsed with."""
    meta = getattr(dataset, "file_meta", None)
    if meta is not None and elements.word(meta, "TransferSyntaxUID"):
        return
    if has_preamble or not (elements.word(dataset, "SOPClassUID") and elements.word(dataset, "SOPInstanceUID")):
        code = "D19" if has_preamble else "D01"
        text = "The DICOM file does not name its transfer syntax; a guess could show a wrong image."
        raise UserError(text if has_preamble else "This is not a DICOM file.", code=code)
    implicit, little = dataset.original_encoding
    dataset.file_meta = FileMetaDataset()
    explicit = ExplicitVRLittleEndian if little else ExplicitVRBigEndian
    dataset.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else explicit


# ------------------------------------------------------------------------------------------------ kinds of object


def sop_class(dataset: Dataset) -> str:
    """Name of the SOP class by the dictionary (PS3.6 A.1), its UID where it is private; "" where the file has none."""
    named = elements.word(dataset, "SOPClassUID") or elements.word(dataset.file_meta, "MediaStorageSOPClassUID")
    return _class_name(named)


@cache
def _class_name(uid: str) -> str:
    return str(UID(uid).name) if uid else ""


def kind(dataset: Dataset) -> Kind:
    """What an object is, by its SOP class; one without a class but with pixels is taken for an image.

    An image without any sign of pixels (no size, no pixel data) is of kind "other": there is nothing to decode.

    Raises:
        UserError: D15 for a number of frames that is no number.
    """
    soundness.check_numbers(dataset)
    name = sop_class(dataset)
    if name == "Media Storage Directory Storage":
        return "directory"
    if name == "Encapsulated PDF Storage":
        return "pdf"
    if " SR Storage" in name or name in LOGS:
        return "report"
    if "Waveform Storage" in name and "ECG" in name:
        return "waveform"
    if name and "Image Storage" not in name and name not in VOLUMES:
        return "other"
    return "image" if "PixelData" in dataset or "Rows" in dataset else "other"


def listed(dataset: Dataset) -> UserError:
    """The sentence on an object that is not shown: its class, and how many objects it refers to. Code "listed"."""
    name = sop_class(dataset) or "An object that does not say what it is"
    if "Image Storage" in name:
        return UserError(f"{name} without pixels: listed, there is nothing to show.", code="listed")
    count = len({str(element.value) for element in _references(dataset)})
    refers = f"; it refers to {count:,} other object{'s' if count > 1 else ''}" if count else ""
    return UserError(f"{name}: listed, not shown in this release{refers}.", code="listed")


def _references(dataset: Dataset) -> Iterator[pydicom.DataElement]:
    """Every ReferencedSOPInstanceUID at any depth; the depth was checked when the file was parsed."""
    for element in dataset:
        if element.VR == "SQ":
            for item in element.value:
                yield from _references(item)
        elif element.keyword == "ReferencedSOPInstanceUID":
            yield element
