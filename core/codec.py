"""The only (de)serialiser: canonical JSON of msgspec structs, and hashes over it. Knows no domain value."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(order="deterministic")


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
