"""The audit hook: any internet socket is a SecurityError that names who asked; local sockets work.

Each row runs in a process of its own, because the hook cannot be taken away again.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import socket, sys
from core.errors import SecurityError
from desktop import offline
"""
ACT = """
try:
    {act}
except SecurityError as error:
    print("refused", error.code, error.text)
except OSError as error:
    print("tried", type(error).__name__)
else:
    print("done")
print("attempts", offline.attempts())
"""
HOSTILE = {
    "a socket": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "an IPv6 socket": "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "a raw module socket": "__import__('_socket').socket(socket.AF_INET, socket.SOCK_STREAM)",
    "a name": "socket.getaddrinfo('localhost', 80)",
    "an old name call": "socket.gethostbyname('localhost')",
    "urllib": "__import__('urllib.request').request.urlopen('http://127.0.0.1:9/')",
    "http": "__import__('http.client').client.HTTPConnection('127.0.0.1', 9).request('GET', '/')",
    "a helper": "socket.create_connection(('127.0.0.1', 9))",
}
BENIGN = {
    "a pair": "(lambda one, other: one.send(b'x'))(*socket.socketpair())",
    "a local server": "socket.socket(socket.AF_UNIX).bind('')",
    "a program": "__import__('subprocess').run(['true'], check=True)",
}


def run(act: str, *, denied: bool = True) -> list[str]:
    code = BEGIN + ("offline.deny_network(); offline.deny_network()\n" if denied else "") + ACT.format(act=act)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_refused(name: str) -> None:
    outcome, attempts = run(HOSTILE[name])
    assert outcome.startswith("refused network Wardround opens no network connection; an attempt by ")
    assert int(attempts.split()[1]) >= 1


@pytest.mark.parametrize("name", sorted(BENIGN))
def test_allowed(name: str) -> None:
    assert run(BENIGN[name]) == ["done", "attempts 0"]


def test_the_one_who_asked_is_named() -> None:
    assert "an attempt by http.client was refused" in run(HOSTILE["http"])[0]
    assert "an attempt by __main__ was refused" in run(HOSTILE["a socket"])[0]


def test_control_without_the_hook_the_attempt_is_made() -> None:
    """Nobody listens on port 9 here: the attempt ends in an error of the system, not in ours."""
    assert run(HOSTILE["a helper"], denied=False)[0].startswith("tried ")
    assert run(HOSTILE["a socket"], denied=False) == ["done", "attempts 0"]
