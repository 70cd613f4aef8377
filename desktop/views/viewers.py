"""How each kind of item is shown: note with a marked span, laboratory table, picture or its decode-failure card.

The same viewers serve the case page and the evidence panel. Documents are shown as plain text: nothing in them acts.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPlainTextEdit,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTextEdit,
    QWidget,
)

from core.domain.case import EhrDatabase, ImageRef, Item, LabRow, LabTable, Note, SeriesRef, Unread
from core.domain.notices import notice
from desktop.i18n import tr
from desktop.state import words
from desktop.state.case_items import ROW, TREND, TREND_ROLE, LabResults
from desktop.state.trends import Trends
from desktop.views import pieces
from desktop.views.extract_view import ExtractView
from desktop.views.look import look
from desktop.views.pieces import Chip, Picture, text
from desktop.views.trend_plot import paint_sparkline

MOST_CARDS = 60  # a card is several widgets; what comes after them is a list of lines
SIDES = {"R": "right", "L": "left", "B": "both", "U": "unpaired"}
Index = QModelIndex | QPersistentModelIndex
FetchPicture = Callable[[str, Callable[[bytes], None], Callable[[str], None]], None]


class NoteView(QPlainTextEdit):
    """A document's text, read only, with one span marked."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("kind", "document")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._span: tuple[int, int] | None = None
        self._left = False
        self.verticalScrollBar().actionTriggered.connect(self._leave)
        look().changed.connect(self._on_look)
        self._on_look()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The mark stays in the middle until somebody scrolls: a view is marked before it has its size."""
        super().resizeEvent(event)
        if self._span is not None and not self._left:
            self.centerCursor()

    def _leave(self) -> None:
        self._left = True

    def _on_look(self) -> None:
        self.document().setDocumentMargin(look().px(20))
        self._mark()

    def show_note(self, note: Note) -> None:
        self.show_text(note.text, note.title)

    def show_text(self, words_: str, name: str) -> None:
        """Any text; line ends become one character, so that offsets keep counting characters."""
        self._span = None
        self.setPlainText(words_)
        self.document().setDocumentMargin(look().px(20))
        self.setAccessibleName(name)
        self.setExtraSelections([])

    def mark(self, start: int, end: int) -> None:
        """Mark a span of characters and bring it to the middle of the view."""
        self._span, self._left = (start, end), False
        self._mark()
        cursor = QTextCursor(self.document())
        cursor.setPosition(_utf16(self.toPlainText(), start))
        self.setTextCursor(cursor)
        self.centerCursor()

    @property
    def marked(self) -> str:
        """The text under the mark."""
        return self.toPlainText()[slice(*self._span)] if self._span else ""

    def _mark(self) -> None:
        if self._span is None:
            return
        whole = self.toPlainText()
        cursor = QTextCursor(self.document())
        cursor.setPosition(_utf16(whole, self._span[0]))
        cursor.setPosition(_utf16(whole, self._span[1]), QTextCursor.MoveMode.KeepAnchor)
        chosen = QTextEdit.ExtraSelection()
        style = QTextCharFormat()
        style.setBackground(QColor(look().palette.mark))
        style.setForeground(QColor(look().palette.on_mark))
        style.setFontUnderline(True)
        chosen.cursor, chosen.format = cursor, style
        self.setExtraSelections([chosen])


def _utf16(whole: str, offset: int) -> int:
    """Qt counts UTF-16 units, the evidence counts characters: they differ beyond the basic plane."""
    return len(whole[:offset].encode("utf-16-le")) // 2


class LabView(QTableView):
    """A laboratory table; abnormal results carry an arrow, a word, weight and colour."""

    def __init__(self, table: LabTable, trends: Trends | None = None) -> None:
        super().__init__()
        self.results = LabResults(table, trends, self)
        self.setModel(self.results)
        self.setItemDelegate(_LabCell(table.id, self))
        self.setAccessibleName(table.title)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(look().px(64))
        header.setHighlightSections(False)
        look().changed.connect(self._fit)
        self._fit()

    def mark(self, row: int) -> None:
        """Choose the result with that printed row number and bring it into view."""
        self.choose(self.results.line_of(row))

    def choose(self, line: int) -> None:
        """Choose the result in that line of the table, counted from 0."""
        if 0 <= line < self.results.rowCount():
            self.selectRow(line)
            self.scrollTo(self.results.index(line, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(look().px(30))


class _LabCell(QStyledItemDelegate):
    """Result and flag of an abnormal row stand out; a chosen row has a marked ground; a trend is a small line."""

    def __init__(self, table_id: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._table_id = table_id

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for the bold letters of an abnormal row."""
        if index.column() == TREND:
            return QSize(look().px(120), look().px(30))
        wide = QFontMetrics(look().font("body", bold=True)).horizontalAdvance(str(index.data()))
        return QSize(wide + look().px(28), look().px(30))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: LabRow = index.data(ROW)
        side = words.direction(row)
        styled = QStyleOptionViewItem(option)
        if side and index.column() in (0, 1, 3):
            tone = "critical" if "critical" in side else "serious"
            font = look().font("body", bold=True)
            styled.font = font
            styled.palette.setColor(
                styled.palette.ColorRole.Text, look().colour(tone if index.column() != 0 else "plain")
            )
            styled.palette.setColor(
                styled.palette.ColorRole.HighlightedText, look().colour(tone if index.column() != 0 else "plain")
            )
        super().paint(painter, styled, index)
        trend = index.data(TREND_ROLE) if index.column() == TREND else None
        if trend is not None:
            room = QRectF(option.rect)
            room.setWidth(min(room.width(), look().px(160)))
            paint_sparkline(painter, room, trend, (self._table_id, row.row))


