"""Writers that are started and killed by the dozen: one program imports everything once and forks for each.

    python -m tests.helpers.forked MODULE FUNCTION

reads lines of arguments; for each it forks a child that calls the function with them, prints "pid N", and "over" when
the child has ended. The child writes its own lines to fd 1.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]


class Forks:
    """The program from the outside; a context manager."""

    def __init__(self, module: str, function: str) -> None:
        self._command = [sys.executable, "-m", "tests.helpers.forked", module, function]

    def __enter__(self) -> Forks:
        self._program = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._program.communicate()

    def killed(self, *arguments: object, lines: int, seconds: float) -> list[str]:
        """Start a writer, kill it so many seconds after its n-th line; all that it said."""
        assert self._program.stdin is not None and self._program.stdout is not None
        self._program.stdin.write(" ".join(map(str, arguments)) + "\n")
        self._program.stdin.flush()
        word, pid = self._program.stdout.readline().split()
        assert word == "pid"
        said = [self._program.stdout.readline() for _ in range(lines)]
        time.sleep(seconds)
        os.kill(int(pid), signal.SIGKILL)
        while (line := self._program.stdout.readline()) != f"over {signal.SIGKILL}\n":
            assert line, "the writer ended by itself"
            said.append(line)
        return said


def serve(module: str, function: str) -> None:
    """Fork a child for each line of arguments, until the input ends."""
    work = getattr(importlib.import_module(module), function)
    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            os.close(0)
            os.write(1, f"pid {os.getpid()}\n".encode())
            work(*line.split())
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        os.write(1, f"over {status}\n".encode())


if __name__ == "__main__":
    serve(*sys.argv[1:])
