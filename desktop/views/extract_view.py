"""How an EHR extract is shown: which tables it has, their columns and how many rows. Shows no patient data."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.domain.case import EhrDatabase
from desktop.i18n import tr
from desktop.state.extract_tables import COLUMNS, sortable
from desktop.views import pieces
from desktop.views.look import look
from desktop.views.pieces import text


class ExtractView(QWidget):
    """One sentence on what an extract is, above the sortable list of its tables."""

    def __init__(self, extract: EhrDatabase) -> None:
        super().__init__()
        self.extract = extract
        lead = tr("A database as the hospital exported it. It is kept as received and only read, query by query.")
        self.tables = _Tables(extract)
        title = text(extract.title, "title")
        pieces.column(self, title, text(lead, "muted"), self.tables, margins=(24, 20, 24, 20), stretch=self.tables)


class _Tables(QTableView):
    """Sorted by a click on a column's head; in the order of the database until then."""

    def __init__(self, extract: EhrDatabase) -> None:
        super().__init__()
        self.setModel(sortable(extract, self))
        self.setAccessibleName(tr("Tables of {title}", title=extract.title))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(COLUMNS.index("Columns"), QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setHighlightSections(False)
        self.setSortingEnabled(True)
        look().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(look().px(30))
