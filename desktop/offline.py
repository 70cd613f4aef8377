"""Network denial, called before anything else: an audit hook that turns any internet socket into a SecurityError.

The hook gives good messages and stops Python code; the kernel filter that stops native code too comes with the trust
issue. Lowest layer of desktop: needs nothing but the error page.
"""

from __future__ import annotations

import sys
from typing import Any

from core.errors import SecurityError

_DENIED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
_UNIX = "AF_UNIX"
attempts = 0


def deny_network() -> None:
    """Install the hook for the life of the process; it cannot be removed."""
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    global attempts
    if event not in _DENIED:
        return
    family = getattr(arguments[0], "family", None) if arguments else None
    if getattr(family, "name", "") == _UNIX:
        return
    attempts += 1
    raise SecurityError("This program opens no network connection; an attempt was refused.", code="network")
