"""What the machine offers, how much memory a load needs, and on which rung it runs (runtime.md sections 4.1 and 10).

Loads no model and no native library. Only the processor rung exists so far: who asks for a graphics card is told why
it is not used.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Literal

import msgspec

from core.domain.pack import Architecture, MemoryPlan, PackManifest
from core.errors import UserError

GIB = 1 << 30
COMPUTE = 300 << 20  # bytes of scratch memory until measured
RAM_RESERVE = 2 * GIB
KV_BYTES = {"f16": 2.0, "q8_0": 34 / 32}
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


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """Where a load runs; `reason` is one sentence where that is not what was wanted."""

    wanted: str
    name: str
    reason: str = ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def probe_device() -> Device:
    """Look at this machine; nothing is loaded."""
    cpuinfo, meminfo = _text("/proc/cpuinfo"), _text("/proc/meminfo")
    return Device(
        name=_cpu_name(cpuinfo),
        avx2=has_avx2(cpuinfo),
        cores=min(physical_cores(cpuinfo), _allowed_cores(), quota_cores(_text("/sys/fs/cgroup/cpu.max"))),
        ram_total=memory_of(meminfo, "MemTotal"),
        ram_free=memory_of(meminfo, "MemAvailable"),
        cuda=Path("/dev/nvidia0").exists() or Path("/proc/driver/nvidia/version").exists(),
    )


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


def kv_bytes(arch: Architecture, n_ctx: int, kind: str = "f16") -> int:
    """Bytes of keys and values for n_ctx tokens: n_ctx · n_layer · n_kv_head · head_dim · 2 · bytes of one number."""
    return int(n_ctx * arch.n_layer * arch.n_kv_head * arch.head_dim * 2 * KV_BYTES[kind])


def plan_memory(manifest: PackManifest, *, n_ctx: int, free: int) -> MemoryPlan:
    """What a load on the processor needs, in bytes. Forks take their tokens inside n_ctx and cost nothing more."""
    weights = sum(file.size for file in manifest.files)
    kv = kv_bytes(manifest.arch, n_ctx) if manifest.arch else 0
    total = weights + kv + COMPUTE + RAM_RESERVE
    fits = total <= free
    return MemoryPlan(weights=weights, kv=kv, compute=COMPUTE, reserve=RAM_RESERVE, total=total, free=free, fits=fits)


def require_memory(plan: MemoryPlan) -> None:
    """UserError with both figures where a load does not fit."""
    if not plan.fits:
        raise UserError(
            f"The model needs {plan.total / GIB:.1f} GiB of free memory and {plan.free / GIB:.1f} GiB are free: "
            "close other programs, or choose a smaller model.",
            code="memory",
        )


def choose_rung(wanted: WantedDevice, device: Device, fallback: Fallback) -> Rung:
    """The rung for what was asked; a fall is announced by its reason, or refused where the policy forbids it."""
    if wanted != "gpu":
        return Rung(wanted=wanted, name="cpu")
    why = "this program's model engine was built without CUDA" if device.cuda else "no CUDA device was found"
    reason = f"The graphics card is not used ({why}); the model runs on the processor."
    if fallback == "forbid":
        raise UserError(f"{reason} The setting fallback = forbid stops here.", code="rung")
    return Rung(wanted=wanted, name="cpu", reason=reason)