class PictureView(QWidget):
    """A rendered picture, fitted to the room there is; before and without it a sentence, never an empty frame."""

    def __init__(self) -> None:
        super().__init__()
        self._pixmap = QPixmap()
        self._words = tr("Loading the picture …")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(120, 120)

    def show_png(self, data: bytes) -> None:
        self._pixmap = QPixmap()
        if not self._pixmap.loadFromData(data, "PNG"):
            self.show_words(tr("The preview could not be shown."))
        self.updateGeometry()
        self.update()

    def show_words(self, words_: str) -> None:
        self._pixmap, self._words = QPixmap(), words_
        self.update()

    @property
    def shown(self) -> QSize:
        """Size of the picture in its own pixels; empty while there is none."""
        return self._pixmap.size()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("#0c0f13"))
        if self._pixmap.isNull():
            painter.setPen(QColor("#c3ccd6"))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._words)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        size = self._pixmap.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRect((self.width() - size.width()) // 2, (self.height() - size.height()) // 2, *size.toTuple())
        painter.drawPixmap(place, self._pixmap)


class PictureCard(QWidget):
    """A picture with what it is: modality, view, side, size, date, warnings; N5 where nothing could be drawn."""

    def __init__(self, item: ImageRef | SeriesRef) -> None:
        super().__init__()
        self.item = item
        self.view = PictureView()
        self.view.setAccessibleName(tr("Picture {title}", title=item.title))
        facts = text("   ".join(picture_facts(item)), "small")
        warnings = getattr(item, "warnings", ())
        strips = [_warning(words_) for words_ in warnings]
        body = self.view if item.preview_sha256 else failure_card(item, warnings)
        analysed = text(tr("Present, not analysed: no measurement was made on this picture."), "small")
        pieces.column(self, body, facts, analysed, *strips, margins=(16, 16, 16, 16), stretch=body)


def picture_facts(item: ImageRef | SeriesRef) -> list[str]:
    """What is known of a picture, in order; "not stated" where the file is silent."""
    unknown = tr("not stated")
    facts = [
        tr("Modality: {x}", x=item.modality or unknown),
        tr("View: {x}", x=item.view or unknown),
        tr("Side: {x}", x=tr(SIDES.get(item.laterality, item.laterality)) or unknown),
        tr("Taken: {x}", x=words.moment(item.acquired_on) if item.acquired_on else unknown),
    ]
    if isinstance(item, SeriesRef):
        facts.append(f"{words.counted(item.instances, 'image')}, {item.columns} × {item.rows}")
        return [*facts, item.window] if item.window else facts
    return [*facts, f"{item.width} × {item.height}"]


def failure_card(item: ImageRef | SeriesRef, warnings: tuple[str, ...]) -> QWidget:
    """In place of a picture that could not be drawn: what happened, to which file, and what can be done."""
    frame = pieces.panel("card")
    reason = warnings[-1] if warnings else tr("no preview could be made")
    said = reason if reason.startswith("Image could not") else notice("N5", reason=reason)
    head = pieces.row(None, Picture("warning", "serious", 24), text(said, "lead"), gap=12)
    name = text(item.title, "mono")
    advice = text(tr("Export the images again from the source system without compression, and import them anew."))
    pieces.column(frame, None, head, name, advice, None, margins=(24, 24, 24, 24), gap=12)
    frame.setAccessibleName(said)
    return frame


def _warning(words_: str) -> Chip:
    return Chip(words_, "caution", "warning")


IMAGES_OFF = (
    "Images are not shown: this installation works in the Text support profile, whose assessments rest on text and "
    "numbers alone. The administrator chooses the profile in the settings."
)


def images_off(item: ImageRef | SeriesRef) -> QWidget:
    """In place of a picture, where the profile works without images: a sentence that says why."""
    box, frame = QWidget(), pieces.panel("card")
    head = pieces.row(None, Picture("info", "muted", 24), text(tr(IMAGES_OFF), "lead"), gap=12)
    head.setStretch(1, 1)
    pieces.column(frame, None, head, text(item.title, "mono"), None, margins=(24, 24, 24, 24), gap=12)
    pieces.column(box, frame, margins=(16, 16, 16, 16))
    box.setAccessibleName(f"{item.title}: {tr(IMAGES_OFF)}")
    return box


class UnreadView(QWidget):
    """Every file that was not read, wholly or in part, and why."""

    def __init__(self, unread: tuple[Unread, ...]) -> None:
        super().__init__()
        title = text(tr("Not read"), "title")
        lead = text(
            tr("These files, or parts of them, are not in the case. No step of an analysis has seen them."), "muted"
        )
        cards = []
        for entry in unread[:MOST_CARDS]:
            card = pieces.panel("card")
            name = text(entry.name, "strong")
            pieces.row(
                card,
                Picture("unread", "serious", 20),
                pieces.column(None, name, text(entry.reason), gap=2),
                gap=12,
                margins=(12, 10, 12, 10),
            ).setStretch(1, 1)
            card.setAccessibleName(f"{entry.name}: {entry.reason}")
            cards.append(card)
        lines = "\n".join(f"{entry.name}: {entry.reason}" for entry in unread[MOST_CARDS:])
        rest = [text(lines, "small")] if lines else []
        pieces.column(self, title, lead, *cards, *rest, None, margins=(24, 20, 24, 20), gap=8)


def item_view(item: Item, fetch: FetchPicture, *, images: bool = True) -> QWidget:
    """The viewer of an item; a picture is fetched beside the window's thread, where the profile has `images`."""
    if isinstance(item, Note):
        note = NoteView()
        note.show_note(item)
        return note
    if isinstance(item, LabTable):
        return LabView(item)
    if isinstance(item, EhrDatabase):
        return ExtractView(item)
    return picture_card(item, fetch, images=images)


def picture_card(item: ImageRef | SeriesRef, fetch: FetchPicture, *, images: bool = True) -> QWidget:
    if not images:
        return images_off(item)
    card = PictureCard(item)
    if item.preview_sha256:
        fetch(item.preview_sha256, card.view.show_png, card.view.show_words)
    return card
