"""The real program as a child process, in the home of the test, with the scripted model unless asked otherwise."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from core.store.database import open_database
from core.store.journal import Journal
from core.store.migrations import workbench

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "acute-dyspnoea-after-knee-replacement"


def environment(home: Path, *, scripted: float | None = 0.0) -> dict[str, str]:
    """The child's environment; `scripted`: seconds of each call of the scripted model, None for the real one."""
    made = {**os.environ, "WARDROUND_HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "WARDROUND_TESTING": "1"}
    if scripted is not None:
        made |= {"WARDROUND_TEST_BACKBONE": "scripted", "WARDROUND_TEST_SECONDS": str(scripted)}
    return made


def command(*arguments: str) -> list[str]:
    """How `wardround ARGUMENTS` is started."""
    return [sys.executable, "-P", "-m", "desktop", *arguments]


def wardround(
    home: Path, *arguments: str, scripted: float | None = 0.0, timeout: float = 120, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """`wardround ARGUMENTS`, to its end."""
    return subprocess.run(
        [*prefix, *command(*arguments)],
        env=environment(home, scripted=scripted),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@cache
def _imported() -> Path:
    """A home with the demo as the program leaves it, done with the scripted model; made once a session."""
    home = Path(tempfile.mkdtemp(prefix="wardround-example-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    done = wardround(home, "demo")
    if done.returncode != 0:
        raise AssertionError(f"the example could not be made: {done.stderr[-2000:]}")
    return home


def example_home(home: Path) -> str:
    """Fill `home` with the demo profile: example (a) with a finished run, the search index; the case's id."""
    shutil.copytree(_imported(), home, dirs_exist_ok=True)
    return EXAMPLE


def journal(home: Path) -> Journal:
    """The journal of the demo profile."""
    return Journal(open_database(home / "demo" / "workbench.db", workbench))


def reference(home: Path) -> str:
    """The demo's own run: scripted model, seed 0, never interrupted."""
    return journal(home).runs()[-1].id
