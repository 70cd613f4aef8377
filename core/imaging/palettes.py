"""Colour tables (PALETTE COLOR, PS3.3 C.7.6.3.1.5 and C.7.9): read, unpacked from segments, applied. 8-bit RGB out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from core.errors import UserError

ENTRIES = 1 << 16
DISCRETE, LINEAR, INDIRECT = 0, 1, 2
Table = npt.NDArray[np.uint8]


def apply(stored: npt.NDArray[Any], dataset: Dataset) -> npt.NDArray[np.uint8]:
    """Stored values (rows x columns) to RGB; below the first entry the first colour, above the last the last.

    Raises:
        UserError: D04 for a table that is missing or not as long as it says.
    """
    _, first, _ = _descriptor(dataset, "Red")
    tables = [_table(dataset, colour) for colour in ("Red", "Green", "Blue")]
    index = np.clip(stored.astype(np.int64) - first, 0, len(tables[0]) - 1)
    return np.stack([table[np.minimum(index, len(table) - 1)] for table in tables], axis=-1)


def _descriptor(dataset: Dataset, colour: str) -> tuple[int, int, int]:
    """Number of entries, value of the first, bits of an entry."""
    found = dataset.get(f"{colour}PaletteColorLookupTableDescriptor")
    if found is None or len(found) != 3:
        raise _damaged(colour)
    entries, first, bits = (int(x) for x in found)
    if dataset.PixelRepresentation == 1 and first > 0x7FFF:
        first -= ENTRIES
    return entries or ENTRIES, first, bits


def _table(dataset: Dataset, colour: str) -> Table:
    entries, _, bits = _descriptor(dataset, colour)
    little = "<" if dataset.original_encoding[1] is not False else ">"
    plain = dataset.get(f"{colour}PaletteColorLookupTableData")
    packed = dataset.get(f"Segmented{colour}PaletteColorLookupTableData")
    if plain:
        values = np.frombuffer(plain, f"{little}u2" if len(plain) >= 2 * entries else "u1")[:entries]
    elif packed:
        width = 2 if bits > 8 else 1
        values = np.array(unpacked(np.frombuffer(packed, f"{little}u{width}").tolist(), width)[:entries])
    else:
        raise _damaged(colour)
    if len(values) < entries:
        raise _damaged(colour)
    return _eight_bit(values, bits)


def _eight_bit(values: npt.NDArray[Any], bits: int) -> Table:
    """The upper byte of 16-bit entries; as they are where the table holds bytes, whatever its header says."""
    deep = bits > 8 and int(values.max()) > 255
    return (values >> 8 if deep else values & 0xFF).astype(np.uint8)


def unpacked(data: list[int], width: int) -> list[int]:
    """A segmented table (C.7.9.2) as its entries; `width` bytes an entry, at most 65,536 entries.

    Raises:
        UserError: D04 for segments that are of no known kind or point outside.
    """
    table: list[int] = []
    try:
        _unpack(data, width, 0, None, table)
    except IndexError as error:
        raise _damaged("segmented") from error
    return table[:ENTRIES]


def _unpack(data: list[int], width: int, at: int, segments: int | None, table: list[int]) -> None:
    """Append segments from `at` on: all of them, or so many; those may not point further."""
    done = 0
    while at + 1 < len(data) and done != segments and len(table) < ENTRIES:
        kind, length, at = data[at], data[at + 1], at + 2
        if kind == DISCRETE:
            table += data[at : at + length]
            at += length
        elif kind == LINEAR:
            table += _line(table[-1], data[at], length)
            at += 1
        elif kind == INDIRECT and segments is None:
            words = 4 // width
            offset = sum(value << (8 * width * n) for n, value in enumerate(data[at : at + words]))
            at += words
            _unpack(data, width, offset // width, length, table)
        else:
            raise _damaged("segmented")
        done += 1


def _line(start: int, end: int, length: int) -> list[int]:
    """So many values from after `start` to `end`, rounded half up."""
    return [int(start + (end - start) * (n + 1) / length + 0.5) for n in range(length)]


def _damaged(colour: str) -> UserError:
    text = f"The image description is incomplete or contradictory: colour table ({colour.lower()})."
    return UserError(text, code="D04")
