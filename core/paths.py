"""Where things lie: profile, model packs, cache, logs; and this program's own start command.

`WARDROUND_HOME`, if set, holds all four (tests, portable use); else the platform's folders do.
`WARDROUND_MODELS` alone moves the packs. Knows nothing of what is stored.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

APP = "wardround"


def _home() -> Path | None:
    value = os.environ.get("WARDROUND_HOME")
    return Path(value) if value else None


def _folder(name: str, platform_default: str, *, make: bool = True) -> Path:
    home = _home()
    path = home / name if home else Path(platform_default)
    if make:
        path.mkdir(parents=True, exist_ok=True)
    return path


def profile_folder(name: str = "profile", *, make: bool = True) -> Path:
    """Databases, artifacts, settings, lock; the demo has a profile of its own ("demo"). Who only reads makes none."""
    return _folder(name, str(Path(platformdirs.user_data_dir(APP, appauthor=False)) / name), make=make)


def packs_folder() -> Path:
    """Model packs, `<id>/<version>/manifest.json`."""
    override = os.environ.get("WARDROUND_MODELS")
    if override:
        return Path(override)
    return _folder("packs", str(Path(platformdirs.user_data_dir(APP, appauthor=False)) / "packs"))


def cache_folder() -> Path:
    """Search indexes and PHI-free model states; may be deleted at any time."""
    return _folder("cache", platformdirs.user_cache_dir(APP, appauthor=False))


def log_folder() -> Path:
    """Logs and crash files, without case text."""
    return _folder("logs", platformdirs.user_log_dir(APP, appauthor=False))


def own_command(*arguments: str) -> list[str]:
    """The command line that starts this same program again (worker, decode child).

    -P: a folder named "desktop" where the person happens to be must not be taken for the program.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, *arguments]
    return [sys.executable, "-P", "-m", "desktop", *arguments]
