"""What the system tells of running processes: resident memory, processor time, children. Reads, and loads no library.

Linux: /proc. Windows: kernel32 (unverified: nobody has run it there), without children. Elsewhere: nothing is told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

_AFTER_NAME = {"parent": 1, "user": 11, "system": 12, "resident": 21}  # places in /proc/PID/stat behind the name


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """One process: resident memory in bytes, processor seconds since it began."""

    pid: int
    resident: int
    seconds: float


if sys.platform == "win32":

    def look_at(pid: int) -> Process | None:
        """The process as it is now; None where it has ended or may not be seen. Unverified."""
        import ctypes
        from ctypes import wintypes

        class Counters(ctypes.Structure):
            _fields_ = [
                ("cb", wintypes.DWORD),
                ("PageFaultCount", wintypes.DWORD),
                ("PeakWorkingSetSize", ctypes.c_size_t),
                ("WorkingSetSize", ctypes.c_size_t),
                ("rest", ctypes.c_size_t * 6),
            ]

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = wintypes.HANDLE
        handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return None
        try:
            counters = Counters(cb=ctypes.sizeof(Counters))
            times = [wintypes.FILETIME() for _ in range(4)]
            kernel.K32GetProcessMemoryInfo(wintypes.HANDLE(handle), ctypes.byref(counters), counters.cb)
            kernel.GetProcessTimes(wintypes.HANDLE(handle), *(ctypes.byref(time) for time in times))
            used = sum((time.dwHighDateTime << 32) + time.dwLowDateTime for time in times[2:]) / 1e7
            return Process(pid=pid, resident=int(counters.WorkingSetSize), seconds=used)
        finally:
            kernel.CloseHandle(wintypes.HANDLE(handle))

    def children(pid: int) -> Iterator[int]:
        """Not told."""
        yield from ()

else:

    def look_at(pid: int) -> Process | None:
        """The process as it is now; None where it has ended or the system does not tell."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        parts = stat.rpartition(")")[2].split()
        resident = int(parts[_AFTER_NAME["resident"]]) * os.sysconf("SC_PAGE_SIZE")
        ticks = int(parts[_AFTER_NAME["user"]]) + int(parts[_AFTER_NAME["system"]])
        return Process(pid=pid, resident=resident, seconds=ticks / os.sysconf("SC_CLK_TCK"))

    def children(pid: int) -> Iterator[int]:
        """Children of any of its threads, running or just ended."""
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return
        for thread in threads:
            try:
                listed = Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii")
            except OSError:  # the thread has ended meanwhile
                continue
            yield from map(int, listed.split())


def family(pid: int) -> tuple[Process, ...]:
    """A process and all that it started, as far as they run."""
    found = look_at(pid) if pid > 0 else None
    if found is None:
        return ()
    return (found, *(member for child in children(pid) for member in family(child)))
