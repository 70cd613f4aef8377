"""What must hold of a DICOM image before a decoder may run: description, size, length, syntax, colour model.

In the order of imaging.md 4.1; codes D03-D08, D13, D15, D18. Never decodes pixels.
"""

from __future__ import annotations

from collections.abc import Callable

from pydicom.dataset import Dataset
from pydicom.tag import Tag
from pydicom.uid import UID

from core.errors import UserError
from core.imaging import codestream, elements, encapsulation, syntaxes

GREY = ("MONOCHROME1", "MONOCHROME2")
COLOUR = ("RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT")
PALETTE = "PALETTE COLOR"
NUMBERS = ("NumberOfFrames",)


class Card(UserError):
    """An image of a series that cannot be decoded: the series has one image less, and says so (S14)."""

    def __init__(self, error: UserError, *, series_uid: str) -> None:
        super().__init__(error.text, code=error.code)
        self.series_uid = series_uid


def check(dataset: Dataset, *, limit_bytes: int) -> None:
    """Everything that must hold before a decoder may run.

    Raises:
        Card: D03-D08, D13, D18.
    """
    try:
        _check(dataset, limit_bytes)
    except UserError as error:
        raise Card(error, series_uid=elements.word(dataset, "SeriesInstanceUID")) from error


def _check(dataset: Dataset, limit_bytes: int) -> None:
    if "PixelData" not in dataset:
        raise UserError("The DICOM file is cut short: it describes an image, but holds no pixel data.", code="D03")
    _check_description(dataset)
    declared = declared_bytes(dataset)
    if declared > limit_bytes:
        raise _too_large(dataset, declared, limit_bytes)
    syntax = str(dataset.file_meta.TransferSyntaxUID)
    if syntax in syntaxes.NATIVE:
        _check_length(dataset, declared)
        _check_colour(dataset)
        return
    first = encapsulation.check(dataset, frames(dataset))
    _check_syntax(syntax)
    _check_colour(dataset)
    if syntax not in syntaxes.RLE and (found := codestream.shape(first)) is not None:
        check_frame(dataset, syntax, found)


def check_numbers(dataset: Dataset) -> None:
    """Elements that are written as text and must be whole numbers.

    Raises:
        UserError: D15 with the tag.
    """
    for name in NUMBERS:
        if elements.word(dataset, name) and elements.whole(dataset, name) is None:
            raise UserError(f"The DICOM header is damaged at {Tag(name)} {name}.", code="D15")


def _check_description(dataset: Dataset) -> None:
    """Bits, rows, columns, samples: present and possible (PS3.3 C.7.6.3)."""
    wanted: dict[str, Callable[[int], bool]] = {
        "BitsAllocated": lambda n: n in (1, 8, 16, 32),
        "Rows": lambda n: 1 <= n <= 65535,
        "Columns": lambda n: 1 <= n <= 65535,
        "SamplesPerPixel": lambda n: n in (1, 3),
        "BitsStored": lambda n: 1 <= n <= found["BitsAllocated"],
        "PixelRepresentation": lambda n: n in (0, 1),
    }
    found: dict[str, int] = {}
    for name, holds in wanted.items():
        value = elements.whole(dataset, name)
        if value is None or not holds(value):
            raise encapsulation.contradictory(name)
        found[name] = value
    high = elements.whole(dataset, "HighBit") if "HighBit" in dataset else found["BitsStored"] - 1
    if high is None or not found["BitsStored"] - 1 <= high < found["BitsAllocated"]:
        raise encapsulation.contradictory("HighBit")
    colour = elements.word(dataset, "PhotometricInterpretation")
    if colour in (*GREY, *COLOUR, PALETTE) and (found["SamplesPerPixel"] == 3) != (colour in COLOUR):
        raise encapsulation.contradictory("SamplesPerPixel")


def _check_colour(dataset: Dataset) -> None:
    colour = elements.word(dataset, "PhotometricInterpretation")
    if not colour:
        raise encapsulation.contradictory("PhotometricInterpretation")
    if colour not in (*GREY, *COLOUR, PALETTE):
        raise UserError(f"Colour model not supported: {colour}.", code="D18")


def frames(dataset: Dataset) -> int:
    """Number of frames, at least 1."""
    return max(1, elements.whole(dataset, "NumberOfFrames") or 1)


def declared_bytes(dataset: Dataset) -> int:
    """Size of the decoded pixels by the header."""
    size = frames(dataset)
    for name in ("Rows", "Columns", "SamplesPerPixel", "BitsAllocated"):
        size *= elements.whole(dataset, name) or 0
    return -(-size // 8)


def _too_large(dataset: Dataset, declared: int, limit: int) -> UserError:
    size = f"{dataset.Columns} x {dataset.Rows} x {frames(dataset)} ({declared / 2**30:.1f} GiB)"
    return UserError(f"The image is too large: {size}, the limit is {limit / 2**30:.1f} GiB.", code="D05")


def _check_length(dataset: Dataset, declared: int) -> None:
    """Native data: the length is the only proof that they are whole; two samples of chroma for four pixels in 4:2:2.

    More than is said, but for a byte or zeros at the end: rows and columns are wrong, the lines would slant.
    """
    raw = dataset.get_item("PixelData").value or b""
    if elements.word(dataset, "PhotometricInterpretation") == "YBR_FULL_422":
        declared = declared * 2 // 3
    if len(raw) < declared:
        text = f"The DICOM file is cut short: {len(raw):,} of {declared:,} bytes of pixels are there."
        raise UserError(text, code="D03")
    if len(raw) > declared + 1 and raw[declared:].strip(b"\0"):
        text = f"The decoded size differs from the description: {len(raw):,} bytes, {declared:,} are said."
        raise UserError(text, code="D13")


def _check_syntax(syntax: str) -> None:
    name = UID(syntax).name
    if syntax in syntaxes.VIDEO:
        raise UserError(f"Video is not supported ({name}).", code="D08")
    if syntax not in syntaxes.PLUGINS:
        text = "JPEG XL" if syntax in syntaxes.JPEG_XL else name
        raise UserError(f"Compression not supported: {text}.", code="D06")


def check_frame(dataset: Dataset, syntax: str, found: codestream.Shape) -> None:
    """A compressed frame's own header against the description: a decoder makes what the frame says.

    Raises:
        UserError: D07 12-bit JPEG, D13 another size.
    """
    if syntax in syntaxes.JPEG_8_OR_12 and found.bits != 8:
        raise UserError("12-bit JPEG needs the codecs extra.", code="D07")
    size, described = (found.columns, found.rows), (int(dataset.Columns), int(dataset.Rows))
    if size != described or found.samples != dataset.SamplesPerPixel:
        text = f"{size[0]} x {size[1]} x {found.samples}, {described[0]} x {described[1]} x {dataset.SamplesPerPixel}"
        raise UserError(f"The decoded size differs from the description: {text} are said.", code="D13")
