"""The settings of the profile, made from their own metadata: every line says what it means and what its default is.

Nothing is saved before Save, and then only what was changed. Views hand the answers on; they write no file.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFrame,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from desktop.i18n import tr
from desktop.state.settings_form import Line, Value
from desktop.views import pieces
from desktop.views.pieces import text

MOST = 1_000_000_000
EFFECT = (
    "Changes hold for runs and imports begun after saving; the profile itself (banner, image tools) at the next start."
)


class SettingsDialog(QDialog):
    """`saved` carries the changed settings by key; the dialog stays open until it is told that they were kept."""

    saved = Signal(object)

    def __init__(self, parent: QWidget, lines: tuple[Line, ...]) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Settings"))
        self.setAccessibleName(tr("Settings"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search settings"))
        self.search.setAccessibleName(tr("Search settings"))
        self.search.textChanged.connect(self._filter)
        self.fields = {line.key: Field(line) for line in lines}
        self._titles: dict[str, QWidget] = {}
        self.none = text(tr("No setting matches."), "muted")
        self.none.hide()
        self.complaint = text("", "small", tone="critical")
        self.complaint.hide()
        self.save = pieces.button(tr("Save"), self._save, kind="primary")
        defaults = pieces.button(tr("Set all to their defaults"), self._reset, kind="link")
        cancel = pieces.button(tr("Cancel"), self.reject)
        body = pieces.scrolled(self._list(lines), tr("Settings"))
        foot = pieces.row(None, defaults, None, cancel, self.save)
        parts = (text(tr("Settings"), "title"), text(tr(EFFECT), "small"), self.search, body, self.complaint, foot)
        pieces.column(self, *parts, margins=(24, 20, 24, 16), gap=10, stretch=body)
        for field in self.fields.values():
            field.changed.connect(self._on_changed)
        self._on_changed()
        self.resize(620, 640)

    def _list(self, lines: tuple[Line, ...]) -> QWidget:
        box = QWidget()
        parts: list[QWidget] = [self.none]
        for line in lines:
            if line.group and line.group not in self._titles:
                self._titles[line.group] = text(tr(line.group), "section", wrap=False)
                parts.append(self._titles[line.group])
            parts.append(self.fields[line.key])
        pieces.column(box, *parts, None, gap=6, margins=(0, 0, 12, 0))
        return box

    def answers(self) -> dict[str, Value]:
        """What differs from what was there."""
        return {key: field.value() for key, field in self.fields.items() if field.value() != field.line.value}

    def complain(self, sentence: str) -> None:
        """Say why the answers were not kept."""
        self.complaint.setText(sentence)
        self.complaint.show()

    def _save(self) -> None:
        self.complaint.hide()
        self.saved.emit(self.answers())

    def _reset(self) -> None:
        for field in self.fields.values():
            field.show_value(field.line.default)

    def _on_changed(self) -> None:
        self.save.setEnabled(bool(self.answers()))

    def _filter(self, wanted: str) -> None:
        """Show the settings whose key or meaning holds every word."""
        words = wanted.casefold().split()
        shown: set[str] = set()
        for field in self.fields.values():
            fits = all(word in field.searched for word in words)
            field.setVisible(fits)
            if fits:
                shown.add(field.line.group)
        for group, title in self._titles.items():
            title.setVisible(group in shown)
        self.none.setVisible(not shown)


class Field(QFrame):
    """One setting: its name, its control, and below what it means and what its default is."""

    changed = Signal()

    def __init__(self, line: Line) -> None:
        super().__init__()
        self.line = line
        self.searched = f"{line.key} {line.name} {line.meaning} {' '.join(line.choices)}".casefold()
        self.control = self._control()
        self.control.setAccessibleName(line.name)
        self.control.setAccessibleDescription(line.meaning)
        name = text(tr(line.name), "strong", wrap=False)
        name.setBuddy(self.control)
        top = pieces.row(None, name, None, self.control, gap=12)
        usual = tr("Default: {value}.", value=_printed(line))
        pieces.column(self, top, text(f"{tr(line.meaning)} {usual}", "small"), gap=2, margins=(0, 4, 0, 4))
        self.show_value(line.value)

    def _control(self) -> QWidget:
        match self.line.kind:
            case "choice":
                box = QComboBox()
                for choice in self.line.choices:
                    box.addItem(tr(choice.replace("_", " ")), choice)
                box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                box.currentIndexChanged.connect(self.changed)
                return box
            case "yes-no":
                check = QCheckBox()
                check.toggled.connect(self.changed)
                return check
            case "whole":
                whole = _Whole()
                whole.setRange(-MOST, MOST)
                whole.valueChanged.connect(self.changed)
                return whole
            case "number":
                number = _Number()
                number.setDecimals(3)
                number.setRange(-MOST, MOST)
                number.valueChanged.connect(self.changed)
                return number
        edit = QLineEdit()
        edit.setMinimumWidth(220)
        edit.textChanged.connect(self.changed)
        return edit

    def show_value(self, value: Value) -> None:
        """Put a value into the control."""
        control = self.control
        if isinstance(control, QComboBox):
            control.setCurrentIndex(control.findData(value))
        elif isinstance(control, QCheckBox):
            control.setChecked(bool(value))
        elif isinstance(control, QSpinBox | QDoubleSpinBox):
            control.setValue(value)  # type: ignore[arg-type]
        elif isinstance(control, QLineEdit):
            control.setText(str(value))

    def value(self) -> Value:
        """What the control holds now."""
        control = self.control
        if isinstance(control, QComboBox):
            return str(control.currentData())
        if isinstance(control, QCheckBox):
            return control.isChecked()
        if isinstance(control, QSpinBox | QDoubleSpinBox):
            return control.value()
        return control.text().strip() if isinstance(control, QLineEdit) else ""


class _Whole(QSpinBox):
    """A wheel that scrolls the page must not change a number on its way."""

    def wheelEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]


class _Number(QDoubleSpinBox):
    """As above."""

    def wheelEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]


def _printed(line: Line) -> str:
    value = line.default
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(value, str):
        return tr(value.replace("_", " ")) if line.choices else value or tr("none")
    return f"{value:g}"
