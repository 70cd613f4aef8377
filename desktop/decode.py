"""Entry of the decode child (`--decode`): foreign bytes in, values out. No Qt, no profile, no key, no database file.

The network is denied by `desktop.__main__` before. Order: imports, limits, then the first foreign byte. `except
Exception` is allowed here and nowhere else: foreign files make the decoding libraries raise anything, and one bad file
must cost one sentence.
"""

from __future__ import annotations

import gc
import io
import sys
import warnings
from collections.abc import Iterator
from typing import BinaryIO, cast

from core import codec
from core.errors import UserError
from core.imaging import pictures, pixels
from core.imaging.soundness import Card
from core.isolate import GIB, enter_jail, grant, read_frame, take_output, write_frame
from core.readers import archive, papers
from core.runtime import folder, opening
from core.runtime.foreign import (
    Answer,
    Block,
    Done,
    Member,
    Next,
    Passed,
    Question,
    Read,
    Ready,
    Refused,
    Render,
    Start,
    Study,
    Unpack,
    Want,
)

EDGE = {
    "read": ("D15", "The file is damaged and could not be read."),
    "render": ("D09", "The decoder could not read the image."),
    "unpack": ("damaged", "The archive is damaged and could not be read on."),
}
MEMORY = ("D11", "Reading it needed more memory than is allowed.")
FRAME_BYTES = 64  # a pixel: stored value, rescaled and windowed copies, colours
AHEAD = 1 << 20  # bytes of an archive that are asked for at once


def main() -> int:
    """Answer until the input ends. Returns the exit code."""
    out = take_output()
    warnings.simplefilter("ignore")
    pictures.load_codecs()
    gc.freeze()
    gc.enable()
    start = _begin(sys.stdin.buffer, out)
    while start is not None and (frame := read_frame(sys.stdin.buffer)) is not None:
        question: Question = codec.decode(frame[0], Question)
        if isinstance(question, Unpack):
            take_apart(question, start, sys.stdin.buffer, out)
            continue
        grant_for(question, frame[1], start)
        write_frame(out, *answer(question, frame[1], start))
    return 0


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
    if isinstance(question, Render):
        declared = question.pixels * FRAME_BYTES
    else:
        declared = 0 if data[128:132] == b"DICM" else 3 * pictures.declared_bytes(data)
    grant(cpu_seconds=start.limits.cpu_seconds, memory_bytes=GIB + 3 * len(data) + declared)


def answer(question: Question, data: bytes, start: Start) -> tuple[Answer, bytes]:
    """One answer and its blob; whatever goes wrong is a refusal."""
    try:
        if isinstance(question, Read):
            return opening.read(question.name, data, start)
        if isinstance(question, Study):
            return papers.read(question.name, data, limit_bytes=start.file_bytes, limit_pages=start.pages), b""
        return pixels.render(data, limit_bytes=start.image_bytes)
    except Card as error:
        return Refused(error.code, error.text, error.series_uid), b""
    except UserError as error:
        return Refused(error.code, error.text), b""
    except MemoryError:
        return Refused(*MEMORY), b""
    except Exception:
        return Refused(*EDGE["read" if isinstance(question, Read | Study) else "render"]), b""


# ------------------------------------------------------------------------------------------------ archives


def take_apart(question: Unpack, start: Start, stream: BinaryIO, out: BinaryIO) -> None:
    """Give the members of an archive one by one, each when it is asked for; at the end `Done` or a refusal."""
    for found in _guarded(question, start, stream, out):
        write_frame(out, *found)
        if not isinstance(found[0], Member | Passed):
            return
        frame = read_frame(stream)
        if frame is None or not isinstance(codec.decode(frame[0], Question), Next):
            return


def _guarded(question: Unpack, start: Start, stream: BinaryIO, out: BinaryIO) -> Iterator[tuple[Answer, bytes]]:
    try:
        yield from _members(question, start, _Remote(stream, out, question.size))
        yield Done(), b""
    except UserError as error:
        yield Refused(error.code, error.text), b""
    except MemoryError:
        yield Refused(*MEMORY), b""
    except Exception:
        yield Refused(*EDGE["unpack"]), b""


def _members(question: Unpack, start: Start, remote: _Remote) -> Iterator[tuple[Answer, bytes]]:
    limits = archive.Limits(
        member_bytes=start.image_bytes,
        total_bytes=question.total_bytes,
        entries=question.entries,
        ratio=question.ratio,
    )
    whole = io.BufferedReader(remote, AHEAD)
    found = archive.contents(
        cast(BinaryIO, whole), name=question.name, limits=limits, wanted=lambda name: not folder.is_system(name)
    )
    while True:
        grant(cpu_seconds=start.limits.cpu_seconds, memory_bytes=start.limits.memory_bytes)
        content = next(found, None)
        if content is None:
            return
        if isinstance(content, archive.Refusal):
            yield Passed(content.name, content.reason), b""
        else:
            yield Member(content.name), content.data


class _Remote(io.RawIOBase):
    """The archive as a seekable stream whose bytes the parent sends on demand."""

    def __init__(self, stream: BinaryIO, out: BinaryIO, size: int) -> None:
        self._stream = stream
        self._out = out
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + {0: 0, 1: self._at, 2: self._size}[whence])
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        size = max(0, min(len(buffer), self._size - self._at))
        if not size:
            return 0
        write_frame(self._out, Want(self._at, size))
        frame = read_frame(self._stream)
        if frame is None or not isinstance(codec.decode(frame[0], Question), Block):
            raise SystemExit(0)  # the parent has gone, or wants nothing more of this archive
        data = frame[1][:size]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
