"""What the decode child is asked and what it answers; and the parent's doors to it, which outlive dead children.

The parent sends bytes and gets values and previews back; it never opens foreign bytes itself. A child that dies, takes
too long or talks nonsense costs the file in hand a sentence, and the next file gets a new child. Knows no store.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec

from core import codec, paths
from core.domain.case import EhrTable, Patient
from core.errors import BugError, UserError
from core.imaging.facts import Directory, Instance, Paper, Picture, Rendered
from core.isolate import GIB, Child, Limits, Lost
from core.readers import paper
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
    """The first message: limits of the child; largest file, decoded image and database (bytes); pages of a PDF."""

    limits: Limits
    file_bytes: int
    image_bytes: int
    pages: int = 2000


class Read(msgspec.Struct, frozen=True, tag="read"):
    """The blob is a file of this name: what is it, and what does it say?"""

    name: str


class Study(msgspec.Struct, frozen=True, tag="study"):
    """The blob is a guideline or article of this name: its sections, please."""

    name: str


class Render(msgspec.Struct, frozen=True, tag="render"):
    """The blob is a DICOM image with that many pixels a frame: draw its middle frame."""

    pixels: int


class Unpack(msgspec.Struct, frozen=True, kw_only=True, tag="unpack"):
    """Take an archive of this name and size apart. The child asks for its bytes (`Want`), the parent for members."""

    name: str
    size: int
    ratio: int
    total_bytes: int
    entries: int


class Block(msgspec.Struct, frozen=True, tag="block"):
    """The blob is what was wanted of an archive."""


class Next(msgspec.Struct, frozen=True, tag="next"):
    """The next member of the archive, please."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has its imports done and its limits on."""


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The file was not read: a stable code and a sentence; and the series that has one image less for it."""

    code: str
    reason: str
    series_uid: str = ""


class Part(msgspec.Struct, frozen=True):
    """A document within a file, with a name of its own."""

    title: str
    content: TextDocument | TableDocument


class Parted(msgspec.Struct, frozen=True, kw_only=True, tag="parted"):
    """A file that holds several documents (a FHIR bundle), and whose they are."""

    parts: tuple[Part, ...]
    patient: Patient = Patient()
    remarks: tuple[str, ...] = ()


class Extract(msgspec.Struct, frozen=True, kw_only=True, tag="extract"):
    """An EHR extract in SQLite: its tables, and what is to be said of it."""

    tables: tuple[EhrTable, ...]
    remarks: tuple[str, ...] = ()


class Want(msgspec.Struct, frozen=True, tag="want"):
    """Bytes [offset, offset + size) of the archive, please."""

    offset: int
    size: int


class Member(msgspec.Struct, frozen=True, tag="member"):
    """The blob is a file of the archive, by its clean relative name."""

    name: str


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """A file of the archive that was not taken out of it, and why."""

    name: str
    reason: str


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The archive has no more members."""


Question = Start | Read | Study | Render | Unpack | Block | Next
FileAnswer = TextDocument | TableDocument | Picture | Instance | Paper | Directory | Parted | Extract | Refused
Answer = Ready | Rendered | FileAnswer | paper.Paper | Want | Member | Passed | Done


class Room:
    """One decode child behind one door: begun when first needed, ended when it fails, begun anew for the next file.

    Answers come in the order of the questions. From one thread.
    """

    def __init__(self, settings: Settings, stop: threading.Event, command: Sequence[str] | None = None) -> None:
        image = int(settings.limits.image_gib * GIB)
        # A decoded picture is held up to twice (upright, in RGB) beside the file itself.
        limits = Limits(memory_bytes=GIB + 3 * image)
        self._start = Start(
            limits=limits,
            file_bytes=settings.limits.file_mb * MEGABYTE,
            image_bytes=image,
            pages=settings.limits.pdf_pages,
        )
        self._stop = stop
        self._command = command or paths.own_command("--decode")
        self._child: Child | None = None
        self._is_ready = False

    @property
    def is_open(self) -> bool:
        """Is there a child?"""
        return self._child is not None

    def begin(self) -> Child:
        """The child; started, and told its limits, if there is none. Does not wait for it."""
        if self._child is None:
            self._child = Child(self._command)
            self._child.send(self._start)
            self._is_ready = False
        return self._child

    def send(self, question: Question, blob: bytes = b"") -> None:
        self.begin().send(question, blob)

    def receive(self) -> tuple[Answer, bytes]:
        """The answer to the oldest question; a child that gave none is ended, and the answer is a refusal.

        Raises:
            Cancelled: the import was stopped; the child is ended.
            BugError: no child can be started.
        """
        child = self.begin()
        if not self._is_ready:
            if not isinstance(_answered(child.receive(seconds=START_S, stop=self._stop))[0], Ready):
                self.end()
                raise BugError("The process that reads files could not be started.", code="decode child")
            self._is_ready = True
        answer = _answered(child.receive(seconds=ANSWER_S, stop=self._stop))
        if isinstance(answer[0], Refused) and answer[0].code in ("D10", "D12"):
            self.end()
        return answer

    def nonsense(self) -> Refused:
        """An answer to another question: the child is not to be trusted any more."""
        self.end()
        return Refused(*LOST["garbled"])

    def end(self) -> None:
        """End the child at once: it holds nothing that anybody would miss, and tidying up would take its time."""
        if self._child is not None:
            self._child.kill()
            self._child = None


