"""What users of peer programs complained of about DICOM (product.md 7.6), the half that an import answers for.

In process and on small files; how a decode child and a whole import answer is in `tests/hostile`.
"""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from collections import Counter

import numpy as np
import pydicom
import pytest
from msgspec.structs import replace
from pydicom.sequence import Sequence

from core.imaging import geometry, objects, pixels, syntaxes
from core.imaging.facts import Instance, Paper, Rendered
from core.imaging.series import Member, grouped
from core.isolate import Limits
from core.runtime.foreign import FileAnswer, Read, Refused, Render, Start
from desktop import decode
from tests.helpers.dicom_files import LIMIT, REPORT, ROOT, changed, code, image, item, packaged, saved, slice_of, thing

START = Start(limits=Limits(), file_bytes=LIMIT, image_bytes=LIMIT)
BARS = np.array([
    (255, 0, 0), (255, 128, 128), (0, 255, 0), (128, 255, 128), (0, 0, 255), (128, 128, 255), (0, 0, 0), (64, 64, 64),
    (192, 192, 192), (255, 255, 255),
])  # fmt: skip
CHART = np.broadcast_to(np.repeat(BARS, 10, axis=0)[:, None], (100, 100, 3))  # the colour bars of the SC_rgb files


def taken(data: bytes) -> Instance:
    found, _ = objects.read(data, limit_bytes=LIMIT)
    assert isinstance(found, Instance)
    return found


def first(data: bytes) -> pixels.Plane:
    return next(iter(pixels.planes(data, limit_bytes=LIMIT)))


# ------------------------------------------------------------------------------------------------ F2: every syntax


