"""What every command begins with: the profile, its settings, its stores; and the lock where something is written."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core import log
from core import paths as places
from core import settings as options
from core.settings import Settings
from core.store.database import ProfileLock, actor
from desktop.assembly import Stores, Workbench
from desktop.cli.arguments import profile_of
from desktop.cli.terminal import Terminal

LOG = "wardround.log"


class Session:
    """One command at work in one profile."""

    def __init__(self, bench: Workbench, stores: Stores, terminal: Terminal) -> None:
        self.bench = bench
        self.stores = stores
        self.terminal = terminal

    @property
    def profile(self) -> Path:
        return self.bench.profile

    def with_settings(self, **changes: object) -> Session:
        """The same session under changed settings; nothing is written."""
        settings = msgspec.structs.replace(self.bench.settings, **changes)
        return Session(Workbench(self.profile, settings, self.bench.actor), self.stores, self.terminal)


@contextmanager
def opened(chosen: argparse.Namespace, *, writes: bool, profile: Path | None = None) -> Iterator[Session]:
    """Open the profile of a command.

    Raises:
        StoreError: it cannot be opened; or it is open elsewhere and this command would write.
        UserError: its settings file is not usable.
    """
    folder = profile or profile_of(chosen)
    lock = ProfileLock(folder)
    if writes:
        lock.acquire()
    try:
        log.to_file(places.log_folder() / LOG)
        bench = Workbench(folder, _settings(folder), actor())
        with bench.open_stores() as stores:
            yield Session(bench, stores, Terminal(json=chosen.json))
    finally:
        lock.release()


def _settings(folder: Path) -> Settings:
    return options.load(folder)
