"""Folders: one variable moves all of them; and the command line that starts this program again from anywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core import paths


def test_one_variable_moves_everything(home: Path) -> None:
    assert paths.profile_folder() == home / "profile"
    assert paths.profile_folder("demo") == home / "demo"
    assert paths.cache_folder() == home / "cache"
    assert paths.log_folder() == home / "logs"
    assert all((home / name).is_dir() for name in ("profile", "demo", "cache", "logs"))


def test_packs_move_apart(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARDROUND_MODELS", "/srv/packs")
    assert paths.packs_folder() == Path("/srv/packs")
    monkeypatch.delenv("WARDROUND_MODELS")
    assert paths.packs_folder() == home / "packs"


def test_without_it_the_platforms_folders_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WARDROUND_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert paths.profile_folder() == tmp_path / "data" / "wardround" / "profile"
    assert paths.cache_folder() == tmp_path / "cache" / "wardround"
    assert paths.log_folder() == tmp_path / "state" / "wardround" / "log"


def test_the_program_starts_again_beside_a_folder_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "desktop").mkdir()
    (tmp_path / "desktop" / "__init__.py").write_text("raise SystemExit('taken for the program')")
    done = subprocess.run(paths.own_command("--help"), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: wardround")


def test_a_frozen_program_is_its_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert paths.own_command("--worker") == [sys.executable, "--worker"]
