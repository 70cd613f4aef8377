"""How the window looks: palette by system or choice, text size, type scale, icons, style sheet.

One `Look` a program, asked for by `look()`. Sizes are given in pixels of a 100 % text size and scaled by the zoom; the
display's own scale comes on top, by Qt. Knows no page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Literal

from PySide6.QtCore import QByteArray, QObject, QRectF, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from desktop.views.palette import DARK, LIGHT, Palette

Mode = Literal["system", "light", "dark"]
MODES: tuple[Mode, ...] = ("system", "light", "dark")
FAMILIES = ("Inter", "Segoe UI", "SF Pro Text", "Noto Sans", "Cantarell", "Ubuntu", "DejaVu Sans")
MONO = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Noto Sans Mono", "DejaVu Sans Mono")
SCALE = {"small": 12, "body": 13, "lead": 15, "title": 18, "display": 24}
ZOOMS = (1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
GRID = 8


class Look(QObject):
    """Palette, fonts, icons. `changed` is sent after the style sheet was set anew."""

    changed = Signal()

    def __init__(self, settings: QSettings | None = None) -> None:
        super().__init__()
        self._settings = settings
        stored = str(settings.value("look/mode", "system")) if settings else "system"
        self.mode: Mode = next((mode for mode in MODES if mode == stored), "system")
        self.zoom = float(str(settings.value("look/zoom", "1.0"))) if settings else 1.0
        known = set(QFontDatabase.families())
        self.family = next((f for f in FAMILIES if f in known), QApplication.font().family())
        self.mono = next((f for f in MONO if f in known), self.family)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system)

    @property
    def palette(self) -> Palette:
        if self.mode == "system":
            dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        else:
            dark = self.mode == "dark"
        return DARK if dark else LIGHT

    def px(self, size: float) -> int:
        """A length of the 100 % layout at the present text size."""
        return max(1, round(size * self.zoom))

    def font(self, role: str = "body", *, bold: bool = False, mono: bool = False) -> QFont:
        """A font of the type scale, for what is painted by hand."""
        font = QFont(self.mono if mono else self.family)
        font.setPixelSize(self.px(SCALE[role]))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        return font

    def colour(self, tone: str) -> QColor:
        return QColor(self.palette.tone(tone))

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self._keep("look/mode", mode)
        self.apply()

    def set_zoom(self, zoom: float) -> None:
        self.zoom = zoom
        self._keep("look/zoom", str(zoom))
        self.apply()

    def step_zoom(self, by: int) -> None:
        """One step larger or smaller; 0 goes back to 100 %."""
        place = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self.zoom)) + by
        self.set_zoom(ZOOMS[max(0, min(place, len(ZOOMS) - 1))] if by else 1.0)

    def apply(self) -> None:
        """Give the whole application its palette, font and style sheet."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        app.setFont(self.font())
        app.setPalette(qt_palette(self.palette))
        app.setStyleSheet(style_sheet(self.palette, self.zoom, self.family, self.mono))
        for widget in app.allWidgets():
            draw_icon(widget)
        self.changed.emit()

    def icon(self, name: str, tone: str = "plain") -> QIcon:
        """One of our icons in a tone of the palette, sharp at every scale."""
        return drawn_icon(name, self.palette.tone(tone))

    def pixmap(self, name: str, tone: str, size: int, ratio: float) -> QPixmap:
        return svg_pixmap(name, self.palette.tone(tone), size, ratio)

    def _keep(self, key: str, value: str) -> None:
        if self._settings is not None:
            self._settings.setValue(key, value)

    def _on_system(self) -> None:
        if self.mode == "system":
            self.apply()


_look: list[Look] = []


def set_look(look: Look) -> None:
    """Make this the program's look."""
    _look[:] = [look]


def look() -> Look:
    """The program's look; a plain one where none was set."""
    if not _look:
        _look.append(Look())
    return _look[0]


def draw_icon(widget: QWidget) -> None:
    """Draw a widget's icon anew, if it names one in its properties `glyph` and `tone`."""
    name = widget.property("glyph")
    if name and isinstance(widget, QAbstractButton):
        size = look().px(int(widget.property("glyph_size") or 16))
        widget.setIcon(look().icon(str(name), str(widget.property("tone") or "plain")))
        widget.setIconSize(QSize(size, size))


@lru_cache(maxsize=64)
def _svg(name: str) -> str:
    return resources.files("desktop.resources.icons").joinpath(f"{name}.svg").read_text("utf-8")


@lru_cache(maxsize=512)
def svg_pixmap(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    """An icon in one colour, `size` logical pixels square."""
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    source = _svg(name).replace("currentColor", colour).encode()
    QSvgRenderer(QByteArray(source)).render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


@lru_cache(maxsize=256)
def drawn_icon(name: str, colour: str) -> QIcon:
    icon = QIcon()
    for size in (16, 20, 24, 32, 48, 64):
        icon.addPixmap(svg_pixmap(name, colour, size, 1.0))
    return icon


def qt_palette(colours: Palette) -> QPalette:
    """Qt's own palette, for what no style sheet reaches: selections, disabled text, tool tips, links."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    palette = QPalette()
    for target, colour in (
        (role.Window, colours.ground),
        (role.WindowText, colours.ink),
        (role.Base, colours.paper),
        (role.AlternateBase, colours.soft),
        (role.Text, colours.ink),
        (role.Button, colours.paper),
        (role.ButtonText, colours.ink),
        (role.ToolTipBase, colours.paper),
        (role.ToolTipText, colours.ink),
        (role.Highlight, colours.accent),
        (role.HighlightedText, colours.on_accent),
        (role.Link, colours.accent),
        (role.LinkVisited, colours.accent),
        (role.PlaceholderText, colours.quiet),
        (role.Accent, colours.accent),
    ):
        palette.setColor(target, QColor(colour))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(group.Disabled, target, QColor(colours.quiet))
    return palette


def style_sheet(colours: Palette, zoom: float, family: str, mono: str) -> str:
    """The style sheet with `@names` replaced by colours and `12sp` by scaled pixels."""
    text = resources.files("desktop.resources").joinpath("style.qss").read_text("utf-8")
    text = text.replace("@family", f'"{family}"').replace("@mono", f'"{mono}"')
    text = re.sub(r"@([a-z_]+)", lambda found: str(getattr(colours, found.group(1))), text)
    return re.sub(r"(\d+)sp\b", lambda found: f"{max(1, round(int(found.group(1)) * zoom))}px", text)
