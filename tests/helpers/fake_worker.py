"""A worker process of few lines for tests of the client: speaks the protocol, behaves as its argument says.

Commits nothing itself; `crash` and `gives-up` never get that far. Run as a script with the kind and a state file.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(kind: str, state: Path) -> None:
    starts = int(state.read_text()) + 1 if state.exists() else 1
    state.write_text(str(starts))
    for line in sys.stdin:
        if '"run"' in line and '"line":"run"' in line:
            say('{"line":"alive","rss":1,"tok_s":0.0,"busy":true}')
            act(kind, starts)
        elif '"line":"cancel"' in line and kind == "stoppable":
            say('{"line":"ended","run":"r1","status":"stopped"}')
        elif '"line":"shutdown"' in line:
            return


def act(kind: str, starts: int) -> None:
    if kind == "crash" or (kind == "crash-once" and starts == 1):
        sys.exit(9)
    if kind == "gives-up":
        say('{"line":"fault","code":"newer","detail":"Install the newer version."}')
        sys.exit(1)
    if kind == "garbage":
        say("\x00 {not json")
    if kind == "silent":
        time.sleep(60)
    if kind == "stalls":
        say('{"line":"stalled"}')
    if kind in ("finishes", "crash-once", "garbage", "stalls"):
        say('{"line":"ended","run":"other","status":"failed"}')
        say('{"line":"ended","run":"r1","status":"finished"}')


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
