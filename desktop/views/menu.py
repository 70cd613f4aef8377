"""The acts of the window under their keys, and the menu that names them. Which act does what is the window's affair."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from desktop.i18n import tr
from desktop.views.keys import KEYS

MENU = (
    "import_files", "import_folder", "", "next_mode", "zoom_in", "zoom_out", "zoom_reset", "", "show_knowledge",
    "show_models", "show_settings", "toggle_pane", "show_keys",
)  # fmt: skip
KEYLESS = {"report_problem": "Report a problem…", "show_about": "About Wardround"}  # by the window's methods


def actions(window: QWidget) -> dict[str, QAction]:
    """An action for each key of the table that names a method of the window; all belong to the window."""
    acts: dict[str, QAction] = {}
    for key in KEYS:
        if key.act:
            action = QAction(tr(key.words), window)
            action.setShortcuts([QKeySequence(keys) for keys in (key.keys, key.also) if keys])
            action.triggered.connect(getattr(window, key.act))
            window.addAction(action)
            acts[key.act] = action
    return acts


def menu(window: QWidget, acts: Mapping[str, QAction]) -> QMenu:
    """The menu of the window."""
    made = QMenu(window)
    for name in MENU:
        made.addAction(acts[name]) if name else made.addSeparator()
    for name, words in KEYLESS.items():
        made.addAction(tr(words), getattr(window, name))
    made.addSeparator()
    made.addAction(acts["close"])
    return made


def hang(menu: QMenu, button: QAbstractButton) -> None:
    """Open the menu below a button."""
    button.clicked.connect(lambda: menu.popup(button.mapToGlobal(button.rect().bottomLeft())))
