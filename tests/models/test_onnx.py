"""ONNX sessions on a graph of our own, written byte by byte: checked bytes, where it runs, how many stay resident."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from core import codec
from core.domain.pack import Licence, PackFile, PackManifest
from core.errors import ModelError, SecurityError, UserError
from models.onnx import CPU, CUDA, OnnxSession, ProviderPlan, ResidentSessions, _providers, _rung, open_session
from models.packs import InstalledPack, MemoryLedger, OpenPack, open_verified


def field(number: int, value: bytes | int) -> bytes:
    """One field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def value_info(name: str) -> bytes:
    """A float tensor of one axis of any length (ValueInfoProto)."""
    shape = field(1, field(2, b"n"))
    return field(1, name.encode()) + field(2, field(1, field(1, 1) + field(2, shape)))


def graph(operator: str = "Add", *, outside: bool = False) -> bytes:
    """A model of one node, y = operator(x, x) (ModelProto, IR 8, opset 17)."""
    node = field(1, b"x") + field(1, b"x") + field(2, b"y") + field(3, b"n") + field(4, operator.encode())
    body = field(1, node) + field(2, b"g")
    if outside:  # TensorProto: dims, data_type, name, external_data {location: ../secret}, data_location
        entry = field(1, b"location") + field(2, b"../secret")
        body += field(5, field(1, 1) + field(2, 1) + field(8, b"w") + field(13, entry) + field(14, 1))
    body += field(11, value_info("x")) + field(12, value_info("y"))
    return field(1, 8) + field(7, body) + field(8, field(1, b"") + field(2, 17))


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, folder: Path, data: bytes) -> OpenPack:
    (folder / "m.onnx").write_bytes(data)
    file = PackFile(path="m.onnx", size=len(data), sha256=hashlib.sha256(data).hexdigest())
    manifest = PackManifest(
        id="p", version="1", role="segment", family="f", template="", params_b=0.0, quant="f32", files=(file,),
        licence=Licence(spdx="MIT"),
    )  # fmt: skip
    (folder / "manifest.json").write_bytes(codec.encode(manifest))
    return stack.enter_context(open_verified(InstalledPack(manifest=manifest, folder=folder), ledger=MemoryLedger()))


@pytest.fixture
def session(opening: ExitStack, tmp_path: Path) -> OnnxSession:
    return open_session(opened(opening, tmp_path, graph()), "m.onnx", ProviderPlan())


def test_a_graph_runs(session: OnnxSession) -> None:
    (found,) = session.run({"x": np.array([1, 2, 3], np.float32)})
    assert found.tolist() == [2, 4, 6]
    assert (session.inputs, session.outputs) == (("x",), ("y",))
    assert (session.rung.name, session.rung.reason) == ("cpu", "")
    assert session.warm_up_s > 0


def test_a_wrong_input_is_a_sentence(session: OnnxSession) -> None:
    with pytest.raises(ModelError, match="graph failed"):
        session.run({"z": np.zeros(1, np.float32)})
    session.close()
    with pytest.raises(ModelError, match="closed"):
        session.run({"x": np.zeros(1, np.float32)})


def test_the_bytes_that_were_checked_are_the_ones_that_run(opening: ExitStack, tmp_path: Path) -> None:
    """The file is replaced between check and load: the old one runs."""
    checked = opened(opening, tmp_path, graph("Add"))
    other = tmp_path / "other"
    other.write_bytes(graph("Sub"))
    other.replace(tmp_path / "m.onnx")
    (found,) = open_session(checked, "m.onnx", ProviderPlan()).run({"x": np.array([5], np.float32)})
    assert found.tolist() == [10]


@pytest.mark.parametrize(
    "data", [b"", b"not a graph", graph()[:-20], graph("NoSuch")], ids=["empty", "text", "cut", "operator"]
)
def test_what_is_no_graph_is_said(opening: ExitStack, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_session(opened(opening, tmp_path, data), "m.onnx", ProviderPlan())


def test_weights_outside_the_checked_file_are_refused(opening: ExitStack, tmp_path: Path) -> None:
    with pytest.raises(SecurityError, match="outside"):
        open_session(opened(opening, tmp_path, graph(outside=True)), "m.onnx", ProviderPlan())


def test_a_file_that_the_pack_does_not_list(opening: ExitStack, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lacks its file n\.onnx"):
        open_session(opened(opening, tmp_path, graph()), "n.onnx", ProviderPlan())


def test_a_silent_fallback_to_the_processor_is_said() -> None:
    assert _rung("gpu", [CUDA, CPU]).reason == ""
    fallen = _rung("gpu", [CPU])
    assert (fallen.wanted, fallen.name) == ("gpu", "cpu")
    assert "runs on the processor" in fallen.reason


def test_the_card_is_asked_for_with_its_limits() -> None:
    assert _providers(ProviderPlan()) == [CPU]
    card, last = _providers(ProviderPlan(wanted="gpu", device=1, memory=1 << 30))
    assert card == (
        CUDA, {"device_id": "1", "cudnn_conv_algo_search": "HEURISTIC", "gpu_mem_limit": str(1 << 30)}
    )  # fmt: skip
    assert last == CPU


def test_of_four_sessions_the_one_used_longest_ago_is_closed(opening: ExitStack, tmp_path: Path) -> None:
    pack = opened(opening, tmp_path, graph())
    resident = ResidentSessions()
    made: list[str] = []

    def make(role: str) -> OnnxSession:
        made.append(role)
        return open_session(pack, "m.onnx", ProviderPlan())

    held = {role: resident.get(role, lambda role=role: make(role)) for role in ("a", "b", "c")}
    assert resident.get("a", lambda: make("again")) is held["a"]
    resident.get("d", lambda: make("d"))
    assert resident.roles == ("c", "a", "d")
    assert made == ["a", "b", "c", "d"]
    with pytest.raises(ModelError, match="closed"):
        held["b"].run({"x": np.zeros(1, np.float32)})
    resident.close("a")
    resident.close("a")
    resident.close_all()
    assert resident.roles == ()
