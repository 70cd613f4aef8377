"""What happens when the program makes a mistake: a crash file without case text, and a sentence that names it.

A crash file holds versions and the traceback's places (file, line, function), never values or messages; so does what a
native fault leaves. A problem report joins them with facts that hold no case text either. Knows no Qt and no store.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import platform
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core import paths

FRAME = "  {name}:{line} in {function}"
NOT_WRITTEN = "(no crash file: the log folder cannot be written)"
LOG = "wardround.log"
MARK = "window.open"  # in the profile while its window is open
RECENT_FILES, RECENT_LINES = 3, 200
PROMISE = "This file holds no text, name, id or picture of any case. It was sent nowhere."


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


# ------------------------------------------------------------------------------------ the window that was not closed


def note_open(profile: Path) -> bool:
    """Leave a mark that the window of a profile is open. True: an earlier window left its own, it was never closed."""
    mark = profile / MARK
    there = mark.exists()
    with contextlib.suppress(OSError):  # a disk that cannot be written is told of elsewhere
        mark.write_text(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n", encoding="ascii")
    return there


def note_closed(profile: Path) -> None:
    """Take the mark away."""
    with contextlib.suppress(OSError):
        (profile / MARK).unlink(missing_ok=True)


@contextlib.contextmanager
def native_faults() -> Iterator[None]:
    """A fault in a native library leaves its places in a file of the log folder; an orderly end leaves nothing."""
    path = paths.log_folder() / f"fault-{os.getpid()}.txt"
    try:
        stream = path.open("w", encoding="utf-8")
    except OSError:
        yield
        return
    with stream:
        faulthandler.enable(stream)
        try:
            yield
        finally:
            faulthandler.disable()
    path.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------ the problem report


def report(happened: str, facts: Sequence[str]) -> str:
    """Write a problem report into the log folder; returns its path, or a remark in brackets when that failed.

    `happened` is one sentence of ours; `facts` are lines without case text.
    """
    now = datetime.now(UTC)
    head = (
        f"Wardround problem report, {now:%Y-%m-%d %H:%M} UTC",
        PROMISE,
        "",
        f"What happened: {happened}",
        _program(),
    )
    try:
        folder = paths.log_folder()
        path = folder / f"problem-{now:%Y%m%dT%H%M%S%f}.txt"
        path.write_text("\n".join((*head, *facts, *_recent(folder))) + "\n", encoding="utf-8")
    except OSError:
        return NOT_WRITTEN
    return str(path)


def _recent(folder: Path) -> Iterator[str]:
    """The newest crash files and faults, and the end of the log."""
    left = [path for kind in ("crash", "fault") for path in folder.glob(f"{kind}-*.txt") if path.stat().st_size]
    for path in sorted(left, key=lambda path: path.stat().st_mtime)[-RECENT_FILES:]:
        yield from ("", f"{path.name}:", *map(_shortened, path.read_text("utf-8", "replace").splitlines()))
    log = folder / LOG
    if log.exists() and log.stat().st_size:
        yield from ("", f"{LOG}, its last lines:", *log.read_text("utf-8", "replace").splitlines()[-RECENT_LINES:])


def _shortened(line: str) -> str:
    """A native fault names whole paths, which hold the person's folders."""
    return re.sub(r'File "([^"]+)"', lambda found: f'File "{_short(found[1])}"', line)
