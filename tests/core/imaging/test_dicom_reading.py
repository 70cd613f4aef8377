"""Real DICOM files (pydicom's own, inside the package): facts, refusals with their codes, and what is drawn of them."""

import io

import numpy as np
import pydicom
import pytest
from PIL import Image

from core.errors import UserError
from core.imaging import objects, pixels, windows
from core.imaging.facts import Instance
from tests.helpers.dicom_files import FILES, LIMIT, changed, packaged, with_long_syntax


def facts(data: bytes) -> Instance:
    found, _ = objects.read(data, limit_bytes=LIMIT)
    assert isinstance(found, Instance)
    return found


def header(name: str) -> Instance:
    return facts(packaged(name))


def drawn(name: str) -> np.ndarray:
    _, png = pixels.render(packaged(name), limit_bytes=LIMIT)
    return np.asarray(Image.open(io.BytesIO(png)))


def test_facts_of_a_ct_slice() -> None:
    found = header("CT_small.dcm")  # the values are those of pydicom's dump of the file
    assert (found.modality, found.rows, found.columns, found.frames, found.number) == ("CT", 128, 128, 1, 1)
    assert found.patient.name == "CompressedSamples, CT1"
    assert found.patient.patient_id == "1CT1"
    assert found.position == (-158.135803, -179.035797, -75.699997)
    assert found.orientation == (1, 0, 0, 0, 1, 0)
    assert found.acquired_on == "1997-04-30T11:29"
    assert found.remarks == ()


def test_compression_and_loss_are_remarked() -> None:
    assert header("MR_small_RLE.dcm").remarks == ("Pixel integrity: not verifiable (first import of compressed data)",)
    assert header("examples_ybr_color.dcm").lossy == "19 : 1"
    assert header("JPEGLSNearLossless_16.dcm").lossy == "ratio unknown"  # only its syntax says that it lost something
    assert header("CT_small.dcm").lossy == ""
    assert header("examples_ybr_color.dcm").frames == 30


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("MR_truncated.dcm", "D03", "8,130 of 8,192 bytes"),
        ("nested_priv_SQ.dcm", "D04", "incomplete or contradictory: BitsAllocated"),
        ("JPEG-lossy.dcm", "D07", "12-bit JPEG needs the codecs extra"),
        ("JPGExtended.dcm", "D07", "12-bit JPEG needs the codecs extra"),
        ("badVR.dcm", "D15", "(0028,0008)"),
        ("meta_missing_tsyntax.dcm", "D19", "does not name its transfer syntax"),
        ("no_meta.dcm", "D01", "not a DICOM file"),
        ("rtplan.dcm", "listed", "RT Plan Storage: listed, not shown in this release; it refers to 2 other objects"),
        ("dicomdirtests/TINY_ALPHA/PT000000/ST000000/SE000000/IM000000", "listed", "CT Image Storage without pixels"),
    ],
)
def test_packaged_files_that_are_refused(name: str, code: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        header(name)
    assert refused.value.code == code
    assert words in refused.value.text


@pytest.mark.parametrize(
    ("elements", "code", "words"),
    [
        ({"Rows": 65535, "Columns": 65535, "NumberOfFrames": 4}, "D05", "65535 x 65535 x 4 (32.0 GiB)"),
        ({"Rows": None}, "D04", "Rows"),
        ({"Columns": 0}, "D04", "Columns"),
        ({"BitsStored": 17}, "D04", "BitsStored"),
        ({"SamplesPerPixel": 3}, "D04", "SamplesPerPixel"),
        ({"PhotometricInterpretation": "ARGB"}, "D18", "ARGB"),
        ({"PhotometricInterpretation": None}, "D04", "PhotometricInterpretation"),
        ({"PixelData": b"\x00" * 100}, "D03", "100 of 32,768 bytes"),
        ({"PixelData": None}, "D03", "holds no pixel data"),
    ],
)
def test_contradictions_are_found_before_a_decoder_runs(elements: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        facts(changed("CT_small.dcm", **elements))
    assert refused.value.code == code
    assert words in refused.value.text


def test_video_and_jpeg_xl_are_named() -> None:
    video = changed("MR_small_RLE.dcm", TransferSyntaxUID="1.2.840.10008.1.2.4.102")
    jpeg_xl = with_long_syntax("1.2.840.10008.1.2.4.110")
    for data, code, words in ((video, "D08", "Video is not supported"), (jpeg_xl, "D06", "JPEG XL")):
        with pytest.raises(UserError) as refused:
            facts(data)
        assert refused.value.code == code
        assert words in refused.value.text


def test_one_image_in_seven_encodings_is_drawn_alike() -> None:
    first = drawn("MR_small.dcm")
    assert first.shape == (64, 64)
    for name in ("RLE", "bigendian", "expb", "implicit", "jp2klossless", "jpeg_ls_lossless", "padded"):
        assert np.array_equal(drawn(f"MR_small_{name}.dcm"), first), name


def test_a_slice_is_windowed_as_the_standard_says() -> None:
    dataset = pydicom.dcmread(FILES / "MR_small.dcm")  # C 600 W 1600, no rescaling
    stored = dataset.pixel_array.astype(float)
    expected = np.clip(((stored - 599.5) / 1599 + 0.5) * 255, 0, 255)
    assert np.abs(drawn("MR_small.dcm") - expected).max() <= 0.5 + 1e-9


def test_the_automatic_window_spares_the_padding() -> None:
    rendered, _ = pixels.render(packaged("CT_small.dcm"), limit_bytes=LIMIT)
    dataset = pydicom.dcmread(FILES / "CT_small.dcm")
    values = dataset.pixel_array[dataset.pixel_array != -2000] * 1.0 - 1024
    low, high = np.percentile(values, (1, 99))
    assert rendered.window == f"C {(low + high) / 2 + 0.5:g} W {high - low + 1:g}"


def test_monochrome1_is_the_inverse() -> None:
    _, png = pixels.render(changed("MR_small.dcm", PhotometricInterpretation="MONOCHROME1"), limit_bytes=LIMIT)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), 255 - drawn("MR_small.dcm"))


