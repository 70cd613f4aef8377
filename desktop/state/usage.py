"""What this program takes of the machine, read once a second: memory of its processes, processor, model speed, card.

Knows processes by their numbers; knows no widget.
"""

from __future__ import annotations

import os
import time

import msgspec

from desktop.i18n import tr
from desktop.state import processes, words
from desktop.state.processes import Process

UNKNOWN = "—"


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """One reading. Bytes; `cpu` is the share of all cores (1.0: the whole machine); None: not known yet."""

    window: int = 0
    worker: int = 0
    reading: int = 0
    cpu: float | None = None

    @property
    def memory(self) -> int:
        """All processes together."""
        return self.window + self.worker + self.reading


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker says of itself: tokens a second of the call under way, memory of the graphics card in bytes."""

    speed: float = 0.0
    card_used: int = 0
    card_total: int = 0


class Meter:
    """Reads the window's processes; `cuda`: does the machine have a graphics card that CUDA could use?"""

    def __init__(self, pid: int = 0, *, cores: int = 0, cuda: bool | None = None) -> None:
        self._pid = pid or os.getpid()
        self._cores = cores or os.cpu_count() or 1
        self._cuda = cuda
        self._before: dict[int, float] = {}
        self._at = 0.0

    def read(self, worker: int = 0) -> Usage:
        """The processes now; processor time since the last reading."""
        ours = processes.family(self._pid)
        theirs = {member.pid for member in processes.family(worker)} if worker else set()
        window = sum(member.resident for member in ours if member.pid == self._pid)
        whole = sum(member.resident for member in ours)
        inside = sum(member.resident for member in ours if member.pid in theirs)
        return Usage(window=window, worker=inside, reading=whole - window - inside, cpu=self._share(ours))

    def _share(self, ours: tuple[Process, ...]) -> float | None:
        """Processor seconds of what runs now, since the last reading, by the wall seconds of all cores."""
        now = time.monotonic()
        used = {member.pid: member.seconds for member in ours}
        spent = sum(seconds - self._before.get(pid, 0.0) for pid, seconds in used.items())
        passed, first = now - self._at, not self._before
        self._before, self._at = used, now
        return None if first or passed <= 0 else min(1.0, max(0.0, spent / passed / self._cores))

    @property
    def cuda(self) -> bool:
        if self._cuda is None:
            from models.device import probe_device

            self._cuda = probe_device().cuda
        return self._cuda


def line(usage: Usage, worker: Worker) -> str:
    """The status line: memory, processor, and the model's speed while it works."""
    parts = [tr("Memory {m}", m=words.size(usage.memory)), tr("CPU {p}", p=percent(usage.cpu))]
    if worker.speed:
        parts.append(tr("{n} tokens/s", n=f"{worker.speed:.1f}"))
    return " · ".join(parts)


def figures(usage: Usage, worker: Worker, *, cuda: bool) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that is measured, for the panel."""
    return (
        (tr("Window"), words.size(usage.window)),
        (tr("Analysis process"), words.size(usage.worker) if usage.worker else tr("not running")),
        (tr("Reading of files"), words.size(usage.reading) if usage.reading else tr("not running")),
        (tr("Memory in all"), words.size(usage.memory)),
        (tr("Processor, all cores"), percent(usage.cpu)),
        (tr("Model speed"), tr("{n} tokens/s", n=f"{worker.speed:.1f}") if worker.speed else UNKNOWN),
        (tr("Graphics memory"), card(worker, cuda=cuda)),
    )


def card(worker: Worker, *, cuda: bool) -> str:
    """The memory of the graphics card, or why none is shown."""
    if worker.card_total:
        return tr("{u} of {t}", u=words.size(worker.card_used), t=words.size(worker.card_total))
    return tr("not used so far") if cuda else tr("none: no accelerator")


def percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share * 100:.0f} %"
