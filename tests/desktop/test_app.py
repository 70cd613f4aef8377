"""The window as a program: lock, self-check, short start, mistakes that become sentences, a window that comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.errors import EXIT_ACT, EXIT_BUG, EXIT_DONE
from core.store.database import ProfileLock
from desktop import app
from desktop.app import NO_SCREEN, Session, counts_are_stable, has_screen, profile_of, run_window
from desktop.views.look import look
from tests.helpers.program import command

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
ROOT = Path(__file__).resolve().parents[2]
Opener = Callable[..., Session]


def test_reference_counts_are_stable_with_this_qt(qtbot: QtBot) -> None:
    assert counts_are_stable()


def test_damaged_qt_is_refused(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "counts_are_stable", lambda: False)
    assert run_window(["wardround"]) == EXIT_BUG
    assert "damages the interpreter" in capsys.readouterr().err


def test_second_window_is_refused_with_a_sentence(
    qtbot: QtBot, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = ProfileLock(profile)
    lock.acquire()
    assert run_window(["wardround"]) == EXIT_ACT
    assert "already open" in capsys.readouterr().err
    lock.release()


def test_profile_is_named_in_both_spellings(home: Path) -> None:
    assert profile_of(["w"]) == home / "profile"
    assert profile_of(["w", "--profile", "demo"]) == home / "demo"
    assert profile_of(["w", "--profile=/somewhere"]) == Path("/somewhere")


def test_first_paint_is_short_and_imports_nothing_heavy(home: Path) -> None:
    """Target of the product: 1.5 s on an idle machine; here with a factor of 2, least of three."""
    seconds = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-m", "desktop", "--paint-only"],
            cwd=ROOT,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == EXIT_DONE, done.stderr[-1000:]
        said = json.loads(done.stdout)
        assert said["heavy"] == []
        seconds.append(said["seconds"])
    assert min(seconds) <= 3.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
def test_without_a_screen_it_says_so_and_ends(home: Path) -> None:
    """Qt would print plugin names and end the process by SIGABRT."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    bare = {name: value for name, value in os.environ.items() if name not in screens}
    done = subprocess.run(command(), env=bare, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (EXIT_ACT, "")
    assert done.stderr == NO_SCREEN + "\n"
    assert not (home / "profile").exists()


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_any_of_three_names_a_screen(name: str) -> None:
    assert has_screen({name: "x"}, "linux")
    assert not has_screen({name: ""}, "linux")
    assert has_screen({}, "win32") and has_screen({}, "darwin")


def test_mistake_of_ours_leaves_a_crash_file_and_the_window(qtbot: QtBot, open_window: Opener, home: Path) -> None:
    session = open_window()
    try:
        raise KeyError("Margaret Example")
    except KeyError as error:
        session._on_mistake(KeyError, error, error.__traceback__)
    strip = session.window.strips.shown()[0]
    files = list((home / "logs").glob("crash-*.txt"))
    assert len(files) == 1
    assert files[0].name in strip.accessibleName()
    assert "Margaret" not in files[0].read_text()
    assert session.window.isVisible()
    session.window.tell("critical", strip.accessibleName())
    assert len(session.window.strips.shown()) == 1


def test_geometry_and_appearance_come_back(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    session.window.resize(790, 600)
    session.window.next_mode()
    session.close()
    again = open_window()
    assert (again.window.width(), again.window.height()) == (790, 600)
    assert look().mode == "light"
    again.window.zoom_in()
    again.close()
    open_window()
    assert look().zoom == 1.15
