"""The folder of public data is what its lists say (data.md acceptance 1 and 9): hashes, number, size, licence texts."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.data
MOST_BYTES = 52 << 20


def test_every_listed_file_has_its_hash(data: Path) -> None:
    listed = [line.split(maxsplit=1) for line in (data / "SHA256SUMS").read_text("utf-8").splitlines() if line]
    assert len(listed) == 42
    wrong = [
        name
        for sha256, name in listed
        if hashlib.sha256((data / name.lstrip("*./")).read_bytes()).hexdigest() != sha256
    ]
    assert wrong == []


def test_nothing_else_lies_there_and_it_is_small(data: Path) -> None:
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) == 43
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def test_every_set_has_its_licence(data: Path) -> None:
    """A row of the table of sources names a text in `licences/` that is there, or says where its licence stands."""
    sources = (data / "SOURCES.md").read_text("utf-8")
    named = set(re.findall(r"licences/([\w.-]+\w)", sources))
    present = {path.name for path in (data / "licences").iterdir()}
    assert named and named <= present
    assert len(present) == 9
