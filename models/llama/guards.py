"""Checks that must hold before a native call: where they fail, llama.cpp would abort the process or answer nonsense.

Each raises BugError, because only our own code can break them. Must not import the native library.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Sequence
from typing import NamedTuple

from core.errors import BugError

GRAMMAR_BYTES = 16_384
PNG = b"\x89PNG\r\n\x1a\n"
LONGEST_SIDE = 1344  # pixels: bounds how long a picture is encoded, which nothing can interrupt
OWN_URI = "data:image/png;base64,"


class Row(NamedTuple):
    """One token to evaluate: its position in its sequence, and whether its logits are wanted."""

    token: int
    position: int
    sequence: int
    wanted: bool


def check_open(closed: bool) -> None:
    """A call into a freed context is a segmentation fault."""
    if closed:
        raise BugError("The model engine is closed.", code="engine_closed")


def check_owner(owner: int) -> None:
    """Two threads on one context are a segmentation fault; `owner` is a thread identity."""
    if threading.get_ident() != owner:
        raise BugError("The model engine was called from another thread.", code="engine_thread")


def check_sequence(sequence: int, n_seq: int) -> None:
    """`seq_cp` to an id outside 0 … n_seq - 1 is silently accepted and corrupts the cache."""
    if not 0 <= sequence < n_seq:
        raise BugError(f"Sequence {sequence} is outside 0 to {n_seq - 1}.", code="engine_sequence")


def check_rows(rows: Sequence[Row], *, n_batch: int, n_seq: int, n_vocab: int, n_ctx: int) -> None:
    """More rows than `n_batch` abort the process; foreign tokens, positions and sequences are refused here as well."""
    if not 0 < len(rows) <= n_batch:
        raise BugError(f"A batch of {len(rows)} rows; allowed are 1 to {n_batch}.", code="engine_rows")
    for row in rows:
        check_sequence(row.sequence, n_seq)
        if not 0 <= row.token < n_vocab:
            raise BugError(f"Token {row.token} is outside the vocabulary.", code="engine_token")
        if not 0 <= row.position < n_ctx:
            raise BugError(f"Position {row.position} is outside the context.", code="engine_position")


def check_flagged(row: int, flagged: frozenset[int]) -> None:
    """Logits exist only for rows of the last batch that asked for them; sampling another one aborts the process."""
    if row not in flagged:
        raise BugError(f"Row {row} of the last batch has no logits.", code="engine_unflagged")


def check_prefix(length: int, n_ctx: int) -> None:
    """A prefix has at least one token, and leaves room for at least one more."""
    if not 0 < length < n_ctx:
        raise BugError(f"A prefix of {length} tokens in a context of {n_ctx}.", code="engine_prefix")


def check_whole(held: int, whole: int) -> None:
    """A state is saved at a chunk border only: a cut chunk would give other bits after restoring."""
    if held != whole:
        raise BugError(f"A state of {held} tokens, of which {whole} in whole chunks.", code="engine_state")


def check_grammar(text: str) -> None:
    """An empty grammar silently allows everything, and a very large one crashes the parser."""
    if not text.strip() or len(text.encode()) > GRAMMAR_BYTES or "\0" in text:
        raise BugError("The grammar is empty or too large.", code="engine_grammar")


def check_picture(source: bytes | str) -> bytes:
    """The bytes of an 8-bit PNG of ours, grey or RGB; a text may only be the `data:` form of one.

    A path or an address is refused here, before anything could open it.
    """
    data = _of_own_uri(source) if isinstance(source, str) else source
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    form = data[:8] == PNG and data[12:16] == b"IHDR" and data[24:25] == b"\x08" and data[25:26] in (b"\0", b"\2")
    if not form or not 0 < min(width, height) <= max(width, height) <= LONGEST_SIDE:
        raise BugError(f"A picture for the model is not an 8-bit PNG of at most {LONGEST_SIDE} px.", code="picture")
    return data


def _of_own_uri(text: str) -> bytes:
    if not text.startswith(OWN_URI):
        raise BugError("A picture for the model was named by a path or an address.", code="picture_uri")
    try:
        return base64.b64decode(text[len(OWN_URI) :], validate=True)
    except binascii.Error as error:
        raise BugError("A picture for the model has a damaged text form.", code="picture_uri") from error
