"""Our own small reader of a GGUF file's head: the numbers that the memory plan needs, and whether the file is whole.

Reads nothing else, keeps no text of the file but its names, and refuses whatever is odd: every count and length has a
hard limit, no value is trusted to be of the size that it says. Layout: the GGUF specification of the ggml project,
versions 2 and 3, little-endian. Never runs or loads a model.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, Any

import msgspec

from core.domain.pack import Architecture
from core.errors import UserError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_PAIRS, MOST_TENSORS, MOST_ITEMS = 4096, 65_536, 1 << 22
MOST_KEY, MOST_NAME, MOST_TEXT, MOST_HEAD = 1024, 256, 1 << 24, 1 << 28
MOST_DIMENSION = 1 << 40
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
# ggml type: (numbers in a block, bytes of a block).
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
QUANTS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 25: "IQ4_NL", 30: "IQ4_XS",
    32: "BF16",
}  # fmt: skip
LIMITS = {"n_layer": 1024, "n_kv_head": 1024, "head_dim": 4096, "head_dim_v": 4096, "n_ctx_train": 1 << 24}
WEB_PAGE = (b"<!doctype", b"<html", b"<head", b"<?xml")


class GgufFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the head of a file says. `arch` is None where it is no language model; `params`: numbers in all tensors."""

    architecture: str
    params: int
    quant: str
    arch: Architecture | None

    @property
    def projector(self) -> bool:
        """Is it the picture side of a vision model?"""
        return self.architecture == "clip"


