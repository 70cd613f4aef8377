"""Model files that are not what they say: each refused in its own sentence before a native library sees it.

BENIGN and HOSTILE go through the same reader. The controls: the naive arithmetic of a loader believes the hostile
counts, and the `gguf` library, which writes the benign files, is never our reader.
"""

from __future__ import annotations

import random
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from core.errors import ModelError, UserError
from models.gguf import BLOCKS, QUANTS, read_gguf
from models.llama.engine import Engine, EngineSetting
from tests.helpers import ggufs
from tests.helpers.ggufs import ARRAY, LLAMA, TEXT, U32, U64, head, model, pair, tensor, text

MODEL_SIZE = 64 * 8 * 4


def with_(**changes: object) -> bytes:
    pairs = {**LLAMA, **{key.replace("__", "."): value for key, value in changes.items()}}
    return head({key: value for key, value in pairs.items() if value is not None}, tensors=(tensor("t", (1,)),), data=4)


def raw(kind: int, data: bytes) -> bytes:
    return struct.pack("<I", kind) + data


HOSTILE: list[tuple[str, bytes, str]] = [
    ("empty", b"", "is empty"),
    ("a web page", b"<!DOCTYPE html><html><body>Sign in</body></html>", "this is a web page, not a model"),
    ("a web page after a mark and blanks", b"\xef\xbb\xbf \n<HTML>", "this is a web page, not a model"),
    ("a pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer to a model"),
    ("another magic", b"ggml" + bytes(60), "does not begin with GGUF"),
    ("version 1", head(version=1), "is of GGUF version 1"),
    ("a later version", head(version=4), "is of GGUF version 4"),
    ("big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0) + bytes(64), "is of GGUF version 50331648"),
    ("magic only", b"GGUF\3\0\0\0", "is cut off"),
    ("cut in its entries", model()[:100], "is cut off"),
    ("cut in its tensors", model()[:-MODEL_SIZE - 60], "is cut off"),
    ("cut in its last number", model()[:-1], "is cut off"),
    ("absurd number of tensors", head(counts=(1 << 40, 6)), "declares 1099511627776 tensors"),
    ("absurd number of entries", head(counts=(0, 1 << 63)), "declares 9223372036854775808 entries"),
    ("absurd length of a name", b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62), "bytes of a name"),
    ("absurd length of a text", with_(a=raw(TEXT, struct.pack("<Q", 1 << 50))), "bytes of text"),
    ("text beyond the end", with_(a=raw(TEXT, struct.pack("<Q", 1 << 20))), "is cut off"),
    ("absurd length of a list", with_(a=raw(ARRAY, struct.pack("<IQ", U32, 1 << 60))), "values in one list"),
    ("list within a list", with_(a=raw(ARRAY, struct.pack("<IQ", ARRAY, 1 << 20))), "a list of the unknown type 9"),
    ("list that runs out", with_(a=raw(ARRAY, struct.pack("<IQ", TEXT, 9) + text("x"))), "declares|is cut off"),
    ("unknown type", with_(a=raw(99, b"")), "unknown type 99"),
    ("an entry twice", head({}, counts=(0, 2))[:24] + pair("k", 1) + pair("k", 2) + bytes(32), "stands in it twice"),
    ("a name of no letters", head({}, counts=(0, 1))[:24] + text(b"\xff\xfe") + bytes(40), "head cannot be read"),
    ("no architecture", with_(general__architecture=None), "does not say of which architecture"),
    ("no layers", with_(llama__block_count=0), "its n_layer is 0"),
    ("a billion layers", with_(llama__block_count=10**9), "its n_layer is 1000000000"),
    ("layers as a text", with_(llama__block_count="two"), "block_count is not a whole number"),
    ("no heads", with_(llama__attention__head_count=0, llama__attention__head_count_kv=0), "its n_kv_head is 0"),
    ("negative context", with_(llama__context_length=raw(5, struct.pack("<i", -1))), "its n_ctx_train is -1"),
    ("alignment of nothing", with_(general__alignment=0), "its alignment is not usable"),
    ("alignment as a text", with_(general__alignment="wide"), "head cannot be read"),
    ("a tensor of nine dimensions", head(tensors=(tensor("t", (1,) * 9),)), "has 9 dimensions"),
    ("a tensor of unknown numbers", head(tensors=(tensor("t", (1,), kind=77),)), "tensors is of the unknown type 77"),
    ("a tensor beyond the end", head(tensors=(tensor("t", (1,), offset=1 << 50),)), "is cut off"),
    ("a tensor larger than all memory", head(tensors=(tensor("t", (1 << 39, 1 << 39)),)), "is cut off"),
    ("a tensor of a row too long", head(tensors=(tensor("t", (1 << 63,)),)), "numbers in a row"),
]  # fmt: skip


FILES = {name: made for name, made, _why in HOSTILE}


