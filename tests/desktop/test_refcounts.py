"""The pin of Qt for Python: a build that damages reference counts aborts the interpreter after some thousand calls.

PySide6 6.12.0 on Python 3.10 and 3.11 does. So the calls are made in a child process.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import lockfile
import pytest

from tests.helpers.refcounts import ROUNDS, drift

ROOT = Path(__file__).resolve().parents[2]
CHILD = ROOT / "tests" / "helpers" / "refcounts.py"
ALLOWED = 50  # a bad build changes a count by one in each of the rounds
NAMES = ("PySide6-Essentials", "shiboken6")


@pytest.fixture(scope="module")
def drifts() -> dict[str, int]:
    done = subprocess.run([sys.executable, str(CHILD)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"the child died with {done.returncode}: {done.stderr[-500:]}"
    return dict(json.loads(done.stdout))


def test_no_call_changes_a_reference_count(drifts: dict[str, int]) -> None:
    assert len(drifts) == 9
    assert {name: change for name, change in drifts.items() if change >= ALLOWED} == {}


def test_a_lost_reference_would_be_seen() -> None:
    kept: list[None] = []
    seen = drift(lambda: kept.append(None))
    immortal = sys.version_info >= (3, 12)  # there the counts of None, True and False are fixed
    assert seen < ALLOWED if immortal else seen >= ROUNDS


@pytest.mark.parametrize("name", NAMES)
def test_installed_version_is_inside_the_pin(name: str) -> None:
    assert importlib.metadata.version(name).startswith("6.11.")


@pytest.mark.parametrize("name", NAMES)
def test_project_and_lock_hold_the_pin(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = lockfile.read_rows((ROOT / "packaging" / "lock.txt").read_text(encoding="utf-8"))
    assert f"{name}>=6.11,<6.12" in project["dependencies"]
    assert lockfile.version_of(rows[name.lower()]).startswith("6.11.")
