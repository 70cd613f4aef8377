"""Starts a program under a kernel filter that kills any process which asks for an internet socket, native code too.

Children inherit the filter. Linux on x86-64 only. Run as a script: `no_internet.py PROGRAM ARGUMENTS`.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ARCH_X86_64, SYS_SOCKET, SYS_IO_URING = 0xC000003E, 41, 425
AF_INET, AF_INET6 = 2, 10
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
ALLOW, KILL, REFUSE_38 = 0x7FFF0000, 0x80000000, 0x00050026
PROGRAM = (
    (LOAD, 0, 0, ARCH),
    (EQUALS, 0, 6, ARCH_X86_64),  # another architecture: kill
    (LOAD, 0, 0, NUMBER),
    (EQUALS, 5, 0, SYS_IO_URING),  # it could open sockets unseen: refused
    (EQUALS, 0, 5, SYS_SOCKET),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (EQUALS, 1, 0, AF_INET),
    (EQUALS, 0, 2, AF_INET6),
    (RETURN, 0, 0, KILL),
    (RETURN, 0, 0, REFUSE_38),
    (RETURN, 0, 0, ALLOW),
)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def install(program: tuple[tuple[int, int, int, int], ...] = PROGRAM) -> None:
    """Put the filter on this thread and all it starts; there is no way back."""
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    library = ctypes.CDLL(None, use_errno=True)
    wanted = _Filter(len(program), code)
    if library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or library.prctl(
        PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(wanted), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the filter could not be installed")


if __name__ == "__main__":
    install()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 (the test's own program)