@pytest.mark.parametrize("name", ["SC_rgb_rle.dcm", "SC_rgb_jpeg_dcmtk.dcm", "SC_ybr_full_422_uncompressed.dcm"])
def test_colours_come_out_right(name: str) -> None:
    """The bars of the packaged test chart: red, pale red, green, pale green, blue, pale blue, black, greys, white."""
    picture = drawn(name).astype(int)
    expected = {5: (255, 0, 0), 25: (0, 255, 0), 45: (0, 0, 255), 65: (0, 0, 0), 95: (255, 255, 255)}
    for row, colour in expected.items():
        assert np.abs(picture[row, 50] - colour).max() <= 6, row


def test_a_palette_becomes_colours() -> None:
    picture = drawn("examples_palette.dcm")
    expected = pydicom.pixels.apply_color_lut(
        pydicom.dcmread(FILES / "examples_palette.dcm").pixel_array, pydicom.dcmread(FILES / "examples_palette.dcm")
    )
    assert picture.shape == (350, 800, 3)
    assert np.array_equal(picture, (expected >> 8).astype(np.uint8))


def test_the_middle_frame_is_drawn() -> None:
    rendered, _ = pixels.render(packaged("examples_ybr_color.dcm"), limit_bytes=LIMIT)
    assert rendered.frame == 15


def test_a_large_image_becomes_a_preview() -> None:
    wide = np.zeros((1, 3000), dtype=np.uint16)
    data = changed("CT_small.dcm", Rows=1, Columns=3000, PixelData=wide.tobytes())
    _, png = pixels.render(data, limit_bytes=LIMIT)
    assert Image.open(io.BytesIO(png)).size == (1024, 1)


@pytest.mark.parametrize(
    ("function", "value", "shown"),
    [
        # PS3.3 C.11.2.1.2.1: C 40 W 400: x <= -160 -> 0, x > 239 -> 255; C.11.2.1.3 for the others
        ("LINEAR", -160.0, 0),
        ("LINEAR", 239.5, 255),
        ("LINEAR", 39.5, 128),  # half of 255, rounded half up
        ("LINEAR_EXACT", 40.0, 128),
        ("LINEAR_EXACT", 240.0, 255),
        ("SIGMOID", 40.0, 128),
        ("SIGMOID", 140.0, 186),  # 255 / (1 + exp(-1)) = 186.42
    ],
)
def test_windows_by_hand(function: str, value: float, shown: int) -> None:
    assert windows.apply(np.array([[value]]), centre=40, width=400, function=function)[0, 0] == shown
