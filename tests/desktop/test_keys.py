"""Keys: sheet, shortcuts and table say the same, each key does its act, and letters stay letters in a text field."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.app import Session
from desktop.views.keys import KEYS, PLACES, KeySheet, by_place, shown
from desktop.views.look import look

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
SINGLE = "wzprlhvidgexotcq0=+?"  # twenty: the tools of the viewer, and the key of the sheet


def test_every_key_of_the_table_triggers_its_act_and_no_other(qtbot: QtBot, open_window: Opener) -> None:
    window = open_window().window
    acts = {key.act: [keys for keys in (key.keys, key.also) if keys] for key in KEYS if key.act}
    given = {name: [keys.toString() for keys in act.shortcuts()] for name, act in window.acts.items()}
    assert given == acts
    assert len({keys for listed in acts.values() for keys in listed}) == sum(map(len, acts.values()))
    did: list[str] = []
    for name, act in window.acts.items():
        act.triggered.disconnect()
        act.triggered.connect(lambda _on=False, known=name: did.append(known))
    window.pane.list.setFocus()
    for name, listed in acts.items():
        for keys in listed:
            did.clear()
            QTest.keySequence(window, QKeySequence(keys))
            assert did == [name]


def test_keys_act_and_letters_stay_letters_in_a_text_field(qtbot: QtBot, open_window: Opener) -> None:
    """Product acceptance 7: 20 single keys in a text field trigger 0 acts; outside of one the last opens the sheet."""
    window = open_window().window
    did: list[str] = []
    for name, act in window.acts.items():
        act.triggered.connect(lambda _on=False, known=name: did.append(known))
    window.room.setCurrentIndex(1)
    fields = [window.pane.search, window.case_page.composer.question]
    for field in fields:
        type_into(field, did)
    window.show_knowledge()
    type_into(window.room.currentWidget().search.field, did)
    window.close_full()
    window.pane.search.clear()
    for key in (Qt.Key.Key_F1, Qt.Key.Key_Question):
        window.pane.list.setFocus()
        QTest.keyClick(window.pane.list, key)
        sheet = next(dialog for dialog in window.findChildren(KeySheet) if dialog.isVisible())
        assert said(sheet) == table()
        sheet.accept()
        sheet.deleteLater()
    assert did == ["show_keys", "show_keys"]
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.pane.search.hasFocus()
    QTest.keyClick(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert window.pane.isHidden()
    dark = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window, Qt.Key.Key_D, dark)
    assert look().mode == "light"
    QTest.keyClick(window, Qt.Key.Key_D, dark)
    assert look().palette.dark


def type_into(field: object, did: list[str]) -> None:
    field.setFocus()  # type: ignore[attr-defined]
    QTest.keyClicks(field, SINGLE)
    assert field.text() == SINGLE  # type: ignore[attr-defined]
    assert did == []


def said(sheet: KeySheet) -> list[str]:
    """Places, keys and words of the sheet, in the order in which they stand."""
    grid = sheet.table.layout()
    widgets = [grid.itemAt(n).widget() for n in range(grid.count())]  # type: ignore[union-attr]
    return [label.text() for widget in widgets for label in (widget.findChildren(QLabel) or [widget])]


def table() -> list[str]:
    """The same from the table."""
    lines: list[str] = []
    for place, keys in by_place().items():
        lines.append(place)
        for key in keys:
            lines += [*(shown(one) for one in (key.keys, key.also) if one), key.words]
    return lines


def test_places_are_known_and_shown_in_their_order() -> None:
    assert list(by_place()) == ["Everywhere", "Case", "Work-up", "Report", "Knowledge"]
    assert sum(map(len, by_place().values())) == len(KEYS)
    assert {key.place for key in KEYS} <= set(PLACES)
