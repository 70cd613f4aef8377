"""What a vision model is shown: window, crop and size by hand, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from core.domain.chat import ImagePart
from core.errors import ModelError
from core.imaging.pictures import encode_png
from core.imaging.view import render_view

ROW = np.array([[0, 99, 100, 125, 150, 255]], dtype=np.uint8)


def seen(values: np.ndarray, **rendered: object) -> np.ndarray:
    png = render_view(encode_png(values), ImagePart("0" * 64, **rendered))  # type: ignore[arg-type]
    return np.asarray(Image.open(io.BytesIO(png)))


def test_window_by_hand() -> None:
    """Centre 125, width 51 (DICOM PS3.3 C.11.2.1.2): (x - 124.5) / 50 + 0.5, so 99.5 is black and 149.5 is white."""
    assert seen(ROW, window=(125.0, 51.0)).tolist() == [[0, 0, 3, 130, 255, 255]]
    assert seen(ROW).tolist() == ROW.tolist()


def test_width_of_one_is_a_step() -> None:
    assert seen(ROW, window=(100.0, 1.0)).tolist() == [[0, 0, 255, 255, 255, 255]]


def test_crop_and_size() -> None:
    values = np.arange(200, dtype=np.uint8).reshape(10, 20)
    assert seen(values, crop=(2, 3, 5, 5)).tolist() == values[3:5, 2:5].tolist()
    assert seen(values, side=10).shape == (5, 10)
    assert seen(values, side=400).shape == (10, 20)
    assert seen(np.zeros((4, 6, 3), dtype=np.uint8)).shape == (4, 6, 3)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff\xe0 a JPEG", b"\0" * 132 + b"DICM"])
def test_what_was_not_decoded_at_import_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError, match="decoded at import"):
        render_view(data, ImagePart("0" * 64))


def test_other_pixels_and_an_empty_crop_are_refused() -> None:
    stream = io.BytesIO()
    Image.new("I;16", (3, 3)).save(stream, format="PNG")
    with pytest.raises(ModelError, match="8-bit"):
        render_view(stream.getvalue(), ImagePart("0" * 64))
    with pytest.raises(ModelError, match="Nothing is left"):
        render_view(encode_png(ROW), ImagePart("0" * 64, crop=(3, 0, 3, 1)))
