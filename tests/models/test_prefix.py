"""Kept prefixes: memory limits, files that are not whole, and what may reach the disk (runtime.md 4.6)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from models.llama.engine import Engine
from models.llama.prefix import PrefixKeeper
from models.llama.states import MAGIC, DiskStates, MemoryStates, StateIdentity

KEY, OTHER = "ab" * 32, "cd" * 32
IDENTITY = StateIdentity(
    contents_sha256="12" * 32, lib_build="b1", type_k="f16", type_v="f16", flash=False, swa_full=True, chunk=64
)


def test_memory_drops_the_least_recently_used() -> None:
    states = MemoryStates(limit=10)
    states.put("a", 64, b"12345")
    states.put("b", 128, b"12345")
    assert states.get("a") == b"12345"
    states.put("c", 192, b"1")
    assert states.get("b") is None
    assert states.lengths() == {64, 192}
    states.put("d", 256, b"x" * 11)
    assert len(states) == 0, "a state above the limit is not kept"


def test_key_is_the_hash_of_what_a_state_depends_on() -> None:
    """Written out by hand: fields in order, each with a zero byte, tokens as little-endian int32; each field counts."""
    content = b"12" * 32 + b"\0b1\0f16\0f16\0False\0True\x0064\0" + struct.pack("<3i", 1, 258, 70_000)
    assert IDENTITY.key([1, 258, 70_000]) == hashlib.sha256(content).hexdigest()
    for change in ({"lib_build": "b2"}, {"type_k": "q8_0"}, {"type_v": "q8_0"}, {"flash": True}, {"chunk": 256}):
        assert msgspec.structs.replace(IDENTITY, **change).key([1]) != IDENTITY.key([1])


def test_file_has_the_documented_form(tmp_path: Path) -> None:
    """Magic, key, tokens, bytes, data, sha256."""
    DiskStates(tmp_path).put(KEY, 64, b"state")
    content = (tmp_path / f"{KEY}.wrkv").read_bytes()
    assert content[:5] == MAGIC == b"WRKV1"
    assert content[5:37] == bytes.fromhex(KEY)
    assert content[37:41] == (64).to_bytes(4, "little")
    assert content[41:49] == (5).to_bytes(8, "little")
    assert content[49:54] == b"state"
    assert len(content) == 54 + 32
    assert DiskStates(tmp_path).get(KEY) == b"state"


@pytest.mark.parametrize("place", [0, 10, 38, 45, 50, 60, -1])
def test_damaged_file_is_deleted_and_not_used(tmp_path: Path, place: int) -> None:
    states = DiskStates(tmp_path)
    states.put(KEY, 64, b"state")
    path = tmp_path / f"{KEY}.wrkv"
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))
    assert states.get(KEY) is None
    assert not path.exists()


def test_file_under_another_key_is_not_used(tmp_path: Path) -> None:
    states = DiskStates(tmp_path)
    states.put(KEY, 64, b"state")
    (tmp_path / f"{KEY}.wrkv").rename(tmp_path / f"{OTHER}.wrkv")
    assert states.get(OTHER) is None


def test_disk_keeps_within_its_limit(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    states = DiskStates(folder, limit=250)
    for number in range(4):
        states.put(f"{number:064x}", 64, b"x" * 20)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 250
    assert states.get(f"{3:064x}") == b"x" * 20


@pytest.fixture
def keeper(engine: Engine, tmp_path: Path) -> Iterator[PrefixKeeper]:
    engine.clear()
    yield PrefixKeeper(engine, identity=IDENTITY, folder=tmp_path / "states")
    engine.clear()


@pytest.mark.weights
def test_sources_and_bits(engine: Engine, keeper: PrefixKeeper, tmp_path: Path) -> None:
    """Cold, reuse and state give the same bits; the static part reaches the disk, the case part never does."""
    static, first, second = list(range(1000, 1070)), list(range(2000, 2020)), list(range(3000, 3020))
    assert keeper.prepare(static + first, len(static)) == "cold"
    cold = engine.prefix_logits.copy()
    assert keeper.prepare(static + second, len(static)) == "reuse"
    engine.clear()
    assert keeper.prepare(static + first, len(static)) == "state"
    assert np.abs(engine.prefix_logits - cold).max() == 0
    assert len(list((tmp_path / "states").iterdir())) == 1
    engine.clear()
    later = PrefixKeeper(engine, identity=IDENTITY, folder=tmp_path / "states")
    assert later.prepare(static + first, len(static)) == "state"
    assert np.abs(engine.prefix_logits - cold).max() == 0
    engine.clear()
    other = msgspec.structs.replace(IDENTITY, flash=True)
    assert PrefixKeeper(engine, identity=other, folder=tmp_path / "states").prepare(static + first, 0) == "cold"


@pytest.mark.weights
def test_long_case_prefix_is_kept_in_memory_only_and_forgotten(
    engine: Engine, keeper: PrefixKeeper, tmp_path: Path
) -> None:
    case = list(range(5000, 5260))
    assert keeper.prepare(case, 0) == "cold"
    engine.set_prefix([1, 2, 3])
    assert keeper.prepare(case, 0) == "state"
    assert list((tmp_path / "states").iterdir()) == []
    keeper.forget_cases()
    assert engine.prefix_length == 0
    assert keeper._restore(case, longer_than=0, static=0) == 0
