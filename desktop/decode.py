"""Entry of the decode child (`--decode`): foreign bytes in, values out. No Qt, no profile, no key, no database.

The network is denied by `desktop.__main__` before. Order: imports, limits, then the first foreign byte. `except
Exception` is allowed here and nowhere else: foreign files make the decoding libraries raise anything, and one bad file
must cost one sentence.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import BinaryIO

from core import codec
from core.errors import UserError
from core.imaging import dicom, pictures, pixels
from core.isolate import GIB, enter_jail, grant, read_frame, write_frame
from core.readers import kinds, table, text
from core.runtime.foreign import Answer, Question, Read, Ready, Refused, Render, Start

EDGE = {
    "read": ("D15", "The file is damaged and could not be read."),
    "render": ("D09", "The decoder could not read the image."),
}

FRAME_BYTES = 64  # a pixel: stored value, rescaled and windowed copies, colours


def main() -> int:
    """Answer until the input ends. Returns the exit code."""
    out = _take_protocol()
    warnings.simplefilter("ignore")
    pictures.load_codecs()
    start = _begin(sys.stdin.buffer, out)
    while start is not None and (frame := read_frame(sys.stdin.buffer)) is not None:
        question: Question = codec.decode(frame[0], Question)
        grant_for(question, frame[1], start)
        write_frame(out, *answer(question, frame[1], start))
    return 0


def _take_protocol() -> BinaryIO:
    """Keep fd 1 for the answers and point fd 1 at fd 2, so that native code cannot write into them."""
    duplicate = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(duplicate, "wb")


def _begin(stream: BinaryIO, out: BinaryIO) -> Start | None:
    """Take the limits; None if the parent went away or spoke out of turn."""
    frame = read_frame(stream)
    start: Question | None = codec.decode(frame[0], Question) if frame is not None else None
    if not isinstance(start, Start):
        return None
    enter_jail(start.limits)
    write_frame(out, Ready())
    return start


def grant_for(question: Question, data: bytes, start: Start) -> None:
    """CPU seconds, and 1 GiB beside the file and the image that it declares (a frame is held as 64-bit numbers)."""
    declared = question.pixels * FRAME_BYTES if isinstance(question, Render) else 3 * pictures.declared_bytes(data)
    grant(cpu_seconds=start.limits.cpu_seconds, memory_bytes=GIB + 3 * len(data) + declared)


def answer(question: Question, data: bytes, start: Start) -> tuple[Answer, bytes]:
    """One answer and its blob; whatever goes wrong is a refusal."""
    try:
        if isinstance(question, Read):
            return _read(question.name, data, start)
        return pixels.render(data, limit_bytes=start.image_bytes)
    except UserError as error:
        return Refused(error.code, error.text), b""
    except MemoryError:
        return Refused("D11", "Reading it needed more memory than is allowed."), b""
    except Exception:
        return Refused(*EDGE["read" if isinstance(question, Read) else "render"]), b""


def _read(name: str, data: bytes, start: Start) -> tuple[Answer, bytes]:
    kind = kinds.choose(name, data)
    if kind == "DICOM file":
        return dicom.read_header(data, limit_bytes=start.image_bytes), b""
    if kind == "picture":
        return pictures.read(data, limit_bytes=start.image_bytes)
    if kind == "table":
        return table.read(data, limit_bytes=start.file_bytes), b""
    return text.read(data, limit_bytes=start.file_bytes), b""
