"""What happens when the program makes a mistake: a crash file without case text, and a sentence that names it.

A crash file holds versions and the traceback's places (file, line, function), never values or messages. Knows no Qt.
"""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from core import paths

FRAME = "  {name}:{line} in {function}"
NOT_WRITTEN = "(no crash file: the log folder cannot be written)"


def write(error: BaseException) -> str:
    """Write the crash file; returns its path, or a remark in brackets when even that failed."""
    try:
        path = paths.log_folder() / f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
        path.write_text("\n".join((_program(), *_lines(error))) + "\n", encoding="utf-8")
    except OSError:
        return NOT_WRITTEN
    return str(path)


def _program() -> str:
    try:
        number = version("wardround")
    except PackageNotFoundError:
        number = "from source"
    return f"Wardround {number}, Python {sys.version.split()[0]}, {platform.system()} {platform.release()}"


def _lines(error: BaseException) -> Iterator[str]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield ("caused by " if seen else "") + f"{type(cause).__module__}.{type(cause).__name__}"
        for frame in traceback.extract_tb(cause.__traceback__):
            yield FRAME.format(name=_short(frame.filename), line=frame.lineno, function=frame.name)
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _short(filename: str) -> str:
    """The last three parts of a path: enough to find the place, nothing of the person's folders."""
    return "/".join(filename.replace("\\", "/").split("/")[-3:])


def sentence(path: str) -> str:
    """What the person reads."""
    return f"Wardround made a mistake. Your cases are intact. Details (without case text) are in {path}."
