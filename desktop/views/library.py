"""The pages of the whole profile, each made when it is first wanted: the first paint waits for none of them."""

from __future__ import annotations

from collections.abc import Callable

from desktop.views.desk import Desk
from desktop.views.full_page import FullPage


class Library:
    """Shows the page that is asked for through `show`, always the same one."""

    def __init__(self, show: Callable[[FullPage], object]) -> None:
        self._show = show
        self._pages: dict[str, FullPage] = {}

    def models(self, desk: Desk) -> FullPage:
        """The model packs."""
        from desktop.views.model_page import ModelPage

        return self._open("models", lambda: ModelPage(desk))

    def knowledge(self, desk: Desk) -> FullPage:
        """Guidelines, vocabularies and their search."""
        from desktop.views.knowledge_page import KnowledgePage

        return self._open("knowledge", lambda: KnowledgePage(desk, desk.explain))

    def incoming(self, desk: Desk) -> FullPage:
        """The files of the import under way, or of the last one."""
        from desktop.views.incoming_page import IncomingPage

        return self._open("incoming", lambda: IncomingPage(desk))

    def _open(self, name: str, make: Callable[[], FullPage]) -> FullPage:
        if name not in self._pages:
            self._pages[name] = make()
        self._show(self._pages[name])
        return self._pages[name]
