"""A prompt as a row of texts, in tokens, and pictures. Pure values: knows no engine, no template and no case."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from core import codec
from core.domain.chat import ImagePart

Tokens = tuple[int, ...]


class Picture(msgspec.Struct, frozen=True):
    """What is to be seen: how it was rendered from which artifact, and the rendered bytes."""

    part: ImagePart
    png: bytes


Piece = Tokens | Picture


class Prompt(msgspec.Struct, frozen=True):
    """Texts and pictures in order; the first `static` tokens of one without pictures are free of patient text."""

    pieces: tuple[Piece, ...]
    static: int

    @property
    def tokens(self) -> Tokens:
        """Those of all texts."""
        return texts(self.pieces)

    @property
    def _end(self) -> int:
        return max((at + 1 for at, piece in enumerate(self.pieces) if isinstance(piece, Picture)), default=0)

    @property
    def seen(self) -> bool:
        """Whether there is a picture in it."""
        return self._end > 0

    @property
    def until_picture(self) -> tuple[Piece, ...]:
        """What ends in the last picture."""
        return self.pieces[: self._end]

    @property
    def after_picture(self) -> Tokens:
        """The tokens after the last picture."""
        return texts(self.pieces[self._end :])

    @property
    def digest(self) -> str:
        """sha256 over the tokens as little-endian int32; a picture counts as the hash of how it is rendered."""
        return codec.sha256(b"".join(map(_bytes_of, self.pieces)))


def texts(pieces: Sequence[Piece]) -> Tokens:
    """The tokens of the texts among the pieces."""
    return tuple(token for piece in pieces if not isinstance(piece, Picture) for token in piece)


def count_tokens(pieces: Sequence[Piece]) -> int:
    """How many tokens the texts among the pieces have."""
    return sum(0 if isinstance(piece, Picture) else len(piece) for piece in pieces)


def join(pieces: list[Piece], new: Piece) -> list[Piece]:
    """The pieces with one more; text that follows text is one piece."""
    if isinstance(new, Picture) or isinstance(pieces[-1], Picture):
        return [*pieces, new]
    return [*pieces[:-1], (*pieces[-1], *new)]


def _bytes_of(piece: Piece) -> bytes:
    return codec.encode(piece.part) if isinstance(piece, Picture) else np.asarray(piece, dtype="<i4").tobytes()
