"""The model packs as an item model, and in words: state, use, how each fits this machine. Knows no widget, no store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.domain.notices import notice
from core.domain.pack import MemoryPlan, PackState
from desktop.i18n import tr

Index = QModelIndex | QPersistentModelIndex
PACK = int(Qt.ItemDataRole.UserRole) + 1
GIB, MB = 1 << 30, 1_000_000
ROLES = {
    "text": "Language model",
    "vision": "Language and picture model",
    "embed": "Embedder",
    "segment": "Segmentation model",
    "knowledge": "Knowledge",
}
USABLE = {"text": "models.backbone", "vision": "models.backbone", "embed": "models.embedder"}
STATES = {  # state -> icon, tone, words
    "ready": ("check", "good", "ready"),
    "quarantined": ("warning", "critical", "damaged, set aside"),
    "missing": ("unread", "serious", "not complete"),
}
_ROOT = QModelIndex()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the memory that a model takes, in bytes."""

    name: str
    size: int


class PackList(QAbstractListModel):
    """One row a pack."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.packs: tuple[PackState, ...] = ()

    def show(self, packs: tuple[PackState, ...]) -> None:
        """Replace what is listed."""
        self.beginResetModel()
        self.packs = packs
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.packs)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        pack = self.packs[index.row()]
        texts: dict[int, Callable[[], Any]] = {
            PACK: lambda: pack,
            int(Qt.ItemDataRole.DisplayRole): lambda: pack.id,
            int(Qt.ItemDataRole.AccessibleTextRole): lambda: f"{pack.id}, {line(pack)}",
            int(Qt.ItemDataRole.ToolTipRole): lambda: pack.id,
        }
        return texts[role]() if role in texts else None

    def find(self, pack_id: str) -> QModelIndex:
        """The row of a pack; an invalid one where it is not listed."""
        numbers = (number for number, pack in enumerate(self.packs) if pack.id == pack_id)
        return self.index(next(numbers, -1))


def line(pack: PackState) -> str:
    """Role, state, size and use in one line."""
    parts = [role_words(pack), state_words(pack)[2], size_words(pack.size) if pack.size else ""]
    return " · ".join([part for part in parts if part] + ([tr("in use")] if pack.used else []))


def role_words(pack: PackState) -> str:
    return tr(ROLES.get(pack.role, "Unknown kind"))


def state_words(pack: PackState) -> tuple[str, str, str]:
    """Icon, tone, words of a pack's state; a pack that is named and not there is "not installed"."""
    icon, tone, words = STATES.get(pack.state, ("dot", "muted", pack.state))
    return icon, tone, tr("not installed") if pack.state == "missing" and not pack.version else tr(words)


def fault_words(pack: PackState) -> str:
    """What is wrong, with both hashes where a file was changed; empty where nothing is."""
    if pack.state == "quarantined":
        return f"{notice('N16')} {pack.detail}"
    return pack.detail[:1].upper() + pack.detail[1:] if pack.state == "missing" else ""


def size_words(size: int) -> str:
    return f"{size / MB:.0f} MB" if size < 1_000 * MB else f"{size / 1_000 / MB:.2f} GB"


def fit_words(plan: MemoryPlan | None) -> str:
    """Whether a language model fits this machine's processor now, in one sentence."""
    if plan is None:
        return ""
    need, free = f"{plan.total / GIB:.1f}", f"{plan.free / GIB:.1f}"
    if not plan.fits:
        return tr("Does not fit: needs {n} GiB and {f} GiB are free.", n=need, f=free)
    how = tr("measured on this computer") if plan.measured else tr("estimated")
    return tr(
        "Fits: needs {n} of {f} GiB that are free, about {s:.0f} tokens/s ({how}), runs on the processor.",
        n=need,
        f=free,
        s=plan.expected_tok_s,
        how=how,
    )


def parts(plan: MemoryPlan) -> tuple[Part, ...]:
    """What the memory goes into, largest questions first; nothing that is nought."""
    named = (
        ("weights", plan.weights),
        ("context", plan.kv),
        ("picture side", plan.vision),
        ("scratch", plan.compute + plan.onnx),
        ("left for the system", plan.reserve),
    )
    return tuple(Part(name=tr(name), size=size) for name, size in named if size)


def usable(pack: PackState, role_key: str) -> bool:
    """May the settings name this pack under that key?"""
    return pack.state == "ready" and USABLE.get(pack.role) == role_key
