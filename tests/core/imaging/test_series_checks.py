"""Series: fourteen seeded defects, each found with its code; clean series without a finding; one order always."""

import random

import numpy as np
import pytest
from msgspec.structs import replace

from core.domain.case import Patient
from core.imaging import codestream, geometry, objects, pixels
from core.imaging.facts import Instance
from core.imaging.series import Group, Member, grouped
from tests.helpers.dicom_files import LIMIT, enhanced, image, saved, slice_of

AXIAL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
SAGITTAL = (0.0, 1.0, 0.0, 0.0, 0.0, -1.0)


def member(number: int, z: float | None = None, **fields: object) -> Member:
    instance = Instance(
        study_uid="1", series_uid="1.2", sop_uid=f"1.2.{number}", modality="CT", rows=512, columns=512, number=number,
        position=() if z is None else (0.0, 0.0, z), orientation=() if z is None else AXIAL, spacing=(0.7, 0.7),
        frame_of_reference="1.9", slope=1.0, intercept=-1024.0, photometric="MONOCHROME2", syntax="1.2.840.10008.1.2.1",
        image_type=("ORIGINAL", "PRIMARY", "AXIAL"), acquisition="1",
    )  # fmt: skip
    return Member(f"{number:03}.dcm", f"sha{number}", replace(instance, **fields))


def whole(count: int = 8, **changes: dict[str, object]) -> list[Member]:
    """Slices 5 mm apart; `n3={...}` changes the third."""
    members = [member(n, 5.0 * n) for n in range(1, count + 1)]
    for name, fields in changes.items():
        at = int(name[1:]) - 1
        members[at] = replace(members[at], instance=replace(members[at].instance, **fields))
    return members


def without(members: list[Member], *numbers: int) -> list[Member]:
    return [m for m in members if m.instance.number not in numbers]


def renumbered(members: list[Member]) -> list[Member]:
    """No gap in the numbers, so that only places tell what is missing."""
    return [replace(m, instance=replace(m.instance, number=n + 1)) for n, m in enumerate(members)]


def codes(group: Group) -> list[str]:
    return [check.code for check in group.checks]


DEFECTS: list[tuple[str, str, list[Member], str]] = [
    ("S01", "fail", renumbered(without(whole(), 4, 5)), "About 2 slices are missing between those that are here "
     "(between 15 and 30 mm)."),
    ("S02", "fail", whole(n4={"position": (0.0, 0.0, 20.4)}), "not evenly spaced: 5 mm"),
    ("S03", "warn", [*whole(), member(9, 15.0)], "1 slice is at a place where there is one already"),
    ("S04", "info", [*whole(), member(9, 90.0, orientation=SAGITTAL, image_type=("ORIGINAL", "PRIMARY", "LOCALIZER"))],
     "2 groups of images in one series, shown one after the other; 2 different directions; a localizer."),
    ("S05", "warn", [member(n, 5.0 * n, position=(0.0, 0.5 * n, 5.0 * n)) for n in range(1, 6)], "5.7 degrees"),
    ("S06", "fail", [member(n) for n in range(1, 5)], "Where they lie in the patient is not said"),
    ("S07", "fail", whole(n8={"frame_of_reference": "1.10"}), "2 different frames of reference"),
    ("S08", "info", whole(n2={"slope": 2.0}), "Mixed within the series: 2 value scales."),
    ("S09", "info", [member(n, 5.0 * m) for m, n in enumerate((1, 2, 3, 6))], "2 numbers are missing between 1 and 6"),
    ("S10", "info", whole(n2={"lossy": "10 : 1"}), "Lossy compressed image (10 : 1) (1 of 8)."),
    ("S11", "warn", whole(n2={"burned_in": "the file says so"}), "part of the pixels: the file says so (1 of 8)"),
    ("S12", "error", whole(n8={"patient": Patient(patient_id="X"), "issuer": "A"},
                           n7={"patient": Patient(patient_id="Y"), "issuer": "A"}), "different patients in one study"),
    ("S13", "warn", whole(n1={"announced": 12}), "8 images are here; its header announces 12."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "level", "members", "words"), DEFECTS, ids=[row[0] for row in DEFECTS])
def test_a_seeded_defect_is_found_with_its_code_and_nothing_else(
    code: str, level: str, members: list[Member], words: str
) -> None:
    (group,) = grouped(members)
    assert codes(group) == [code]
    assert group.checks[0].level == level
    assert words in group.checks[0].text
    assert group.checks[0].text in group.warnings
    assert len(group.members) == len(members)  # whatever is wrong, nothing is dropped


def test_cards_and_the_directory_count_too() -> None:
    (group,) = grouped(whole(), cards={"1.2": 3})
    assert [(check.code, check.level, check.text) for check in group.checks] == [
        ("S14", "fail", "8 of 11 images could be read; the others are not analysed.")
    ]
    (group,) = grouped(whole(), announced={"1.2": 9})
    assert [(check.code, check.text) for check in group.checks] == [
        ("S13", "8 images are here; the DICOMDIR lists 9.")
    ]  # fmt: skip


CLEAN: list[list[Member]] = [
    whole(),
    [member(9 - n, 2.5 * n) for n in range(1, 9)],
    [member(n, 5.0 * n, acquisition=str(n)) for n in range(1, 9)],  # step and shoot: a number for every slice
    [member(n, 5.0 * n + (0.02 if n % 2 else 0)) for n in range(1, 9)],  # within 1 % and 1 um
    [member(n, modality="DX") for n in (1, 2)],  # films lie nowhere
]


