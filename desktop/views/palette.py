"""The colours of the window, for light and dark, by what they mean. Pure; the same hues as the exported report.

Text pairs are at least 4.5:1 against their ground, outlines and marks 3:1 (tests compute it from this table).
"""

from __future__ import annotations

import msgspec


class Palette(msgspec.Struct, frozen=True, kw_only=True):
    """Colours as #rrggbb. `ground` is the page, `paper` what lies on it, `soft` and `raised` steps between."""

    dark: bool
    ground: str
    paper: str
    soft: str
    raised: str
    line: str
    edge: str  # outline of what can be operated
    ink: str
    quiet: str
    accent: str
    on_accent: str
    accent_soft: str
    critical: str
    critical_soft: str
    serious: str
    serious_soft: str
    caution: str
    caution_soft: str
    good: str
    good_soft: str
    mark: str
    on_mark: str

    def tone(self, name: str) -> str:
        """Colour of a tone: accent, muted, critical, serious, caution, good; ink for any other."""
        tones = {"muted": self.quiet, "plain": self.ink}
        return tones.get(name) or str(getattr(self, name, self.ink))

    def soft_tone(self, name: str) -> str:
        """The ground on which text of a tone is set."""
        return str(getattr(self, f"{name}_soft", self.soft))


LIGHT = Palette(
    dark=False,
    ground="#f3f5f8",
    paper="#ffffff",
    soft="#eef1f5",
    raised="#e4e9ef",
    line="#d8dee6",
    edge="#7f8b9a",
    ink="#1c2430",
    quiet="#566170",
    accent="#1f5fa8",
    on_accent="#ffffff",
    accent_soft="#e3edf8",
    critical="#a4161a",
    critical_soft="#fbe9e8",
    serious="#8a4a00",
    serious_soft="#fcf0e0",
    caution="#655800",
    caution_soft="#f8f3d6",
    good="#1e6b3c",
    good_soft="#e3f3e8",
    mark="#ffe58a",
    on_mark="#1c2430",
)
DARK = Palette(
    dark=True,
    ground="#101419",
    paper="#171c23",
    soft="#1d232b",
    raised="#28303a",
    line="#2f3844",
    edge="#6f7d8d",
    ink="#e4e9f0",
    quiet="#9aa7b6",
    accent="#7fb2ec",
    on_accent="#0d1a29",
    accent_soft="#1b2c40",
    critical="#ff8a85",
    critical_soft="#3a1d1f",
    serious="#ffb265",
    serious_soft="#36271a",
    caution="#e5d35f",
    caution_soft="#2f2c18",
    good="#86cf9c",
    good_soft="#182d20",
    mark="#6b5a12",
    on_mark="#fff6d6",
)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, definition of relative luminance)."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
