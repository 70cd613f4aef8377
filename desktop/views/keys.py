"""Every key of the window in one table; the sheet (F1) and the shortcuts are made from it."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QWidget

from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.pieces import text


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key, what it does, and the name of the act; `act` is empty where Qt itself does it."""

    keys: str
    words: str
    act: str = ""


KEYS = (
    Key(keys="Ctrl+F", words="Search cases", act="search"),
    Key(keys="Ctrl+I", words="Import files", act="import_files"),
    Key(keys="Ctrl+Shift+I", words="Import a folder", act="import_folder"),
    Key(keys="Ctrl+B", words="Show or hide the case list", act="toggle_pane"),
    Key(keys="Ctrl+1", words="Case", act="page_case"),
    Key(keys="Ctrl+2", words="Work-up", act="page_run"),
    Key(keys="Ctrl+3", words="Report", act="page_report"),
    Key(keys="Ctrl+4", words="All work-ups of the case; Space marks one", act="page_runs"),
    Key(keys="Ctrl+Return", words="Start the work-up; send the answers", act="go_on"),
    Key(keys="Ctrl+.", words="Stop the run", act="stop_run"),
    Key(keys="Ctrl+E", words="Export the report", act="export"),
    Key(keys="Tab, Return", words="In the report: next link, open its evidence"),
    Key(keys="Esc", words="Close the evidence panel", act="close_panel"),
    Key(keys="Ctrl++", words="Larger text", act="zoom_in"),
    Key(keys="Ctrl+-", words="Smaller text", act="zoom_out"),
    Key(keys="Ctrl+0", words="Text at 100 %", act="zoom_reset"),
    Key(keys="Ctrl+Shift+D", words="Appearance: system, light, dark", act="next_mode"),
    Key(keys="Ctrl+K", words="Knowledge", act="show_knowledge"),
    Key(keys="Ctrl+Shift+M", words="Models", act="show_models"),
    Key(keys="Ctrl+,", words="Settings", act="show_settings"),
    Key(keys="F1", words="This sheet", act="show_keys"),
    Key(keys="Ctrl+Q", words="Quit", act="close"),
)


def shown(keys: str) -> str:
    """A key as this system writes it."""
    if "," in keys:
        return keys
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) or keys


class KeySheet(QDialog):
    """The table of keys."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
        self.setAccessibleName(tr("Keys"))
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        for line, key in enumerate(KEYS):
            grid.addWidget(_key(key), line, 0, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(text(tr(key.words), wrap=False), line, 1)
        grid.setColumnStretch(1, 1)
        close = pieces.button(tr("Close"), self.accept)
        body = pieces.scrolled(box, tr("Keys"))
        title = text(tr("Keys"), "title")
        pieces.column(self, title, body, pieces.row(None, None, close), margins=(24, 20, 24, 16), gap=12, stretch=body)
        self.resize(box.sizeHint().width() + 96, min(box.sizeHint().height() + 140, 640))


def _key(key: Key) -> QLabel:
    label = text(shown(key.keys), "small", wrap=False)
    label.setProperty("kind", "key")
    return label
