"""What every command begins with: the profile, its settings, its stores; and the lock where something is written."""

from __future__ import annotations

import argparse
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from core import log
from core import paths as places
from core import settings as options
from core.errors import StoreError, UserError
from core.store.database import ProfileLock, actor
from desktop.assembly import DATABASE, Stores, Workbench
from desktop.cli.arguments import profile_of
from desktop.cli.terminal import Terminal
from desktop.i18n import tr

LOG = "wardround.log"
IN_USE = "Wardround is already open with this profile: a window, or another command. Close it or let it end; try again."
NO_PROFILE = "There is no profile in {folder}. `wardround --profile {name} import PATH` makes one."


class Session:
    """One command at work in one profile."""

    def __init__(self, bench: Workbench, stores: Stores, terminal: Terminal, place: Path) -> None:
        self.bench = bench
        self.stores = stores
        self.terminal = terminal
        self.place = place  # of the databases: the profile, or an empty folder where there is no profile yet

    @property
    def profile(self) -> Path:
        return self.bench.profile

    def with_settings(self, **changes: object) -> Session:
        """The same session under changed settings; nothing is written."""
        settings = msgspec.structs.replace(self.bench.settings, **changes)
        return Session(Workbench(self.profile, settings, self.bench.actor), self.stores, self.terminal, self.place)


@contextmanager
def opened(
    chosen: argparse.Namespace,
    *,
    writes: bool,
    alone: bool = True,
    profile: Path | None = None,
    must_exist: bool = False,
) -> Iterator[Session]:
    """Open the profile of a command. One that only reads makes no profile: it finds empty stores instead.

    Who writes is `alone` with the profile, unless what it writes may be written beside an open window.

    Raises:
        StoreError: it cannot be opened; or it is open elsewhere and this command would write.
        UserError: its settings file is not usable; or it was named, `must_exist`, and is not there.
    """
    folder = profile or profile_of(chosen)
    if must_exist and chosen.profile and not _is_there(folder):
        raise UserError(tr(NO_PROFILE, folder=folder, name=chosen.profile), code="no profile")
    with _locked(folder, writes and alone), _place(folder, writes) as place:
        log.to_file(places.log_folder() / LOG)
        bench = Workbench(folder, options.load(folder), actor())
        with Stores(place) as stores:
            yield Session(bench, stores, Terminal(json=chosen.json), place)


def _is_there(folder: Path) -> bool:
    return (folder / DATABASE).is_file()


@contextmanager
def _locked(folder: Path, writes: bool) -> Iterator[None]:
    lock = ProfileLock(folder)
    if writes:
        _acquire(lock)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: ProfileLock) -> None:
    try:
        lock.acquire()
    except StoreError as error:
        if error.code != "second process":
            raise
        raise StoreError(tr(IN_USE), code=error.code) from error


@contextmanager
def _place(folder: Path, writes: bool) -> Iterator[Path]:
    """Where the databases lie: in the profile, or for a reader without one in a folder that is gone afterwards."""
    if writes or _is_there(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="wardround-") as empty:
        yield Path(empty)


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Ctrl-C and a polite kill set the event; the job then ends at its next step, and says how to go on."""
    stop = threading.Event()

    def ask(_signal: int, _frame: Any) -> None:
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
