"""Series: grouping, order along the normal, the middle one, and the sentences for what is missing or mixed."""

import random

from msgspec.structs import replace

from core.imaging.facts import Instance
from core.imaging.series import Member, grouped

AXIAL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def member(number: int, z: float | None = None, *, series: str = "1.2", **fields: object) -> Member:
    instance = Instance(
        study_uid="1", series_uid=series, sop_uid=f"{series}.{number}", modality="CT", rows=512, columns=512,
        number=number, position=() if z is None else (0.0, 0.0, z), orientation=() if z is None else AXIAL,
    )  # fmt: skip
    return Member(f"{series}/{number:03}", f"sha{series}{number}", replace(instance, **fields))


def numbers(members: tuple[Member, ...]) -> list[int | None]:
    return [m.instance.number for m in members]


def test_two_series_are_parted_whatever_the_order() -> None:
    members = [member(n, n * 5.0) for n in range(1, 6)] + [member(n, n * 2.0, series="1.9") for n in range(1, 4)]
    expected = grouped(members)
    assert [(g.series_uid, numbers(g.members)) for g in expected] == [("1.2", [1, 2, 3, 4, 5]), ("1.9", [1, 2, 3])]
    for seed in range(5):
        random.Random(seed).shuffle(members)
        assert grouped(members) == expected


def test_order_is_by_place_shown_in_the_direction_of_the_numbers() -> None:
    (falling,) = grouped([member(n, -3.0 * n) for n in (1, 2, 3, 4)])
    assert numbers(falling.members) == [1, 2, 3, 4]
    (mixed,) = grouped([member(1, 0.0), member(3, 5.0), member(2, 10.0)])
    assert numbers(mixed.members) == [1, 3, 2]
    assert mixed.middle.instance.number == 3


def test_without_places_the_number_decides() -> None:
    (group,) = grouped([member(10), member(2), member(1)])
    assert numbers(group.members) == [1, 2, 10]
    assert "The image numbers have gaps: 7 numbers are missing between 1 and 10." in group.warnings


def test_missing_slices_are_counted() -> None:
    (whole,) = grouped([member(n, n * 5.0) for n in range(1, 11)])
    assert whole.warnings == ()
    (holed,) = grouped([member(n, n * 5.0) for n in range(1, 11) if n not in (4, 7, 8)])
    assert holed.warnings == (
        "About 3 slices are missing between those that are here (between 15 and 25, 30 and 45 mm).",
        "The image numbers have gaps: 3 numbers are missing between 1 and 10.",
    )


def test_slices_in_different_directions_are_not_called_missing() -> None:
    sagittal = (0.0, 1.0, 0.0, 0.0, 0.0, -1.0)
    members = [member(1, 0.0), member(2, 90.0), member(3, 5.0, orientation=sagittal)]
    (group,) = grouped(members)
    assert [check.code for check in group.checks] == ["S04"]
    assert "2 different directions" in group.warnings[0]
    (holed,) = grouped([member(n, n * 5.0) for n in (1, 2, 3, 5)])
    assert "About 1 slice is missing between those that are here (between 15 and 25 mm)." in holed.warnings


def test_mixed_sizes_directions_and_doubles_are_said() -> None:
    turned = replace(member(3, 10.0).instance, orientation=(0.0, 1.0, 0.0, 0.0, 0.0, -1.0))
    members = [member(1, 0.0), member(2, 5.0, rows=256), Member("x", "shax", replace(turned, sop_uid="1.2.1"))]
    (group,) = grouped(members)
    assert "different sizes (1 of 512 x 256, 2 of 512 x 512); 2 different directions" in group.warnings[0]
    assert "Image identifiers that occur more than once with different content: 1." in group.warnings


def test_remarks_of_instances_are_said_once() -> None:
    table = ("Colour table not applied",)
    (all_of_them,) = grouped([member(n, n * 1.0, remarks=table) for n in (1, 2, 3)])
    assert all_of_them.warnings == ("Colour table not applied.",)
    (some,) = grouped([member(1, 1.0, remarks=table), member(2, 2.0), member(3, 3.0)])
    assert some.warnings == ("Colour table not applied (1 of 3).",)


def test_an_image_without_series_stands_alone() -> None:
    assert [g.series_uid for g in grouped([member(1, series=""), member(2, series="")])] == ["sha1", "sha2"]
