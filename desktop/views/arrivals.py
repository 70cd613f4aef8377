"""Files that arrive: asked for in a dialog, dropped, or an example; what the import says of them goes to its card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core.domain.case import Case
from desktop.i18n import tr
from desktop.views import ask
from desktop.views.case_pane import CasePane
from desktop.views.desk import Desk
from desktop.views.empty_page import EmptyPage


class Arrivals(QObject):
    """The ways into a case. Nothing may come before the door is open: profile there, consent given."""

    files_wanted = Signal()  # show the files of the import under way

    def __init__(self, window: QWidget, pane: CasePane, empty: EmptyPage) -> None:
        super().__init__(window)
        self._window = window
        self._pane = pane
        self._desk: Desk | None = None
        self.open = False
        pane.wanted_files.connect(self.ask_files)
        pane.wanted_folder.connect(self.ask_folder)
        pane.wanted_more.connect(self.ask_more)
        pane.wanted_example.connect(self.take_example)
        pane.card.cancelled.connect(lambda: self._with_desk(Desk.cancel_import))
        pane.card.files_wanted.connect(self.files_wanted)
        empty.wanted_folder.connect(self.ask_folder)
        empty.wanted_example.connect(lambda: self.take_example("a"))

    def attach(self, desk: Desk) -> None:
        """The profile is there."""
        self._desk = desk
        desk.import_began.connect(self._on_began)
        desk.import_moved.connect(self._pane.card.move_on)
        desk.import_over.connect(self._on_over)

    def open_door(self) -> None:
        """Consent is given: files may come."""
        self.open = self._desk is not None

    def ask_files(self) -> None:
        """Ask for files and import them."""
        self.take(ask.files(self._window, tr("Import files")))

    def ask_folder(self) -> None:
        """Ask for a folder and import what is in it."""
        self.take(ask.folder(self._window, tr("Import a folder")))

    def ask_more(self) -> None:
        """Ask for files and add them to the open case as its next revision."""
        case = self._desk.case if self._desk else None
        if case is not None:
            self.take(ask.files(self._window, tr("Add files to {title}", title=case.title)), into=case.id)

    def take(self, places: Sequence[Path], *, into: str = "") -> None:
        """Import files and folders."""
        if places:
            self._with_desk(lambda desk: desk.import_places(places, into=into))

    def take_example(self, letter: str) -> None:
        """Import one of the shipped cases."""
        self._with_desk(lambda desk: desk.import_example(letter))

    def _with_desk(self, act: Callable[[Desk], object]) -> None:
        if self._desk is not None and self.open:
            act(self._desk)

    def _on_began(self, words: str) -> None:
        """The card says that it began; where no case is open, its files take the free room."""
        self._pane.card.start(words)
        if self._desk is not None and self._desk.case is None:
            self.files_wanted.emit()

    def _on_over(self, case: Case | None, sentence: str) -> None:
        if case is not None:
            self._pane.card.finish(len(case.items), case.unread)
        else:
            self._pane.card.fail(sentence)
