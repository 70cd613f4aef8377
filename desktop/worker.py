"""Entry of the worker process (`--worker`): the protocol's pipe is secured first, then the service runs.

No Qt. Order of start: runtime.md section 6. Test-only faults are injected here, inside an effect.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from core.errors import EXIT_ACT, EXIT_BUG, EXIT_DONE, StoreError, UserError, WardroundError
from core.runtime import protocol
from core.runtime.service import Send, Service
from desktop import assembly, crash

PR_SET_PDEATHSIG = 1
FAULT_AT = 3  # the effect that fails, counted in each process anew


def main(profile: Path, fault: str = "") -> int:
    """Serve the runs of a profile until stdin ends. Returns the exit code.

    `fault`, test only: KIND or KIND:N, the way in which the N-th effect of this process fails.
    """
    out = _take_protocol()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    _die_with_parent()
    _no_core_file()

    def send(notice: protocol.Notice) -> None:
        try:
            out.write(protocol.line(notice))
            out.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)  # the window is gone: nothing to say to nobody

    def told(done: int, total: int) -> None:
        send(protocol.Embedded(done=done, total=total))

    try:
        effect = _Fault(fault, out) if fault else _no_fault
        parts_of = assembly.worker_parts(
            profile, effect=effect, crash_file=crash.write, on_texts=told, on_stall=lambda: send(protocol.Stalled())
        )
        with parts_of as parts:
            Service(parts, send).serve(_lines(sys.stdin.buffer))
    except Exception as error:
        return _give_up(error, send)
    return EXIT_DONE


def _give_up(error: Exception, send: Send) -> int:
    """Say why before leaving: the person's sentence, or the name of a crash file."""
    if isinstance(error, UserError) or (isinstance(error, StoreError) and error.known):
        send(protocol.Fault(code=error.code, detail=error.text))
        return EXIT_ACT
    code = error.code if isinstance(error, WardroundError) else "bug"
    send(protocol.Fault(code=code, detail=crash.sentence(crash.write(error))))
    return EXIT_BUG


def _take_protocol() -> BinaryIO:
    """Keep fd 1 for the protocol and point fd 1 at fd 2, so that native code cannot write into it."""
    duplicate = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(duplicate, "wb")


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _no_core_file() -> None:
    """A core dump would hold the patient's text."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while data := stream.readline():
        yield data


def _no_fault(key: str) -> None:
    """What happens before an effect in a healthy worker."""


class _Fault:
    """Test only: fails in the given way at one effect of this process."""

    def __init__(self, fault: str, out: BinaryIO) -> None:
        kind, _, place = fault.partition(":")
        self._count = 0
        self._at = int(place or FAULT_AT)
        self._act: Callable[[], None] = {
            "segv": _segv,
            "abort": os.abort,
            "hang": _hang,
            "oom": lambda: os.kill(os.getpid(), signal.SIGKILL),
            "garbage": lambda: _garbage(out),
        }[kind]

    def __call__(self, key: str) -> None:
        self._count += 1
        if self._count == self._at:
            self._act()


def _segv() -> None:
    ctypes.memset(0, 0, 1)


def _hang() -> None:
    """Everything stands still, the heartbeat too, as in a native call that keeps the interpreter's lock."""
    while True:
        if sys.platform == "win32":
            ctypes.PyDLL("kernel32").Sleep(0xFFFFFFFF)
        else:
            ctypes.PyDLL(None).pause()


def _garbage(out: BinaryIO) -> None:
    out.write(b"\xff\x00 not a notice {\n")
    out.flush()
