"""The small parts that every page is made of: texts, buttons, chips, strips, layouts on the 8 px grid.

Whatever can be operated gets its accessible name here. Knows no page and no state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.i18n import tr
from desktop.views.look import GRID, draw_icon, look

Role = Literal["body", "small", "muted", "lead", "strong", "title", "display", "section", "mono"]
Margins = tuple[int, int, int, int]
NONE: Margins = (0, 0, 0, 0)


def text(words: str, role: Role = "body", *, wrap: bool = True, tone: str = "") -> QLabel:
    """A label of the type scale; plain text only, so that no document can bring mark-up into the window."""
    label = QLabel(words)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    label.setProperty("role", role)
    if tone:
        label.setProperty("tone", tone)
    if wrap:
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label


class Elided(QLabel):
    """One line that is shortened where there is no room; the whole of it is in its tool tip and read aloud."""

    def __init__(self, role: Role = "body", most: int = 4000) -> None:
        super().__init__()
        self._most = most  # width that is asked for at most, however long the text
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._whole = ""

    @property
    def whole(self) -> str:
        return self._whole

    def show_words(self, words: str) -> None:
        self._whole = words
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.updateGeometry()
        self._shorten()

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        wide = self.fontMetrics().horizontalAdvance(self._whole) + 4
        return QSize(min(wide, look().px(self._most)), size.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(look().px(40), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._shorten()

    def _shorten(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
        if shown != self.text():
            self.setText(shown)


def button(words: str, act: Callable[[], object], *, kind: str = "", icon: str = "", hint: str = "") -> QPushButton:
    """A push button. `kind`: primary, stop, link, or the plain one; `hint` is its tool tip."""
    made = QPushButton(words)
    made.setProperty("kind", kind)
    made.setAccessibleName(words.replace("&", ""))
    made.setAutoDefault(False)
    if icon:
        tones = {"primary": "on_accent", "stop": "critical", "link": "accent"}
        made.setProperty("glyph", icon)
        made.setProperty("tone", tones.get(kind, "plain"))
        draw_icon(made)
    if hint:
        made.setToolTip(hint)
        made.setAccessibleDescription(hint)
    made.clicked.connect(lambda _checked: act())
    return made


def icon_button(icon: str, name: str, act: Callable[[], object] | None = None) -> QToolButton:
    """A button that is only an icon; its name is read aloud and shown as a tool tip."""
    made = QToolButton()
    made.setProperty("kind", "plain")
    made.setProperty("glyph", icon)
    made.setAccessibleName(name)
    made.setToolTip(name)
    made.setProperty("glyph_size", 20)
    made.setMinimumSize(28, 28)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    draw_icon(made)
    if act is not None:
        made.clicked.connect(lambda _checked: act())
    return made


class Picture(QLabel):
    """An icon that follows the palette."""

    def __init__(self, icon: str, tone: str = "plain", size: int = 16) -> None:
        super().__init__()
        self._icon, self._tone, self._size = icon, tone, size
        look().changed.connect(self._draw)
        self._draw()

    def show_icon(self, icon: str, tone: str) -> None:
        self._icon, self._tone = icon, tone
        self._draw()

    def _draw(self) -> None:
        size = look().px(self._size)
        self.setPixmap(look().pixmap(self._icon, self._tone, size, self.devicePixelRatioF()))
        self.setFixedSize(size, size)


class Chip(QFrame):
    """A word with its icon on a soft ground: a state, a notice. Never colour alone."""

    def __init__(self, words: str, tone: str = "muted", icon: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "chip")
        self._picture = Picture(icon or "dot", tone, 14)
        self._label = text(words, "small", wrap=False)
        row(self, self._picture, self._label, margins=(8, 2, 8, 2), gap=4)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
        self.show_words(words, tone, icon)

    def show_words(self, words: str, tone: str, icon: str = "") -> None:
        self._label.setText(words)
        self.setAccessibleName(words)
        if icon:
            self._picture.show_icon(icon, tone)
        self._picture.setVisible(bool(icon))
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            restyle(self)


class Strip(QFrame):
    """A sentence across the page with what can be done about it; closed by its cross."""

    def __init__(self, words: str, tone: str = "accent", icon: str = "info", *actions: QPushButton) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setProperty("tone", tone)
        self.setAccessibleName(words)
        label = text(words)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = icon_button("close", tr("Dismiss this message"), self.close_strip)
        row(self, Picture(icon, tone, 18), label, *actions, close, margins=(12, 4, 8, 4), stretch=label)

    def close_strip(self) -> None:
        self.hide()
        self.deleteLater()


class Segments(QWidget):
    """A few exclusive choices side by side; moved through with Tab, chosen with Space."""

    chosen = Signal(int)

    def __init__(self, choices: tuple[str, ...], *, name: str, at: int = -1) -> None:
        super().__init__()
        self.buttons: list[QPushButton] = []
        for number, words in enumerate(choices):
            made = button(words, partial(self.choose, number), kind="segment")
            made.setCheckable(True)
            made.setAccessibleName(f"{name}: {words}")
            made.setProperty("end", "first" if number == 0 else "last" if number == len(choices) - 1 else "")
            self.buttons.append(made)
        row(self, *self.buttons, gap=0)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._mark(at)

    @property
    def at(self) -> int:
        """The choice made, -1 for none."""
        return next((n for n, made in enumerate(self.buttons) if made.isChecked()), -1)

    def choose(self, number: int) -> None:
        self._mark(number)
        self.chosen.emit(number)

    def _mark(self, number: int) -> None:
        for n, made in enumerate(self.buttons):
            made.setChecked(n == number)


def row(
    parent: QWidget | None,
    *parts: QWidget | QLayout | None,
    margins: Margins = NONE,
    gap: int = GRID,
    stretch: QWidget | None = None,
) -> QHBoxLayout:
    """Parts side by side; None is free space, `stretch` the part that takes what is left."""
    layout = QHBoxLayout()
    _fill(layout, parent, parts, margins=margins, gap=gap, stretch=stretch)
    return layout


def column(
    parent: QWidget | None,
    *parts: QWidget | QLayout | None,
    margins: Margins = NONE,
    gap: int = GRID,
    stretch: QWidget | None = None,
) -> QVBoxLayout:
    """Parts below each other; None is free space, `stretch` the part that takes what is left."""
    layout = QVBoxLayout()
    _fill(layout, parent, parts, margins=margins, gap=gap, stretch=stretch)
    return layout


def _fill(
    layout: QHBoxLayout | QVBoxLayout,
    parent: QWidget | None,
    parts: tuple[QWidget | QLayout | None, ...],
    *,
    margins: Margins,
    gap: int,
    stretch: QWidget | None,
) -> None:
    layout.setContentsMargins(*margins)
    layout.setSpacing(gap)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QWidget):
            layout.addWidget(part, 1 if part is stretch else 0)
        else:
            layout.addLayout(part)
    if parent is not None:
        parent.setLayout(layout)


def panel(kind: str) -> QFrame:
    """A bare surface: ground, paper, pane, head, foot, card."""
    frame = QFrame()
    frame.setProperty("kind", kind)
    return frame


def rule() -> QFrame:
    """A hairline."""
    return panel("rule")


def scrolled(content: QWidget, name: str) -> QScrollArea:
    """Content that scrolls upwards and downwards, never sideways."""
    area = QScrollArea()
    content.setProperty("kind", content.property("kind") or "clear")
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(name)
    area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return area


def restyle(widget: QWidget) -> None:
    """Apply the style sheet anew after a property changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    for child in widget.findChildren(QWidget):
        widget.style().unpolish(child)
        widget.style().polish(child)


def clear(layout: QLayout) -> None:
    """Take every widget out of a layout and let it go."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)
