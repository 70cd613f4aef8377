"""How rows of lists are painted: icon, title, a quieter line, a word at the right; and the bars of the differential.

One delegate for all lists, told by a function what a row says. Knows values of the domain, no page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.domain.case import CaseSummary
from core.domain.case_find import Hit
from core.domain.evidence import Evidence
from core.domain.hypothesis import Hypothesis
from core.domain.memory import StepLine
from desktop.i18n import tr
from desktop.state import words
from desktop.state.case_items import Entry
from desktop.state.case_list import details, place_words
from desktop.state.run_items import step_cost
from desktop.views.look import look

Index = QModelIndex | QPersistentModelIndex
PAD, ICON, GAP = 12, 18, 10
BAND_TONES = {"leading": "accent", "possible": "accent", "less likely": "muted", "unlikely": "muted"}
STEP_ICONS = {
    "case": "folder",
    "run": "run",
    "model": "model",
    "tool": "tool",
    "search": "book",
    "evidence": "link",
    "weigh": "weigh",
    "gap": "gap",
    "question": "question",
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What a row says. `detail_tone` colours the quieter line, which says the same in words.

    `marked` are characters [first, last) of the quieter line that stand on a marked ground; `inset` rows belong to the
    row above them.
    """

    title: str
    icon: str = ""
    tone: str = "muted"
    detail: str = ""
    detail_tone: str = "muted"
    right: str = ""
    bold: bool = False
    marked: tuple[int, int] | None = None
    inset: bool = False


class Rows(QStyledItemDelegate):
    """Paints the rows of a list view whose model gives values under `role`."""

    def __init__(self, role: int, describe: Callable[[Any], Row], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._role, self._describe = role, describe

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = self._describe(index.data(self._role))
        height = QFontMetrics(look().font("body")).height() + look().px(10)
        if line.detail:
            height += QFontMetrics(look().font("small")).height() + look().px(3)
        return QSize(look().px(120), height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = self._describe(index.data(self._role))
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option)
        inner = rect.adjusted(look().px(PAD), look().px(5), -look().px(PAD), -look().px(5))
        if line.inset:
            inner.setLeft(inner.left() + look().px(ICON + GAP))
        if line.icon:
            size = look().px(ICON)
            ratio = painter.device().devicePixelRatioF()
            top = inner.top() + (QFontMetrics(look().font()).height() - size) // 2
            painter.drawPixmap(inner.left(), top, look().pixmap(line.icon, line.tone, size, ratio))
            inner.setLeft(inner.left() + size + look().px(GAP))
        self._write(painter, inner, line)
        painter.restore()

    def _write(self, painter: QPainter, inner: QRect, line: Row) -> None:
        small, body = look().font("small"), look().font("body", bold=line.bold)
        right = QFontMetrics(small).horizontalAdvance(line.right) + (look().px(GAP) if line.right else 0)
        first = QRect(inner.left(), inner.top(), inner.width() - right, QFontMetrics(body).height())
        draw_text(painter, first, line.title, body, look().colour("plain"))
        if line.right:
            whole = QRect(inner.left(), inner.top(), inner.width(), first.height())
            draw_text(painter, whole, line.right, small, look().colour("muted"), right=True)
        if line.detail:
            below = QRect(inner.left(), first.bottom() + look().px(2), inner.width(), QFontMetrics(small).height())
            if line.marked is not None:
                draw_mark(painter, below, line.detail, line.marked)
            draw_text(painter, below, line.detail, small, look().colour(line.detail_tone))


class Bars(QStyledItemDelegate):
    """The differential: title and band in words, below them the share of the weight as a bar."""

    def __init__(self, role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._role = role

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = QFontMetrics(look().font("body")).height() + QFontMetrics(look().font("small")).height()
        return QSize(look().px(160), line + look().px(30))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        value: Hypothesis = index.data(self._role)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option)
        inner = rect.adjusted(look().px(PAD), look().px(6), -look().px(PAD), -look().px(6))
        tone = BAND_TONES.get(value.band, "muted")
        body, small = look().font("body", bold=value.band == "leading"), look().font("small", bold=True)
        band = QFontMetrics(small).horizontalAdvance(tr(value.band)) + look().px(GAP)
        height = QFontMetrics(body).height()
        title = QRect(inner.left(), inner.top(), inner.width() - band, height)
        draw_text(painter, title, value.title, body, look().colour("plain"))
        whole = QRect(inner.left(), inner.top(), inner.width(), height)
        draw_text(painter, whole, tr(value.band), small, look().colour(tone), right=True)
        track = QRectF(inner.left(), inner.top() + height + look().px(5), inner.width(), look().px(6))
        self._bar(painter, track, value)
        sides = (len(value.for_), len(value.against), len(value.missing))
        counts = tr("{f} for   {a} against   {m} missing", f=sides[0], a=sides[1], m=sides[2])
        below = QRect(inner.left(), inner.bottom() - height + look().px(2), inner.width(), height)
        draw_text(painter, below, counts, look().font("small"), look().colour("muted"))
        painter.restore()

    def _bar(self, painter: QPainter, track: QRectF, value: Hypothesis) -> None:
        radius = track.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look().palette.raised))
        painter.drawRoundedRect(track, radius, radius)
        filled = QRectF(track)
        filled.setWidth(max(track.height(), track.width() * min(1.0, max(0.0, value.share))))
        painter.setBrush(look().colour("accent" if value.band in ("leading", "possible") else "muted"))
        painter.drawRoundedRect(filled, radius, radius)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """The row's ground: chosen rows have a soft ground and a bar at their left, the focused one an outline."""
    state: QStyle.StateFlag = option.state
    rect: QRect = option.rect
    area = QRectF(rect).adjusted(4, 1, -4, -1)
    colours = look().palette
    if state & QStyle.StateFlag.State_Selected:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_soft))
        painter.drawRoundedRect(area, 6, 6)
        painter.setPen(QPen(QColor(colours.accent), 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(QPointF(area.left() + 2, area.top() + 8), QPointF(area.left() + 2, area.bottom() - 8))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(area, 6, 6)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.accent), 2))
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 6, 6)


