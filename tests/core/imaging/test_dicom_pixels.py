"""Pixels: one decoder a syntax, colours of every model, stored values out of their cells, tables, hashes."""

import hashlib
import io
import struct

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.pixels import get_decoder
from pydicom.pixels.processing import _expand_segmented_lut
from pydicom.uid import UID, RLELossless

from core.domain.notices import notice
from core.errors import UserError
from core.imaging import objects, palettes, pixels, syntaxes, windows
from core.imaging.facts import Instance, Rendered
from core.isolate import Limits
from core.runtime.foreign import Render, Start
from desktop import decode
from tests.helpers.dicom_files import FILES, LIMIT, ROOT, image, item, packaged, saved

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)


def drawn(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(pixels.render(data, limit_bytes=LIMIT)[1])))


def first(data: bytes) -> pixels.Plane:
    return next(iter(pixels.planes(data, limit_bytes=LIMIT)))


# ------------------------------------------------------------------------------------------------ decoders


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("CT_small.dcm", "pydicom 3.0.2"),
        ("image_dfl.dcm", "pydicom 3.0.2"),
        ("MR_small_bigendian.dcm", "pydicom 3.0.2"),
        ("SC_rgb_jpeg_dcmtk.dcm", "python-gdcm 3.2.6"),
        ("SC_rgb_jpeg_gdcm.dcm", "python-gdcm 3.2.6"),
        ("MR_small_jpeg_ls_lossless.dcm", "pyjpegls 1.5.1"),
        ("JPEGLSNearLossless_16.dcm", "pyjpegls 1.5.1"),
        ("MR_small_jp2klossless.dcm", "pylibjpeg-openjpeg 2.6.0"),
        ("JPEG2000.dcm", "pylibjpeg-openjpeg 2.6.0"),
        ("MR_small_RLE.dcm", "pylibjpeg-rle 2.2.0"),
    ],
)
def test_every_syntax_has_its_decoder(name: str, package: str) -> None:
    rendered, _ = pixels.render(packaged(name), limit_bytes=LIMIT)
    assert rendered.decoder == package
    assert rendered.frame_sha256 == first(packaged(name)).frame_sha256


@pytest.mark.parametrize(("name", "plugin"), [("SC_rgb_jpeg_dcmtk.dcm", "gdcm"), ("MR_small_RLE.dcm", "pylibjpeg")])
def test_without_its_decoder_there_is_a_card_and_no_second_try(name: str, plugin: str) -> None:
    decoder = get_decoder(pydicom.dcmread(FILES / name).file_meta.TransferSyntaxUID)
    assert len(decoder.available_plugins) > 1  # another one could
    kept = decoder._available.pop(plugin)
    try:
        with pytest.raises((ValueError, RuntimeError), match=plugin):
            pixels.render(packaged(name), limit_bytes=LIMIT)
    finally:
        decoder._available[plugin] = kept
    assert drawn(packaged(name)).any()


def test_the_table_names_what_is_installed() -> None:
    for syntax, plugin in syntaxes.PLUGINS.items():
        if plugin.name and not syntax.endswith((".57", ".51")):  # gdcm has these two, pydicom asks it for 8 bit only
            assert plugin.name in get_decoder(UID(syntax)).available_plugins, syntax
    assert len(syntaxes.PLUGINS) == 4 + 4 + 2 + 5 + 1


