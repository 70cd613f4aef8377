"""The packs as a list for people: state, size, whether each fits this machine now; and taking one away.

Looks at names and sizes only, loads nothing. The window's model page and `wardround models list` show the same values.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

import msgspec

from core.domain.pack import MemoryPlan, PackState
from models.device import probe_device
from models.packs import PLAIN_NAME, PackLedger, list_packs, read_manifest
from models.plan import Calibrations, fit_context, padded, plan_memory

N_CTX = 4096
LANGUAGE = ("text", "vision")


def shown_packs(
    packs: Path, ledger: PackLedger, calibrations: Calibrations, *, used: Collection[str] = (), n_ctx: int = N_CTX
) -> tuple[PackState, ...]:
    """Every pack with its state; language models with the plan for this machine's processor. `used`: ids in use."""
    free = probe_device().ram_free
    return tuple(
        msgspec.structs.replace(
            pack, used=pack.id in used, plan=_plan(packs, pack, calibrations, n_ctx=n_ctx, free=free)
        )
        for pack in list_packs(packs, ledger)
    )


def _plan(packs: Path, pack: PackState, calibrations: Calibrations, *, n_ctx: int, free: int) -> MemoryPlan | None:
    if pack.role not in LANGUAGE:
        return None
    manifest = read_manifest(packs / pack.id / pack.version)
    length = fit_context(manifest, n_ctx)
    known = calibrations.calibration(pack.id, n_ctx=padded(length), rung="cpu")
    return plan_memory(manifest, n_ctx=length, free=free, calibration=known)


class Forgetful(PackLedger, Protocol):
    """A ledger that can forget a pack."""

    def forget(self, pack: str, version: str) -> None: ...


def remove_pack(packs: Path, pack_id: str, ledger: Forgetful) -> int:
    """Take away every version of a pack, interrupted imports too; gives the bytes that are free again.

    The folder is renamed first, so that a removal that is cut short leaves no half pack in the list.
    """
    place = packs / pack_id
    if not PLAIN_NAME.fullmatch(pack_id) or not place.is_dir():
        return 0
    freed = sum(entry.stat().st_size for entry in place.rglob("*") if entry.is_file() and not entry.is_symlink())
    versions = [entry.name for entry in place.iterdir() if entry.is_dir()]
    doomed = packs / f".{pack_id}.removed"
    shutil.rmtree(doomed, ignore_errors=True)
    place.rename(doomed)
    shutil.rmtree(doomed)
    for version in versions:
        ledger.forget(pack_id, version)
    return freed
