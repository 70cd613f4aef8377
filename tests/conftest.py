"""What every test gets: a profile of its own, no network, and a failure for anything unexpected that it leaves behind.

Unexpected are: threads or child processes still running, log records of WARNING or above that the test did not ask
for (by taking `caplog`), and any connection to an internet address. Must not import the application: tests of single
modules stay fast, and a broken module breaks only its own tests.
"""

from __future__ import annotations

import inspect
import logging
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import packs
import pytest

ROOT = Path(__file__).resolve().parent.parent
GRACE_S = 3.0  # how long threads and processes may take to end after a test
INTERNET = (socket.AF_INET, socket.AF_INET6)

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Read before any test moves WARDROUND_HOME: the real packs stay visible to tests that need weights.
MODELS = packs.model_folder()


class NetworkUse(BaseException):
    """A test tried to reach the internet. Not an Exception, so that no `except Exception` hides it."""


# ------------------------------------------------------------------------------------------------ the network

_guard_on = False


def _refuse_internet(event: str, arguments: tuple[object, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto", "socket.getaddrinfo") or not _guard_on:
        return
    if event == "socket.getaddrinfo" or getattr(arguments[0], "family", None) in INTERNET:
        raise NetworkUse(f"{event} {arguments[1:]}")


sys.addaudithook(_refuse_internet)


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Every connection to an internet address fails, in the test process. An audit hook cannot be taken away again."""
    global _guard_on  # noqa: PLW0603 (the hook outlives the session, its switch must too)
    _guard_on = True
    yield
    _guard_on = False


# ------------------------------------------------------------------------------------------- folders and data


@pytest.fixture(scope="session")
def packs_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the default model pack alone: what else this machine has must not change what a test sees."""
    folder = tmp_path_factory.mktemp("packs")
    place = MODELS / packs.SMOLLM2.folder
    if place.is_dir():
        (folder / packs.SMOLLM2.folder.parent).mkdir(parents=True, exist_ok=True)
        (folder / packs.SMOLLM2.folder).symlink_to(place, target_is_directory=True)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packs_of_tests: Path) -> Path:
    """The data root of this test alone (profile, cache, logs); of the model packs only the default one."""
    root = tmp_path / "home"
    root.mkdir()
    monkeypatch.setenv("WARDROUND_HOME", str(root))
    monkeypatch.setenv("WARDROUND_MODELS", str(packs_of_tests))
    return root


@pytest.fixture
def profile(home: Path) -> Path:
    """An empty profile folder, the one that the application finds in this test."""
    folder = home / "profile"
    folder.mkdir()
    return folder


def data_folder(checkout: Path = ROOT) -> Path | None:
    """The folder of public data sets, no part of this repository: the one that is named, and no other then."""
    named = os.environ.get("WARDROUND_DATA")
    beside = [checkout.parent / "shared" / "data", checkout.parent / "shared", checkout / "shared" / "data"]
    places = [Path(named)] if named else beside
    return next((place for place in places if (place / "SOURCES.md").is_file()), None)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets, else a skip."""
    folder = data_folder()
    if folder is None:
        pytest.skip("data folder not found")
    return folder


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The folder of the default model pack, else a skip."""
    if not packs.is_installed(packs.SMOLLM2, MODELS):
        pytest.skip("SmolLM2 pack not found: python3 packaging/bootstrap.py setup")
    return MODELS / packs.SMOLLM2.folder


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Markers that name a need skip with one reason each where the machine cannot meet it."""
    if item.get_closest_marker("data") and data_folder() is None:
        pytest.skip("data folder not found")
    if item.get_closest_marker("weights") and not packs.is_installed(packs.SMOLLM2, MODELS):
        pytest.skip("SmolLM2 pack not found: python3 packaging/bootstrap.py setup")
    if item.get_closest_marker("gpu") and shutil.which("nvidia-smi") is None:
        pytest.skip("no CUDA device")


# ------------------------------------------------------------------------------------- what a test leaves behind


def child_processes() -> dict[int, str]:
    """Running children of this process (not the ones that have ended): process id to name. Linux only."""
    found: dict[int, str] = {}
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:  # the thread ended meanwhile
            continue
        for pid in children:
            try:
                stat = Path(f"/proc/{pid}/stat").read_text()
            except OSError:  # it ended meanwhile
                continue
            name, state = stat.split("(", 1)[1].rsplit(")", 1)
            if state.split()[0] != "Z":
                found[int(pid)] = name
    return found


def threads() -> dict[int, str]:
    """Running Python threads: identity to name. Threads that Qt or a library made for itself are not ours."""
    ours = [t for t in threading.enumerate() if not isinstance(t, threading._DummyThread)]
    return {id(thread): thread.name for thread in ours}


def left_over(before: dict[int, str], now: dict[int, str]) -> dict[int, str]:
    return {key: name for key, name in now.items() if key not in before}


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fails the test that leaves a thread or a child process; the process is ended, so that others are not hurt."""
    threads_before, children_before = threads(), child_processes()
    yield
    deadline = time.monotonic() + GRACE_S
    while left_over(threads_before, threads()) or left_over(children_before, child_processes()):
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    lost = left_over(children_before, child_processes())
    for pid in lost:
        os.kill(pid, signal.SIGKILL)
    names = [*left_over(threads_before, threads()).values(), *lost.values()]
    if names:
        pytest.fail(f"left running: {', '.join(names)}", pytrace=False)


class Records(logging.Handler):
    """Keeps what is logged at WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record not in self.kept:
            self.kept.append(record)


@pytest.fixture(autouse=True)
def no_surprising_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test whose code logs a WARNING, unless the test takes `caplog` and so looks at the records itself."""
    kept, loggers = Records(), [logging.getLogger(), logging.getLogger("wardround")]
    for logger in loggers:
        logger.addHandler(kept)
    yield
    for logger in loggers:
        logger.removeHandler(kept)
    if kept.kept and "caplog" not in inspect.signature(request.function).parameters:
        lines = [f"{record.name}: {record.getMessage()}" for record in kept.kept]
        pytest.fail(f"unexpected log records: {'; '.join(lines)}", pytrace=False)
