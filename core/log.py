"""Named loggers by subject that refuse case text.

A message may hold only what the caller marks as safe: fixed wording and values of type int, float, bool, or
`Safe` (codes, ids, hashes). Anything else is replaced by its type's name, so that no patient text reaches a file.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

SUBJECTS = ("store", "worker", "window", "models", "intake", "knowledge", "command")
_KEEP = (int, float, bool)


class Safe(str):
    """Text that the writer of the call vouches for: a code, an id, a hash, a version."""


class _Refuse(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        values = record.args
        if isinstance(values, Mapping):
            record.args = {key: _cleaned(value) for key, value in values.items()}
        elif values:
            record.args = tuple(_cleaned(value) for value in values)
        record.exc_info = None
        return True


def _cleaned(value: object) -> object:
    return value if isinstance(value, (Safe, *_KEEP)) else f"<{type(value).__name__}>"


def logger(subject: str) -> logging.Logger:
    """The logger of one of `SUBJECTS`; its records are cleaned of anything not marked safe."""
    if subject not in SUBJECTS:
        raise ValueError(f"no such log subject: {subject}")
    found = logging.getLogger(f"wardround.{subject}")
    if not any(isinstance(f, _Refuse) for f in found.filters):
        found.addFilter(_Refuse())
    return found


def to_file(path: Path) -> None:
    """Send every subject to one file, once a process. Where it cannot be written, reading goes on without a log."""
    root = logging.getLogger("wardround")
    if root.handlers:
        return
    try:
        handler: logging.Handler = logging.FileHandler(path, encoding="utf-8")
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    root.propagate = False
