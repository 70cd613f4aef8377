"""Contrast of every pair of colours that the window uses, computed; and the formula against published examples."""

from __future__ import annotations

import pytest

from desktop.views.palette import DARK, LIGHT, Palette, contrast

GROUNDS = ("ground", "paper", "soft")
TONES = ("accent", "critical", "serious", "caution", "good")


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#0000ff", "#ffffff", 8.59),
        ("#ff0000", "#ffffff", 4.0),
    ],
)
def test_contrast_agrees_with_published_ratios(one: str, other: str, ratio: float) -> None:
    """Black on white is 21:1; grey 777, blue and red on white as printed by the WebAIM contrast checker."""
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)
    assert contrast(other, one) == contrast(one, other)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_reaches_four_and_a_half_to_one(palette: Palette) -> None:
    pairs = [(ink, ground) for ink in ("ink", "quiet", "accent") for ground in GROUNDS]
    pairs += [(tone, f"{tone}_soft") for tone in TONES]
    pairs += [(tone, ground) for tone in TONES for ground in ("paper", "ground")]
    pairs += [("ink", f"{tone}_soft") for tone in TONES]
    pairs += [("on_accent", "accent"), ("on_mark", "mark"), ("ink", "raised"), ("quiet", "accent_soft")]
    weak = {pair: contrast(getattr(palette, pair[0]), getattr(palette, pair[1])) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_outlines_of_what_can_be_operated_reach_three_to_one(palette: Palette) -> None:
    assert {ground: r for ground in GROUNDS if (r := contrast(palette.edge, getattr(palette, ground))) < 3.0} == {}


def test_unknown_tone_is_plain_ink() -> None:
    assert LIGHT.tone("no such tone") == LIGHT.ink
    assert LIGHT.soft_tone("no such tone") == LIGHT.soft
