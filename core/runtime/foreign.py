"""What the decode child is asked and what it answers; and the parent's door to it, which outlives dead children.

The parent sends bytes and gets values and previews back; it never opens foreign bytes itself. A child that dies, takes
too long or talks nonsense costs the file in hand a sentence, and the next file gets a new child. Knows no store.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec

from core import codec, paths
from core.errors import BugError
from core.imaging.facts import Instance, Picture, Rendered
from core.isolate import GIB, Child, Limits, Lost
from core.readers.table import TableDocument
from core.readers.text import TextDocument
from core.settings import Settings

START_S = 60.0
# Wall time; the CPU limit of trust.md 6.1 (20 s a file) lies inside the child. A busy machine may be slower.
ANSWER_S = 60.0
MEGABYTE = 1_000_000
LOST = {
    "slow": ("D10", "Reading it took too long and was stopped."),
    "died": ("D12", "The process that read it stopped unexpectedly."),
    "garbled": ("D12", "The process that read it answered with nonsense and was stopped."),
}


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """The first message: limits of the child, largest file and largest decoded image, bytes."""

    limits: Limits
    file_bytes: int
    image_bytes: int


class Read(msgspec.Struct, frozen=True, tag="read"):
    """The blob is a file of this name: what is it, and what does it say?"""

    name: str


class Render(msgspec.Struct, frozen=True, tag="render"):
    """The blob is a DICOM image with that many pixels a frame: draw its middle frame."""

    pixels: int


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has its imports done and its limits on."""


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The file was not read: a stable code and a sentence."""

    code: str
    reason: str


Question = Start | Read | Render
FileAnswer = TextDocument | TableDocument | Picture | Instance | Refused
Answer = Ready | Rendered | FileAnswer


class Decoder:
    """Asks decode children, one at a time; use as a context manager, from one thread."""

    def __init__(self, settings: Settings, stop: threading.Event, command: Sequence[str] | None = None) -> None:
        image = int(settings.limits.image_gib * GIB)
        # A decoded picture is held up to twice (upright, in RGB) beside the file itself.
        limits = Limits(memory_bytes=GIB + 3 * image)
        self._start = Start(limits=limits, file_bytes=settings.limits.file_mb * MEGABYTE, image_bytes=image)
        self._stop = stop
        self._command = command or paths.own_command("--decode")
        self._child: Child | None = None

    def __enter__(self) -> Decoder:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._child is None:
            return
        if kind is None:
            self._child.close()
        else:
            self._child.kill()  # stopped or failed: nobody waits for it to tidy up

    def read(self, name: str, data: bytes) -> tuple[FileAnswer, bytes]:
        """What a file says; with the preview's bytes (PNG) for a picture.

        Raises:
            Cancelled: the import was stopped.
            BugError: no child can be started.
        """
        answer, blob = self._ask(Read(name), data)
        return (answer, blob) if isinstance(answer, FileAnswer) else (self._nonsense(), b"")

    def render(self, data: bytes, *, pixels: int) -> tuple[Rendered | Refused, bytes]:
        """The middle frame of a DICOM image (`pixels` = rows x columns) as PNG, or why not. Raises as `read`."""
        answer, blob = self._ask(Render(pixels), data)
        return (answer, blob) if isinstance(answer, Rendered | Refused) else (self._nonsense(), b"")

    def _ask(self, question: Question, data: bytes) -> tuple[Answer, bytes]:
        child = self._child or self._started()
        answer = _answered(child.ask(question, data, seconds=ANSWER_S, stop=self._stop))
        if isinstance(answer[0], Refused) and answer[0].code in ("D10", "D12"):
            self._end()
        return answer

    def _nonsense(self) -> Refused:
        """An answer to another question: the child is not to be trusted any more."""
        self._end()
        return Refused(*LOST["garbled"])

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _started(self) -> Child:
        child = Child(self._command)
        answer = _answered(child.ask(self._start, seconds=START_S, stop=self._stop))
        if not isinstance(answer[0], Ready):
            child.kill()
            raise BugError("The process that reads files could not be started.", code="decode child")
        self._child = child
        return child


def _answered(raw: tuple[bytes, bytes] | Lost) -> tuple[Answer, bytes]:
    """An answer with its blob; a lost or malformed one as a refusal."""
    if isinstance(raw, Lost):
        return Refused(*LOST[raw.why]), b""
    try:
        return codec.decode(raw[0], Answer), raw[1]
    except msgspec.MsgspecError:
        return Refused(*LOST["garbled"]), b""
