"""The report: banner always on top, the text with its links, export to one file."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from core.domain.hypothesis import Differential
from core.domain.notices import TEXTS
from core.domain.report import Report
from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.look import look
from desktop.views.pieces import Chip, text
from desktop.views.report_markup import SCHEME, Markup

TONES = {"N2": ("caution", "model"), "N6": ("serious", "warning"), "N7": ("muted", "clock")}


class Banner(QFrame):
    """The notices of a report; none can be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "head")
        self._chips = QWidget()
        self._flow = Flow(self._chips, 6)
        policy = self._chips.sizePolicy()
        policy.setHeightForWidth(True)
        self._chips.setSizePolicy(policy)
        self._lines = text("", "small")
        self.export = pieces.button(tr("Export…"), lambda: None, icon="export")
        top = pieces.row(None, self._chips, self.export, gap=12, stretch=self._chips)
        pieces.column(self, top, self._lines, margins=(16, 8, 16, 8), gap=6)

    def show_notices(self, notices: tuple[str, ...]) -> None:
        """Short fixed notices as chips; the sentences (N1, inputs not available, rung) as lines of text."""
        pieces.clear(self._flow)
        known = {TEXTS[name]: name for name in TONES}
        rest = []
        for words in notices:
            if words in known:
                tone, icon = TONES[known[words]]
                self._flow.addWidget(Chip(words, tone, icon))
            else:
                rest.append(words)
        self._lines.setText("\n".join(rest))
        self._lines.setVisible(bool(rest))
        self.setAccessibleName(". ".join(notices))
        self._chips.updateGeometry()


class ReportPage(QWidget):
    """A report whose every sentence leads to its evidence."""

    evidence_wanted = Signal(str)
    export_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "paper")
        self._report: Report | None = None
        self._ranked: Differential | None = None
        self._sought = ("", "")
        self.banner = Banner()
        self.banner.export.clicked.connect(self.export_wanted)
        self.banner.export.setToolTip(tr("Write the report as one PDF or HTML file (Ctrl+E)"))
        self.body = QTextBrowser()
        self.body.setProperty("kind", "report")
        self.body.setOpenLinks(False)
        self.body.setOpenExternalLinks(False)
        self.body.setAccessibleName(tr("Report"))
        self.body.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.body.setCursorWidth(0)
        self.body.document().setDocumentMargin(24)
        self.body.anchorClicked.connect(self._on_link)
        self.body.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        pieces.column(self, self.banner, self.body, gap=0, stretch=self.body)
        look().changed.connect(self._draw)

    def show_report(self, report: Report, ranked: Differential | None) -> None:
        """Show a report; the same run's newer report keeps the reader's place."""
        same = self._report is not None and self._report.run_id == report.run_id
        place = self.body.verticalScrollBar().value() if same else 0
        self._report, self._ranked = report, ranked
        self.banner.show_notices(report.banner)
        self._draw()
        self.body.verticalScrollBar().setValue(place)
        self._seek()

    def clear(self) -> None:
        """Show nothing until the next report: what stands here may be of another run, or of another case."""
        self._report, self._ranked = None, None
        self.banner.show_notices(())
        self.body.clear()

    def look_for(self, run_id: str, words: str) -> None:
        """Bring words of a run's report into view, now or when it is shown."""
        self._sought = (run_id, words)
        self._seek()

    def _seek(self) -> None:
        run_id, words = self._sought
        if self._report is None or self._report.run_id != run_id or not words:
            return
        self._sought = ("", "")
        place = self.body.document().find(words)
        if not place.isNull():
            self.body.setTextCursor(place)
            self.body.ensureCursorVisible()

    def _draw(self) -> None:
        if self._report is not None:
            place = self.body.verticalScrollBar().value()
            self.body.setHtml(Markup(look().palette, look().zoom).report(self._report, self._ranked))
            self.body.verticalScrollBar().setValue(place)

    def _on_link(self, url: QUrl) -> None:
        target = url.toString()
        if target.startswith(SCHEME):
            self.evidence_wanted.emit(target.removeprefix(SCHEME))
