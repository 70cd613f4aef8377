"""The frames of a DICOM image: stored values and their hashes, and one frame as an 8-bit picture (imaging.md 4.3-4.8).

Foreign bytes: decode child only. The picture is for looking; no number is measured on it.

What is hashed when: at import each file's bytes (`file_sha256`, by the importing process) and the one frame that is
drawn for the preview (`Rendered.frame_sha256`); all frames, and so the volume, when a volume is built (`planes`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_modality_lut
from pydicom.pixels.utils import pixel_array

from core.errors import UserError
from core.imaging import (
    codestream,
    dicom,
    elements,
    encapsulation,
    header,
    palettes,
    pictures,
    soundness,
    syntaxes,
    waveform,
    windows,
)
from core.imaging.facts import Rendered
from core.imaging.windows import Numbers

Stored = npt.NDArray[Any]  # integers of any width, as the file stores them
MARK = b"WRPX1\0"


class Plane(msgspec.Struct, frozen=True):
    """The stored values of one frame (rows x columns, or x 3 in RGB; not rescaled), their hash, who decoded them."""

    values: Stored
    frame_sha256: str
    decoder: str


def render(data: bytes, *, limit_bytes: int) -> tuple[Rendered, bytes]:
    """The middle frame of a DICOM image as an 8-bit PNG, longer side <= 1024 px; an ECG drawn in full size.

    Raises:
        UserError: as `objects.read` of an image; D13 the decoded size is not the described one.
    """
    with dicom.quiet():
        dataset = dicom.parse(data)
        if dicom.kind(dataset) == "waveform":
            return Rendered(frame=0), pictures.encode_png(waveform.draw(waveform.read(dataset)))
        soundness.check(dataset, limit_bytes=limit_bytes)
        index = soundness.frames(dataset) // 2
        plane = decode(dataset, index)
        shown, window = _shown(plane.values, dataset, index)
    facts = Rendered(frame=index, window=window, frame_sha256=plane.frame_sha256, decoder=plane.decoder)
    return facts, pictures.preview(shown)


# ------------------------------------------------------------------------------------------------ stored values


def planes(data: bytes, *, limit_bytes: int) -> Iterator[Plane]:
    """All frames of a DICOM image in the file's order, one at a time.

    Raises:
        UserError: as `render`.
    """
    with dicom.quiet():
        dataset = dicom.parse(data)
        soundness.check(dataset, limit_bytes=limit_bytes)
        for index in range(soundness.frames(dataset)):
            yield decode(dataset, index)


def decode(dataset: Dataset, index: int) -> Plane:
    """One frame of a data set that passed `soundness.check`.

    Raises:
        UserError: D09 the frame is not whole, or its decoder gives up; D13 its size is not the described one.
    """
    syntax = str(dataset.file_meta.TransferSyntaxUID)
    if syntax not in syntaxes.NATIVE:
        _check_frame(dataset, syntax, index)
    plugin, options = _way(dataset)
    try:
        return _plane(pixel_array(dataset, index=index, decoding_plugin=plugin, **options), dataset)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how a decoder in Rust gives up; it is no Exception
            raise
        raise UserError("The decoder could not read the image.", code="D09") from None


def _check_frame(dataset: Dataset, syntax: str, index: int) -> None:
    """Its own header, which every compression but RLE has, is read and compared before the decoder gets it."""
    frame = encapsulation.frame(dataset, index, soundness.frames(dataset))
    if syntax in syntaxes.RLE:
        return
    found = codestream.shape(frame)
    if found is None:
        raise UserError("The decoder could not read the image.", code="D09")
    soundness.check_frame(dataset, syntax, found)


def _way(dataset: Dataset) -> tuple[str, dict[str, Any]]:
    """The one plugin of the syntax. Values that begin above bit 0 are for us to move."""
    plugin = syntaxes.PLUGINS[str(dataset.file_meta.TransferSyntaxUID)].name
    return plugin, {"correct_unused_bits": False} if _shift(dataset) else {}


def _shift(dataset: Dataset) -> int:
    return int(dataset.get("HighBit", dataset.BitsStored - 1)) - int(dataset.BitsStored) + 1


def _plane(found: Stored, dataset: Dataset) -> Plane:
    if found.shape[:2] != (dataset.Rows, dataset.Columns):
        raise UserError("The decoded size differs from the description.", code="D13")
    values = aligned(found, dataset) if _shift(dataset) else found
    if values.dtype == np.int8:
        values = values.astype(np.int16)
    if dataset.PhotometricInterpretation == soundness.PALETTE:
        values = palettes.apply(values, dataset)
    decoder = syntaxes.decoder(str(dataset.file_meta.TransferSyntaxUID))
    return Plane(values, frame_sha256(values), decoder)


def aligned(found: Stored, dataset: Dataset) -> Stored:
    """Values out of their cells (PS3.5 8.1.1): shifted down, masked to BitsStored, sign extended."""
    bits = int(dataset.BitsStored)
    cells = found.view(f"u{found.dtype.itemsize}") >> _shift(dataset) & ((1 << bits) - 1)
    if dataset.PixelRepresentation == 0:
        return cells.astype(found.dtype.newbyteorder("="))
    up = 8 * found.dtype.itemsize - bits
    result: Stored = (cells << up).astype(f"u{found.dtype.itemsize}").view(f"i{found.dtype.itemsize}") >> up
    return result


def frame_sha256(values: Stored) -> str:
    """Hash of a plane: mark, rows, columns, samples, bits of a value's cell, signed or not, values little-endian."""
    samples = values.shape[2] if values.ndim == 3 else 1
    signed = int(values.dtype.kind == "i")
    head = struct.pack("<5I", *values.shape[:2], samples, 8 * values.dtype.itemsize, signed)
    body = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return hashlib.sha256(MARK + head + body.tobytes()).hexdigest()


