"""DICOM instances as header facts, grouped into series: order, the middle one, what is missing or mixed. Pure.

Values only: neither pydicom nor pixels here, so that the process that never opens foreign bytes can use it.
"""

from __future__ import annotations

from collections import Counter
from statistics import median

import msgspec

from core.imaging.facts import Instance

GAP = 1.5  # of the median distance between slices (imaging.md 4.6, S01)
SAME_PLACE_MM = 1e-3


class Member(msgspec.Struct, frozen=True):
    """An instance and the file it came from (name as imported, sha256 of the bytes)."""

    name: str
    sha256: str
    instance: Instance


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One series: members in display order, and what is wrong with it, in sentences."""

    series_uid: str
    members: tuple[Member, ...]
    warnings: tuple[str, ...]

    @property
    def middle(self) -> Member:
        """The member to show first."""
        return self.members[len(self.members) // 2]

    @property
    def name(self) -> str:
        """The first of its files' names: its place among the other items."""
        return min(member.name for member in self.members)


def grouped(members: list[Member]) -> list[Group]:
    """Members by SeriesInstanceUID, each series in display order, series by their first file's name."""
    by_series: dict[str, list[Member]] = {}
    for member in sorted(members, key=lambda m: (m.name, m.sha256)):
        by_series.setdefault(member.instance.series_uid or member.sha256, []).append(member)
    groups = [
        Group(series_uid=uid, members=tuple(in_order(found)), warnings=tuple(warnings(found)))
        for uid, found in by_series.items()
    ]
    return sorted(groups, key=lambda group: group.name)


def in_order(members: list[Member]) -> list[Member]:
    """By place along the normal of the slices where all have one and the same orientation, else by InstanceNumber."""
    places = [_place(member.instance) for member in members]
    orientations = _directions([member.instance for member in members])
    if len(members) > 1 and None not in places and len(orientations) == 1 and len(set(places)) > 1:
        found = sorted(members, key=lambda m: (_place(m.instance) or 0.0, m.instance.number or 0, m.name))
        return found[::-1] if _falls(found) else found
    return sorted(members, key=lambda m: (m.instance.number is None, m.instance.number or 0, m.name))


def _falls(members: list[Member]) -> bool:
    """Do the instance numbers fall strictly along the order? Then display goes the other way."""
    numbers = [member.instance.number for member in members if member.instance.number is not None]
    return len(numbers) == len(members) and all(a > b for a, b in zip(numbers, numbers[1:], strict=False))


def _place(instance: Instance) -> float | None:
    """Position along the normal (row cosine x column cosine), mm."""
    if len(instance.position) != 3 or len(instance.orientation) != 6:
        return None
    a, b, c, d, e, f = instance.orientation
    normal = (b * f - c * e, c * d - a * f, a * e - b * d)
    return sum(n * p for n, p in zip(normal, instance.position, strict=True))


# ------------------------------------------------------------------------------------------------ what is wrong


def warnings(members: list[Member]) -> list[str]:
    """Sentences on missing, doubled or mixed instances, and the remarks of the instances, each once."""
    instances = [member.instance for member in members]
    said = [*_gaps(instances), *_mixed(instances), *_doubled(instances)]
    counts = Counter(remark for instance in instances for remark in instance.remarks)
    return said + [
        f"{remark}." if n == len(instances) else f"{remark} ({n} of {len(instances)})." for remark, n in counts.items()
    ]


def _gaps(instances: list[Instance]) -> list[str]:
    places = [place for instance in instances if (place := _place(instance)) is not None]
    if len(_directions(instances)) > 1:
        return []  # places along different normals cannot be compared
    steps = _steps(places) if len(places) == len(instances) else []
    if steps:
        lost = sum(round(step / median(steps)) - 1 for step in steps if step > GAP * median(steps))
        return [f"About {_count(lost, 'slice')} missing between those that are here."] if lost else []
    numbers = sorted({instance.number for instance in instances if instance.number is not None})
    if len(numbers) < 2 or len(numbers) != len(instances):
        return []
    lost = numbers[-1] - numbers[0] + 1 - len(numbers)
    span = f"between {numbers[0]} and {numbers[-1]}"
    return [f"The image numbers have gaps: {_count(lost, 'number')} missing {span}."] if lost else []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"


def _directions(instances: list[Instance]) -> set[tuple[float, ...]]:
    return {tuple(round(x, 3) for x in instance.orientation) for instance in instances if instance.orientation}


def _steps(places: list[float]) -> list[float]:
    """Distances between neighbouring places, those at the same place left out; [] for fewer than three places."""
    ordered = sorted(places)
    steps = [b - a for a, b in zip(ordered, ordered[1:], strict=False) if b - a > SAME_PLACE_MM]
    return steps if len(steps) > 1 else []


def _mixed(instances: list[Instance]) -> list[str]:
    sizes = Counter((instance.rows, instance.columns) for instance in instances)
    turned = _directions(instances)
    said = []
    if len(sizes) > 1:
        listed = ", ".join(f"{n} of {columns} x {rows}" for (rows, columns), n in sorted(sizes.items()))
        said.append(f"Images of different sizes in one series: {listed}.")
    if len(turned) > 1:
        said.append(f"Images in {len(turned)} different directions in one series.")
    return said


def _doubled(instances: list[Instance]) -> list[str]:
    twice = [uid for uid, n in Counter(instance.sop_uid for instance in instances).items() if uid and n > 1]
    return [f"Image identifiers that occur more than once with different content: {len(twice)}."] if twice else []