def slice_by_hand() -> np.ndarray:
    """MR_small: the bytes behind the element's own length."""
    data = packaged("MR_small.dcm")
    at = data.index(b"\xe0\x7f\x10\x00OW\0\0") + 8
    return np.frombuffer(data, "<i2", int.from_bytes(data[at : at + 4], "little") // 2, at + 4).reshape(64, 64)


def inflated_by_hand() -> np.ndarray:
    """image_dfl: the end of what zlib unpacks behind the file meta information."""
    data = packaged("image_dfl.dcm")
    body = zlib.decompress(data[144 + int.from_bytes(data[140:144], "little") :], -zlib.MAX_WBITS)
    return np.frombuffer(body[-512 * 512 :], np.uint8).reshape(512, 512)


# Syntax, file, its frame's hash as first seen (16 digits), how far a level may be from the picture that it was made of.
SYNTAXES = [
    ("", "MR_small_implicit", "2552e44f170ce9ce", 0),
    (".1", "MR_small", "2552e44f170ce9ce", 0),
    (".2", "MR_small_bigendian", "2552e44f170ce9ce", 0),
    (".1.99", "image_dfl", "13db5d5a3b157f12", 0),
    (".4.50", "SC_rgb_jpeg_dcmtk", "722f811e85e0d50e", 6),
    (".4.70", "SC_rgb_jpeg_gdcm", "be8e0190530e240f", 0),
    (".4.80", "MR_small_jpeg_ls_lossless", "2552e44f170ce9ce", 0),
    (".4.81", "SC_rgb_jls_lossy_line", "575cc724b2c3ec12", 2),
    (".4.90", "MR_small_jp2klossless", "2552e44f170ce9ce", 0),
    (".4.91", "SC_rgb_gdcm_KY", "be8e0190530e240f", 0),
    (".5", "MR_small_RLE", "2552e44f170ce9ce", 0),
]
PICTURES = {"MR": slice_by_hand, "SC": lambda: CHART, "im": inflated_by_hand}


@pytest.mark.parametrize(("syntax", "name", "checksum", "most"), SYNTAXES, ids=[row[1] for row in SYNTAXES])
def test_complaint_F2_the_pixels_of_every_syntax(syntax: str, name: str, checksum: str, most: int) -> None:
    """nroduit/Weasis#111: JPEG-LS black; #755: Deflated wrong. Beside the hash the picture known from elsewhere."""
    data = packaged(f"{name}.dcm")
    assert str(pydicom.dcmread(io.BytesIO(data)).file_meta.TransferSyntaxUID) == ROOT + syntax
    plane, wanted = first(data), PICTURES[name[:2]]()
    assert int(np.abs(plane.values.astype(int) - wanted).max()) <= most
    assert plane.frame_sha256[:16] == checksum
    rendered, _ = pixels.render(data, limit_bytes=LIMIT)
    assert rendered.frame_sha256 == plane.frame_sha256


def test_every_syntax_that_is_read_and_has_a_sample_has_its_checksum() -> None:
    without_sample = {f"{ROOT}.4.{n}" for n in (51, 57, 201, 202, 203)}  # imaging.md 4.3
    assert {ROOT + syntax for syntax, *_ in SYNTAXES} == set(syntaxes.PLUGINS) - without_sample


@pytest.mark.parametrize("wrong", [{"Rows": 32}, {"Columns": 63}, {"Rows": 1000}], ids=["fewer", "slanted", "more"])
def test_complaint_F2_rows_and_columns_that_disagree_are_a_card(wrong: dict[str, object]) -> None:
    """nroduit/Weasis#226: Rows and Columns say other than the pixels, and a wrong picture was shown."""
    for _, name, *_ in SYNTAXES:
        answer, _ = decode.answer(Render(4096), changed(f"{name}.dcm", **wrong), START)
        assert isinstance(answer, Refused), name
        assert answer.code in ("D03", "D09", "D13"), name


def test_complaint_F2_every_series_of_a_folder_is_counted() -> None:
    """nroduit/Weasis#443: 168 of 261 series shown; #712: the explorer stayed empty."""
    known = saved(slice_of(1, 0.0, SeriesInstanceUID="1.2.3.1000", SOPInstanceUID="1.2.3.1000.1"))
    assert known.count(b"1.2.3.1000") == 3  # series, instance, and that again in the file's own head
    folder = {f"{n}.dcm": known.replace(b"1.2.3.1000", b"1.2.3.%04d" % n) for n in range(1, 262)}
    groups = grouped([Member(name, name, taken(data)) for name, data in folder.items()])
    assert Counter(len(group.members) for group in groups) == {1: 261}
    assert {group.series_uid for group in groups} == {f"1.2.3.{n:04}" for n in range(1, 262)}
    assert sorted(member.name for group in groups for member in group.members) == sorted(folder)


# ------------------------------------------------------------------------------------------------ F3: values


def test_complaint_F3_stored_values_scale_and_spacing_are_those_of_the_file() -> None:
    """nroduit/Weasis#858, #855, #870: wrong HU, wrong mean. By hand: (-1000 + 40 + 41 + 3071) / 4 = 538; x 0.5 - 12."""
    cells = np.array([[-1000, 40], [41, 3071]], np.int16)
    data = saved(image(
        cells, sop_class="1.2.840.10008.5.1.4.1.1.2", Modality="CT", RescaleSlope="0.5", RescaleIntercept="-12",
        PixelSpacing=["0.7", "0.4"],
    ))  # fmt: skip
    found, values = taken(data), first(data).values
    assert (values.tolist(), values.dtype) == ([[-1000, 40], [41, 3071]], np.int16)
    assert (found.slope, found.intercept, found.spacing) == (0.5, -12.0, (0.7, 0.4))
    assert found.slope is not None and found.intercept is not None
    assert values.mean() * found.slope + found.intercept == 538 * 0.5 - 12 == 257.0
    # 12 bits, signed, in the upper bits of the cell: 0x800 is -2048, 0xfff is -1 (PS3.5 8.1.1)
    upper = image((np.array([[0x800, 0xFFF, 0x7FF]], np.uint16) << 4).view(np.int16), BitsStored=12, HighBit=15)
    assert first(saved(upper)).values.tolist() == [[-2048, -1, 2047]]


# ------------------------------------------------------------------------------------------------ F5: broken framing


def read(data: bytes) -> tuple[FileAnswer, str]:
    """What a decode child answers on a file, and the hash of the frame that it shows ("" without)."""
    answer, _ = decode.answer(Read("x.dcm"), data, START)
    if not isinstance(answer, Instance):
        return answer, ""
    shown, _ = decode.answer(Render(answer.rows * answer.columns), data, START)
    return (answer, shown.frame_sha256) if isinstance(shown, Rendered) else (shown, "")


def open_sequence() -> bytes:
    """A sequence of undefined length that is never closed stands before the pixels: it swallows them."""
    whole = saved(slice_of(1, 0.0))
    at = whole.index(struct.pack("<HH", 0x7FE0, 0x0010))
    begun = struct.pack("<HH2sHIHHI", 0x0040, 0x0275, b"SQ", 0, 0xFFFFFFFF, 0xFFFE, 0xE000, 0xFFFFFFFF)
    return whole[:at] + begun + whole[at:]


def test_complaint_F5_a_file_without_its_marks_is_opened_whole_or_refused_with_a_reason() -> None:
    """pydicom/pydicom#150: no DICM marker; #340, #1799, #2324: missing delimiters, and elements lost in silence."""
    plain, packed = saved(slice_of(1, 0.0)), packaged("MR_small_RLE.dcm")
    for data, whole in ((plain[132:], plain), (packed[:-8], packed)):  # no preamble; no end of the fragments
        answer, shown = read(data)
        assert isinstance(answer, Instance)
        assert shown == first(whole).frame_sha256
    for data, code_of in ((open_sequence(), "D15"), (b"\0" * 128 + plain[132:], "D01"), (packed[:-800], "D03")):
        answer, _ = read(data)
        assert isinstance(answer, Refused), "pixels within a sequence are no picture, and their loss is not silent"
        assert (answer.code, answer.reason[-1]) == (code_of, ".")


# ------------------------------------------------------------------------------------------------ F6: where it is from


def node(kind: str, name: str, relation: str = "CONTAINS", **content: object) -> pydicom.Dataset:
    heading = {"ConceptNameCodeSequence": code(name[:4], "DCM", name)}
    return item(ValueType=kind, RelationshipType=relation, **heading, **content)


def test_complaint_F6_a_report_keeps_who_and_what_made_its_numbers() -> None:
    """OHIF/Viewers#4021: names and versions were lost; #1705: where are my measurements. TID 1004, 4019."""
    measured = [item(NumericValue="12.5", MeasurementUnitsCodeSequence=code("mm", "UCUM", "millimetre"))]
    length = node("NUM", "Long axis", MeasuredValueSequence=measured)
    length.ContentSequence = Sequence([
        node("TEXT", "Algorithm Name", "HAS CONCEPT MOD", TextValue="Caliper"),
        node("TEXT", "Algorithm Version", "HAS CONCEPT MOD", TextValue="4.2.1"),
    ])  # fmt: skip
    context = [
        node("TEXT", "Device Observer Name", "HAS OBS CONTEXT", TextValue="Reading room 3"),
        node("TEXT", "Device Observer Model Name", "HAS OBS CONTEXT", TextValue="Ruler Pro"),
        node("PNAME", "Person Observer Name", "HAS OBS CONTEXT", PersonName="Reader^Rita"),
    ]
    found, _ = objects.read(saved(thing(
        REPORT, Modality="SR", ValueType="CONTAINER", CompletionFlag="COMPLETE", VerificationFlag="UNVERIFIED",
        ConceptNameCodeSequence=code("126000", "DCM", "Imaging Measurement Report"),
        ContentSequence=[*context, length],
    )), limit_bytes=LIMIT)  # fmt: skip
    assert isinstance(found, Paper)
    assert [(number.name, number.value, number.unit) for number in found.numbers] == [("Long axis", 12.5, "mm")]
    for said in ("Algorithm Name: Caliper", "Algorithm Version: 4.2.1", "Device Observer Name: Reading room 3",
                 "Device Observer Model Name: Ruler Pro", "Person Observer Name: Reader, Rita"):  # fmt: skip
        assert said in found.text


# ------------------------------------------------------------------------------------------------ F7: a huge series


def slices(count: int) -> list[Member]:
    """What an import keeps of so many slices, the last first."""
    one = taken(saved(slice_of(1, 0.0)))
    facts = (replace(one, number=n, sop_uid=f"1.2.{n}", position=(0.0, 0.0, 0.5 * n)) for n in range(count, 0, -1))
    return [Member(f"{found.number:04}.dcm", f"{found.number:064}", found) for found in facts]


def test_complaint_F7_three_thousand_slices_are_one_row_in_little_memory() -> None:
    """OHIF/Viewers#3229, #4150; cornerstonejs/cornerstone3D#491; nroduit/Weasis#275: the browser ran out of memory.

    P7 for the list: what is kept of a slice is its header's facts, 2 kB each and no pixel.
    """
    tracemalloc.start()
    some = slices(300)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept / len(some) < 2048
    (group,) = grouped(slices(3000))
    assert (len(group.members), group.checks) == (3000, ())
    assert [member.instance.number for member in group.members] == list(range(1, 3001))
    assert group.middle.instance.number == 1501


# ------------------------------------------------------------------------------------------------ F9: sides and kinds

# Row and column direction; where the stack then rises to (LPS: x to the left, y to the back, z to the head).
PLANES = [
    ("axial", (1, 0, 0, 0, 1, 0), (0, 0, 1)),
    ("sagittal", (0, 1, 0, 0, 0, -1), (-1, 0, 0)),
    ("coronal", (1, 0, 0, 0, 0, -1), (0, 1, 0)),
    ("mirrored axial", (-1, 0, 0, 0, 1, 0), (0, 0, -1)),
]


@pytest.mark.parametrize(("orientation", "rises"), [row[1:] for row in PLANES], ids=[row[0] for row in PLANES])
def test_complaint_F9_directions_are_the_patients(orientation: tuple[int, ...], rises: tuple[int, ...]) -> None:
    """MIC-DKFZ/nnUNet#869; Project-MONAI/model-zoo#766: left taken for right. Cross products by hand."""
    data = saved(slice_of(
        1, 0.0, ImageOrientationPatient=[float(x) for x in orientation], ImagePositionPatient=[10.0, -20.0, 30.0]
    ))  # fmt: skip
    found = taken(data)
    assert (found.orientation, found.position) == (orientation, (10.0, -20.0, 30.0))
    assert geometry.normal(found.orientation) == rises
    along = 10 * rises[0] - 20 * rises[1] + 30 * rises[2]
    assert geometry.place(found.position, found.orientation) == along


def test_complaint_F9_modality_and_side_come_from_the_header() -> None:
    """Project-MONAI/MONAILabel#1407; Google-Health/medgemma#16: the model said what kind of picture it was."""
    data = saved(slice_of(1, 0.0, Modality="CT", Laterality="L"))
    for name in ("mri-brain.dcm", "fundus-right.dcm"):
        answer, _ = decode.answer(Read(name), data, START)
        assert isinstance(answer, Instance)
        assert (answer.modality, answer.laterality) == ("CT", "L")
    assert taken(saved(slice_of(1, 0.0, Modality=None))).modality == ""
    left, right = (taken(saved(image(np.eye(4, dtype=np.uint8), ImageLaterality=side))) for side in "LR")
    assert (left.laterality, right.laterality) == ("L", "R")
