"""What a vision model is shown of a stored picture: window, crop and size as asked for, as an 8-bit PNG.

Takes the PNG that the import stored, made by this program; never a foreign file, which only the decode child opens.
"""

from __future__ import annotations

import io

import numpy as np

from core.domain.chat import ImagePart
from core.errors import ModelError
from core.imaging.pictures import Bytes2D, encode_png


def render_view(png: bytes, part: ImagePart) -> bytes:
    """The picture cut to `crop`, its grey values through `window` (centre and width), longer side <= `side`.

    Window as the linear function of DICOM PS3.3 C.11.2.1.2 for 8-bit values.

    Raises:
        ModelError: not an 8-bit PNG, or nothing is left of it.
    """
    from PIL import Image as pillow

    if not png.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ModelError("Only pictures that were decoded at import can be shown to the model.", code="picture")
    with pillow.open(io.BytesIO(png), formats=("PNG",)) as image:
        if image.mode not in ("L", "RGB"):
            raise ModelError("Only 8-bit grey or colour pictures can be shown to the model.", code="picture")
        cut = image.crop(part.crop) if part.crop else image
        if min(cut.size) < 1 or part.side < 1:
            raise ModelError("Nothing is left of the picture that the model was to see.", code="picture")
        values = np.asarray(cut)
    seen = pillow.fromarray(_through(values, *part.window) if part.window else values)
    seen.thumbnail((part.side, part.side))
    return encode_png(np.asarray(seen))


def _through(values: Bytes2D, centre: float, width: float) -> Bytes2D:
    """Grey values below the window become 0, above it 255, linear between; a width under 1 counts as 1."""
    wide = max(width, 1.0)
    share = (values.astype(np.float64) - (centre - 0.5)) / max(wide - 1.0, 1e-9) + 0.5
    return np.floor(np.clip(share, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
