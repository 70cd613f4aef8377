"""Pictures (PNG, JPEG, TIFF, GIF, BMP, WebP): checked, turned upright by their tag; 8-bit PNG previews of anything.

Pillow is imported inside functions: a phantom's arrays need no picture library.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.errors import UserError
from core.imaging.facts import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

EDGE = 1024  # pixels of a preview's longer side
FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")
MODES = ("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV")
ORIENTATION, TAKEN = 0x0112, 0x9003
EXIF_FOLDER = 0x8769
DATE = re.compile(r"(\d{4}):(\d{2}):(\d{2}) (\d{2}):(\d{2})")
Bytes2D = npt.NDArray[np.uint8]


def read(data: bytes, *, limit_bytes: int) -> tuple[Picture, bytes]:
    """A picture's facts and its preview (8-bit PNG, longer side <= 1024 px).

    Raises:
        UserError: damaged ("D09"), cut short ("D03"), too large when decoded ("D05"), of a colour model that is not
            read ("D18").
    """
    from PIL import UnidentifiedImageError

    try:
        with _opened(data) as image:
            _check_size(image, limit_bytes)
            _check_mode(image)
            return _upright(image)
    except UnidentifiedImageError as error:
        raise UserError("The picture is damaged: its header cannot be read.", code="D09") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise _damaged(error) from error


@contextmanager
def _opened(data: bytes) -> Iterator[Image]:
    """A picture with its header read and no pixel decoded; Pillow's own limit of pixels gives way to ours."""
    from PIL import Image as pillow

    pillow.MAX_IMAGE_PIXELS = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pillow.open(io.BytesIO(data), formats=FORMATS) as image:
            yield image


def load_codecs() -> None:
    """Import the decoders now: in the decode child nothing is loaded after the limits are on."""
    from PIL import BmpImagePlugin, GifImagePlugin, ImageOps, JpegImagePlugin, PngImagePlugin, TiffImagePlugin
    from PIL import WebPImagePlugin as WebP

    _ = BmpImagePlugin, GifImagePlugin, ImageOps, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebP


def declared_bytes(data: bytes) -> int:
    """Size of the decoded picture by its header; 0 where that cannot be read."""
    try:
        with _opened(data) as image:
            return _declared(image)
    except (OSError, SyntaxError, ValueError):
        return 0


def _declared(image: Image) -> int:
    samples = 4 if image.mode in ("I", "F") else 2 if image.mode.startswith("I;16") else len(image.getbands())
    return image.width * image.height * samples


def _check_size(image: Image, limit_bytes: int) -> None:
    declared = _declared(image)
    if declared > limit_bytes:
        size = f"{image.width} x {image.height} ({declared / 2**30:.1f} GiB)"
        raise UserError(f"The image is too large: {size}, the limit is {limit_bytes / 2**30:.1f} GiB.", code="D05")


def _check_mode(image: Image) -> None:
    """CIE L*a*b* and the like are no colours before a profile is applied."""
    if image.mode not in MODES and not image.mode.startswith(("I", "F")):
        raise UserError(f"Colour model not supported: {image.mode}.", code="D18")


def _upright(image: Image) -> tuple[Picture, bytes]:
    from PIL import ImageOps

    exif = image.getexif()
    taken = DATE.match(str(exif.get_ifd(EXIF_FOLDER).get(TAKEN, "")))
    when = "{}-{}-{}T{}:{}".format(*taken.groups()) if taken else ""
    said = tuple(_remarks(image))
    # Pillow turns a TIFF itself when it is loaded; its size is the turned one from the beginning.
    turn = exif.get(ORIENTATION, 1) if image.format != "TIFF" else 1
    width, height = image.size if turn < 5 else image.size[::-1]
    image.draft("RGB" if image.mode == "YCbCr" else image.mode, (EDGE, EDGE))
    image.load()
    small = _eight_bit(image)
    small.thumbnail((EDGE, EDGE))
    small = ImageOps.exif_transpose(small) if turn != 1 else small
    return Picture(width=width, height=height, acquired_on=when, remarks=said), _png(small)


def _remarks(image: Image) -> Iterator[str]:
    """What of the file is not shown. The pages of an animation are not counted: that would decode all of them."""
    if image.format == "TIFF" and getattr(image, "n_frames", 1) > 1:
        yield f"Only the first of its {getattr(image, 'n_frames', 1)} pages is shown."
    elif getattr(image, "is_animated", False):
        yield "Only the first image of the animation is shown."
    image.seek(0)


def _eight_bit(image: Image) -> Image:
    """Grey stays grey (16-bit by its own range), all else becomes RGB, transparency over white."""
    from PIL import Image as pillow

    if image.mode in ("1", "L"):
        return image.convert("L")
    if image.mode.startswith(("I", "F")):
        return pillow.fromarray(stretched(np.asarray(image)))
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        ground = pillow.new("RGBA", layer.size, "white")
        return pillow.alpha_composite(ground, layer).convert("RGB")
    return image.convert("RGB")


def stretched(values: npt.NDArray[np.generic]) -> Bytes2D:
    """Any numbers to 0-255, linearly from the least to the greatest; all 0 where they are equal."""
    numbers = np.asarray(values, dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    return np.floor((numbers - low) * (255 / ((high - low) or 1.0)) + 0.5).astype(np.uint8)


def preview(values: Bytes2D) -> bytes:
    """An 8-bit array (rows x columns, or rows x columns x 3) as PNG, longer side <= 1024 px."""
    from PIL import Image as pillow

    image = pillow.fromarray(values)
    image.thumbnail((EDGE, EDGE))
    return _png(image)


def encode_png(values: Bytes2D) -> bytes:
    """An 8-bit array (rows x columns, or rows x columns x 3) as PNG of the same size."""
    from PIL import Image as pillow

    return _png(pillow.fromarray(values))


def _png(image: Image) -> bytes:
    """Pixels only: no profile, no text, no date, so that equal pixels give equal bytes."""
    image.info.clear()
    stream = io.BytesIO()
    image.save(stream, format="PNG")
    return stream.getvalue()


def _damaged(error: Exception) -> UserError:
    if "truncated" in str(error).lower():
        return UserError("The picture is cut short.", code="D03")
    return UserError("The picture is damaged and could not be decoded.", code="D09")
