"""Keeps evaluated prefixes for reuse: case prefixes in memory only, static ones on disk as well (runtime.md 4.6).

A state holds its text in recoverable form. Only prefixes that the caller calls static, free of patient text, may be
written to disk; `forget_cases` drops the others. Must not know what a prompt says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from models.llama.engine import Engine
from models.llama.states import MIB, DiskStates, MemoryStates, StateIdentity

CASE_BYTES, STATIC_BYTES = 512 * MIB, 256 * MIB
WORTH_CHUNKS = 4  # a case prefix is kept when at least so many chunks had to be evaluated

Source = Literal["cold", "reuse", "state"]


class PrefixKeeper:
    """Brings an engine to a prefix by the cheapest way; none of them changes a bit of the result."""

    def __init__(self, engine: Engine, *, identity: StateIdentity, folder: Path | None) -> None:
        """`identity`: what the engine's states depend on; `folder`: for static states, None: no disk."""
        self._engine, self._key = engine, identity.key
        self._cases, self._statics = MemoryStates(CASE_BYTES), MemoryStates(STATIC_BYTES)
        self._disk = DiskStates(folder) if folder is not None else None

    def prepare(self, tokens: Sequence[int], static_length: int) -> Source:
        """Make the engine hold `tokens`, the first `static_length` of which are free of patient text."""
        engine, chunk = self._engine, self._engine.setting.chunk
        whole = (len(tokens) - 1) // chunk * chunk
        static = min(static_length // chunk * chunk, whole)
        live = engine.shared(tokens)
        restored = self._restore(tokens, longer_than=live, static=static)
        begun = restored or live
        if static > begun:
            engine.advance(tokens, static)
            self._put_static(tokens[:static])
        if whole - max(begun, static) >= WORTH_CHUNKS * chunk:
            engine.advance(tokens, whole)
            self._cases.put(self._key(tokens[:whole]), whole, engine.save())
        engine.set_prefix(tokens)
        return "state" if restored else "reuse" if live else "cold"

    def _restore(self, tokens: Sequence[int], *, longer_than: int, static: int) -> int:
        """Restore the longest kept state that beats what the engine holds; gives its length, 0 for none."""
        lengths = self._cases.lengths() | self._statics.lengths() | {static}
        for length in sorted((n for n in lengths if longer_than < n < len(tokens)), reverse=True):
            state = self._find(self._key(tokens[:length]), length)
            if state is not None and self._engine.restore(state, tokens[:length]):
                return length
        return 0

    def _find(self, key: str, length: int) -> bytes | None:
        found = self._cases.get(key) or self._statics.get(key)
        if found is None and self._disk is not None:
            found = self._disk.get(key)
            if found is not None:
                self._statics.put(key, length, found)
        return found

    def _put_static(self, tokens: Sequence[int]) -> None:
        key, state = self._key(tokens), self._engine.save()
        self._statics.put(key, len(tokens), state)
        if self._disk is not None:
            self._disk.put(key, len(tokens), state)

    def forget_cases(self) -> None:
        """Drop every state that may hold patient text (case closed, screen locked)."""
        self._cases.clear()
        self._engine.clear()
