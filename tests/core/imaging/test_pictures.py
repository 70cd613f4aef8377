"""Pictures: size and date as seen upright, previews that are small, plain and the same every time."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from core.errors import UserError
from core.imaging import pictures

LIMIT = 2 << 30


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, format=kind, **options)
    return stream.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that declares a size and holds next to nothing."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")
    )


def corner(orientation: int, kind: str = "JPEG") -> tuple[tuple[int, int], np.ndarray]:
    """A 40 x 20 picture whose stored top left corner is white, with an orientation tag: size and preview as seen."""
    stored = np.zeros((20, 40), dtype=np.uint8)
    stored[:8, :8] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    found, png = pictures.read(encoded(Image.fromarray(stored), kind, exif=exif, quality=95), limit_bytes=LIMIT)
    return (found.width, found.height), np.asarray(Image.open(io.BytesIO(png)).convert("L"))


@pytest.mark.parametrize(
    ("orientation", "size", "bright"),
    [
        (1, (40, 20), (2, 2)),
        (2, (40, 20), (2, 37)),
        (3, (40, 20), (17, 37)),
        (6, (20, 40), (2, 17)),
        (8, (20, 40), (37, 2)),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_turned_upright(kind: str, orientation: int, size: tuple[int, int], bright: tuple[int, int]) -> None:
    """EXIF 2.3, tag 0x0112: 3 half a turn, 6 a quarter clockwise, 8 a quarter back, 2 mirrored."""
    found, shown = corner(orientation, kind)
    assert found == size
    assert shown.shape == (size[1], size[0])
    assert shown[bright] > 200
    assert shown[size[1] - 1 - bright[0], size[0] - 1 - bright[1]] < 60


def test_the_date_of_the_exposure() -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2026:11:25 10:40:07"
    data = encoded(Image.new("RGB", (8, 8)), "JPEG", exif=exif)
    assert pictures.read(data, limit_bytes=LIMIT)[0].acquired_on == "2026-11-25T10:40"


def test_large_pictures_become_small_previews_of_the_same_shape() -> None:
    found, png = pictures.read(encoded(Image.new("RGB", (3000, 1500), "red"), "JPEG"), limit_bytes=LIMIT)
    assert (found.width, found.height) == (3000, 1500)
    assert Image.open(io.BytesIO(png)).size == (1024, 512)


def test_sixteen_bits_are_stretched_and_transparency_is_laid_on_white() -> None:
    deep = Image.fromarray(np.array([[1000, 2000], [3000, 5000]], dtype=np.uint16))
    _, png = pictures.read(encoded(deep, "PNG"), limit_bytes=LIMIT)
    assert np.asarray(Image.open(io.BytesIO(png))).tolist() == [[0, 64], [128, 255]]  # 255 / 4000 a step, half up
    _, png = pictures.read(encoded(Image.new("RGBA", (1, 1), (255, 0, 0, 0)), "PNG"), limit_bytes=LIMIT)
    assert np.asarray(Image.open(io.BytesIO(png))).tolist() == [[[255, 255, 255]]]


@pytest.mark.parametrize("kind", ["TIFF", "GIF", "WEBP"])
def test_of_several_pages_the_first_is_shown_and_the_others_are_said(kind: str) -> None:
    pages = [Image.new("RGB", (9, 7), colour) for colour in ("red", "green", "blue")]
    found, png = pictures.read(encoded(pages[0], kind, save_all=True, append_images=pages[1:]), limit_bytes=LIMIT)
    said = (
        "Only the first of its 3 pages is shown."
        if kind == "TIFF"
        else "Only the first image of the animation is shown."
    )
    assert (found.width, found.height, found.remarks) == (9, 7, (said,))
    red, green, blue = np.asarray(Image.open(io.BytesIO(png)))[3, 4].tolist()
    assert red > 240
    assert max(green, blue) < 15


@pytest.mark.parametrize("kind", ["TIFF", "BMP", "GIF", "WEBP", "PNG", "JPEG"])
def test_one_page_needs_no_remark(kind: str) -> None:
    found, png = pictures.read(encoded(Image.new("L", (30, 20), 77), kind), limit_bytes=LIMIT)
    assert (found.width, found.height, found.remarks) == (30, 20, ())
    assert abs(int(np.asarray(Image.open(io.BytesIO(png)).convert("L"))[9, 9]) - 77) <= 1


@pytest.mark.parametrize("mode", ["CMYK", "P", "1", "LA", "RGBA"])
def test_colours_of_print_and_of_tables(mode: str) -> None:
    white = Image.new("RGB", (4, 4), "white").convert(mode)
    _, png = pictures.read(encoded(white, "TIFF"), limit_bytes=LIMIT)
    assert np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).min() == 255
    colour = Image.new("CMYK", (4, 4), (0, 255, 255, 0))  # no cyan, all of magenta and yellow: red
    _, png = pictures.read(encoded(colour, "TIFF"), limit_bytes=LIMIT)
    assert np.asarray(Image.open(io.BytesIO(png)))[0, 0].tolist() == [255, 0, 0]


def test_a_sixteen_bit_tiff_is_stretched_by_its_own_range() -> None:
    deep = Image.fromarray(np.array([[1000, 2000], [3000, 5000]], dtype=np.uint16))
    _, png = pictures.read(encoded(deep, "TIFF"), limit_bytes=LIMIT)
    assert np.asarray(Image.open(io.BytesIO(png))).tolist() == [[0, 64], [128, 255]]
    assert pictures.declared_bytes(encoded(deep, "TIFF")) == 8


def test_a_preview_carries_pixels_only() -> None:
    exif = Image.Exif()
    exif[0x010E] = "Example Patient"
    data = encoded(Image.new("RGB", (8, 8)), "JPEG", exif=exif, comment=b"Example Patient")
    _, png = pictures.read(data, limit_bytes=LIMIT)
    assert b"Example" in data
    assert b"Example" not in png
    assert png == pictures.read(data, limit_bytes=LIMIT)[1]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (png_header(50_000, 50_000), "D05"),
        (png_header(100, 100), "D03"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "D09"),
        (encoded(Image.new("L", (300, 300)), "JPEG")[:400], "D03"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 40, "D09"),
        (encoded(Image.new("L", (300, 300)), "TIFF")[:5000], "D03"),
        (encoded(Image.effect_noise((300, 300), 90), "GIF")[:5000], "D03"),
        (encoded(Image.new("L", (300, 300)), "BMP")[:5000], "D03"),
        (encoded(Image.effect_noise((300, 300), 90), "WEBP")[:900], "D09"),
        (encoded(Image.new("LAB", (4, 4)), "TIFF"), "D18"),
        (b"GIF89a" + struct.pack("<2H", 65535, 65535) + b"\x80\0\0" + b"\0" * 6 + b",\0\0\0\0\1\0\1\0\0\2", "D05"),
    ],
    ids=[
        "bomb",
        "hollow",
        "no chunks",
        "cut",
        "no frame",
        "cut tiff",
        "cut gif",
        "cut bmp",
        "cut webp",
        "lab",
        "gif bomb",
    ],
)
def test_what_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(UserError) as refused:
        pictures.read(data, limit_bytes=LIMIT)
    assert refused.value.code == code
