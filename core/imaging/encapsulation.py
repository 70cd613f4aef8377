"""Fragments of encapsulated pixel data (PS3.5 A.4): counted and checked before any of them reaches a decoder."""

from __future__ import annotations

import struct

import msgspec
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame

from core.errors import UserError

ITEM, DELIMITER = 0xFFFEE000, 0xFFFEE0DD


class Fragments(msgspec.Struct, frozen=True):
    """The basic offset table and where each fragment's bytes lie in the element: (start, length)."""

    offsets: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


def read(raw: bytes) -> Fragments:
    """Offset table and fragments of the element.

    Raises:
        UserError: D04 not made of items, an offset table that runs backwards or out of the element, no fragment.
    """
    items = _items(raw)
    if not items:
        raise contradictory("PixelData")
    start, length = items[0]
    offsets = struct.unpack_from(f"<{length // 4}I", raw, start) if start + length <= len(raw) else ()
    places = tuple(items[1:])
    if not any(length for _, length in places):
        raise contradictory("PixelData (no fragment)")
    body = len(raw) - places[0][0] + 8
    if list(offsets) != sorted(set(offsets)) or any(offset >= body for offset in offsets):
        raise contradictory("Basic Offset Table")
    return Fragments(offsets, places)


def _items(raw: bytes) -> list[tuple[int, int]]:
    found, at = [], 0
    while at + 8 <= len(raw):
        group, element, length = struct.unpack_from("<HHI", raw, at)
        if (group << 16) | element != ITEM:
            break
        found.append((at + 8, length))
        at += 8 + length
    return found


def check(dataset: Dataset, frames: int) -> bytes:
    """Check offset tables and the number of frames; the first fragment's bytes, none where it is not whole.

    Raises:
        UserError: D03 fewer frames than declared; D04 as `read`, or an extended offset table that is no table.
    """
    raw = dataset.get_item("PixelData").value or b""
    found = read(raw)
    count = _extended(dataset, len(raw)) or len(found.offsets) or len(found.places)
    if count < frames:
        raise UserError(f"The DICOM file is cut short: {count:,} of {frames:,} frames are there.", code="D03")
    start, length = found.places[0]
    return bytes(raw[start : start + length]) if start + length <= len(raw) else b""


def frame(dataset: Dataset, index: int, frames: int) -> bytes:
    """The bytes of one frame, its fragments joined.

    Raises:
        UserError: D09 its last fragment is not whole.
    """
    raw = dataset.get_item("PixelData").value or b""
    start, length = read(raw).places[-1]
    if start + length > len(raw):
        raise UserError("The decoder could not read the image.", code="D09")
    table, lengths = dataset.get("ExtendedOffsetTable"), dataset.get("ExtendedOffsetTableLengths")
    extended = (table, lengths) if table and lengths else None
    return bytes(get_frame(raw, index, number_of_frames=frames, extended_offsets=extended))


def _extended(dataset: Dataset, size: int) -> int:
    """Number of entries of the extended offset table (PS3.3 C.7.6.3.1.8); 0 without one."""
    table = dataset.get("ExtendedOffsetTable")
    if not table:
        return 0
    offsets = struct.unpack(f"<{len(table) // 8}Q", table[: len(table) // 8 * 8])
    lengths = dataset.get("ExtendedOffsetTableLengths") or b""
    if list(offsets) != sorted(set(offsets)) or offsets[-1] >= size or len(lengths) != len(table):
        raise contradictory("Extended Offset Table")
    return len(offsets)


def contradictory(attribute: str) -> UserError:
    """D04 for an attribute."""
    return UserError(f"The image description is incomplete or contradictory: {attribute}.", code="D04")
