"""Fixtures of the window's tests: a profile whose knowledge index is built already, and a window at work in it.

The model is the product's scripted double inside the real worker process; everything else is real.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core import settings
from core.runtime import examples
from core.settings import Settings
from desktop.app import Session
from desktop.views.look import Look, set_look

ROOT = Path(__file__).resolve().parents[2]
WARM = """
from pathlib import Path
from core import paths
from desktop import assembly
quiet = {"effect": lambda key: None, "crash_file": lambda error: "", "on_texts": lambda done, total: None}
with assembly.worker_parts(paths.profile_folder(), **quiet):
    pass
"""


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which a worker was open once: stores migrated, guidelines indexed. Copied, never used."""
    root = tmp_path_factory.mktemp("warm")
    environment = {**os.environ, "WARDROUND_HOME": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", WARM], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return root


@pytest.fixture
def place(warm: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The profile of this test, research imaging; runs use the scripted model."""
    shutil.copytree(warm, home, dirs_exist_ok=True)
    settings.save(home / "profile", Settings(profile="research_imaging"))
    monkeypatch.setenv("WARDROUND_TESTING", "1")
    monkeypatch.setenv("WARDROUND_TEST_BACKBONE", "scripted")
    return home / "profile"


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of example (a), written once; read only."""
    return examples.write("a", tmp_path_factory.mktemp("example"))


Opener = Callable[..., Session]


@pytest.fixture
def open_window(qapp: QApplication, qtbot: object, place: Path) -> Iterator[Opener]:
    """Opens windows on the profile, closes them at the end; `consent` passes the first page."""
    sessions: list[Session] = []

    def opened(*, consent: bool = True, fault: str = "") -> Session:
        qapp.setStyle("Fusion")
        session = Session(qapp, place, fault=fault)
        sessions.append(session)
        session.window.show()
        qtbot.waitUntil(lambda: session.window.desk is not None, timeout=20_000)  # type: ignore[attr-defined]
        session.window.activateWindow()
        qtbot.waitUntil(session.window.isActiveWindow, timeout=5_000)  # type: ignore[attr-defined]
        if consent and session.window.consent_page is not None:
            session.window.consent_page.read.click()
        return session

    yield opened
    for session in sessions:
        session.close()
        session.window.deleteLater()
    qapp.processEvents()
    set_look(Look())
