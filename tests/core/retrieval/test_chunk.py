"""Passages of a section: whole sentences, at most 230 words, 38 repeated, no short remainder, nothing lost."""

from __future__ import annotations

import random
import re

import pytest

from core.retrieval.chunk import OVERLAP, SHORTEST, WORDS, cut
from tests.helpers.shelf import sentences


def sentence(words: int, mark: str = "w") -> str:
    return " ".join([mark.upper(), *[mark] * (words - 1)]) + "."


def words(text: str) -> int:
    return len(text.split())


def test_a_short_section_is_one_passage() -> None:
    text = "  First sentence here. Second one.\n"
    (span,) = cut(text)
    assert text[span.start : span.end] == "First sentence here. Second one."
    assert span.tokens == 5


@pytest.mark.parametrize("text", ["", "  \n\t\n", "\u00a0"])
def test_a_blank_section_has_none(text: str) -> None:
    assert cut(text) == ()


def test_sizes_by_hand() -> None:
    """30 sentences of 10 words: 23 fill a passage; it steps back 3 sentences (30 of 38 words), so 20..30 follow."""
    text = " ".join(sentence(10) for _ in range(30))
    assert [span.tokens for span in cut(text)] == [230, 100]
    first, second = cut(text)
    assert words(text[second.start : first.end]) == 30


def test_a_short_remainder_joins_the_passage_before() -> None:
    """26 sentences of 10 words: 23, then 3 new ones (30 words < 31) join; 27 sentences leave 40 and stand alone."""
    assert [span.tokens for span in cut(" ".join(sentence(10) for _ in range(26)))] == [260]
    assert [span.tokens for span in cut(" ".join(sentence(10) for _ in range(27)))] == [230, 70]


def test_a_sentence_longer_than_a_passage_is_cut() -> None:
    text = sentence(500)
    assert [span.tokens for span in cut(text)] == [230, 230, 40]
    assert " ".join(text[span.start : span.end] for span in cut(text)) == text


def test_a_table_row_is_one_sentence() -> None:
    row = "Stage 1 | creatinine 1.5 times | urine below 0.5 mL/kg/h for 6 h"
    text = "\n".join(f"{row} | {n}" for n in range(40))
    for span in cut(text):
        piece = text[span.start : span.end]
        assert piece.startswith("Stage 1") and re.search(r"\| \d+$", piece)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_and_no_sentence_is_broken(seed: int) -> None:
    rng = random.Random(seed)
    text = sentences(rng, rng.randint(1, 120))
    spans = cut(text)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    for span in spans:
        piece = text[span.start : span.end]
        assert piece[0].isupper() and piece[-1] == "."
        assert words(piece) == span.tokens <= WORDS + SHORTEST
    for before, after in zip(spans, spans[1:], strict=False):
        assert before.start < after.start <= before.end + 1  # in order, no gap but a blank
        assert words(text[after.start : before.end]) <= OVERLAP
        assert words(text[before.end : after.end]) >= SHORTEST
