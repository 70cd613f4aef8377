"""Read a lock file of pip's requirements format: one row a package, its hashes on the lines that follow.

Knows the text only: nothing is installed here.
"""

from __future__ import annotations

import re


def read_rows(text: str) -> dict[str, str]:
    """Package name (lower case, hyphens) to its whole row, hashes and continuation lines included."""
    rows: dict[str, str] = {}
    name = ""
    for line in text.splitlines(keepends=True):
        if line.startswith((" ", "\t")) and name:
            rows[name] += line
        elif found := re.match(r"([A-Za-z0-9._-]+)==", line):
            name = found[1].lower().replace("_", "-")
            rows[name] = line
    return rows


def version_of(row: str) -> str:
    """The exact version that a row pins, such as "6.11.3"."""
    return row.split("==", 1)[1].split(None, 1)[0].rstrip("\\").rstrip(";")