def volume_sha256(frames: Iterable[str]) -> str:
    """Hash of the frames' hashes, in the order of the volume."""
    return hashlib.sha256(b"".join(bytes.fromhex(frame) for frame in frames)).hexdigest()


# ------------------------------------------------------------------------------------------------ for looking


def _shown(stored: Stored, dataset: Dataset, index: int) -> tuple[pictures.Bytes2D, str]:
    if dataset.PhotometricInterpretation in soundness.GREY:
        return _grey(stored, dataset, index)
    bits = 8 if dataset.PhotometricInterpretation == soundness.PALETTE else int(dataset.BitsStored)
    return (stored >> (bits - 8) if bits > 8 else stored).astype(np.uint8), ""


def _grey(stored: Stored, dataset: Dataset, index: int) -> tuple[pictures.Bytes2D, str]:
    """Padding, Modality LUT, VOI LUT or window, inversion of MONOCHROME1 (PS3.4 N.2)."""
    padding = _padding(stored, dataset)
    values = _rescaled(stored, dataset, index)
    shown, text = _through_table(values, dataset) or _through_window(values, padding, dataset, index)
    if dataset.PhotometricInterpretation == "MONOCHROME1":
        shown = 255 - shown
    return np.where(padding, np.uint8(0), shown), text


def _padding(stored: Stored, dataset: Dataset) -> npt.NDArray[np.bool_]:
    """Where the scanner filled up and nothing was measured; nowhere if that would be everywhere."""
    first = elements.decimals(dataset, "PixelPaddingValue")
    if not first:
        return np.zeros(stored.shape, dtype=np.bool_)
    last = elements.decimals(dataset, "PixelPaddingRangeLimit") or first
    low, high = min(first[0], last[0]), max(first[0], last[0])
    found = np.asarray((stored >= low) & (stored <= high))
    return found if not found.all() else np.zeros(stored.shape, dtype=np.bool_)


def _rescaled(stored: Stored, dataset: Dataset, index: int) -> Numbers:
    """Modality values by table, or slope and intercept of the frame, of all frames, or of the file."""
    if "ModalityLUTSequence" in dataset:
        return np.asarray(apply_modality_lut(stored, dataset), dtype=np.float64)
    group = header.functional_group(dataset, index, "PixelValueTransformationSequence") or dataset
    slope, intercept = elements.decimals(group, "RescaleSlope"), elements.decimals(group, "RescaleIntercept")
    return stored.astype(np.float64) * (slope[0] if slope else 1.0) + (intercept[0] if intercept else 0.0)


def _through_table(values: Numbers, dataset: Dataset) -> tuple[pictures.Bytes2D, str] | None:
    """The first VOI table, which goes before a window; None where there is none, or none of the length it says."""
    items = dataset.get("VOILUTSequence")
    descriptor = elements.decimals(items[0], "LUTDescriptor") if items else []
    if len(descriptor) != 3 or not 1 <= descriptor[2] <= 16:
        return None
    table = _entries(items[0], "<" if dataset.original_encoding[1] is not False else ">")
    if len(table) < (int(descriptor[0]) or 1 << 16):
        return None
    shown = windows.look_up(values, table, first=int(descriptor[1]), bits=int(descriptor[2]))
    return shown, elements.word(items[0], "LUTExplanation") or "table of the file"


def _entries(item: Dataset, order: str) -> Stored:
    found = item.get("LUTData")
    return np.frombuffer(found, f"{order}u2") if isinstance(found, bytes) else np.atleast_1d(np.array(found or 0))


def _through_window(
    values: Numbers, padding: npt.NDArray[np.bool_], dataset: Dataset, index: int
) -> tuple[pictures.Bytes2D, str]:
    centre, width, function = _window(dataset, index) or (*windows.automatic(values[~padding]), "LINEAR")
    return windows.apply(values, centre=centre, width=width, function=function), f"C {centre:g} W {width:g}"


def _window(dataset: Dataset, index: int) -> tuple[float, float, str] | None:
    """Centre, width and function of the header's first window; None without a usable one."""
    group = header.functional_group(dataset, index, "FrameVOILUTSequence") or dataset
    centre, width = elements.decimals(group, "WindowCenter"), elements.decimals(group, "WindowWidth")
    function = elements.word(group, "VOILUTFunction").upper() or "LINEAR"
    if not centre or not width or not windows.is_usable(width[0], function):
        return None
    return centre[0], width[0], function
