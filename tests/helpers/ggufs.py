"""Heads of model files, written by hand after the specification of the format: sound ones, and such as are not."""

from __future__ import annotations

import struct
from collections.abc import Mapping

TEXT, U32, U64, ARRAY = 8, 4, 10, 9
LLAMA = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.context_length": 2048,
}
F32 = 0


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(key: str, value: object) -> bytes:
    """One entry: a text, a 32-bit number, a list of texts, or raw bytes that begin with their type."""
    if isinstance(value, bytes):
        return text(key) + value
    if isinstance(value, str):
        return text(key) + struct.pack("<I", TEXT) + text(value)
    if isinstance(value, list):
        items = b"".join(map(text, value))
        return text(key) + struct.pack("<IIQ", ARRAY, TEXT, len(value)) + items
    assert isinstance(value, int)
    return text(key) + struct.pack("<II", U32, value)


def tensor(name: str, dims: tuple[int, ...], *, kind: int = F32, offset: int = 0) -> bytes:
    lengths = struct.pack(f"<{len(dims)}Q", *dims)
    return text(name) + struct.pack("<I", len(dims)) + lengths + struct.pack("<IQ", kind, offset)


def head(
    pairs: Mapping[str, object] = LLAMA,
    *,
    tensors: tuple[bytes, ...] = (),
    version: int = 3,
    counts: tuple[int, int] | None = None,
    data: int = 0,
) -> bytes:
    """A whole file: head, padding to 32, `data` zero bytes. `counts` replaces the true (tensors, entries)."""
    listed = b"".join(pair(key, value) for key, value in pairs.items())
    n_tensors, n_pairs = counts or (len(tensors), len(pairs))
    start = b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_pairs) + listed + b"".join(tensors)
    return start + bytes(-len(start) % 32) + bytes(data)


def model(name: str = "token_embd.weight") -> bytes:
    """The smallest file that our reader takes for a language model: one tensor of 64 x 8 numbers."""
    return head(tensors=(tensor(name, (64, 8)),), data=64 * 8 * 4)
