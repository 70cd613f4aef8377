"""What an installed copy carries: every file of the packages that is no code is named by the patterns of pyproject."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

from setuptools import find_namespace_packages

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "models", "tools", "desktop")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def data_files() -> list[Path]:
    found = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    return [path for path in found if path.suffix not in (".py", ".pyc", ".part")]


def test_every_data_file_matches_a_pattern() -> None:
    patterns = PROJECT["package-data"]["*"]
    files = data_files()
    assert len(files) > 40
    assert [path for path in files if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_every_folder_with_data_is_a_package() -> None:
    """The folders of the example cases hold no code; setuptools must find them all the same."""
    found = set(find_namespace_packages(str(ROOT), include=PROJECT["packages"]["find"]["include"]))
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in data_files()}
    assert {f"core.runtime.examples.{letter}" for letter in "abc"} <= folders
    assert folders <= found
