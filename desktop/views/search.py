"""The search over all cases: typed in the pane, done beside the window's thread, opened at the place that was found."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.case_find import Found, Hit
from desktop.operation import Operation
from desktop.state import jobs
from desktop.state.jobs import Opened
from desktop.views.case_pane import CasePane
from desktop.views.desk import Desk

PAUSE_MS = 60  # a search begins when nothing was typed for this long


class Search(QObject):
    """`arrived` names the place to show once its case is open. One search at a time; a newer one ends it."""

    arrived = Signal(object)  # Hit

    def __init__(self, pane: CasePane, parent: QObject) -> None:
        super().__init__(parent)
        self._pane = pane
        self._desk: Desk | None = None
        self._finder: Any = None  # texts in memory, only while somebody searches
        self._wanted = ""
        self._asked = ""
        self._under_way: Operation | None = None
        self._place: Hit | None = None
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self._begin)
        pane.searched.connect(self._on_typed)
        pane.place_chosen.connect(self._open)

    def attach(self, desk: Desk) -> None:
        """The profile is there."""
        self._desk = desk
        desk.opened.connect(self._on_opened)

    @property
    def busy(self) -> bool:
        """Is an answer still to come?"""
        return self._pause.isActive() or self._under_way is not None

    def _on_typed(self, wanted: str) -> None:
        self._wanted = wanted.strip()
        if self._under_way is not None:
            self._under_way.cancel()
        if self._wanted:
            self._pause.start()
        else:
            self._pause.stop()
            self._finder = None

    def _begin(self) -> None:
        if self._under_way is not None or self._desk is None or not self._wanted:
            return
        self._finder = self._finder or jobs.new_finder()
        self._asked = self._wanted
        job = jobs.search_cases(self._desk.space.bench, self._finder, self._asked)
        self._under_way = self._desk.work(job, self._on_found, self._on_failed)

    def _on_found(self, found: tuple[Found, ...]) -> None:
        self._under_way = None
        if self._asked == self._wanted:
            self._pane.show_found(found)
        else:
            self._begin()

    def _on_failed(self, sentence: str) -> None:
        self._under_way = None
        if self._desk is not None:
            self._desk.told.emit("critical", sentence)

    def _open(self, hit: Hit) -> None:
        if self._desk is not None:
            self._place = hit
            self._desk.open_case(hit.case_id, hit.run)

    def _on_opened(self, opened: Opened) -> None:
        place, self._place = self._place, None
        if place is not None and place.case_id == opened.case.id:
            self.arrived.emit(place)
