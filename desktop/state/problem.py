"""What a problem report says of a profile: numbers, states, settings and the machine; never a word of any case.

Case ids and titles come from folder names and may hold a patient's name, so that even they are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from core.settings import Settings

if TYPE_CHECKING:
    from desktop.state.workbench import Stores


def facts(settings: Settings, stores: Stores) -> Iterator[str]:
    """One line for each fact."""
    from models.device import GIB, probe_device

    device = probe_device()
    yield f"Machine: {device.name}, {device.cores} cores, AVX2 {_yes(device.avx2)}, CUDA {_yes(device.cuda)}"
    yield f"Memory: {device.ram_free / GIB:.1f} of {device.ram_total / GIB:.1f} GiB free"
    cases, runs = stores.cases.list(), stores.journal.runs()
    yield f"Cases: {len(cases)}"
    yield f"Runs: {_counted(row.status for row in runs)}"
    yield f"Runs taken up again: {sum(row.resumes > 0 for row in runs)}"
    yield from (f"Setting {name}: {value}" for name, value in _changed(settings, Settings()))


def _yes(there: bool) -> str:
    return "yes" if there else "no"


def _counted(states: Iterator[str]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(Counter(states).items())) or "none"


def _changed(settings: msgspec.Struct, plain: msgspec.Struct, above: str = "") -> Iterator[tuple[str, Any]]:
    """The settings that differ from their defaults, by their full names."""
    for name in settings.__struct_fields__:
        value, default = getattr(settings, name), getattr(plain, name)
        if isinstance(value, msgspec.Struct):
            yield from _changed(value, default, f"{above}{name}.")
        elif value != default:
            yield f"{above}{name}", value
