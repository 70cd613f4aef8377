"""The fixed texts, word for word: a change of one is a decision, not an accident."""

from __future__ import annotations

import re
import string

import pytest

from core.domain.notices import INTENDED_USE, TEXTS, lasting, notice, rung_notices

# Compared by reading with the product specification, section 4, on 2026-11-30.
GOLDEN = {
    "N1": "Decision support for qualified clinicians. Review the evidence before acting.",
    "N2": "AI-generated, unverified",
    "N3": "Inputs not available: {list}",
    "N4": "Running on CPU: expected time {t}",
    "N5": "Image could not be decoded: {reason}; not analysed",
    "N6": "Research use only. Image analysis is not cleared for diagnosis.",
    "N7": "Not for time-critical decisions",
    "N8": "Not CE-marked. Not a medical device. For research and evaluation.",
    "N9": "Not calibrated for primary diagnosis",
    "N10": "Lossy compressed image ({ratio})",
    "N11": "Pixel integrity: not verifiable (first import of compressed data)",
    "N12": "Side conflict: image says {a}, text says {b}. Signing is blocked.",
    "N13": "Result produced under {rung}: {reason}",
    "N14": "This guideline edition ({date}) is superseded by {newer}",  # there both gaps are called date
    "N15": "Hidden text found in {document}",
    "N16": "Model file is damaged (hash differs). Not loaded.",
    "N17": "No evidence found for this statement",
    "N18": "Partial result: {k} of {n} steps finished",
}


def gaps(text: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


def test_the_texts_are_these() -> None:
    assert TEXTS == GOLDEN
    assert list(TEXTS) == [f"N{n}" for n in range(1, 19)]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_gaps_are_filled_and_each_has_a_name_of_its_own(name: str) -> None:
    wanted = gaps(TEXTS[name])
    assert len(set(wanted)) == len(wanted)
    filled = notice(name, **{gap: f"<{gap}>" for gap in wanted})
    assert "{" not in filled
    assert all(f"<{gap}>" in filled for gap in wanted)
    if wanted:
        with pytest.raises(KeyError):
            notice(name)


def test_an_unknown_text_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        notice("N99")


def test_intended_use_says_who_what_and_what_not() -> None:
    for words in (
        "qualified clinician",
        "does not decide",
        "time-critical",
        "Not CE-marked. Not a medical device.",
        "opens no network connection",
    ):
        assert words in INTENDED_USE
    assert not re.search(r"\b(diagnoses|detects|prevents) disease", INTENDED_USE)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "about 1 s"), (12.4, "about 12 s"), (89, "about 89 s"), (150, "about 2 min"), (7200, "about 2.0 h")],
)
def test_a_length_of_time_as_a_person_says_it(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


def test_badges_of_a_rung() -> None:
    """N13 where it is not the wanted one, N4 below the graphics card; neither without something to say."""
    fallen = rung_notices("cpu", "No device.", 12.0)
    assert fallen == ("Result produced under processor: No device.", "Running on CPU: expected time about 12 s")
    assert rung_notices("cpu", "", 12.0) == fallen[1:]
    assert rung_notices("gpu_kv_q8", "Full.", 3.0) == ("Result produced under graphics card, compressed cache: Full.",)
    assert rung_notices("gpu_full", "", 3.0) == rung_notices("", "", 0.0) == ()
