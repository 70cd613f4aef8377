"""What happens when the program makes a mistake: a crash file without case text, and a sentence that names it.

A crash file holds versions and the traceback's places (file, line, function), never values or messages. Knows no Qt.
"""

from __future__ import annotations

import platform
import sys
import traceback
from datetime import UTC, datetime
from importlib.metadata import version

from core import paths

FRAME = "  {name}:{line} in {function}"


def write(error: BaseException) -> str:
    """Write the crash file; returns its path."""
    path = paths.log_folder() / f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    path.write_text("\n".join(_lines(error)) + "\n", encoding="utf-8")
    return str(path)


def _lines(error: BaseException) -> list[str]:
    lines = [
        f"Wardround {version('wardround')}, Python {sys.version.split()[0]}, {platform.system()} {platform.release()}",
        f"{type(error).__module__}.{type(error).__name__}",
    ]
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(FRAME.format(name=_short(frame.filename), line=frame.lineno, function=frame.name))
    if error.__cause__ is not None:
        lines.append("caused by:")
        lines += _lines(error.__cause__)[1:]
    return lines


def _short(filename: str) -> str:
    """The last three parts of a path: enough to find the place, nothing of the person's folders."""
    return "/".join(filename.replace("\\", "/").split("/")[-3:])


def sentence(path: str) -> str:
    """What the person reads."""
    return f"Wardround made a mistake. Your cases are intact. Details (without case text) are in {path}."
