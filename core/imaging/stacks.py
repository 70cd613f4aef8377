"""Stacks: the slices of a series that belong together, in display order (imaging.md 4.6). Pure values."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from core.imaging import geometry
from core.imaging.facts import Instance, Place


class Member(msgspec.Struct, frozen=True):
    """An instance and the file it came from (name as imported, sha256 of the bytes)."""

    name: str
    sha256: str
    instance: Instance


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One plane of a stack: a file, or a frame (from 0) of an enhanced multi-frame file.

    A multi-frame file without places (a cine loop) is one slice, its frames follow each other in time.
    """

    member: Member
    frame: int = 0
    number: int | None = None
    position: tuple[float, ...] = ()
    orientation: tuple[float, ...] = ()

    @property
    def place(self) -> float | None:
        """Position along the normal, mm."""
        return geometry.place(self.position, self.orientation)


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    """Slices of one orientation, size and phase, in display order; those at a place already taken among them."""

    slices: tuple[Slice, ...]

    @property
    def places(self) -> list[float]:
        """Places along the normal, mm, in display order; [] where any slice has none."""
        found = [piece.place for piece in self.slices]
        return [place for place in found if place is not None] if None not in found else []

    @property
    def distinct(self) -> tuple[Slice, ...]:
        """One slice a place: of several at the same place the one with the lowest InstanceNumber."""
        kept: list[Slice] = []
        for piece in self.slices:
            place, last = piece.place, kept[-1].place if kept else None
            if place is not None and last is not None and abs(place - last) < geometry.SAME_PLACE_MM:
                continue
            kept.append(piece)
        return tuple(kept)


def in_stacks(members: list[Member]) -> tuple[Stack, ...]:
    """The stacks of a series, by their lowest InstanceNumber; the order of the files does not matter."""
    by_key: dict[Hashable, list[Slice]] = {}
    for number in (True, False):
        by_key = {}
        for member in sorted(members, key=lambda m: (m.name, m.sha256)):
            for piece, place in _slices(member):
                by_key.setdefault(_key(member.instance, place, with_acquisition=number), []).append(piece)
        # Step and shoot scanners count every slice as an acquisition of its own: then the number parts nothing.
        if any(len(found) > 1 for found in by_key.values()) or len(by_key) == 1:
            break
    stacks = [Stack(slices=tuple(_in_order(found))) for found in by_key.values()]
    return tuple(sorted(stacks, key=_rank))


def _rank(stack: Stack) -> tuple[bool, int, str]:
    numbers = [piece.number for piece in stack.slices if piece.number is not None]
    return not numbers, min(numbers, default=0), min(piece.member.name for piece in stack.slices)


def _slices(member: Member) -> list[tuple[Slice, Place]]:
    """A file as its planes, each with the place that its stack is told from."""
    instance = member.instance
    if instance.places:
        return [
            (
                Slice(
                    member=member, frame=n, number=place.rank, position=place.position, orientation=place.orientation
                ),
                place,
            )
            for n, place in enumerate(instance.places)
        ]
    place = Place(position=instance.position, orientation=instance.orientation, spacing=instance.spacing)
    piece = Slice(member=member, number=instance.number, position=instance.position, orientation=instance.orientation)
    return [(piece, place)]


def _key(instance: Instance, place: Place, *, with_acquisition: bool) -> Hashable:
    """What all slices of a stack have in common."""
    return (
        tuple(round(x, 3) + 0.0 for x in place.orientation),
        instance.rows,
        instance.columns,
        tuple(round(x, 4) for x in place.spacing),
        instance.image_type,
        instance.acquisition if with_acquisition else "",
        instance.echo,
        instance.phase,
        instance.samples,
        place.stack,
    )


def _in_order(slices: list[Slice]) -> list[Slice]:
    """By place along the normal, in the direction in which the numbers rise; without places by InstanceNumber."""
    slices = sorted(slices, key=lambda s: (s.number is None, s.number or 0, s.member.name, s.frame))
    if None in {piece.place for piece in slices}:
        return slices
    heaps = _heaps(sorted(slices, key=lambda s: s.place or 0.0))
    if len(heaps) > 1 and _falls([heap[0] for heap in heaps]):
        heaps.reverse()
    return [piece for heap in heaps for piece in heap] if len(heaps) > 1 else slices


def _heaps(slices: list[Slice]) -> list[list[Slice]]:
    """Slices sorted by place, those at the same place together, the lowest InstanceNumber first."""
    heaps: list[list[Slice]] = []
    for piece in slices:
        if heaps and (piece.place or 0.0) - (heaps[-1][0].place or 0.0) < geometry.SAME_PLACE_MM:
            heaps[-1].append(piece)
        else:
            heaps.append([piece])
    return [sorted(heap, key=lambda s: (s.number is None, s.number or 0, s.member.name)) for heap in heaps]


def _falls(slices: list[Slice]) -> bool:
    """Do the numbers fall strictly along the order? Then display goes the other way."""
    numbers = [piece.number for piece in slices if piece.number is not None]
    return len(numbers) == len(slices) and all(a > b for a, b in zip(numbers, numbers[1:], strict=False))
