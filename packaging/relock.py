"""Make the lock files again from pyproject.toml and build.in: exact versions with the hashes of every published file.

Run by a maintainer who changes a dependency, never by the set-up. Needs `uv` on the path; the three files it writes
are read by bootstrap.py (through pip) only:
lock-build.txt (what installs and builds), lock.txt (the application), lock-dev.txt (what the checks add).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lockfile import read_rows

HERE = Path(__file__).resolve().parent
OPTIONS = ["--generate-hashes", "--universal", "--python-version=3.11", "--no-annotate", "--no-header", "--no-config"]


def resolve(*arguments: str) -> str:
    """The text of one resolution by uv, hashes included."""
    command = ["uv", "pip", "compile", "--quiet", *OPTIONS, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE.parent).stdout


def write(name: str, about: str, text: str) -> None:
    (HERE / name).write_text(f"# {about} Made by packaging/relock.py; do not edit.\n{text}", encoding="utf-8")


def main() -> int:
    write("lock-build.txt", "What installs and builds.", resolve("--allow-unsafe", "packaging/build.in"))
    write("lock.txt", "The application.", resolve("pyproject.toml"))
    everything = read_rows(resolve("pyproject.toml", "--extra=dev", "--constraints=packaging/lock.txt"))
    known = {name for lock in ("lock.txt", "lock-build.txt") for name in read_rows((HERE / lock).read_text("utf-8"))}
    added = [row for name, row in everything.items() if name not in known]
    write("lock-dev.txt", "What the checks add.", "".join(added))
    return 0


if __name__ == "__main__":
    sys.exit(main())
