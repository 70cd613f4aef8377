"""What a person must say of model files that no pack describes: family, prompt template, role, licence."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDialog, QGridLayout, QLineEdit, QWidget

from desktop.i18n import tr
from desktop.state.model_list import ROLES, size_words
from desktop.state.pack_jobs import Offer, sealed_choice, templates
from desktop.views import ask, pieces
from desktop.views.look import look
from desktop.views.pieces import text

LANGUAGE = ("text", "vision")
ROLE_CHOICES = ("text", "vision", "embed", "segment")


class SealDialog(QDialog):
    """The form, filled with what the catalogue and the file itself say. `described` carries the choice."""

    described = Signal(object)

    def __init__(self, parent: QWidget, offer: Offer) -> None:
        super().__init__(parent)
        self._offer = offer
        self._licence_file: Path | None = None
        title = tr("Describe this model")
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        choice = offer.choice
        assert choice is not None and offer.found is not None  # noqa: S101 - the page asks for files only
        self.id = self._line(choice.id, tr("Name of the pack"))
        self.role = _choices({role: tr(ROLES[role]) for role in ROLE_CHOICES}, choice.role or "", tr("Role"))
        self.family = self._line(choice.family, tr("Family, such as llama3, qwen3, gemma3"))
        self.template = _choices({name: name for name in templates()}, choice.template, tr("Prompt template"))
        self.licence = self._line(choice.licence, tr("Licence, such as Apache-2.0"))
        self.dim = self._line("", tr("Numbers in a vector"))
        self.longest = self._line("", tr("Pieces of the longest text"))
        self.complaint = text("", "small", tone="critical")
        self.complaint.hide()
        self.terms = pieces.button(tr("Add the licence's text…"), self._ask_terms, kind="link")
        self.go = pieces.button(tr("Go on"), self._finish, kind="primary")
        self.cancel = pieces.button(tr("Cancel"), self.reject)
        self._rows: list[tuple[QWidget, QWidget, str]] = []
        form = self._form()
        known = offer.found.row is not None
        size = size_words(sum(file.size for file in offer.found.files))
        names = ", ".join(path.name for path in offer.paths)
        lead = tr("{names}, {size}. Its hash is that of {model}.", names=names, size=size, model=choice.id)
        unknown = tr("{names}, {size}. Its hash is in no list of known models: every result made with it says so.")
        said = text(lead if known else unknown.format(names=names, size=size))
        foot = pieces.row(None, self.terms, None, self.cancel, self.go)
        parts = (text(title, "title"), said, form, self.complaint, foot)
        pieces.column(self, *parts, margins=(24, 20, 24, 16), gap=12)
        self.role.currentIndexChanged.connect(self._on_role)
        self._on_role()
        self.resize(look().px(560), self.sizeHint().height())

    def _line(self, value: str, name: str) -> QLineEdit:
        edit = QLineEdit(value)
        edit.setAccessibleName(name)
        return edit

    def _form(self) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        fields = (
            (self.id, ""), (self.role, ""), (self.family, "language"), (self.template, "language"),
            (self.dim, "embed"), (self.longest, "embed"), (self.licence, ""),
        )  # fmt: skip
        for line, (field, only) in enumerate(fields):
            label = text(field.accessibleName(), wrap=False)
            label.setBuddy(field)
            grid.addWidget(label, line, 0)
            grid.addWidget(field, line, 1)
            self._rows.append((label, field, only))
        return box

    def _on_role(self) -> None:
        """Only what this kind of model needs is asked for."""
        role = str(self.role.currentData())
        for label, field, only in self._rows:
            fits = not only or only == role or (only == "language" and role in LANGUAGE)
            label.setVisible(fits)
            field.setVisible(fits)

    def _ask_terms(self) -> None:
        chosen = ask.files(self, tr("The licence's text"))
        if chosen:
            self._licence_file = chosen[0]
            self.terms.setText(chosen[0].name)

    def complain(self, sentence: str) -> None:
        """Say what lacks; the form stays open."""
        self.complaint.setText(sentence)
        self.complaint.show()
        self.go.setEnabled(True)

    def _finish(self) -> None:
        self.complaint.hide()
        lengths = [edit.text().strip() for edit in (self.dim, self.longest)]
        choice = sealed_choice(
            self._offer,
            role=str(self.role.currentData()),
            words={
                "id": self.id.text().strip(),
                "family": self.family.text().strip(),
                "template": str(self.template.currentData()),
                "licence": self.licence.text().strip(),
            },
            lengths=tuple(int(number) if number.isdecimal() else 0 for number in lengths),
        )
        if self._licence_file is not None:
            choice = msgspec.structs.replace(choice, licence_file=self._licence_file)
        self.go.setEnabled(False)
        self.described.emit(choice)


def _choices(named: dict[str, str], chosen: str, name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    for value, words in named.items():
        box.addItem(words, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    return box
