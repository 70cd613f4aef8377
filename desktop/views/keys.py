"""Every key of the window in one table; the sheet (F1, ?) and the shortcuts are made from it."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QWidget

from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.pieces import text

PLACES = ("Everywhere", "Case", "Work-up", "Report", "Knowledge", "Viewer")  # a place without keys is not shown


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key, what it does, where, and the name of the act; `act` is empty where Qt or the part itself does it.

    `also` is a second key of the same act. Acts hold in the whole window; `place` says where they have a meaning.
    """

    keys: str
    words: str
    act: str = ""
    place: str = PLACES[0]
    also: str = ""


KEYS = (
    Key(keys="Ctrl+F", words="Search cases", act="search"),
    Key(keys="Down, Return", words="In the search: to what was found, open it"),
    Key(keys="Ctrl+I", words="Import files", act="import_files"),
    Key(keys="Ctrl+Shift+I", words="Import a folder", act="import_folder"),
    Key(keys="Ctrl+B", words="Show or hide the case list", act="toggle_pane"),
    Key(keys="Ctrl+K", words="Knowledge", act="show_knowledge"),
    Key(keys="Ctrl+Shift+M", words="Models", act="show_models"),
    Key(keys="Ctrl+,", words="Settings", act="show_settings"),
    Key(keys="Esc", words="Close the evidence panel, a page, a search", act="close_panel"),
    Key(keys="Ctrl++", words="Larger text", act="zoom_in"),
    Key(keys="Ctrl+-", words="Smaller text", act="zoom_out"),
    Key(keys="Ctrl+0", words="Text at 100 %", act="zoom_reset"),
    Key(keys="Ctrl+Shift+D", words="Appearance: system, light, dark", act="next_mode"),
    Key(keys="F1", words="This sheet", act="show_keys", also="?"),
    Key(keys="Ctrl+Q", words="Quit", act="close"),
    Key(keys="Ctrl+1", words="Case", act="page_case", place="Case"),
    Key(keys="Ctrl+Return", words="Start the work-up; send the answers", act="go_on", place="Case"),
    Key(keys="Left, Right, Home, End", words="In a trend: from result to result", place="Case"),
    Key(keys="Ctrl+2", words="Work-up", act="page_run", place="Work-up"),
    Key(keys="Ctrl+.", words="Stop the run", act="stop_run", place="Work-up"),
    Key(keys="Ctrl+4", words="All work-ups of the case; Space marks one", act="page_runs", place="Work-up"),
    Key(keys="Ctrl+3", words="Report", act="page_report", place="Report"),
    Key(keys="Tab, Return", words="Next link, open its evidence", place="Report"),
    Key(keys="Ctrl+E", words="Export the report", act="export", place="Report"),
    Key(keys="Return", words="In the search: look now, then to the passages", place="Knowledge"),
)


def by_place() -> dict[str, tuple[Key, ...]]:
    """The keys of each place that has any, places in their order."""
    found = {place: tuple(key for key in KEYS if key.place == place) for place in PLACES}
    return {place: keys for place, keys in found.items() if keys}


def shown(keys: str) -> str:
    """A key as this system writes it."""
    if "," in keys:
        return keys
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) or keys


class KeySheet(QDialog):
    """The table of keys, by places."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
        self.setAccessibleName(tr("Keys"))
        box = self.table = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        for place, keys in by_place().items():
            grid.addWidget(_place(place, first=grid.rowCount() == 1), grid.rowCount(), 0, 1, 2)
            for key in keys:
                line = grid.rowCount()
                grid.addWidget(_keys(key), line, 0, Qt.AlignmentFlag.AlignLeft)
                grid.addWidget(text(tr(key.words), wrap=False), line, 1)
        grid.setColumnStretch(1, 1)
        close = pieces.button(tr("Close"), self.accept)
        body = pieces.scrolled(box, tr("Keys"))
        title = text(tr("Keys"), "title")
        pieces.column(self, title, body, pieces.row(None, None, close), margins=(24, 20, 24, 16), gap=12, stretch=body)
        self.resize(box.sizeHint().width() + 96, min(box.sizeHint().height() + 140, 640))


def _place(place: str, *, first: bool) -> QLabel:
    label = text(tr(place), "section", wrap=False)
    label.setContentsMargins(0, 0 if first else 10, 0, 0)
    return label


def _keys(key: Key) -> QWidget:
    """The key, and the second one beside it."""
    box = QWidget()
    labels = [text(shown(keys), "small", wrap=False) for keys in (key.keys, key.also) if keys]
    for label in labels:
        label.setProperty("kind", "key")
    pieces.row(box, *labels, gap=4)
    return box
