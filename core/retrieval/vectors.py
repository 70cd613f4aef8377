"""The files of one pack's vectors: appended in blocks, each with its hash: damage costs only what lies behind it.

Rows are durable before the header names them; what lies behind the named rows is the rest of an interrupted write. It
must not know how vectors are made, nor what a passage says.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from core import codec
from core.errors import StoreError
from core.store.artifacts import sync_folder

VERSION = 1
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
_HALF, _CID = np.dtype("<f2"), np.dtype("<u4")
_RAISE = np.float32(2.0**112)
_STEP = 1024  # rows widened at once


class Block(msgspec.Struct, frozen=True):
    """Rows written together, and the hash over their numbers and vectors."""

    rows: int
    sha256: str


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack's vectors were made of. `head` names the content of the database at that time."""

    pack: str
    pack_sha256: str
    head: str
    embedder: str
    model_sha256: str
    dim: int
    windows: str
    version: int = VERSION
    blocks: tuple[Block, ...] = ()

    @property
    def n(self) -> int:
        return sum(block.rows for block in self.blocks)


class Rows:
    """Vectors, float16[n, dim] mapped from the disk, and the passage of each. Windows of a passage lie together."""

    def __init__(self, ids: NDArray[np.uint32], vectors: NDArray[np.float16]) -> None:
        self.ids = ids
        self.vectors = vectors
        self._room: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where each passage's rows begin."""
        return (
            np.flatnonzero(np.concatenate(([True], self.ids[1:] != self.ids[:-1])))
            if len(self.ids)
            else np.zeros(0, np.intp)
        )

    @cached_property
    def cids(self) -> NDArray[np.uint32]:
        """Each passage once, in the order of the rows."""
        return self.ids[self._starts]

    def lacks(self, cids: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Those of the passages that have no row here, ascending."""
        return np.setdiff1d(cids, self.cids)

    def scores(self, vector: NDArray[np.float32], block: int, *, keep: bool = False) -> NDArray[np.float32]:
        """Cosine of each passage's best window, in the order of `cids`; exact, `block` rows at a time.

        `keep` holds the vectors widened in memory: four times as fast from the second time on, 4 dim bytes a row.
        """
        found = np.empty(len(self.ids), np.float32)
        raised = vector.astype(np.float32) * _RAISE
        for first in range(0, len(found), block):
            part = self._wide[first : first + block] if keep else self._widen(first, block)
            np.dot(part, raised, out=found[first : first + block])
        return found if len(self._starts) == len(found) else np.maximum.reduceat(found, self._starts)

    @cached_property
    def _wide(self) -> NDArray[np.float32]:
        wide = np.empty(self.vectors.shape, np.float32)
        for first in range(0, len(wide), _STEP):
            wide[first : first + _STEP] = self._widen(first, _STEP)
        return wide

    def _widen(self, first: int, block: int) -> NDArray[np.float32]:
        part = self.vectors[first : first + block].view(np.uint16)
        if self._room is None or len(self._room[0]) < len(part):
            self._room = (np.empty(part.shape, np.uint32), np.empty(part.shape, np.uint32))
        return _widened(part, *self._room)


def _widened(halves: NDArray[np.uint16], wide: NDArray[np.uint32], spare: NDArray[np.uint32]) -> NDArray[np.float32]:
    """float16 as float32 divided by 2^112, by their bits: sign to the top, exponent and fraction 13 places up.

    Three times as fast as NumPy's conversion, and exact: the factor only moves the exponent (no vector holds infinity).
    """
    bits, rest = wide[: len(halves)], spare[: len(halves)]
    np.copyto(bits, halves)
    np.left_shift(bits, 13, out=rest)
    np.bitwise_and(rest, 0x0FFFE000, out=rest)
    np.left_shift(bits, 16, out=bits)
    np.bitwise_and(bits, 0x80000000, out=bits)
    np.bitwise_or(bits, rest, out=bits)
    return bits.view(np.float32)


class VectorFile:
    """The three files of one pack in a folder. One writer at a time (the caller's lock); any number of readers."""

    def __init__(self, folder: Path, pack: str) -> None:
        name = pack if _PLAIN.fullmatch(pack) else codec.sha256(pack.encode())[:32]
        self._folder = folder
        self._pack = pack
        self._json, self._f16, self._ids = (folder / f"vectors-{name}.{kind}" for kind in ("json", "f16", "ids"))

    def mark(self) -> str:
        """Changes whenever the header does."""
        try:
            found = self._json.stat()
        except OSError:
            return ""
        return f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"

    def header(self) -> Header | None:
        """The header; None if it is absent, unreadable, of another version or of another pack."""
        try:
            header: Header = codec.decode(self._json.read_bytes(), Header)
        except (OSError, msgspec.DecodeError):
            return None
        return header if (header.version, header.pack) == (VERSION, self._pack) and header.dim > 0 else None

    def rows(self, header: Header) -> Rows:
        """The rows of the intact blocks, up to the first that is damaged or cut off."""
        ids, vectors = self._mapped(header)
        end = 0
        for block in header.blocks:
            part = slice(end, end + block.rows)
            if block.rows < 1 or end + block.rows > len(ids) or _hash(ids[part], vectors[part]) != block.sha256:
                break
            end += block.rows
        return Rows(ids[:end], vectors[:end])

    def restart(self, header: Header, rows: Rows | None, live: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Begin a file under this header with those of the rows whose passages live; returns their numbers.

        Raises:
            StoreError: the disk refuses.
        """
        kept = np.isin(rows.ids, live) if rows is not None else np.zeros(0, bool)
        ids = rows.ids[kept] if rows is not None else np.zeros(0, _CID)
        self._written = header
        parts = tuple(path.with_suffix(f"{path.suffix}.part") for path in (self._f16, self._ids))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._json.unlink(missing_ok=True)  # until the new header is there, these files are nobody's
            vectors = rows.vectors[kept] if rows is not None else np.zeros((0, header.dim), _HALF)
            for part, path, data in zip(parts, (self._f16, self._ids), (vectors, ids), strict=True):
                _write(part, data.tobytes(), 0)
                part.replace(path)  # a reader's map of the old file stays what it was
            blocks = (Block(len(ids), _hash(ids, vectors)),) if len(ids) else ()
            self._name(msgspec.structs.replace(header, blocks=blocks))
        except OSError as error:
            raise _refused(error) from error
        return np.unique(ids)

    def append(self, entries: Iterable[tuple[int, NDArray[np.float32]]]) -> None:
        """Add rows, and name them in the header once they are durable; after `restart`.

        Raises:
            StoreError: the disk refuses.
        """
        pairs = list(entries)
        if not pairs:
            return
        ids = np.array([cid for cid, _ in pairs], _CID)
        vectors = np.array([vector for _, vector in pairs], _HALF)
        header = self._written
        try:
            _write(self._f16, vectors.tobytes(), header.n * header.dim * _HALF.itemsize)
            _write(self._ids, ids.tobytes(), header.n * _CID.itemsize)
            blocks = (*header.blocks, Block(len(ids), _hash(ids, vectors)))
            self._name(msgspec.structs.replace(header, blocks=blocks))
        except OSError as error:
            raise _refused(error) from error

    def _name(self, header: Header) -> None:
        part = self._json.with_suffix(".json.part")
        _write(part, codec.encode(header), 0)
        part.replace(self._json)
        sync_folder(self._folder)
        self._written = header

    def _mapped(self, header: Header) -> tuple[NDArray[np.uint32], NDArray[np.float16]]:
        """As many whole rows as both files hold, at most those the header names."""
        try:
            n = min(
                header.n,
                self._ids.stat().st_size // _CID.itemsize,
                self._f16.stat().st_size // (_HALF.itemsize * header.dim),
            )
            if n < 1:
                return np.zeros(0, _CID), np.zeros((0, header.dim), _HALF)
            ids = np.fromfile(self._ids, _CID, n)
            return ids, np.memmap(self._f16, _HALF, "r", shape=(n, header.dim))
        except (OSError, ValueError):
            return np.zeros(0, _CID), np.zeros((0, header.dim), _HALF)


def _hash(ids: NDArray[np.uint32], vectors: NDArray[np.float16]) -> str:
    state = hashlib.sha256(np.ascontiguousarray(ids).data)
    state.update(np.ascontiguousarray(vectors).data)
    return state.hexdigest()


def _write(path: Path, data: bytes, offset: int) -> None:
    """Bytes at an offset, the file ending there, durable."""
    with path.open("r+b" if offset else "wb") as stream:
        stream.truncate(offset)
        stream.seek(offset)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _refused(error: OSError) -> StoreError:
    reason = os.strerror(error.errno) if error.errno else str(error)[:200]
    return StoreError(f"The vectors of the knowledge could not be written: {reason}.", code="vectors not written")
