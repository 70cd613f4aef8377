"""The profile in the window's own thread: consent and the run on the screen. Everything slow is a job.

Knows the stores by their methods; knows no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop.state.live_run import LiveRun

if TYPE_CHECKING:
    from desktop.engine import Engine
    from desktop.state.workbench import Stores, Workbench


class Workspace(QObject):
    """What the pages share: the bench for jobs, the window's own stores, the live run."""

    def __init__(
        self,
        bench: Workbench,
        stores: Stores,
        engine: Engine,
        parent: QObject | None = None,
        *,
        abrupt: bool = False,
    ) -> None:
        super().__init__(parent)
        self.bench = bench
        self.abrupt = abrupt  # the window of this profile was not closed the last time: it crashed, or the power failed
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

    def close(self) -> None:
        """End the worker and let go of the stores."""
        self.engine.close()
        self._stores.database.close()
