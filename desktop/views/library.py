"""The pages of the whole profile, each made when it is first wanted: the first paint waits for none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from desktop.views.desk import Desk
from desktop.views.full_page import FullPage

if TYPE_CHECKING:
    from desktop.views.vector_work import VectorWork

QUIET_MS = 1000  # after the start, before work begins that nobody asked for


class Library:
    """Shows the page that is asked for through `show`, always the same one."""

    def __init__(self, show: Callable[[FullPage], object]) -> None:
        self._show = show
        self._pages: dict[str, FullPage] = {}
        self._vectors: VectorWork | None = None

    def make_vectors(self, desk: Desk) -> None:
        """What the knowledge lacks of vectors is made soon, so that no search waits for it."""
        QTimer.singleShot(QUIET_MS, desk, lambda: self.vectors(desk).ensure())

    def vectors(self, desk: Desk) -> VectorWork:
        """The work on the vectors of this profile."""
        from desktop.views.vector_work import VectorWork

        self._vectors = self._vectors or VectorWork(desk)
        return self._vectors

    def models(self, desk: Desk) -> FullPage:
        """The model packs."""
        from desktop.views.model_page import ModelPage

        return self._open("models", lambda: ModelPage(desk))

    def knowledge(self, desk: Desk) -> FullPage:
        """Guidelines, vocabularies and their search."""
        from desktop.views.knowledge_page import KnowledgePage

        return self._open("knowledge", lambda: KnowledgePage(desk, desk.explain, self.vectors(desk)))

    def incoming(self, desk: Desk) -> FullPage:
        """The files of the import under way, or of the last one."""
        from desktop.views.incoming_page import IncomingPage

        return self._open("incoming", lambda: IncomingPage(desk))

    def _open(self, name: str, make: Callable[[], FullPage]) -> FullPage:
        if name not in self._pages:
            self._pages[name] = make()
        self._show(self._pages[name])
        return self._pages[name]
