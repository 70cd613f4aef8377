"""A worker's service on doubles: what its parts were asked for, and every notice it sent."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from core.domain.case import Case
from core.domain.pack import BackboneInfo, MemoryPlan
from core.domain.ports import Backbone, Tool
from core.errors import UserError
from core.runtime import protocol
from core.runtime.run import Run
from core.runtime.service import Service, Workflow
from core.settings import Settings
from models.scripted import INFO, ScriptedBackbone
from tests.helpers.runs import TOY_REPLIES, Doubler, NoKnowledge, OneHit, Shelf, toy


class Bench:
    """The parts of a service, all doubles; `opened` counts loaded models, `load_error` is raised instead."""

    def __init__(self, shelf: Shelf) -> None:
        self.journal, self.cases = shelf.journal, shelf.cases
        self.retriever = OneHit()
        self.functions: dict[str, Callable[[Case, Run], object]] = {"toy": toy}
        self.opened = 0
        self.load_error: Exception | None = None
        self.backbones: list[ScriptedBackbone] = []
        self.calibrated: list[tuple[str, int]] = []
        self.info = INFO
        self.wished = Settings()
        self.on_load: Callable[[str], None] = lambda pack: None
        self.on_effect: Callable[[str], None] = lambda key: None

    def knowledge(self, moment: str) -> NoKnowledge:
        return NoKnowledge()

    def workflow(self, name: str) -> Workflow:
        return Workflow(name, "1", self.functions[name])  # type: ignore[arg-type]

    def tools(self, case: Case) -> dict[str, Tool]:
        return {"double": Doubler()}

    def backbone(
        self, pack: str, settings: Settings, *, on_verify: Callable[[int, int], None], stop: threading.Event
    ) -> Backbone:
        self.wished = settings
        self.on_load(pack)
        on_verify(1, 2)
        if self.load_error is not None:
            raise self.load_error
        self.opened += 1
        made = ScriptedBackbone(TOY_REPLIES, stop=stop, info=self.info)
        self.backbones.append(made)
        return made

    def plan(self, pack: str, n_ctx: int, settings: Settings) -> protocol.Planned:
        if pack == "absent":
            raise UserError("The model pack absent is not installed.", code="pack_missing")
        need = MemoryPlan(weights=1, kv=n_ctx, compute=1, reserve=1, total=n_ctx + 3, free=9, fits=False)
        return protocol.Planned(pack=pack, rung="cpu", reason="", plan=need)

    def settings(self) -> Settings:
        return Settings()

    def calibrate(self, info: BackboneInfo, *, tokens: int, seconds: float) -> None:
        self.calibrated.append((info.pack_id, tokens))

    def rss(self) -> int:
        return 4096

    def card(self) -> tuple[int, int]:
        return 1 << 30, 4 << 30

    def effect(self, key: str) -> None:
        self.on_effect(key)

    def crash_file(self, error: BaseException) -> str:
        return f"crash-{type(error).__name__}.txt"


class Desk:
    """A service with its notices; lines can be fed while it runs. Its input ends when the fed runs have ended."""

    def __init__(self, bench: Bench) -> None:
        self.sent: list[protocol.Notice] = []
        self.service = Service(bench, self._hear)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._runs = 0

    def _hear(self, notice: protocol.Notice) -> None:
        self.sent.append(notice)
        self._runs -= isinstance(notice, protocol.Ended)
        if isinstance(notice, protocol.Ended) and self._runs == 0:
            self._lines.put(None)

    def feed_raw(self, data: bytes) -> None:
        self._lines.put(data)

    def feed(self, *commands: protocol.Command) -> None:
        for command in commands:
            self._runs += isinstance(command, protocol.RunCommand)
            self._lines.put(protocol.line(command))

    def serve(self) -> None:
        """To the end of input."""
        self.service.serve(iter(self._lines.get, None))

    def told(self, kind: type) -> list[object]:
        return [notice for notice in self.sent if isinstance(notice, kind)]
