"""Small questions before an act: the terms of a licence, yes or no with a reason. Knows no store and no act."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import text


class TermsDialog(QDialog):
    """The terms of a pack as plain text; accepted by a button that says so."""

    def __init__(self, parent: QWidget, name: str, licence: str, terms: str) -> None:
        super().__init__(parent)
        title = tr("Terms of {name}", name=name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        lead = text(tr("This pack is licensed under {licence}. Read the terms before it is used.", licence=licence))
        self.terms = QPlainTextEdit(terms or tr("The terms are not among the files: read those that came with it."))
        self.terms.setReadOnly(True)
        self.terms.setTabChangesFocus(True)
        self.terms.setAccessibleName(title)
        kept = text(tr("Your name at this computer and the time are recorded with this text."), "small")
        self.accept_button = pieces.button(tr("I accept these terms"), self.accept, kind="primary", icon="check")
        self.decline_button = pieces.button(tr("Do not add it"), self.reject)
        foot = pieces.row(None, None, self.decline_button, self.accept_button)
        parts = (text(title, "title"), lead, self.terms, kept, foot)
        pieces.column(self, *parts, margins=(24, 20, 24, 16), gap=10, stretch=self.terms)
        self.resize(look().px(620), look().px(520))


class Question(QDialog):
    """One question with its act; `agreed` carries the reason, which must be given where one is `wanted`."""

    agreed = Signal(str)

    def __init__(self, parent: QWidget, title: str, words: str, act: str, *, wanted: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.reason = QLineEdit()
        self.reason.setAccessibleName(wanted or tr("Reason"))
        self.reason.setPlaceholderText(wanted)
        self.reason.setVisible(bool(wanted))
        self.act = pieces.button(act, self._agree, kind="stop")
        self.cancel = pieces.button(tr("Cancel"), self.reject)
        if wanted:
            self.act.setEnabled(False)
            self.reason.textChanged.connect(lambda given: self.act.setEnabled(bool(given.strip())))
        foot = pieces.row(None, None, self.cancel, self.act)
        pieces.column(self, text(title, "title"), text(words), self.reason, foot, margins=(24, 20, 24, 16), gap=12)
        self.resize(look().px(460), self.sizeHint().height())

    def _agree(self) -> None:
        self.agreed.emit(self.reason.text().strip())
        self.accept()
