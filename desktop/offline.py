"""Network denial, called before anything else: an audit hook that turns any internet socket into a SecurityError.

The hook gives good messages and stops Python code; the kernel filter that stops native code too comes with the trust
issue. Until then a native library that would report home is told not to, before it is loaded. Lowest layer of desktop:
needs nothing but the error page.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from core.errors import SecurityError

_CALLS = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
_FAMILY_PLACE = 1  # of the arguments of "socket.__new__": self, family, type, protocol
_UNIX = 1  # AF_UNIX: the same number on Linux and macOS; Windows has no such sockets in Python
_UNDECIDED = -1  # socket(fileno=...): the family is read from the descriptor, which some other call made
_SILENT = {"ORT_DISABLE_TELEMETRY": "1"}  # ONNX Runtime; children of this process inherit it
_state = {"installed": False, "attempts": 0}


def deny_network() -> None:
    """Install the hook for the life of the process; it cannot be removed."""
    os.environ.update(_SILENT)
    if not _state["installed"]:
        _state["installed"] = True
        sys.addaudithook(_hook)


def attempts() -> int:
    """How often something tried to reach a network since the start."""
    return int(_state["attempts"])


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or not _reaches_out(event, arguments):
        return
    _state["attempts"] += 1
    raise SecurityError(
        f"Wardround opens no network connection; an attempt by {_culprit()} was refused.", code="network"
    )


def _reaches_out(event: str, arguments: tuple[Any, ...]) -> bool:
    if event in _NAMES:
        return True
    if event == "socket.__new__":
        return int(arguments[_FAMILY_PLACE]) not in (_UNIX, _UNDECIDED)
    return event in _CALLS and int(getattr(arguments[0], "family", 0)) != _UNIX


def _culprit() -> str:
    """The module that asked: the first caller outside the standard socket module."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in ("socket", __name__):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "native code"))