def read_gguf(path: Path) -> GgufFacts:
    """The facts of a model file.

    Raises:
        UserError: `bad_model`, it is empty, no model file, of another version, cut off, or odd; the sentence says what.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(512)
        refuse_mistakes(start, path.name)
        _refuse_other_formats(start, path.name)
        stream.seek(0)
        try:
            return _facts(_Head(stream, path.name, size))
        except (struct.error, OverflowError, ValueError, TypeError) as error:
            raise odd(path.name, "its head cannot be read") from error


def refuse_mistakes(start: bytes, name: str) -> None:
    """UserError for what people save by mistake in place of a file; `start`: its first bytes."""
    if not start:
        raise _bad(f"{name} is empty.")
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith(WEB_PAGE):
        raise _bad(f"{name}: this is a web page, not a model. Save the file itself, not the page that links to it.")
    if text.startswith(b"version https://git-lfs"):
        raise _bad(f"{name} is a pointer to a model, not the model: the large file was not fetched.")


def _refuse_other_formats(start: bytes, name: str) -> None:
    if start[:4] != MAGIC:
        raise _bad(f"{name} is not a model in the GGUF format: it does not begin with GGUF.")
    if len(start) < 24:
        raise _cut(name)
    version = struct.unpack_from("<I", start, 4)[0]
    if version not in VERSIONS:
        raise _bad(f"{name} is of GGUF version {version}; this program reads versions 2 and 3.")


def odd(name: str, what: str) -> UserError:
    return _bad(f"{name} is not a sound model file: {what}.")


def _cut(name: str) -> UserError:
    return _bad(f"{name} is cut off: it ends before its contents do. Copy or download it again.")


def _bad(text: str) -> UserError:
    return UserError(text, code="bad_model")


class _Head:
    """Reads values from the head, within limits."""

    def __init__(self, stream: IO[bytes], name: str, size: int) -> None:
        self._stream, self.name, self.size = stream, name, size

    def take(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) < count:
            raise _cut(self.name)
        return data

    def skip(self, count: int) -> None:
        place = self._stream.seek(count, 1)
        if place > self.size:
            raise _cut(self.name)
        if place > MOST_HEAD:
            raise odd(self.name, "its head is too long")

    @property
    def place(self) -> int:
        return self._stream.tell()

    def number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))[0]

    def count(self, most: int, what: str) -> int:
        value = int(self.number("Q"))
        if value > most:
            raise odd(self.name, f"it declares {value} {what}")
        return value

    def text(self, most: int, what: str) -> str:
        return self.take(self.count(most, f"bytes of {what}")).decode("utf-8")

    def value(self) -> Any:
        """A scalar or a short text; an array is gone past, and of one of small whole numbers the largest is kept."""
        kind = self.number("I")
        if kind == STRING:
            length = self.count(MOST_TEXT, "bytes of text")
            if length <= MOST_NAME:
                return self.take(length).decode("utf-8")
            self.skip(length)
            return ""
        return self._array() if kind == ARRAY else self._scalar(kind)

    def _scalar(self, kind: int) -> Any:
        if kind not in SCALARS:
            raise odd(self.name, f"it holds a value of the unknown type {kind}")
        return self.number(SCALARS[kind])

    def _array(self) -> Any:
        kind, length = self.number("I"), self.count(MOST_ITEMS, "values in one list")
        if kind == STRING:
            for _ in range(length):
                self.skip(self.count(MOST_TEXT, "bytes of text"))
            return None
        if kind not in SCALARS:
            raise odd(self.name, f"it holds a list of the unknown type {kind}")
        form = SCALARS[kind]
        if length > LIMITS["n_layer"] or form in "fd" or not length:
            self.skip(length * struct.calcsize(form))
            return None
        return max(struct.unpack(f"<{length}{form}", self.take(length * struct.calcsize(f"<{form}"))))


def _facts(head: _Head) -> GgufFacts:
    head.take(8)  # magic and version were looked at
    tensors = head.count(MOST_TENSORS, "tensors")
    pairs = _pairs(head, head.count(MOST_PAIRS, "entries"))
    params = _tensors(head, tensors, int(pairs.get("general.alignment", 32)))
    architecture = str(pairs.get("general.architecture", ""))
    if not architecture:
        raise odd(head.name, "it does not say of which architecture it is")
    return GgufFacts(
        architecture=architecture,
        params=params,
        quant=QUANTS.get(int(pairs.get("general.file_type", -1)), ""),
        arch=None if architecture == "clip" else _architecture(head, architecture, pairs),
    )


def _pairs(head: _Head, count: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(count):
        key = head.text(MOST_KEY, "a name")
        if key in found:
            raise odd(head.name, "one of its entries stands in it twice")
        found[key] = head.value()
    return found


def _tensors(head: _Head, count: int, alignment: int) -> int:
    """Numbers in all tensors, after a look at whether the file is long enough for them."""
    if not 1 <= alignment <= 1 << 16:
        raise odd(head.name, "its alignment is not usable")
    params = end = 0
    for _ in range(count):
        head.text(MOST_NAME, "a tensor's name")
        dimensions = int(head.number("I"))
        if not 1 <= dimensions <= 4:
            raise odd(head.name, f"one of its tensors has {dimensions} dimensions")
        numbers = 1
        for _ in range(dimensions):
            numbers *= head.count(MOST_DIMENSION, "numbers in a row")
        kind, offset = int(head.number("I")), int(head.number("Q"))
        if kind not in BLOCKS:
            raise odd(head.name, f"one of its tensors is of the unknown type {kind}")
        block, size = BLOCKS[kind]
        params, end = params + numbers, max(end, offset + numbers // block * size)
    start = -(-head.place // alignment) * alignment
    if start + end > head.size:
        raise _cut(head.name)
    return params


def _architecture(head: _Head, name: str, pairs: dict[str, Any]) -> Architecture:
    """Layers, heads of the cache, their width, context: from the keys of the architecture."""

    def stated(key: str, default: int = 0) -> int:
        value = pairs.get(f"{name}.{key}", default)
        if not isinstance(value, int):
            raise odd(head.name, f"its {key} is not a whole number")
        return value

    heads = stated("attention.head_count")
    width = stated("embedding_length") // heads if heads > 0 else 0
    keys = stated("attention.key_length", width)
    values = stated("attention.value_length", width)
    found = {
        "n_layer": stated("block_count"),
        "n_kv_head": stated("attention.head_count_kv", heads),
        "head_dim": keys,
        "head_dim_v": values if values else keys,
        "n_ctx_train": stated("context_length"),
    }
    for key, value in found.items():
        if not 1 <= value <= LIMITS[key]:
            raise odd(head.name, f"its {key} is {value}")
    if found["head_dim_v"] == found["head_dim"]:
        found["head_dim_v"] = 0
    return Architecture(**found)
