"""The profile in the window's own thread: consent, the run on the screen, new runs. Everything slow is a job.

Knows the stores by their methods; knows no widget.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from core.domain.case import Case
from core.domain.task import task_from_case
from desktop.state.live_run import LiveRun

if TYPE_CHECKING:
    from core.store.journal import RunRow
    from desktop.engine import Engine
    from desktop.state.workbench import Stores, Workbench

WORKFLOW = "direct"


class Workspace(QObject):
    """What the pages share: the bench for jobs, the window's own stores, the live run."""

    def __init__(self, bench: Workbench, stores: Stores, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.bench = bench
        self._stores = stores
        self.engine = engine
        self.live = LiveRun(stores.journal, engine, bench.actor, self)

    @property
    def research(self) -> bool:
        """Research imaging: banner N6 is always shown."""
        return self.bench.settings.profile == "research_imaging"

    @property
    def model(self) -> str:
        """Pack id of the model, empty without one."""
        return self.bench.settings.models.backbone

    def consented(self, text: str) -> bool:
        return self._stores.consents.given(self.bench.actor, text)

    def consent(self, text: str) -> None:
        self._stores.consents.give(self.bench.actor, text)

    def new_run(self, case: Case, question: str, *, use_model: bool) -> RunRow:
        """A run as it will be queued; the window waits for answers instead of going on without them."""
        from core.store.database import now
        from core.store.journal import RunRow

        settings = msgspec.structs.replace(self.bench.settings, on_question="wait")
        return RunRow(
            id=f"run-{secrets.token_hex(6)}",
            case_id=case.id,
            revision=case.revision,
            task=task_from_case(case, question),
            workflow=WORKFLOW,
            version=self.bench.workflow_version(WORKFLOW),
            mode=settings.mode,
            backbone=self.model if use_model else "",
            settings=settings,
            seed=0,
            actor=self.bench.actor,
            status="queued",
            resumes=0,
            created_at=now(),
        )

    def close(self) -> None:
        """End the worker and let go of the stores."""
        self.engine.close()
        self._stores.database.close()
