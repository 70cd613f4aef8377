"""Texts to vectors in a child process (`--embed`), both sides: a fault in a native library never ends the window.

The child holds no profile, no database and no text longer than it takes to answer. The parent's side is an `Embedder`
like any other. Knows neither passages nor searches.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from core import codec, paths
from core.domain.pack import EmbedderInfo
from core.domain.ports import Embedder
from core.errors import ModelError, UserError
from core.isolate import Child, Lost, read_frame, take_output, write_frame
from core.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPENING_S, ANSWER_S = 60.0, 30.0  # how long the child may take: to check and load the pack, for one text
CALM = 10  # niceness of work that nobody waits for


class Open(msgspec.Struct, frozen=True, tag="open"):
    """The first question: under which settings; `calm`: other programs go first."""

    settings: Settings
    calm: bool


class Embed(msgspec.Struct, frozen=True, tag="embed"):
    """Vectors of the windows of a text, at most so many (0 = all)."""

    text: str
    most: int


class Count(msgspec.Struct, frozen=True, tag="count"):
    text: str


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    info: EmbedderInfo


class Made(msgspec.Struct, frozen=True, tag="made"):
    """The vectors are the blob: float32[windows, dim]."""

    windows: int


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    pieces: int


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A sentence; `model`: the model's fault, else something that a person can put right."""

    code: str
    text: str
    model: bool


Question: TypeAlias = Open | Embed | Count
Answer: TypeAlias = Opened | Made | Counted | Failed


# ------------------------------------------------------------------------------------------------------- the child


def main() -> int:
    """Answer until the input ends. Returns the exit code."""
    from desktop.vectors import packed_embedder

    out = take_output()
    embedder: Embedder | None = None
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        question: Question = codec.decode(frame[0], Question)
        try:
            if isinstance(question, Open):
                _give_way(question.calm)
                embedder = packed_embedder(question.settings)
                write_frame(out, Opened(embedder.info))
            elif embedder is not None:
                write_frame(out, *_answer(question, embedder))
        except (UserError, ModelError) as error:
            write_frame(out, Failed(error.code, error.text, isinstance(error, ModelError)))
    return 0


def _give_way(calm: bool) -> None:
    if calm and sys.platform != "win32":
        os.nice(CALM)


def _answer(question: Embed | Count, embedder: Embedder) -> tuple[Answer, bytes]:
    if isinstance(question, Count):
        return Counted(embedder.count(question.text)), b""
    vectors = embedder.embed_windows(question.text, most=question.most)
    return Made(len(vectors)), b"".join(vector.astype("<f4").tobytes() for vector in vectors)


# --------------------------------------------------------------------------------------------------- the parent's side


class ChildEmbedder(Embedder):
    """An embedder in a process of its own. Use it in one thread, and close it there."""

    def __init__(self, settings: Settings, *, calm: bool = False, command: list[str] | None = None) -> None:
        """Start the child and let it check and load the pack that the settings name.

        Raises:
            UserError: not installed, damaged, or no embedder. ModelError: it cannot be loaded, or the child died.
        """
        self._child: Child | None = Child(command or paths.own_command("--embed"))
        self._info = self._ask(Open(settings, calm), Opened, seconds=OPENING_S)[0].info

    @property
    def info(self) -> EmbedderInfo:
        info: EmbedderInfo = self._info
        return info

    def count(self, text: str) -> int:
        """Pieces of a text, without marks."""
        return int(self._ask(Count(_sendable(text)), Counted)[0].pieces)

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text's first window: float32[dim], unit length."""
        return self.embed_windows(text, most=1)[0]

    def embed_windows(self, text: str, *, most: int = 0) -> tuple[NDArray[np.float32], ...]:
        """A vector for each window of a text, at most `most` of them (0 = all).

        Raises:
            ModelError: the model gave none, or its process ended.
        """
        import numpy as np

        made, blob = self._ask(Embed(_sendable(text), most), Made)
        if len(blob) != 4 * made.windows * self._info.dim or not made.windows:
            raise self._lost()
        return tuple(np.frombuffer(blob, "<f4").reshape(made.windows, self._info.dim).astype(np.float32))

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, question: Question, wanted: Any, *, seconds: float = ANSWER_S) -> tuple[Any, bytes]:
        if self._child is None:
            raise self._lost()
        reply = self._child.ask(question, seconds=seconds, stop=threading.Event())
        if isinstance(reply, Lost):
            raise self._lost()
        answer: Answer = codec.decode(reply[0], Answer)
        if isinstance(answer, Failed):
            if isinstance(question, Open):
                self.close()
            raise (ModelError if answer.model else UserError)(answer.text, code=answer.code)
        if not isinstance(answer, wanted):
            raise self._lost()
        return answer, reply[1]

    def _lost(self) -> ModelError:
        if self._child is not None:
            self._child.kill()
            self._child = None
        return ModelError("The embedder's process ended before it answered.", code="embed_lost")


def _sendable(text: str) -> str:
    """Without what is half a character: the embedder leaves it out too."""
    return text.encode("utf-8", "ignore").decode()