def test_complaint_F11_damage_inside_a_jpeg_2000_stream_is_silent_so_the_file_hash_must_tell() -> None:
    """Damaged J2K decodes without an error, 40 of 40 in product.md 7.6.

    Sixteen bytes changed at forty places: the hash of the file tells them all; decoding does not complain.
    """
    whole = packaged("MR_small_jp2klossless.dcm")
    start, seen, silent = len(whole) // 2, {hashlib.sha256(whole).hexdigest()}, 0
    for n in range(40):
        at = start + n * ((len(whole) - start - 64) // 40)
        bad = whole[:at] + bytes(255 - byte for byte in whole[at : at + 16]) + whole[at + 16 :]
        seen.add(hashlib.sha256(bad).hexdigest())
        answer, _ = decode.answer(Render(4096), bad, Start(limits=Limits(), file_bytes=LIMIT, image_bytes=LIMIT))
        silent += isinstance(answer, Rendered)
    assert len(seen) == 41
    assert silent >= 30  # why first import says that the integrity cannot be verified


NATIVE = [
    "CT_small",
    "ExplVR_BigEnd",
    "MR_small",
    "MR_small_bigendian",
    "MR_small_implicit",
    "MR_small_padded",
    "SC_rgb_small_odd",
    "SC_ybr_full_422_uncompressed",
    "examples_palette",
    "image_dfl",
]
COMPRESSED = [
    "693_J2KI",
    "JPEG2000",
    "JPEGLSNearLossless_08",
    "MR_small_RLE",
    "MR_small_jp2klossless",
    "MR_small_jpeg_ls_lossless",
    "SC_rgb_jpeg_dcmtk",
    "SC_rgb_jpeg_gdcm",
    "SC_rgb_rle",
    "examples_jpeg2k",
]


def test_complaint_F11_only_compressed_data_cannot_be_verified_at_first_import() -> None:
    """Damaged J2K (product.md 7.6): the first import says what it cannot know.

    Notice N11 for ten of ten compressed files and for none of ten native ones.
    """
    for names, wanted in ((COMPRESSED, True), (NATIVE, False)):
        for name in names:
            found, _ = objects.read(packaged(f"{name}.dcm"), limit_bytes=LIMIT)
            assert isinstance(found, Instance)
            assert (notice("N11") in found.remarks) == wanted, name


# ------------------------------------------------------------------------------------------------ colours


def chart() -> np.ndarray:
    """All corners of the colour cube and a walk through it, in 4 x 4 tiles, so that no chroma is averaged away."""
    levels = [0, 85, 170, 255]
    tiles = np.array([[r, g, b] for r in levels for g in levels for b in levels], np.uint8).reshape(8, 8, 3)
    return tiles.repeat(8, axis=0).repeat(8, axis=1)


def to_ybr(rgb: np.ndarray) -> np.ndarray:
    """PS3.3 C.7.6.3.1.2, by its printed matrix."""
    matrix = np.array([[0.2990, 0.5870, 0.1140], [-0.1687, -0.3313, 0.5000], [0.5000, -0.4187, -0.0813]])
    ybr = rgb.astype(float) @ matrix.T + [0, 128, 128]
    return np.clip(np.floor(ybr + 0.5), 0, 255).astype(np.uint8)


def half_chroma(rgb: np.ndarray) -> bytes:
    """YBR_FULL_422: Y Y Cb Cr for every two pixels (PS3.5 8.2 and C.7.6.3.1.2)."""
    ybr = to_ybr(rgb).reshape(-1, 2, 3)
    return np.stack([ybr[:, 0, 0], ybr[:, 1, 0], ybr[:, 0, 1], ybr[:, 0, 2]], axis=1).tobytes()


def colours(model: str) -> bytes:
    """The chart as stored under a colour model."""
    rgb = chart()
    if model == "RGB planes":
        planes = rgb.transpose(2, 0, 1).tobytes()
        return saved(image(rgb, PlanarConfiguration=1, PixelData=planes))
    if model == "YBR_FULL":
        return saved(image(rgb, PhotometricInterpretation=model, PixelData=to_ybr(rgb).tobytes()))
    if model == "YBR_FULL_422":
        return saved(image(rgb, PhotometricInterpretation=model, PixelData=half_chroma(rgb)))
    if model in ("YBR_RCT", "YBR_ICT"):
        dataset = image(rgb, PhotometricInterpretation=model)
        lossy = {"j2k_psnr": [80]} if model == "YBR_ICT" else {}
        dataset.PhotometricInterpretation = "RGB"
        dataset.compress(UID(f"{ROOT}.4.{91 if lossy else 90}"), generate_instance_uid=False, **lossy)
        dataset.PhotometricInterpretation = model
        return saved(dataset)
    return saved(image(rgb))


@pytest.mark.parametrize("model", ["RGB", "RGB planes", "YBR_FULL", "YBR_FULL_422", "YBR_RCT", "YBR_ICT"])
def test_colours_are_right_to_one_level(model: str) -> None:
    assert np.abs(drawn(colours(model)).astype(int) - chart()).max() <= 1


@pytest.mark.parametrize("model", ["MONOCHROME1", "MONOCHROME2"])
def test_greys_are_right_to_one_level(model: str) -> None:
    shown = drawn(saved(image(RAMP, PhotometricInterpretation=model, WindowCenter=128, WindowWidth=256)))
    assert np.array_equal(shown, RAMP if model == "MONOCHROME2" else 255 - RAMP)


def palette(**tables: object) -> bytes:
    """An indexed image of 256 entries whose red rises, green falls and blue stays."""
    entries = {"Red": np.arange(256), "Green": 255 - np.arange(256), "Blue": np.full(256, 7)}
    elements: dict[str, object] = {"PhotometricInterpretation": "PALETTE COLOR"}
    for name, table in entries.items():
        elements[f"{name}PaletteColorLookupTableDescriptor"] = [256, 0, 16]
        elements[f"{name}PaletteColorLookupTableData"] = (table.astype("<u2") << 8).tobytes()
    return saved(image(RAMP, **{**elements, **tables}))


def expected_palette() -> np.ndarray:
    return np.stack([RAMP, 255 - RAMP, np.full_like(RAMP, 7)], axis=-1)


def test_a_palette_of_sixteen_bits() -> None:
    assert np.array_equal(drawn(palette()), expected_palette())


def test_a_palette_of_bytes_in_words_and_one_that_is_too_short() -> None:
    low = {f"{n}PaletteColorLookupTableDescriptor": [256, 0, 8] for n in ("Red", "Green", "Blue")}
    plain = {"Red": np.arange(256), "Green": 255 - np.arange(256), "Blue": np.full(256, 7)}
    for width in ("u1", "<u2"):
        data = {f"{n}PaletteColorLookupTableData": t.astype(width).tobytes() for n, t in plain.items()}
        assert np.array_equal(drawn(palette(**low, **data)), expected_palette()), width
    with pytest.raises(UserError, match=r"colour table \(red\)") as refused:
        drawn(palette(RedPaletteColorLookupTableData=b"\0" * 100))
    assert refused.value.code == "D04"


def test_a_segmented_palette() -> None:
    """PS3.3 C.7.9.2: four values as they are, a line of 252 up to 0xFF00, in words; and the same again by reference."""
    line = [0, 4, 0, 256, 512, 768, 1, 252, 0xFF00]
    table = palettes.unpacked(line, 2)
    assert table == _expand_segmented_lut(tuple(line), "<H")
    assert table == [n << 8 for n in range(256)]
    again = palettes.unpacked([0, 2, 5, 6, 1, 3, 9, 2, 1, 8, 0], 2)  # one segment from byte 8 on: the line of 3 up to 9
    assert again == [5, 6, 7, 8, 9, 9, 9, 9]
    packed = struct.pack("<9H", *line)
    dataset = pydicom.dcmread(io.BytesIO(palette()))
    del dataset.RedPaletteColorLookupTableData
    dataset.SegmentedRedPaletteColorLookupTableData = packed
    assert np.array_equal(drawn(saved(dataset)), expected_palette())


@pytest.mark.parametrize("data", [[1, 3, 9], [2, 1, 0, 0], [7, 1, 1], [0, 1, 1, 2, 1, 90, 0, 1]])
def test_a_segmented_palette_that_is_none(data: list[int]) -> None:
    assert len(palettes.unpacked([0, 1, 1, 1, 65535, 3] * 9, 2)) == 65536  # never longer than a table can be
    try:
        assert len(palettes.unpacked(data, 2)) <= 2
    except UserError as error:
        assert error.code == "D04"


# ------------------------------------------------------------------------------------------------ stored values


def test_values_leave_their_cells() -> None:
    """12 bits, the highest in bit 14, with an overlay's bit above and rubbish below (PS3.5 8.1.1)."""
    wanted = np.array([[0, 1], [2047, 4095]])
    cells = ((wanted << 3) | 0x8005).astype(np.uint16)
    dataset = image(cells, BitsStored=12, HighBit=14)
    assert first(saved(dataset)).values.tolist() == wanted.tolist()
    signed = image(((wanted << 3) | 5).astype(np.int16), BitsStored=12, HighBit=14, PixelRepresentation=1)
    assert first(saved(signed)).values.tolist() == [[0, 1], [2047, -1]]
    low = image((wanted | 0x7000).astype(np.uint16), BitsStored=12, HighBit=11)
    assert first(saved(low)).values.tolist() == wanted.tolist()


def test_bits_stored_one_and_eight_signed() -> None:
    mask = np.packbits(np.array([[1, 0, 1, 1, 0, 0, 1, 0]] * 2, np.uint8), axis=None, bitorder="little")
    elements = {"BitsAllocated": 1, "BitsStored": 1, "HighBit": 0, "PixelData": mask.tobytes()}
    plane = first(saved(image(np.zeros((2, 8), np.uint8), **elements)))
    assert plane.values.tolist() == [[1, 0, 1, 1, 0, 0, 1, 0]] * 2
    small = first(saved(image(np.array([[-128, 127]], np.int8))))
    assert (small.values.tolist(), small.values.dtype) == ([[-128, 127]], np.int16)


def test_the_hash_of_a_frame_by_hand() -> None:
    values = np.array([[1, -2], [3, 4]], np.int16)
    head = b"WRPX1\0" + struct.pack("<5I", 2, 2, 1, 16, 1)
    wanted = hashlib.sha256(head + values.astype("<i2").tobytes()).hexdigest()
    assert pixels.frame_sha256(values) == wanted
    assert pixels.frame_sha256(values.astype(">i2")) == wanted
    assert pixels.frame_sha256(values.astype(np.uint16)) != wanted
    digest = bytes.fromhex(wanted)
    assert pixels.volume_sha256([wanted, wanted]) == hashlib.sha256(digest + digest).hexdigest()


def test_equal_pixels_have_equal_hashes_in_any_lossless_syntax() -> None:
    names = ("MR_small", "MR_small_RLE", "MR_small_bigendian", "MR_small_jp2klossless", "MR_small_jpeg_ls_lossless")
    assert len({first(packaged(f"{name}.dcm")).frame_sha256 for name in names}) == 1


def test_every_frame_is_a_plane() -> None:
    values = np.stack([RAMP, RAMP // 2, RAMP // 3])
    dataset = image(values, frames=3)
    native = [plane.values.tolist() for plane in pixels.planes(saved(dataset), limit_bytes=LIMIT)]
    assert native == values.tolist()
    dataset.compress(RLELossless, generate_instance_uid=False)
    packed = saved(dataset)
    assert [plane.values.tolist() for plane in pixels.planes(packed, limit_bytes=LIMIT)] == native
    assert pixels.render(packed, limit_bytes=LIMIT)[0].frame == 1


# ------------------------------------------------------------------------------------------------ windows and tables


@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize(("centre", "width"), [(40.0, 400.0), (-600.0, 1500.0), (0.5, 2.0), (1000.0, 65535.0)])
def test_windows_against_the_standard_at_every_value(function: str, centre: float, width: float) -> None:
    """PS3.3 C.11.2.1.2.1 and C.11.2.1.3, written down here once more, value by value, on all of 16 bits."""
    x = np.arange(-32768, 32768, dtype=np.float64)
    if function == "LINEAR":
        inside = ((x - (centre - 0.5)) / (width - 1) + 0.5) * 255
        low, high = centre - 0.5 - (width - 1) / 2, centre - 0.5 + (width - 1) / 2
        wanted = np.where(x <= low, 0, np.where(x > high, 255, inside))
    elif function == "LINEAR_EXACT":
        inside = ((x - centre) / width + 0.5) * 255
        wanted = np.where(x <= centre - width / 2, 0, np.where(x > centre + width / 2, 255, inside))
    else:
        with np.errstate(over="ignore"):
            wanted = 255 / (1 + np.exp(-4 * (x - centre) / width))
    found = windows.apply(x, centre=centre, width=width, function=function)
    assert np.array_equal(found, np.floor(wanted + 0.5))


def test_a_window_of_one_value_is_a_step_and_one_of_none_is_refused() -> None:
    assert windows.apply(np.array([9.0, 10.0, 11.0]), centre=10, width=1).tolist() == [0, 255, 255]
    assert [windows.is_usable(w, "LINEAR") for w in (0.5, 1)] == [False, True]
    assert [windows.is_usable(w, "SIGMOID") for w in (0, 0.5)] == [False, True]
    assert not windows.is_usable(10, "LOG")
    rendered, _ = pixels.render(saved(image(RAMP, WindowCenter=100, WindowWidth=0)), limit_bytes=LIMIT)
    assert rendered.window == "C 128 W 250.9"  # 1st and 99th percentile of 0..255: 2.55 and 252.45


def test_a_table_of_values_goes_before_the_window() -> None:
    entries = np.array([0, 1000, 2000, 4095], "<u2").tobytes()
    table = item(LUTDescriptor=[4, 100, 12], LUTData=entries, LUTExplanation="Bone")
    values = np.array([[50, 100], [101, 102], [103, 200]], np.uint16)
    rendered, png = pixels.render(
        saved(image(values, VOILUTSequence=[table], WindowCenter=100, WindowWidth=400)), limit_bytes=LIMIT
    )
    assert rendered.window == "Bone"
    # 255 / 4095 a step: 1000 is 62.27, 2000 is 124.54
    assert np.asarray(Image.open(io.BytesIO(png))).tolist() == [[0, 0], [62, 125], [255, 255]]


def test_the_table_is_applied_to_rescaled_values() -> None:
    table = item(LUTDescriptor=[2, 21, 8], LUTData=np.array([0, 255], "<u2").tobytes())
    dataset = image(np.array([[10, 11]], np.uint16), RescaleSlope=2, RescaleIntercept=0, VOILUTSequence=[table])
    shown = drawn(saved(dataset))
    assert shown.tolist() == [[0, 255]]


def test_padding_is_black_and_no_part_of_the_automatic_window() -> None:
    values = np.concatenate([np.full(64, -2000), np.arange(192)]).astype(np.int16).reshape(16, 16)
    rendered, png = pixels.render(saved(image(values, PixelPaddingValue=-2000)), limit_bytes=LIMIT)
    low, high = np.percentile(np.arange(192.0), (1, 99))
    assert rendered.window == f"C {(low + high) / 2 + 0.5:g} W {high - low + 1:g}"
    assert not np.asarray(Image.open(io.BytesIO(png)))[:4].any()
