"""The header of a compressed frame (JPEG, JPEG-LS, JPEG 2000): the size that the decoder will make. Decodes nothing.

A decoder allocates what the frame says, not what the DICOM header says; so the two are compared before it runs.
"""

from __future__ import annotations

import struct

import msgspec

SOI, SIZ, JP2 = b"\xff\xd8", b"\xff\x4f\xff\x51", b"\x00\x00\x00\x0cjP"
# Start of frame: C0-CF but DHT, JPG and DAC (ITU-T T.81 table B.1), and F7 of JPEG-LS (ITU-T T.87 C.1.1).
FRAMES = {*range(0xC0, 0xD0), 0xF7} - {0xC4, 0xC8, 0xCC}
LARGEST = 65_535
BARE = {0x01, *range(0xD0, 0xD9)}  # markers without a length


class Shape(msgspec.Struct, frozen=True):
    """Rows, columns, samples per pixel and bits per sample by the header of the frame."""

    rows: int
    columns: int
    samples: int
    bits: int


def shape(frame: bytes) -> Shape | None:
    """What the frame declares; None where its header cannot be read, or declares what no DICOM image can be."""
    try:
        if frame[:2] == SOI:
            return _jpeg(frame)
        start = 0 if frame[:4] == SIZ else frame.find(SIZ) if frame[:6] == JP2 else -1
        found = _jpeg2000(frame, start) if start >= 0 else None
    except (struct.error, IndexError):
        return None
    return found if found and 1 <= found.rows <= LARGEST and 1 <= found.columns <= LARGEST else None


def _jpeg(frame: bytes) -> Shape | None:
    """ITU-T T.81 B.2.2: precision, lines, samples per line, components."""
    at = 2
    while frame[at] == 0xFF:
        marker = frame[at + 1]
        if marker == 0xFF or marker in BARE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in FRAMES:
            bits, rows, columns, samples = struct.unpack_from(">BHHB", frame, at + 4)
            return Shape(rows, columns, samples, bits) if rows else None  # 0 lines: said later, by a DNL marker
        at += 2 + int(struct.unpack_from(">H", frame, at + 2)[0])
    return None


def _jpeg2000(frame: bytes, start: int) -> Shape:
    """ITU-T T.800 A.5.1: reference grid, offset, components, depth of the first."""
    right, bottom, left, top = struct.unpack_from(">4I", frame, start + 8)
    samples, depth = struct.unpack_from(">HB", frame, start + 40)
    return Shape(bottom - top, right - left, samples, (depth & 0x7F) + 1)
