"""What a person says of files that become a collection; and what a collection went through. Knows no store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDialog, QGridLayout, QLineEdit, QPlainTextEdit, QWidget

from desktop.i18n import tr
from desktop.state.knowledge_reader import Collection
from desktop.state.library_jobs import FORMS, LICENCES, History, Told
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import text

if TYPE_CHECKING:
    from core.retrieval.editions import SectionChange

LEAD = (
    "Leave empty what the files say themselves. What is added is a draft until a person approves it; vocabularies are "
    "in use at once."
)


class AddDialog(QDialog):
    """The form; `told` carries what was said."""

    told = Signal(object)

    def __init__(self, parent: QWidget, places: Sequence[Path], packs: Sequence[Collection]) -> None:
        super().__init__(parent)
        title = tr("Add to the knowledge")
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.form = _combo(tr("Form"), {"": tr("found by content"), **{name: name for name in FORMS}})
        self.title_line = _line(tr("Title"))
        self.edition = _line(tr("Edition"))
        self.publisher = _line(tr("Publisher"))
        self.issued_on = _line(tr("Date of issue, as 2026-03-31"))
        self.licence = _combo(tr("Licence"), {"": tr("as the files say"), **{name: name for name in LICENCES}})
        known = {"": tr("none"), **{pack.id: f"{pack.title} {pack.edition}".strip() for pack in packs}}
        self.replaces = _combo(tr("Replaces the edition"), known)
        self.licence_text = QPlainTextEdit()
        self.licence_text.setAccessibleName(tr("Text of the licence"))
        self.licence_text.setPlaceholderText(tr("Needed where the licence is unknown"))
        self.licence_text.setTabChangesFocus(True)
        self.licence_text.setMaximumHeight(look().px(90))
        self.go = pieces.button(tr("Add"), self._finish, kind="primary")
        self.cancel = pieces.button(tr("Cancel"), self.reject)
        names = ", ".join(place.name for place in places[:4]) + (" …" if len(places) > 4 else "")
        body = pieces.scrolled(self._form(), title)
        foot = pieces.row(None, None, self.cancel, self.go)
        parts = (text(title, "title"), text(names, "strong"), text(tr(LEAD), "small"), body, foot)
        pieces.column(self, *parts, margins=(24, 20, 24, 16), gap=10, stretch=body)
        self.resize(look().px(560), look().px(520))

    def _form(self) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setColumnStretch(1, 1)
        fields = (self.title_line, self.edition, self.publisher, self.issued_on, self.licence, self.licence_text)
        for line, field in enumerate((self.form, *fields, self.replaces)):
            label = text(field.accessibleName(), wrap=False)
            label.setBuddy(field)
            grid.addWidget(label, line, 0)
            grid.addWidget(field, line, 1)
        grid.setRowStretch(len(fields) + 2, 1)
        return box

    def _finish(self) -> None:
        said = Told(
            form=str(self.form.currentData()),
            title=self.title_line.text().strip(),
            edition=self.edition.text().strip(),
            publisher=self.publisher.text().strip(),
            licence=str(self.licence.currentData()),
            licence_text=self.licence_text.toPlainText().strip(),
            issued_on=self.issued_on.text().strip(),
            replaces=str(self.replaces.currentData()),
        )
        self.accept()
        self.told.emit(said)


class HistoryDialog(QDialog):
    """What happened to a pack, and what it says otherwise than the edition that it replaces."""

    def __init__(self, parent: QWidget, name: str, found: History) -> None:
        super().__init__(parent)
        title = tr("Changes of {name}", name=name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.acts = text("\n".join(found.acts) or tr("Nothing is recorded."), "mono")
        box = QWidget()
        parts: list[QWidget] = [self.acts]
        if found.replaces:
            parts.append(text(tr("Against {old}", old=found.replaces), "section"))
            parts.append(text(summary(found), "strong"))
            parts += [_change(change) for change in found.changes if change.verdict != "same"]
        pieces.column(box, *parts, None, gap=8, margins=(0, 0, 12, 0))
        body = pieces.scrolled(box, title)
        close = pieces.button(tr("Close"), self.accept)
        pieces.column(
            self,
            text(title, "title"),
            body,
            pieces.row(None, None, close),
            margins=(24, 20, 24, 16),
            gap=10,
            stretch=body,
        )
        self.resize(look().px(680), look().px(560))


def summary(found: History) -> str:
    """How many sections are the same, changed, added, removed."""
    verdicts = [change.verdict for change in found.changes]
    return ", ".join(f"{verdicts.count(name)} {tr(name)}" for name in ("same", "changed", "added", "removed"))


def _change(change: SectionChange) -> QWidget:
    card = pieces.panel("card")
    verdict = {"changed": "caution", "added": "good", "removed": "critical"}.get(change.verdict, "muted")
    chip = pieces.Chip(tr(change.verdict), verdict, "note")
    name = text(f"{change.doc} > {change.path}", "strong")
    parts: list[QWidget] = []
    if change.numbers:
        parts.append(text(tr("Numbers: {n}", n=change.numbers), tone="serious"))
    for label, words in ((tr("Before"), change.before), (tr("Now"), change.after)):
        if words:
            parts.append(text(f"{label}: {words[:600]}{' …' if len(words) > 600 else ''}", "small"))
    head = pieces.row(None, chip, name, stretch=name)
    pieces.column(card, head, *parts, margins=(12, 8, 12, 8), gap=4)
    card.setAccessibleName(f"{change.verdict}: {change.doc} > {change.path}")
    return card


def _line(name: str) -> QLineEdit:
    edit = QLineEdit()
    edit.setAccessibleName(name)
    return edit


def _combo(name: str, choices: dict[str, str]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    for value, words in choices.items():
        box.addItem(words, value)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(16)
    return box