class Decoder:
    """Asks a decode child about files; use as a context manager, from one thread.

    Questions may be asked ahead of the answers, which come in the same order; a child that dies costs the file in hand,
    and the next child is asked about the rest.
    """

    def __init__(self, settings: Settings, stop: threading.Event, command: Sequence[str] | None = None) -> None:
        self._room = Room(settings, stop, command)
        self._asked: deque[tuple[Question, bytes]] = deque()

    def __enter__(self) -> Decoder:
        self._room.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._room.end()

    @property
    def waiting(self) -> tuple[int, ...]:
        """Sizes of the files that were asked about and not answered for, bytes."""
        return tuple(len(blob) for _, blob in self._asked)

    def begin(self, name: str, data: bytes) -> None:
        """Ask about a file and go on; `finish` gives the answers, the oldest first."""
        self._ask(Read(name), data)

    def finish(self) -> tuple[FileAnswer, bytes]:
        """What a file says; with the preview's bytes (PNG) for a picture.

        Raises:
            Cancelled: the import was stopped.
            BugError: no child can be started.
        """
        answer, blob = self._answer(FileAnswer)
        return (answer, blob) if isinstance(answer, FileAnswer) else (Refused(*LOST["garbled"]), b"")

    def _ask(self, question: Question, data: bytes) -> None:
        self._asked.append((question, data))
        self._room.send(question, data)

    def _answer(self, wanted: Any) -> tuple[Answer, bytes]:
        """The oldest answer; the rest is asked again where the child has gone, or answers another question."""
        answer, blob = self._room.receive()
        self._asked.popleft()
        if not isinstance(answer, wanted):
            answer = self._room.nonsense()
        if not self._room.is_open:
            for question in self._asked:
                self._room.send(*question)
        return answer, blob

    def read(self, name: str, data: bytes) -> tuple[FileAnswer, bytes]:
        """`begin` and `finish`."""
        self.begin(name, data)
        return self.finish()

    def study(self, name: str, data: bytes) -> paper.Paper:
        """A guideline or article in sections. Raises UserError: it is not read, with the reason; else as `finish`."""
        self._ask(Study(name), data)
        answer, _ = self._answer(paper.Paper | Refused)
        if isinstance(answer, paper.Paper):
            return answer
        refused = answer if isinstance(answer, Refused) else Refused(*LOST["garbled"])
        raise UserError(refused.reason, code=refused.code)

    def render(self, data: bytes, *, pixels: int) -> tuple[Rendered | Refused, bytes]:
        """The middle frame of a DICOM image (`pixels` = rows x columns) as PNG, or why not. Raises as `finish`."""
        self._ask(Render(pixels), data)
        answer, blob = self._answer(Rendered | Refused)
        return (answer, blob) if isinstance(answer, Rendered | Refused) else (Refused(*LOST["garbled"]), b"")


def _answered(raw: tuple[bytes, bytes] | Lost) -> tuple[Answer, bytes]:
    """An answer with its blob; a lost or malformed one as a refusal."""
    if isinstance(raw, Lost):
        return Refused(*LOST[raw.why]), b""
    try:
        return codec.decode(raw[0], Answer), raw[1]
    except msgspec.MsgspecError:
        return Refused(*LOST["garbled"]), b""
