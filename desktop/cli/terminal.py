"""What a command prints: values as text or JSON on stdout, progress on stderr where a person looks at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from core import codec

WIDTH = 24
LINE = 79
_TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
PAUSE_S = 0.1  # a terminal needs no more than ten pictures a second


class Terminal:
    """Output of one command."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._shown = 0
        self._last = 0.0
        self._live = sys.stderr.isatty() and not json

    def value(self, value: Any) -> None:
        """A result as JSON, for scripts."""
        self.clear()
        print(codec.pretty(value))

    def say(self, text: str = "") -> None:
        """A line for the person; silent under --json, where stdout holds one value and nothing else."""
        self.clear()
        if not self.json:
            print(text)

    def remark(self, text: str) -> None:
        """A sentence beside the result: on stderr, with or without --json."""
        self.clear()
        print(text, file=sys.stderr)

    @property
    def attended(self) -> bool:
        """Is there a person who could answer?"""
        return sys.stdin.isatty() and not self.json

    def agrees(self, question: str) -> bool:
        """A person's yes to a question; anything else, and nobody there, is none."""
        if not self.attended:
            return False
        self.clear()
        try:
            return input(f"{question} (yes/no) ").strip().lower() in ("y", "yes")
        except EOFError:
            return False

    def progress(self, done: int, total: int, text: str) -> None:
        """The bar: `done` of `total`; total 0 means that the end is not known."""
        now = time.monotonic()
        if not self._live or (now - self._last < PAUSE_S and done != total):
            return
        self._last = now
        share = min(1.0, done / total) if total else 0.0
        bar = "#" * round(share * WIDTH)
        line = f"[{bar:<{WIDTH}}] {f'{share:4.0%}' if total else '    '} {text}"[:LINE]
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def part(self, text: str) -> None:
        """A part of a long job begins: in the bar, or as a line of its own where nobody draws one."""
        if self._live:
            self.progress(0, 0, text)
        else:
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away before anything else is printed."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun: "1 item", "2 items"."""
    return f"{number} {one if number == 1 else many}"


def one_line(text: str) -> str:
    """A text of any shape on one line, without the marks that turn the direction of writing."""
    return " ".join(text.translate(_TURNS).split())


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows of words in aligned columns; the last column is not padded."""
    if not rows:
        return []
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
