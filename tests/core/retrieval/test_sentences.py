"""The sentence splitter against a hundred sentences of our own, marked by hand ("|" is a boundary)."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from core.retrieval.sentences import split

# Passages between "====" lines: ward prose, guideline prose, sloppy notes, lists and headings, wrapped text.
MARKED = (Path(__file__).parents[2] / "data/sentences/marked.txt").read_text("utf-8").split("\n====\n")


def pieces(text: str) -> list[str]:
    return [" ".join(text[a:b].split()) for a, b in split(text)]


def bare(marked: str) -> list[str]:
    """The sentences as the splitter gives them: without list marks, blanks collapsed."""
    sentences = (" ".join(piece.split()) for piece in marked.split("|"))
    return [re.sub(r"^(?:[-*]|\d\.) ", "", sentence) for sentence in sentences if sentence]


def test_at_least_97_of_100_sentences_are_found_whole() -> None:
    found = wanted = 0
    missed: list[str] = []
    for marked in MARKED:
        gold = bare(marked)
        got = pieces(marked.replace("|", " ").replace("\n ", "\n"))
        wanted += len(gold)
        missed += [sentence for sentence in gold if sentence not in got]
        found += sum(sentence in got for sentence in gold)
    assert wanted >= 100
    assert found / wanted >= 0.97, missed


@pytest.mark.parametrize(("text", "count"), [("", 0), ("   \n \n", 0), ("one", 1), ("3.5 mg", 1), ("Dr. X", 1)])
def test_odd_texts(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_spans_are_ordered_disjoint_and_cover_every_letter() -> None:
    rng = random.Random(7)
    alphabet = "ab AB 12 ..;;\n\n()-?!\"' Dr. e.g. mg"
    for _ in range(300):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(200)))
        spans = split(text)
        assert all(a < b for a, b in spans)
        assert all(left[1] <= right[0] for left, right in zip(spans, spans[1:], strict=False))
        outside = set(range(len(text))) - {i for a, b in spans for i in range(a, b)}
        assert not any(text[i].isupper() for i in outside)
