"""A worker process for tests of the engine: speaks the protocol and misbehaves in one named way. Knows no model.

double_worker.py WAY COUNT    WAY: finish, die, deaf, silent, refuse, garbage, stall; COUNT: a file that counts starts
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from core.runtime import protocol


def send(notice: protocol.Notice) -> None:
    sys.stdout.buffer.write(protocol.line(notice))
    sys.stdout.buffer.flush()


def obey(way: str, run: str) -> None:
    """What happens when a run is commanded."""
    if way == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "silent":
        os.kill(os.getpid(), signal.SIGSTOP)
    if way == "garbage":
        sys.stdout.buffer.write(b"\xff\x00 not a notice {\n")
        sys.stdout.buffer.flush()
    if way == "stall":
        send(protocol.Stalled())
    if way in ("finish", "garbage", "stall"):
        send(protocol.Seq(run=run, seq=1))
        send(protocol.Ended(run=run, status="finished"))


def main(way: str, count: Path) -> int:
    count.write_text(str(int(count.read_text() or "0") + 1 if count.exists() else 1))
    if way == "refuse":
        send(protocol.Fault(code="locked", detail="workbench.db is in use by another program."))
        return 1
    send(protocol.Alive(rss=3_000_000_000, tok_s=12.5, busy=False))
    while data := sys.stdin.buffer.readline():
        command = protocol.command(data)
        if isinstance(command, protocol.Shutdown):
            return 0
        if isinstance(command, protocol.RunCommand):
            obey(way, command.run)
        if isinstance(command, protocol.Cancel) and way == "deaf":
            time.sleep(0.05)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