def written(folder: Path, **extra: object) -> bytes:
    """A small model by the `gguf` library."""
    path = folder / "second.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(3)
    writer.add_context_length(512)
    writer.add_embedding_length(96)
    writer.add_head_count(6)
    writer.add_head_count_kv(2)
    writer.add_token_list(["a", "b", "ü" * 300])
    writer.add_tensor("token_embd.weight", np.zeros((3, 96), dtype=np.float16))
    for key, value in extra.items():
        getattr(writer, f"add_{key}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


BENIGN: list[tuple[str, Callable[[Path], bytes], tuple[int, int, int, int]]] = [
    ("our smallest", lambda folder: model(), (2, 2, 16, 2048)),
    ("version 2", lambda folder: head(tensors=(tensor("t", (1,)),), data=4, version=2), (2, 2, 16, 2048)),
    ("no heads of the cache stated", lambda folder: with_(llama__attention__head_count_kv=None), (2, 4, 16, 2048)),
    ("width of keys stated", lambda folder: with_(llama__attention__key_length=80), (2, 2, 80, 2048)),
    ("heads a layer", lambda folder: with_(
        llama__attention__head_count_kv=raw(ARRAY, struct.pack("<IQII", U32, 2, 1, 4))), (2, 4, 16, 2048)),
    ("a long list of names", lambda folder: with_(tokens=["x" * 9] * 5000), (2, 2, 16, 2048)),
    ("a long template", lambda folder: with_(tokenizer__chat_template="{" * 70_000), (2, 2, 16, 2048)),
    ("a number of 64 bits", lambda folder: with_(llama__context_length=raw(U64, struct.pack("<Q", 4096))),
     (2, 2, 16, 4096)),
    ("by the second library", written, (3, 2, 16, 512)),
    ("by the second library, other alignment", lambda folder: written(folder, custom_alignment=64), (3, 2, 16, 512)),
]  # fmt: skip


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], object]:
    """The product's reader on a file of these bytes."""

    def on(data: bytes) -> object:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        return read_gguf(path)

    return on


@pytest.mark.parametrize(("made", "why"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_hostile_file_is_refused_in_its_own_sentence(read: Callable[[bytes], object], made: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why) as caught:
        read(made)
    assert caught.value.code == "bad_model"
    assert "model.gguf" in caught.value.text


@pytest.mark.parametrize(("made", "numbers"), [row[1:] for row in BENIGN], ids=[row[0] for row in BENIGN])
def test_benign_file_is_read(
    read: Callable[[bytes], object],
    made: Callable[[Path], bytes],
    numbers: tuple[int, int, int, int],
    tmp_path: Path,
) -> None:
    found = read(made(tmp_path))
    arch = found.arch  # type: ignore[attr-defined]
    assert (arch.n_layer, arch.n_kv_head, arch.head_dim, arch.n_ctx_train) == numbers


def test_random_bytes_in_the_head_end_in_a_sentence(read: Callable[[bytes], object]) -> None:
    """Section 6 of runtime.md: 200 random bytes in the metadata. Read or refused, never another error."""
    whole, rng, refused = model(), random.Random(6), 0
    for _ in range(200):
        data = bytearray(whole)
        for place in rng.sample(range(len(whole) - MODEL_SIZE), 8):
            data[place] = rng.randrange(256)
        try:
            read(bytes(data))
        except UserError as error:
            assert error.code == "bad_model"
            refused += 1
    assert refused > 150


def test_sizes_of_numbers_are_those_of_the_second_library() -> None:
    assert {kind: gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)] for kind in BLOCKS} == BLOCKS
    assert all(name in gguf.LlamaFileType(kind).name for kind, name in QUANTS.items())


@pytest.mark.weights
def test_real_file_has_the_numbers_that_the_library_reads(smollm2: Path) -> None:
    facts = read_gguf(smollm2 / "model.gguf")
    assert facts.arch is not None
    assert (facts.arch.n_layer, facts.arch.n_kv_head, facts.arch.head_dim, facts.arch.n_ctx_train) == (30, 3, 64, 8192)
    assert (facts.params, facts.quant) == (134_515_008, "Q4_1")


def test_control_the_counts_are_believed_by_who_does_not_look() -> None:
    """Without limits the hostile counts ask for more memory than there is: the attack is one."""
    tensors, entries = struct.unpack_from("<QQ", FILES["absurd number of tensors"], 8)
    with pytest.raises(MemoryError):
        bytearray(tensors * 1_000_000)
    assert entries == len(ggufs.LLAMA)


@pytest.mark.parametrize("name", ["empty", "a web page", "version 1", "cut in its entries", "absurd number of entries"])
def test_control_the_engine_refuses_what_would_reach_it(tmp_path: Path, name: str) -> None:
    """A pack made elsewhere whose hashes agree: the load itself ends in a clean error of the code `bad_model`."""
    path = tmp_path / "model.gguf"
    path.write_bytes(FILES[name])
    with pytest.raises(ModelError) as caught:
        Engine(str(path), EngineSetting(n_ctx=256), threading.Event())
    assert caught.value.code == "bad_model"
