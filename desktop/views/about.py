"""About Wardround: what it is and is not, versions, and the statement that nothing was sent anywhere."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QDialog, QWidget

from core.domain.notices import INTENDED_USE, notice
from desktop import offline
from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.pieces import Picture, text

PARTS = ("llama-cpp-python", "pydicom", "tantivy", "numpy", "pillow", "msgspec")


def outbound() -> str:
    """The network statement, counted by the denial itself."""
    return tr("Outbound attempts: {n}", n=offline.attempts())


def versions() -> list[tuple[str, str]]:
    """Name and version of the program and of what it is built on."""
    rows = [("Wardround", _version("wardround")), ("Python", platform.python_version()), ("Qt", str(qVersion()))]
    return [*rows, *((name, _version(name)) for name in PARTS)]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return tr("not installed")


class About(QDialog):
    """Name, version, statements, licences."""

    def __init__(self, parent: QWidget, model: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Wardround"))
        self.setAccessibleName(tr("About Wardround"))
        head = pieces.row(None, Picture("mark", "accent", 32), text("Wardround", "display", wrap=False), None)
        network = pieces.row(None, Picture("shield", "good", 20), text(outbound(), "strong"), None)
        network.setStretch(1, 1)
        rows = [text(f"{name}   {number}", "mono", wrap=False) for name, number in versions()]
        licence = text(tr("Apache License 2.0. Qt for Python is used under the LGPL 3."), "small")
        pack = text(tr("Language model: {pack}", pack=model or tr("none")), "small")
        box = QWidget()
        words = [text(paragraph) for paragraph in INTENDED_USE.split("\n\n")[:-1]]
        pieces.column(box, *words, pieces.rule(), *rows, pack, licence, None, gap=8, margins=(0, 0, 12, 0))
        close = pieces.button(tr("Close"), self.accept)
        body = pieces.scrolled(box, tr("About Wardround"))
        last = text(notice("N8"), "strong")
        foot = pieces.row(None, None, close)
        pieces.column(self, head, last, network, body, foot, margins=(24, 20, 24, 16), gap=12, stretch=body)
        self.resize(520, 560)
