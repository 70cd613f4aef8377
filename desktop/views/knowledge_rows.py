"""How a passage found is painted: title, heading, a part of its text with the words looked for marked, its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRect, QSize
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from desktop.i18n import tr
from desktop.state import knowledge_model
from desktop.state.knowledge_model import COLLECTION, HIT, Snippet
from desktop.state.knowledge_reader import Collection
from desktop.views.look import look
from desktop.views.rows import Index, Row, draw_text, listed, paint_ground

if TYPE_CHECKING:
    from core.retrieval.box import BoxHit

PAD, LINES = 12, 2


class Passages(QStyledItemDelegate):
    """Paints the rows of a list of passages."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        body, small = QFontMetrics(look().font("body")), QFontMetrics(look().font("small"))
        return QSize(look().px(160), body.height() * (1 + LINES) + small.height() * 2 + look().px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit: BoxHit = index.data(HIT)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option)
        inner = rect.adjusted(look().px(PAD), look().px(7), -look().px(PAD), -look().px(5))
        self._write(painter, inner, hit)
        painter.restore()

    def _write(self, painter: QPainter, inner: QRect, hit: BoxHit) -> None:
        bold, small = look().font("body", bold=True), look().font("small")
        high, low = QFontMetrics(bold).height(), QFontMetrics(small).height()
        top = QRect(inner.left(), inner.top(), inner.width(), high)
        draw_text(painter, top, hit.passage.title, bold, look().colour("plain"))
        path = QRect(inner.left(), top.bottom() + look().px(1), inner.width(), low)
        draw_text(painter, path, hit.passage.section, small, look().colour("accent"))
        below = path.bottom() + look().px(2)
        draw_marked(painter, QRect(inner.left(), below, inner.width(), high * LINES), knowledge_model.snippet(hit))
        foot = QRect(inner.left(), below + high * LINES + look().px(2), inner.width(), low)
        tone = "critical" if hit.state in ("superseded", "expired") else "muted"
        said = f"{tr(hit.state).upper()} · " if tone == "critical" else ""
        draw_text(painter, foot, f"{said}{knowledge_model.origin(hit)}", small, look().colour(tone))


def utf16(whole: str, offset: int) -> int:
    """Qt counts UTF-16 units, spans count characters: they differ beyond the basic plane."""
    return len(whole[:offset].encode("utf-16-le")) // 2


def draw_marked(painter: QPainter, room: QRect, part: Snippet) -> None:
    """A text of a few lines, in either direction of writing, its spans marked by ground and underline."""
    layout = QTextLayout(part.text, look().font("body"))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.setFormats([_mark(part.text, start, end) for start, end in part.spans])
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():  # what lies below the room is clipped
        line.setLineWidth(room.width())
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    painter.setPen(look().colour("plain"))
    painter.save()
    painter.setClipRect(room)
    layout.draw(painter, QPointF(room.topLeft()))
    painter.restore()


def _mark(whole: str, start: int, end: int) -> QTextLayout.FormatRange:
    style = QTextCharFormat()
    style.setBackground(QColor(look().palette.mark))
    style.setForeground(QColor(look().palette.on_mark))
    style.setFontUnderline(True)
    found = QTextLayout.FormatRange()
    found.start = utf16(whole, start)
    found.length = utf16(whole, end) - utf16(whole, start)
    found.format = style
    return found


def passages_view(name: str) -> QListView:
    """A list of passages."""
    view = listed(name, HIT, None)
    view.setItemDelegate(Passages(view))
    return view


def collections_view(name: str) -> QListView:
    """A list of packs of knowledge."""
    return listed(name, COLLECTION, collection_row)


def collection_row(pack: Collection) -> Row:
    """A pack as a row."""
    icon, tone, _ = knowledge_model.state_words(pack.state)
    return Row(
        title=pack.title,
        icon=icon,
        tone=tone,
        detail=pack.remark or knowledge_model.collection_line(pack),
        detail_tone="muted"
        if pack.state == "active" and not pack.remark
        else tone
        if pack.state != "active"
        else "serious",
        bold=pack.state == "active",
    )
