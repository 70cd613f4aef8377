"""The only (de)serialiser: canonical JSON of msgspec structs, and hashes over it. Knows no domain value."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(order="deterministic")
BLOCK = 1 << 20


def encode(value: Any) -> bytes:
    """Canonical JSON without blanks: structs in field order, mappings and sets sorted; equal values, equal bytes."""
    return _ENCODER.encode(value)


def decode(data: bytes | str, kind: type[T] | Any) -> T:
    """Parse and validate JSON against a type.

    Raises:
        msgspec.ValidationError: well-formed JSON of another shape.
        msgspec.DecodeError: not JSON.
    """
    result: T = msgspec.json.decode(data, type=kind)
    return result


def pretty(value: Any) -> str:
    """Indented JSON for people and scripts (`--json`)."""
    return msgspec.json.format(encode(value), indent=2).decode()


def sha256(data: bytes) -> str:
    """Hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON: its content hash."""
    return sha256(encode(value))


def file_blocks(path: Path) -> Iterator[bytes]:
    """A file's bytes in blocks of one MiB."""
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            yield block


def file_sha256(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file; `on_bytes` hears how many bytes were read (progress, cancel by raising)."""
    state = hashlib.sha256()
    for block in file_blocks(path):
        state.update(block)
        if on_bytes is not None:
            on_bytes(len(block))
    return state.hexdigest()
