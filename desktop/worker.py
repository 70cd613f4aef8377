"""Entry of the worker process (`--worker`): the protocol's pipe is secured first, then the service runs.

No Qt. Order of start: runtime.md section 6. Test-only faults are injected here, inside an effect.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from core.errors import StoreError
from core.runtime import protocol
from core.runtime.service import Service
from desktop import assembly

PR_SET_PDEATHSIG = 1
FAULTS = ("segv", "abort", "hang", "oom", "garbage")


def main(fault: str = "", fault_at: int = 3) -> int:
    """Serve until stdin ends. Returns the exit code."""
    out = _take_protocol()
    _die_with_parent()
    parts = assembly.worker_parts(effect=_Fault(fault, fault_at, out) if fault else lambda key: None)

    def send(notice: protocol.Notice) -> None:
        try:
            out.write(protocol.line(notice))
            out.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)  # the window is gone: nothing to say to nobody

    try:
        Service(parts, send).serve(_lines(sys.stdin.buffer))
    except StoreError as error:
        send(protocol.Fault(code=error.code, detail=error.text))
        return 1
    finally:
        parts.close()
    return 0


def _take_protocol() -> BinaryIO:
    """Keep fd 1 for the protocol and point fd 1 at fd 2, so that native code cannot write into it."""
    duplicate = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(duplicate, "wb")


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while data := stream.readline():
        yield data


class _Fault:
    """Test only: fails in the given way at the n-th effect of this process."""

    def __init__(self, kind: str, at: int, out: BinaryIO) -> None:
        self._count = 0
        self._at = at
        self._act: Callable[[], None] = {
            "segv": lambda: ctypes.memset(0, 0, 1) and None,
            "abort": os.abort,
            "hang": _hang,
            "oom": lambda: os.kill(os.getpid(), signal.SIGKILL),
            "garbage": lambda: _garbage(out),
        }[kind]

    def __call__(self, key: str) -> None:
        self._count += 1
        if self._count == self._at:
            self._act()


def _hang() -> None:
    """A native call that never returns and starves the heartbeat."""
    os.kill(os.getpid(), signal.SIGSTOP)
    while threading.main_thread().is_alive():
        time.sleep(60)


def _garbage(out: BinaryIO) -> None:
    out.write(b"\xff\x00 not a notice {\n")
    out.flush()
