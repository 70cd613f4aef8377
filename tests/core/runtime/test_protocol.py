"""The protocol's lines: the whole list, one JSON line each, and nothing else is taken."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.pack import MemoryPlan
from core.runtime import protocol

PLAN = MemoryPlan(weights=1, kv=2, compute=3, reserve=4, total=10, free=20, fits=True)
COMMANDS = [
    protocol.Hello(token="t"),
    protocol.RunCommand(run="r1"),
    protocol.Load(pack="p"),
    protocol.Unload(role="text"),
    protocol.Plan(pack="p", n_ctx=4096),
    protocol.Embed(),
    protocol.Cancel(),
    protocol.Ping(),
    protocol.Shutdown(),
]
NOTICES = [
    protocol.Seq(run="r1", seq=17),
    protocol.Alive(rss=1, tok_s=2.5, busy=True),
    protocol.Verify(pack="p", done=1, total=2),
    protocol.Embedded(done=1, total=2),
    protocol.Loaded(role="text", pack="p", rung="cpu", reason=""),
    protocol.Rung(from_rung="gpu_full", to_rung="cpu", reason="Why.", expected_s=12.0),
    protocol.Planned(pack="p", rung="cpu", reason="", plan=PLAN),
    protocol.Delta(run="r1", text="zwei\nZeilen ü"),
    protocol.Ended(run="r1", status="finished"),
    protocol.Cancelled(run="r1"),
    protocol.Stalled(),
    protocol.Fault(code="bad", detail="Why."),
]


@pytest.mark.parametrize("value", COMMANDS, ids=lambda value: type(value).__name__)
def test_commands_come_back_as_they_went(value: protocol.Command) -> None:
    data = protocol.line(value)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert protocol.command(data) == value


@pytest.mark.parametrize("value", NOTICES, ids=lambda value: type(value).__name__)
def test_notices_come_back_as_they_went(value: protocol.Notice) -> None:
    data = protocol.line(value)
    assert data.count(b"\n") == 1  # text with line breaks stays one line
    assert protocol.notice(data) == value


def test_the_lists_are_complete() -> None:
    assert set(map(type, COMMANDS)) == set(protocol.Command.__args__)
    assert set(map(type, NOTICES)) == set(protocol.Notice.__args__)


def test_design_notation_of_a_committed_row() -> None:
    assert protocol.line(protocol.Seq(run="r1", seq=17)) == b'{"line":"seq","run":"r1","seq":17}\n'


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{}", b'{"line":"run"}', b'{"line":"format","disk":1}', b'{"line":"run","run":1}', b"\xff\x00{"],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        protocol.command(data)
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        protocol.notice(data)
