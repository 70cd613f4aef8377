"""Where evaluated prefixes are kept: in memory, and those free of patient text as files as well (runtime.md 4.6).

A state holds its text in recoverable form: who writes one to disk must know that it is free of patient text. Must not
know engines or prompts.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

MAGIC = b"WRKV1"
MIB = 1 << 20
DISK_BYTES = 2048 * MIB
_HEAD = len(MAGIC) + 32 + 4 + 8


class StateIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """All that a state depends on besides its tokens."""

    contents_sha256: str
    lib_build: str
    type_k: str
    type_v: str
    flash: bool
    swa_full: bool
    chunk: int

    def key(self, tokens: Sequence[int]) -> str:
        """sha256 over these fields in order, each ended by a zero byte, and the tokens as little-endian int32."""
        fields = (str(value).encode() for value in msgspec.structs.astuple(self))
        head = b"".join(field + b"\0" for field in fields)
        return hashlib.sha256(head + np.asarray(tokens, dtype="<i4").tobytes()).hexdigest()


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
