"""What the machine offers: processor, cores, memory, graphics card (runtime.md sections 4.1 and 10).

Loads no model and no native library; the memory of graphics cards is told by `models.llama.accelerators`.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Literal

import msgspec

from core.errors import UserError

GIB = 1 << 30
AVX2_FEATURE = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE
WantedDevice = Literal["auto", "cpu", "gpu"]
Fallback = Literal["announce", "ask", "forbid"]


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """The machine. `cores` are physical ones this process may use; memory in bytes."""

    name: str
    avx2: bool
    cores: int
    ram_total: int
    ram_free: int
    cuda: bool

    @property
    def threads(self) -> int:
        """All cores but one: the barriers of the engine spin, and a busy core would hold all of them up."""
        return max(1, self.cores - 1)


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A graphics card as the model library sees it; memory in bytes."""

    name: str
    free: int
    total: int


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """Where a load runs; `reason` says why where that is not what was wanted. `gpu_layers`: layers on the card."""

    wanted: str
    name: str
    reason: str = ""
    gpu_layers: int = 0


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def probe_device() -> Device:
    """Look at this machine; nothing is loaded."""
    cpuinfo, meminfo = _text(_cpuinfo()), _text("/proc/meminfo")
    return Device(
        name=_cpu_name(cpuinfo),
        avx2=has_avx2(cpuinfo),
        cores=min(physical_cores(cpuinfo), _allowed_cores(), quota_cores(_text("/sys/fs/cgroup/cpu.max"))),
        ram_total=memory_of(meminfo, "MemTotal"),
        ram_free=memory_of(meminfo, "MemAvailable"),
        cuda=Path("/dev/nvidia0").exists() or Path("/proc/driver/nvidia/version").exists(),
    )


def _cpuinfo() -> str:
    """Where the system describes its processor; a test may describe another one."""
    testing = os.environ.get("WARDROUND_TESTING") == "1"
    return os.environ.get("WARDROUND_TEST_CPUINFO", "/proc/cpuinfo") if testing else "/proc/cpuinfo"


def _cpu_name(cpuinfo: str) -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return found[1].strip() if found else "processor"


def has_avx2(cpuinfo: str) -> bool:
    """From the text of /proc/cpuinfo; on Windows from the system."""
    if sys.platform == "win32":
        return bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(AVX2_FEATURE))
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    return flags is not None and "avx2" in flags[1].split()


def physical_cores(cpuinfo: str) -> int:
    """Distinct (socket, core) pairs of /proc/cpuinfo; where it does not tell, all logical ones."""
    sockets = re.findall(r"^physical id\s*:\s*(\d+)$", cpuinfo, re.MULTILINE)
    cores = re.findall(r"^core id\s*:\s*(\d+)$", cpuinfo, re.MULTILINE)
    return len(set(zip(sockets, cores, strict=False))) or os.cpu_count() or 1


def _allowed_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def quota_cores(cpu_max: str) -> int:
    """Whole cores of a control group's quota ("200000 100000" is 2); without one a large number."""
    parts = cpu_max.split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        return 1 << 16
    return max(1, int(parts[0]) // int(parts[1]))


def memory_of(meminfo: str, key: str) -> int:
    """Bytes of one row of /proc/meminfo; 0 where it is not there."""
    found = re.search(rf"^{key}:\s*(\d+) kB$", meminfo, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def require_avx2(device: Device) -> None:
    """The portable engine dies of an illegal instruction without AVX2, so this comes before it is loaded."""
    if not device.avx2:
        raise UserError("This processor lacks AVX2, which the model engine needs.", code="no_avx2")
