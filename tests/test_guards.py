"""The guards of conftest.py must trip: each bad test below fails for its own reason, and the good ones pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CASES = '''
"""Tests that leave something behind."""
import logging, socket, subprocess, threading, time, warnings

def test_good():
    assert 1 + 1 == 2

def test_local_socket_is_allowed():
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"x")
        assert other.recv(1) == b"x"

def test_caught_warning_is_allowed(caplog):
    logging.getLogger("wardround.store").warning("expected")
    assert caplog.records

def test_thread():
    threading.Thread(target=time.sleep, args=(6,), daemon=True, name="lingering").start()

def test_process():
    globals()["kept"] = subprocess.Popen(["sleep", "60"])

def test_log():
    logging.getLogger("wardround.store").warning("disk nearly full")

def test_python_warning():
    warnings.warn("old call", DeprecationWarning)

def test_internet():
    with socket.socket() as one:
        try:
            one.connect(("192.0.2.1", 9))
        except Exception:
            pass
'''
EXPECTED = {
    "test_good": "passed",
    "test_local_socket_is_allowed": "passed",
    "test_caught_warning_is_allowed": "passed",
    "test_thread": "left running: lingering",
    "test_process": "left running: sleep",
    "test_log": "unexpected log records: wardround.store: disk nearly full",
    "test_python_warning": "DeprecationWarning: old call",
    "test_internet": "NetworkUse: socket.connect",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("guarded")
    shutil.copy(HERE / "conftest.py", folder)
    (folder / "test_cases.py").write_text(CASES, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:randomly", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "packaging")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    return done.stdout


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_guard(outcome: str, name: str) -> None:
    if EXPECTED[name] == "passed":
        assert re.search(rf"::{name} PASSED", outcome)
        assert not re.search(rf"(FAILED|ERROR) \S*::{name}\b", outcome)
    else:
        assert re.search(rf"(FAILED|ERROR) \S*::{name}\b", outcome), outcome[-3000:]
        assert EXPECTED[name] in outcome
