"""One frame of a DICOM image as an 8-bit picture: decode, rescale, window, colour (imaging.md 4.3-4.5).

Foreign bytes: decode child only. Numbers for measurement are not made here; this is for looking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_color_lut, apply_modality_lut, apply_voi
from pydicom.pixels.utils import pixel_array

from core.errors import UserError
from core.imaging import dicom, pictures
from core.imaging.facts import Rendered

Numbers = npt.NDArray[np.float64]
Stored = npt.NDArray[Any]  # integers or floats of any width, as the file stores them
LOW, HIGH = 1.0, 99.0  # percentiles of the automatic window


def render(data: bytes, *, limit_bytes: int) -> tuple[Rendered, bytes]:
    """The middle frame of a DICOM image as an 8-bit PNG, longer side <= 1024 px.

    Raises:
        UserError: as `dicom.read_header`; D13 the decoded size is not the described one.
    """
    with dicom.quiet():
        dataset = dicom.parse(data)
        dicom.check(dataset, limit_bytes=limit_bytes)
        index = dicom.frames(dataset) // 2
        stored = _decode(dataset, index)
        if dataset.PhotometricInterpretation in dicom.GREY:
            shown, window = _grey(stored, dataset, index)
        else:
            shown, window = _colour(stored, dataset), ""
    return Rendered(frame=index, window=window), pictures.preview(shown)


def _decode(dataset: Dataset, index: int) -> Stored:
    """Stored values of one frame, rows x columns (x 3 in RGB)."""
    plugin = dicom.PLUGINS[str(dataset.file_meta.TransferSyntaxUID)]
    found: Stored = pixel_array(dataset, index=index, decoding_plugin=plugin)
    if found.shape[:2] != (dataset.Rows, dataset.Columns):
        raise UserError("The decoded image has another size than its description.", code="D13")
    return found


def _colour(stored: Stored, dataset: Dataset) -> pictures.Bytes2D:
    if dataset.PhotometricInterpretation == dicom.PALETTE:
        stored = apply_color_lut(stored, dataset)
        bits = 16 if stored.dtype.itemsize == 2 else 8
    else:
        bits = int(dataset.BitsStored)
    return (stored >> (bits - 8)).astype(np.uint8) if bits > 8 else stored.astype(np.uint8)


def _grey(stored: Stored, dataset: Dataset, index: int) -> tuple[pictures.Bytes2D, str]:
    padding = _padding(stored, dataset)
    values = _rescaled(stored, dataset, index)
    given = _window(dataset, index)
    if given is None and "VOILUTSequence" in dataset:
        shown, text = pictures.stretched(apply_voi(stored, dataset)), "table of the file"
    else:
        centre, width, function = given or (*automatic_window(values[~padding]), "LINEAR")
        shown, text = windowed(values, centre=centre, width=width, function=function), f"C {centre:g} W {width:g}"
    if dataset.PhotometricInterpretation == "MONOCHROME1":
        shown = 255 - shown
    return np.where(padding, np.uint8(0), shown), text


def _padding(stored: Stored, dataset: Dataset) -> npt.NDArray[np.bool_]:
    """Where the scanner filled up and nothing was measured; nowhere if that would be everywhere."""
    first = dicom.decimals(dataset, "PixelPaddingValue")
    if not first:
        return np.zeros(stored.shape, dtype=np.bool_)
    last = dicom.decimals(dataset, "PixelPaddingRangeLimit") or first
    low, high = min(first[0], last[0]), max(first[0], last[0])
    found = np.asarray((stored >= low) & (stored <= high))
    return found if not found.all() else np.zeros(stored.shape, dtype=np.bool_)


def _rescaled(stored: Stored, dataset: Dataset, index: int) -> Numbers:
    """Modality values by table, or slope and intercept of the frame, of all frames, or of the file."""
    if "ModalityLUTSequence" in dataset:
        return np.asarray(apply_modality_lut(stored, dataset), dtype=np.float64)
    group = _functional_group(dataset, index, "PixelValueTransformationSequence") or dataset
    slope, intercept = dicom.decimals(group, "RescaleSlope"), dicom.decimals(group, "RescaleIntercept")
    return stored.astype(np.float64) * (slope[0] if slope else 1.0) + (intercept[0] if intercept else 0.0)


def _window(dataset: Dataset, index: int) -> tuple[float, float, str] | None:
    """Centre, width and function of the header's first window; None without a usable one (width below 1)."""
    group = _functional_group(dataset, index, "FrameVOILUTSequence") or dataset
    centre, width = dicom.decimals(group, "WindowCenter"), dicom.decimals(group, "WindowWidth")
    function = dicom.word(group, "VOILUTFunction").upper() or "LINEAR"
    if not centre or not width or function not in FUNCTIONS or width[0] < (1 if function == "LINEAR" else 1e-6):
        return None
    return centre[0], width[0], function


def _functional_group(dataset: Dataset, index: int, name: str) -> Dataset | None:
    """The item of a functional group for a frame: its own, else the shared one (enhanced objects)."""
    own = dataset.get("PerFrameFunctionalGroupsSequence") or []
    shared = dataset.get("SharedFunctionalGroupsSequence") or []
    for groups in (*own[index : index + 1], *shared[:1]):
        items = groups.get(name)
        if items:
            found: Dataset = items[0]
            return found
    return None


# ------------------------------------------------------------------------------------------------ windows


def automatic_window(values: Numbers) -> tuple[float, float]:
    """Centre and width from the 1st to the 99th percentile; of the whole range where these coincide."""
    low, high = (float(x) for x in np.percentile(values, (LOW, HIGH)))
    if low == high:
        low, high = float(values.min()), float(values.max())
    return (low + high) / 2 + 0.5, max(1.0, high - low + 1)


def _linear(values: Numbers, centre: float, width: float) -> Numbers:
    return (values - (centre - 0.5)) / max(width - 1, 1e-9) + 0.5


def _linear_exact(values: Numbers, centre: float, width: float) -> Numbers:
    return (values - centre) / width + 0.5


def _sigmoid(values: Numbers, centre: float, width: float) -> Numbers:
    power = np.clip(-4 * (values - centre) / width, -700, 700)
    result: Numbers = 1 / (1 + np.exp(power))
    return result


FUNCTIONS: dict[str, Callable[[Numbers, float, float], Numbers]] = {
    "LINEAR": _linear,
    "LINEAR_EXACT": _linear_exact,
    "SIGMOID": _sigmoid,
}


def windowed(values: Numbers, *, centre: float, width: float, function: str = "LINEAR") -> pictures.Bytes2D:
    """Values to 0-255 (PS3.3 C.11.2.1.2 and C.11.2.1.3), rounded half up."""
    scaled = np.clip(FUNCTIONS[function](values, centre, width), 0.0, 1.0) * 255
    return np.floor(scaled + 0.5).astype(np.uint8)
