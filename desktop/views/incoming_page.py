"""The files of an import while it goes on: each with what became of it, as soon as that is known."""

from __future__ import annotations

from core.domain.case import Case
from desktop.i18n import tr
from desktop.state.incoming import FILE, IncomingFile, said
from desktop.views import pieces, rows
from desktop.views.desk import Desk
from desktop.views.full_page import FullPage
from desktop.views.pieces import text
from desktop.views.rows import Row


class IncomingPage(FullPage):
    """Grows with the import; the end of the list stays in view until the person scrolls up."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(tr("Files of this import"))
        files = self._files = desk.incoming
        self.cancel = pieces.button(tr("Cancel the import"), desk.cancel_import, icon="close")
        self.acts.addWidget(self.cancel)
        self.cancel.setVisible(desk.importing)
        self.count = text("", "small")
        self.count.setContentsMargins(16, 8, 16, 0)
        self.list = rows.listed(tr("Files of this import"), FILE, file_row)
        self.list.setUniformItemSizes(True)  # thousands of rows: one is measured
        self.list.setModel(files)
        self.body.addWidget(self.count)
        self.body.addWidget(self.list, 1)
        files.rowsInserted.connect(self._on_rows)
        files.rowsAboutToBeInserted.connect(self._on_coming)
        files.dataChanged.connect(self._tell)
        files.modelReset.connect(self._tell)
        desk.import_began.connect(self._begin)
        desk.import_over.connect(self._end)
        self._following = True
        self._tell()

    def enter(self) -> None:
        self.list.setFocus()

    def _begin(self) -> None:
        self.cancel.show()
        self._tell()

    def _end(self, _case: Case | None, sentence: str) -> None:
        """The import is over; the sentence says why where nothing came of it."""
        self.cancel.hide()
        if sentence:
            self.count.setText(sentence)

    def _on_coming(self) -> None:
        bar = self.list.verticalScrollBar()
        self._following = bar.value() == bar.maximum()

    def _on_rows(self) -> None:
        self._tell()
        if self._following:
            self.list.scrollToBottom()

    def _tell(self) -> None:
        refused = self._files.refused
        self.count.setText(tr("{n} read, {k} not read", n=self._files.rowCount() - refused, k=refused))


def file_row(file: IncomingFile) -> Row:
    """A file that was read has a tick, one that was not its reason."""
    if file.reason:
        return Row(title=file.name, icon="unread", tone="serious", detail=said(file), detail_tone="serious")
    return Row(title=file.name, icon="check", tone="good", detail=said(file))