def draw_text(painter: QPainter, rect: QRect, words_: str, font: Any, colour: QColor, *, right: bool = False) -> None:
    """One line of text, shortened where it does not fit."""
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetrics(font).elidedText(words_, Qt.TextElideMode.ElideRight, rect.width())
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    painter.drawText(rect, int(side | Qt.AlignmentFlag.AlignVCenter), shown)


def draw_mark(painter: QPainter, rect: QRect, words_: str, marked: tuple[int, int]) -> None:
    """The ground of some characters of a line of small text, underlined: not told by colour alone."""
    metrics = QFontMetrics(look().font("small"))
    left = rect.left() + metrics.horizontalAdvance(words_[: marked[0]])
    right = min(rect.right(), rect.left() + metrics.horizontalAdvance(words_[: marked[1]]))
    if right > left:
        painter.fillRect(QRect(left, rect.top(), right - left, rect.height()), QColor(look().palette.accent_soft))
        painter.setPen(QPen(QColor(look().palette.accent), 2))
        painter.drawLine(left, rect.bottom(), right, rect.bottom())


def listed(name: str, role: int, describe: Callable[[Any], Row] | None) -> QListView:
    """A list view painted by us: rows as tall as their text, one choice at a time."""
    view = QListView()
    view.setAccessibleName(name)
    view.setProperty("kind", "rows")
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setResizeMode(QListView.ResizeMode.Adjust)
    view.setMouseTracking(True)
    view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    view.setItemDelegate(Rows(role, describe, view) if describe else Bars(role, view))
    look().changed.connect(view.doItemsLayout)
    return view


def case_row(summary: CaseSummary) -> Row:
    icon, tone, _ = words.state_words(summary.state)
    state, *rest, old = details(summary)
    return Row(
        title=summary.title,
        icon=icon,
        tone=tone,
        detail=" · ".join((state, *rest)),
        detail_tone=tone if summary.state == "waiting for your answer" else "muted",
        right=old,
        bold=True,
    )


PLACE_ICONS = {
    "patient": "person",
    "note": "note",
    "labs": "labs",
    "item": "image",
    "unread": "unread",
    "question": "question",
    "report": "ready",
}


def found_row(row: CaseSummary | Hit) -> Row:
    """A case, or below it a place in which something was found."""
    if isinstance(row, CaseSummary):
        return case_row(row)
    marked = (row.mark, row.mark + len(row.words)) if row.words else None
    return Row(title=place_words(row), icon=PLACE_ICONS[row.kind], detail=row.snippet, marked=marked, inset=True)


def entry_row(entry: Entry) -> Row:
    tone = "muted" if entry.tone == "plain" else entry.tone
    return Row(title=entry.title, icon=entry.icon, tone=tone, detail=entry.detail, detail_tone=tone)


def step_row(step: StepLine) -> Row:
    tone = "critical" if step.failed else "muted" if step.done else "accent"
    right = tr("failed") if step.failed else step_cost(step) if step.done else tr("under way …")
    icon = "warning" if step.failed else STEP_ICONS.get(step.kind, "dot")
    return Row(title=step.text, icon=icon, tone=tone, right=right, bold=not step.done)


def evidence_row(item: Evidence) -> Row:
    icon, kind = words.source_words(item.provenance)
    text = " ".join(item.text.split())
    return Row(title=text, icon=icon, detail=f"{kind} · {item.provenance.label}", right=item.id)
