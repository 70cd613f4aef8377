"""Children: frames over pipes, limits that hold, and a parent that survives a dead, silent or babbling child."""

import io
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from core.errors import Cancelled
from core.isolate import Child, Limits, Lost, read_frame, write_frame

ROOT = Path(__file__).resolve().parents[2]


class Ping(msgspec.Struct, frozen=True):
    """A message of these tests."""

    text: str


def child_that(body: str) -> Child:
    """A child that reads one frame into `head, blob`, then does what the body says."""
    lines = ["import sys, os, time", "from core import isolate", "head, blob = isolate.read_frame(sys.stdin.buffer)"]
    return Child([sys.executable, "-c", "\n".join([*lines, body])])


def ask(body: str, *, seconds: float = 20, blob: bytes = b"abc") -> tuple[bytes, bytes] | Lost:
    child = child_that(body)
    try:
        return child.ask(Ping("x"), blob, seconds=seconds, stop=threading.Event())
    finally:
        child.close()


def test_frames_come_back_as_they_were_written() -> None:
    stream = io.BytesIO()
    write_frame(stream, Ping("a"), b"\x00\xff")
    write_frame(stream, Ping("b"))
    stream.seek(0)
    assert read_frame(stream) == (b'{"text":"a"}', b"\x00\xff")
    assert read_frame(stream) == (b'{"text":"b"}', b"")
    assert read_frame(stream) is None


@pytest.mark.parametrize(
    "data", [b"\x00\x00", b"\x00\x00\x00\x05" + b"\x00" * 8 + b"{}", b"\xff\xff\xff\xff" + b"\x00" * 8]
)
def test_a_cut_or_giant_frame_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="frame"):
        read_frame(io.BytesIO(data))


def test_a_child_answers() -> None:
    assert ask("isolate.write_frame(sys.stdout.buffer, head.decode(), blob[::-1])") == (
        b'"{\\"text\\":\\"x\\"}"',
        b"cba",
    )


def test_a_large_blob_goes_both_ways() -> None:
    blob = bytes(range(256)) * 40_000
    answer = ask("isolate.write_frame(sys.stdout.buffer, 1, blob)", blob=blob)
    assert answer == (b"1", blob)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os._exit(3)", "died"),
        ("os.abort()", "died"),
        ("sys.stdout.buffer.write(b'garbage that is no frame'); sys.stdout.flush()", "garbled"),
        ("time.sleep(60)", "slow"),
    ],
)
def test_a_lost_child_is_told_from_an_answer(body: str, why: str) -> None:
    assert ask(body, seconds=2.0) == Lost(why)  # type: ignore[arg-type]


def test_a_child_that_never_reads_is_slow() -> None:
    child = Child([sys.executable, "-c", "import time; time.sleep(60)"])
    assert child.ask(Ping("x"), b"x" * 5_000_000, seconds=0.5, stop=threading.Event()) == Lost("slow")
    child.close()


def test_stop_is_heard_at_once() -> None:
    child, stop = child_that("time.sleep(60)"), threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        child.ask(Ping("x"), seconds=60, stop=stop)
    assert time.monotonic() - start < 0.3 + 0.3
    timer.join()


# ------------------------------------------------------------------------------------------------ limits

posix = pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX")
JAIL = "isolate.enter_jail(isolate.Limits(memory_bytes=600 << 20))\n"
SAY = "isolate.write_frame(sys.stdout.buffer, said)"


def outcome(attempt: str, *, jail: bool) -> str:
    """What an attempt inside a child came to: its value, or the name of its exception."""
    tried = f"try:\n    said = str({attempt})\nexcept BaseException as error:\n    said = type(error).__name__\n"
    answer = ask((JAIL if jail else "") + tried + SAY)
    assert not isinstance(answer, Lost)
    return msgspec.json.decode(answer[0], type=str)


@posix
def test_limits_hold_and_without_them_the_same_attempts_succeed(tmp_path: Path) -> None:
    target = tmp_path / "written"
    attempts = {
        f"os.write(os.open({str(target)!r}, os.O_CREAT | os.O_WRONLY), b'x')": ("OSError", "1"),
        "len(bytearray(700 << 20))": ("MemoryError", str(700 << 20)),
        "len([os.open('/dev/null', 0) for _ in range(100)])": ("OSError", "100"),
        "__import__('resource').getrlimit(4)": ("(0, 0)", ""),  # RLIMIT_CORE
    }
    for attempt, (inside, outside) in attempts.items():
        assert outcome(attempt, jail=True) == inside, attempt
        assert outcome(attempt, jail=False).startswith(outside), attempt
    assert outcome("sum(range(10))", jail=True) == "45"  # plain work still works


@posix
def test_used_up_cpu_seconds_end_the_child() -> None:
    start = time.monotonic()
    answer = ask("isolate.grant(cpu_seconds=0, memory_bytes=1 << 40)\nwhile True: pass", seconds=30)
    assert answer == Lost("slow")
    assert time.monotonic() - start < 25


def test_the_default_limits_are_those_of_the_specification() -> None:
    limits = Limits()
    assert (limits.cpu_seconds, limits.descriptors) == (20, 64)
