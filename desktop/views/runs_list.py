"""Every work-up of the open case: what was asked, when, how it ended, on which model; two can be compared."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStackedWidget, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.i18n import tr
from desktop.state import runs, words
from desktop.state.runs import MARKED, MOST_MARKED, RUN, RunRows, RunSummary
from desktop.views import pieces
from desktop.views.flow import Turning
from desktop.views.look import look
from desktop.views.pieces import text
from desktop.views.rows import GAP, ICON, PAD, Index, draw_text, listed, paint_ground

EMPTY = "No work-up of this case yet. Start one on the page “Case”; every one that you start is kept here."
HINTS = (
    "Return opens a work-up. To compare two of them, mark them: a click on the box, or Space.",
    "One is marked; mark another one to compare them.",
    "Two are marked.",
)


class RunPainter(QStyledItemDelegate):
    """A row: box, state, question and time; the conclusion; workflow, model and time of work."""

    def __init__(self, rows: RunRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self.on_box = False  # did the last click hit the box?

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        body, small = QFontMetrics(look().font("body")), QFontMetrics(look().font("small"))
        return QSize(look().px(160), 2 * body.height() + small.height() + look().px(22))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option)
        inner = rect.adjusted(look().px(PAD), look().px(7), -look().px(PAD), -look().px(5))
        self._box(painter, inner, bool(index.data(MARKED)))
        inner.setLeft(inner.left() + look().px(ICON + GAP))
        self._write(painter, inner, index.data(RUN))
        painter.restore()

    def _box(self, painter: QPainter, inner: QRect, marked: bool) -> None:
        """The box to mark with: a tick and a filled ground, not the colour alone."""
        colours, side = look().palette, look().px(16)
        box = QRectF(inner.left() + 1, inner.top() + 1, side, side)
        painter.setPen(QPen(QColor(colours.accent if marked else colours.edge), 1.5))
        painter.setBrush(QColor(colours.accent if marked else colours.paper))
        painter.drawRoundedRect(box, 3, 3)
        if marked:
            painter.setPen(QPen(QColor(colours.on_accent), look().px(2), Qt.PenStyle.SolidLine))
            left, middle = QPointF(box.left() + side * 0.22, box.center().y()), QPointF(box.left() + side * 0.42, 0)
            middle.setY(box.top() + side * 0.72)
            painter.drawPolyline([left, middle, QPointF(box.left() + side * 0.8, box.top() + side * 0.28)])

    def _write(self, painter: QPainter, inner: QRect, run: RunSummary) -> None:
        icon, tone, state = runs.state_words(run, self._rows.status(run))
        bold, body, small = look().font("body", bold=True), look().font("body"), look().font("small")
        size, high = look().px(ICON), QFontMetrics(body).height()
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(inner.left(), inner.top(), look().pixmap(icon, tone, size, ratio))
        left = inner.left() + size + look().px(GAP)
        when = tr("{at}, {age}", at=runs.begun(run), age=words.since(run.created_at))
        room = QFontMetrics(small).horizontalAdvance(when) + look().px(GAP)
        draw_text(painter, QRect(left, inner.top(), inner.right() - left - room, high), run.question, bold, _ink())
        top = QRect(left, inner.top(), inner.right() - left, high)
        draw_text(painter, top, when, small, look().colour("muted"), right=True)
        second = QRect(left, top.bottom() + look().px(3), top.width(), high)
        draw_text(painter, second, state, bold, look().colour(tone))
        said = QRect(second)
        said.setLeft(left + QFontMetrics(bold).horizontalAdvance(state) + look().px(GAP))
        draw_text(painter, said, run.headline, body, _ink())
        third = QRect(left, second.bottom() + look().px(3), top.width(), QFontMetrics(small).height())
        draw_text(painter, third, runs.technical(run), small, look().colour("muted"))

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the box marks; Space does as well, by Qt."""
        if isinstance(event, QMouseEvent):
            rect: QRect = option.rect
            edge = rect.left() + look().px(PAD + ICON + GAP // 2)
            self.on_box = event.position().x() < edge
            if self.on_box and event.type() == QEvent.Type.MouseButtonRelease:
                self._rows.mark(index.row())
            return self.on_box
        return super().editorEvent(event, model, option, index)  # type: ignore[arg-type]


def _ink() -> QColor:
    return look().colour("plain")


class RunsPage(QWidget):
    """The list and what can be done with it. `opened` names the run to show, `compared` the two that are marked."""

    opened = Signal(str)
    compared = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self.rows = RunRows(self)
        self.list: QListView = listed(tr("Work-ups of this case"), RUN, None)
        self.painter = RunPainter(self.rows, self.list)
        self.list.setItemDelegate(self.painter)
        self.list.setModel(self.rows)
        self.list.clicked.connect(self._on_click)
        self.list.activated.connect(self._open)
        self.rows.marked_changed.connect(self._on_marked)
        self.hint = text(tr(HINTS[0]), "small")
        self.compare = pieces.button(tr("Compare the two"), self._compare, kind="primary", icon="weigh")
        self._build()
        self._on_marked()

    def _build(self) -> None:
        self.stack = QStackedWidget()
        empty = pieces.panel("ground")
        self.empty = text(tr(EMPTY), "muted")
        pieces.column(empty, self.empty, None, margins=(24, 24, 24, 24))
        paper = pieces.panel("paper")
        pieces.column(paper, self.list, margins=(4, 8, 4, 8))
        foot = pieces.panel("foot")
        pieces.row(foot, Turning(self.hint, self.compare, gap=12, stretch=self.hint), margins=(16, 8, 16, 8))
        full = QWidget()
        pieces.column(full, paper, foot, gap=0, stretch=paper)
        self.stack.addWidget(empty)
        self.stack.addWidget(full)
        pieces.column(self, self.stack, gap=0, stretch=self.stack)

    def show_runs(self, found: tuple[RunSummary, ...], live: dict[str, str], shown: str) -> None:
        """The runs of the case, newest first; `shown` is the one on the screen."""
        self.rows.show(found, live)
        self.stack.setCurrentIndex(1 if found else 0)
        self.list.setCurrentIndex(self.rows.find(shown))

    def _on_click(self, index: QModelIndex) -> None:
        if not self.painter.on_box:
            self._open(index)

    def _open(self, index: QModelIndex) -> None:
        run: RunSummary | None = index.data(RUN)
        if run is not None:
            self.opened.emit(run.id)

    def _on_marked(self) -> None:
        marked = len(self.rows.marked)
        self.hint.setText(tr(HINTS[marked]))
        self.compare.setEnabled(marked == MOST_MARKED)

    def _compare(self) -> None:
        marked = self.rows.marked
        if len(marked) == MOST_MARKED:
            self.compared.emit(marked[0].id, marked[1].id)
