"""Keeps evaluated prefixes for reuse: case prefixes in memory only, static ones on disk as well (runtime.md 4.6).

A state holds its text in recoverable form. Only prefixes that the caller calls static, free of patient text, may be
written to disk; `forget_cases` drops the others. Must not know what a prompt says.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from models.llama.engine import Engine

MAGIC = b"WRKV1"
MIB = 1 << 20
CASE_BYTES, STATIC_BYTES, DISK_BYTES = 512 * MIB, 256 * MIB, 2048 * MIB
WORTH_CHUNKS = 4  # a case prefix is kept when at least so many chunks had to be evaluated
_HEAD = len(MAGIC) + 32 + 4 + 8

Source = Literal["cold", "reuse", "state"]


class MemoryStates:
    """Least recently used states in memory, by key, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._states: OrderedDict[str, tuple[int, bytes]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    def lengths(self) -> set[int]:
        """Prefix lengths, in tokens, that are there."""
        return {length for length, _ in self._states.values()}

    def get(self, key: str) -> bytes | None:
        found = self._states.get(key)
        if found is None:
            return None
        self._states.move_to_end(key)
        return found[1]

    def put(self, key: str, length: int, state: bytes) -> None:
        self._states[key] = (length, state)
        while self._states and sum(len(data) for _, data in self._states.values()) > self._limit:
            self._states.popitem(last=False)

    def clear(self) -> None:
        self._states.clear()


class DiskStates:
    """Static states as files of a cache folder: magic, key, tokens, bytes, data, sha256; least recently used."""

    def __init__(self, folder: Path, limit: int = DISK_BYTES) -> None:
        self._folder, self._limit = folder, limit
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.wrkv"

    def get(self, key: str) -> bytes | None:
        """The state, or None; a file that is not whole is deleted."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        body, seal = content[:-32], content[-32:]
        whole = len(content) > _HEAD + 32 and hashlib.sha256(body).digest() == seal
        if not whole or not body.startswith(MAGIC + bytes.fromhex(key)):
            path.unlink(missing_ok=True)
            return None
        os.utime(path)
        return body[_HEAD:]

    def put(self, key: str, length: int, state: bytes) -> None:
        """Write a state by replacing the file whole, then delete the oldest beyond the limit."""
        body = MAGIC + bytes.fromhex(key) + length.to_bytes(4, "little") + len(state).to_bytes(8, "little") + state
        part = self._path(key).with_suffix(".part")
        part.write_bytes(body + hashlib.sha256(body).digest())
        part.replace(self._path(key))
        self._trim()

    def _trim(self) -> None:
        files = sorted(self._folder.glob("*.wrkv"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        total = 0
        for path in files:
            total += path.stat().st_size
            if total > self._limit:
                path.unlink(missing_ok=True)


class PrefixKeeper:
    """Brings an engine to a prefix by the cheapest way; none of them changes a bit of the result."""

    def __init__(self, engine: Engine, *, identity: str, folder: Path | None) -> None:
        """`identity`: all that a state depends on besides its tokens; `folder`: for static states, None: no disk."""
        self._engine, self._identity = engine, identity.encode()
        self._cases, self._statics = MemoryStates(CASE_BYTES), MemoryStates(STATIC_BYTES)
        self._disk = DiskStates(folder) if folder is not None else None

    def _key(self, tokens: Sequence[int]) -> str:
        return hashlib.sha256(self._identity + b"\0" + array("i", tokens).tobytes()).hexdigest()

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
