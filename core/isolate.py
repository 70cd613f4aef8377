"""Start a short-lived child of this program, with limits, and talk to it in messages over pipes.

A frame is two lengths (header, blob; unsigned 32 and 64 bit, big-endian), a header in canonical JSON (a struct) and raw
bytes. Foreign bytes are opened only in such a child; if it dies or falls silent, the caller gets a `Lost` instead of an
answer and starts another one. Must not know what the messages mean, nor any profile, key or database.
"""

from __future__ import annotations

import contextlib
import os
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import msgspec

from core import codec
from core.errors import Cancelled

GIB = 1 << 30
TICK_S = 0.05
LENGTHS = struct.Struct(">IQ")
HEADER_BYTES = 64 << 20
BLOB_BYTES = 4 * GIB
PIPE_BYTES = 1 << 20
PROGRAM = Path(__file__).resolve().parent.parent


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a child may use: seconds of CPU a request, bytes of address space (hard), open descriptors."""

    cpu_seconds: int = 20
    memory_bytes: int = 4 * GIB
    descriptors: int = 64


class Lost(msgspec.Struct, frozen=True):
    """No answer came: the child died, took too long, or did not keep to the protocol."""

    why: Literal["died", "slow", "garbled"]


# ------------------------------------------------------------------------------------------------ both sides: frames


def write_frame(stream: BinaryIO, header: Any, blob: bytes = b"") -> None:
    """Write one message and flush."""
    head = codec.encode(header)
    stream.write(LENGTHS.pack(len(head), len(blob)) + head)
    if blob:
        stream.write(blob)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next header and blob; None at the end of the stream.

    Raises:
        ValueError: a frame is cut short or larger than allowed.
    """
    start = stream.read(LENGTHS.size)
    if not start:
        return None
    if len(start) < LENGTHS.size:
        raise ValueError("frame cut short")
    head_length, blob_length = LENGTHS.unpack(start)
    if head_length > HEADER_BYTES or blob_length > BLOB_BYTES:
        raise ValueError("frame too large")
    head, blob = stream.read(head_length), stream.read(blob_length)
    if len(head) < head_length or len(blob) < blob_length:
        raise ValueError("frame cut short")
    return head, blob


# ------------------------------------------------------------------------------------------------ inside the child


def take_output() -> BinaryIO:
    """Keep fd 1 for the answers and point fd 1 at fd 2, so that native code cannot write into them."""
    duplicate = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(duplicate, "wb")


def enter_jail(limits: Limits) -> None:
    """Give up for good what reading a file does not need; called before the first foreign byte.

    Resource limits only (POSIX): no file may grow, no core dump, no new process, few descriptors, bounded memory.
    The file system and system call filters come with the trust issue.
    """
    if sys.platform == "win32":
        return
    import resource

    for name, value in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, limits.descriptors),
        (resource.RLIMIT_AS, limits.memory_bytes),
    ):
        _, hard = resource.getrlimit(name)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (wanted, wanted))


def grant(*, cpu_seconds: int, memory_bytes: int) -> None:
    """Set what the next request may use: CPU seconds from now, bytes of address space (within the jail's limit)."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _, cpu_hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + cpu_seconds + 1, cpu_hard))
    _, memory_hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = memory_bytes if memory_hard == resource.RLIM_INFINITY else min(memory_bytes, memory_hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, memory_hard))


# ------------------------------------------------------------------------------------------------ the parent's side


class Child:
    """One child process; `ask` sends a message and waits for its answer. Use it from one thread."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # The folder of the program: started elsewhere, `-m` would look for modules among the foreign files first.
            cwd=PROGRAM,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        _widen(self._process.stdin, self._process.stdout)
        self._questions: queue.SimpleQueue[tuple[Any, bytes] | None] = queue.SimpleQueue()
        self._owed: queue.SimpleQueue[bool] = queue.SimpleQueue()  # one for every question, then False
        self._answers: queue.SimpleQueue[tuple[bytes, bytes] | Lost] = queue.SimpleQueue()
        self._is_over = False
        # Two, so that the next question lies in the pipe before the answer to this one is out of it.
        self._threads = [
            threading.Thread(target=work, name="decode child", daemon=True) for work in (self._speak, self._listen)
        ]
        for thread in self._threads:
            thread.start()

    def ask(
        self, header: Any, blob: bytes = b"", *, seconds: float, stop: threading.Event
    ) -> tuple[bytes, bytes] | Lost:
        """Send a message; the answer's header and blob, or why none came (the child is ended then).

        Raises:
            Cancelled: `stop` was set; the child is ended.
        """
        self.send(header, blob)
        return self.receive(seconds=seconds, stop=stop)

    def send(self, header: Any, blob: bytes = b"") -> None:
        """Hand a message over and go on; it and its answer travel meanwhile. Each `send` has one `receive`, in turn."""
        self._questions.put((header, blob))

    def receive(self, *, seconds: float, stop: threading.Event) -> tuple[bytes, bytes] | Lost:
        """The answer to the oldest message that has none yet, as `ask`."""
        deadline = time.monotonic() + seconds
        while True:
            if stop.is_set():
                self.kill()
                raise Cancelled("import")
            try:
                answer = self._answers.get(timeout=TICK_S)
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                answer = Lost("slow")
            if isinstance(answer, Lost):
                self.kill()
            return answer

    def close(self) -> None:
        """Let the child end by itself; ended after 2 s otherwise."""
        self._questions.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        self.kill()

    def kill(self) -> None:
        """End the child and its threads now, whatever it was still to be asked. Safe to call twice."""
        self._is_over = True
        self._process.kill()
        self._process.wait()
        self._questions.put(None)
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                _close(stream)

    def _speak(self) -> None:
        stdin = self._process.stdin
        while (question := self._questions.get()) is not None and not self._is_over:
            self._owed.put(True)
            with contextlib.suppress(OSError, ValueError):  # it has gone: the other thread will hear that
                write_frame(cast(BinaryIO, stdin), *question)
        self._owed.put(False)
        _close(stdin)  # end of input is how the child learns that it may go

    def _listen(self) -> None:
        """One answer for every question, so that a child that babbles fills no memory."""
        while self._owed.get():
            self._answers.put(self._heard(cast(BinaryIO, self._process.stdout)))

    def _heard(self, stdout: BinaryIO) -> tuple[bytes, bytes] | Lost:
        try:
            answer = read_frame(stdout)
        except ValueError:
            return Lost("garbled")
        except OSError:
            return Lost("died")
        if answer is None:
            return Lost("slow" if _ran_out_of_time(self._process) else "died")
        return answer


def _ran_out_of_time(process: subprocess.Popen[bytes]) -> bool:
    """Did the kernel end it for using up its CPU seconds? (POSIX: signal SIGXCPU)"""
    if sys.platform == "win32":
        return False
    import signal

    try:
        return process.wait(timeout=1) == -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        return False


def _widen(*pipes: Any) -> None:
    """Let a pipe hold a whole image (Linux): fewer turns between the two processes."""
    if sys.platform != "linux":
        return
    import fcntl

    for pipe in pipes:
        with contextlib.suppress(OSError):  # above what the system allows: it stays as it was
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _close(stream: Any) -> None:
    with contextlib.suppress(OSError):  # unwritten bytes for a child that is gone
        stream.close()
