"""What the window needs of the composition root, and nothing more; `desktop.assembly.Workbench` fits by its shape."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # the first paint waits for no store
    from core.domain.case import Case
    from core.domain.memory import WorkingMemory
    from core.domain.report import Remark
    from core.settings import Settings
    from core.store.artifacts import Artifacts
    from core.store.cases import Cases
    from core.store.consent import Consents
    from core.store.database import Database
    from core.store.journal import Journal, RunRow
    from core.store.packs import Packs
    from models.listing import Forgetful
    from models.plan import Calibrations

    class PackBook(Forgetful, Calibrations, Protocol):
        """What is remembered of model packs: states, fast marks, measurements."""


class Stores(Protocol):
    """Open stores of one thread."""

    @property
    def database(self) -> Database: ...

    @property
    def cases(self) -> Cases: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def artifacts(self) -> Artifacts: ...

    @property
    def consents(self) -> Consents: ...

    @property
    def packs(self) -> Packs: ...


class Workbench(Protocol):
    """The profile this window works in."""

    settings: Settings  # those of the profile now; a run keeps those it began under

    @property
    def profile(self) -> Path: ...

    @property
    def actor(self) -> str: ...

    def open_stores(self) -> Stores: ...

    def edition_remarks(self, memory: WorkingMemory) -> tuple[Remark, ...]: ...

    def pack_book(self, packs: Packs) -> PackBook: ...

    def worker_command(self, fault: str = "") -> list[str]: ...

    def queue(
        self,
        case: Case,
        question: str = "",
        *,
        backbone: str | None = None,
        on_question: Literal["unavailable", "wait"] | None = None,
    ) -> RunRow: ...