@pytest.mark.parametrize("members", CLEAN, ids=["plain", "falling", "step and shoot", "rounded", "films"])
def test_a_clean_series_has_no_finding(members: list[Member]) -> None:
    (group,) = grouped(members)
    assert group.warnings == ()
    assert len(group.stacks) == 1


def test_phases_and_echoes_are_stacks_of_their_own() -> None:
    members = [member(8 * e + n, 5.0 * n, echo=str(e)) for e in (0, 1) for n in range(1, 9)]
    (group,) = grouped(members)
    assert [len(stack.slices) for stack in group.stacks] == [8, 8]
    assert codes(group) == ["S04"]
    assert [m.instance.echo for m in group.members] == ["0"] * 8 + ["1"] * 8


def test_of_slices_at_one_place_the_first_number_counts() -> None:
    (group,) = grouped([member(4, 10.0), member(1, 5.0), member(2, 10.0), member(3, 15.0)])
    (stack,) = group.stacks
    assert [piece.number for piece in stack.slices] == [1, 2, 4, 3]
    assert [piece.number for piece in stack.distinct] == [1, 2, 3]
    (falling,) = grouped([member(1, 15.0), member(2, 10.0), member(4, 10.0), member(3, 5.0)])
    assert [piece.number for piece in falling.stacks[0].distinct] == [1, 2, 3]


def test_the_middle_is_that_of_the_largest_stack() -> None:
    (group,) = grouped([member(1, 90.0, orientation=SAGITTAL), *[member(n, 5.0 * n) for n in range(2, 9)]])
    assert group.middle.instance.number == 5


def test_shear_and_places_by_hand() -> None:
    # rows along x, columns tilted by 30 degrees: the normal is (0, -1/2, sqrt(3)/2)
    tilted = (1.0, 0.0, 0.0, 0.0, 3**0.5 / 2, 0.5)
    assert geometry.normal(tilted) == pytest.approx((0, -0.5, 3**0.5 / 2))
    assert geometry.place((0.0, 0.0, 10.0), tilted) == pytest.approx(8.660254)
    assert geometry.shear_deg((0, 0, 0), (0, 0, 10), tilted) == pytest.approx(30)  # a gantry tilt
    assert geometry.shear_deg((0, 0, 0), (0, 0, 0), tilted) == 0
    assert geometry.normal((1, 0, 0, 1, 0, 0)) is None


# ------------------------------------------------------------------------------------------------ real files


def taken(name: str, data: bytes) -> Member:
    found, _ = objects.read(data, limit_bytes=LIMIT)
    assert isinstance(found, Instance)
    return Member(name, name, found)


def test_twenty_shuffles_give_one_order_and_one_hash() -> None:
    files = {f"{n:02}": saved(slice_of(n, 3.0 * n)) for n in range(1, 9)}
    members = [taken(name, data) for name, data in files.items()]
    hashes = set()
    for seed in range(20):
        random.Random(seed).shuffle(members)
        (group,) = grouped(members)
        frames = [f.frame_sha256 for m in group.members for f in pixels.planes(files[m.name], limit_bytes=LIMIT)]
        hashes.add((tuple(m.name for m in group.members), pixels.volume_sha256(frames)))
    assert [order for order, _ in hashes] == [tuple(files)]


def test_an_enhanced_object_becomes_two_stacks_of_ten() -> None:
    data = enhanced(2, 10)
    (group,) = grouped([taken("enhanced", data)])
    assert [len(stack.slices) for stack in group.stacks] == [10, 10]
    values = [int(plane.values[0, 0]) for plane in pixels.planes(data, limit_bytes=LIMIT)]
    order = [[values[piece.frame] for piece in stack.slices] for stack in group.stacks]
    assert order == [list(range(10)), list(range(10, 20))]  # each frame's value is its number before the shuffle
    assert codes(group) == ["S04"]
    assert [round(b - a, 6) for a, b in zip(group.stacks[0].places, group.stacks[0].places[1:], strict=False)] == [
        2.0
    ] * 9


def test_complaint_F10_risks_of_text_on_the_pixels() -> None:
    """johnperry/CTP#16, pydicom/pydicom#375, blairconrad/dicognito#43: names burned into the pixels went unseen."""
    grey = np.zeros((4, 4), np.uint8)
    for elements, why in (
        ({"Modality": "US"}, "usual in images of kind US"),
        ({"Modality": "CT", "BurnedInAnnotation": "YES"}, "the file says so"),
        ({"Modality": "CT", "ImageType": ["DERIVED", "SECONDARY"]}, "a secondary or converted image"),
        ({"Modality": "CT", "ConversionType": "WSD"}, "a secondary or converted image"),
        ({"Modality": "MR", "ImageType": ["ORIGINAL", "PRIMARY"]}, ""),
    ):
        assert taken("x", saved(image(grey, **elements))).instance.burned_in == why


def test_the_header_of_a_frame_is_read_by_hand() -> None:
    # start of image, an application segment of 4 bytes, start of frame: 8 bits, 480 lines, 640 samples, 3 components
    jpeg = bytes.fromhex("FFD8 FFE00004ABCD FFC0 0011 08 01E0 0280 03")
    assert codestream.shape(jpeg) == codestream.Shape(480, 640, 3, 8)
    # start of codestream, SIZ: grid 640 x 480 from (0, 0), one tile, 1 component of 12 bits
    size = "FF4F FF51 0029 0000 00000280 000001E0" + "0" * 16 + "00000280 000001E0" + "0" * 16 + "0001 0B0101"
    assert codestream.shape(bytes.fromhex(size)) == codestream.Shape(480, 640, 1, 12)
    assert codestream.shape(bytes.fromhex(size.replace("00000280", "FFFE0280"))) is None
    assert codestream.shape(b"\xff\xd8\xff") is None
