"""Sections cut into passages: whole sentences, about 300 tokens each, the last words repeated (knowledge.md section 4).

A word stands for 300/230 tokens, also where an embedder could count its own: borders that moved when a pack comes or
goes would give passages new numbers and keys, and finished runs cite by key. It must not know documents, headings or an
index: one call sees the text of one section, so that no passage runs across a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.retrieval.sentences import split
from core.store.knowledge_values import Span

WORDS = 230  # 300 tokens
OVERLAP = 38  # 50 tokens
SHORTEST = 31  # 40 tokens; a shorter remainder joins the passage before it
_WORD = re.compile(r"\S+")
_ROW = re.compile(r"^[^\n]*(?:\S\t|[^|\n]\|[^|\n])[^\n]*$", re.MULTILINE)


def cut(text: str) -> tuple[Span, ...]:
    """The passages of one section as spans with their length in words; none for a blank text."""
    pieces = [piece for start, end in _sentences(text) for piece in _pieces(text, start, end)]
    if not pieces:
        return ()
    groups = list(_groups(pieces))
    if len(groups) > 1 and _new_words(pieces, groups[-2:]) < SHORTEST:
        first, _ = groups[-2]
        groups[-2:] = [(first, len(pieces))]
    return tuple(_span(pieces[first:last]) for first, last in groups)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences; a row of a table is one, however long its lines are."""
    edge = 0
    for row in _ROW.finditer(text):
        yield from _prose(text, edge, row.start())
        yield row.span()
        edge = row.end()
    yield from _prose(text, edge, len(text))


def _prose(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((start + first, start + last) for first, last in split(text[start:end]))


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence, in parts if it alone is longer than a passage (a table of one row, a list without marks)."""
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    for first in range(0, len(words), WORDS):
        part = words[first : first + WORDS]
        yield Span(part[0][0], part[-1][1], len(part))


def _groups(pieces: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of pieces: as many as fit, each range beginning with the last words of the one before."""
    first = 0
    while True:
        last, words = first, 0
        while last < len(pieces) and (last == first or words + pieces[last].tokens <= WORDS):
            words += pieces[last].tokens
            last += 1
        yield first, last
        if last == len(pieces):
            return
        first = _step_back(pieces, first, last)


def _step_back(pieces: Sequence[Span], first: int, last: int) -> int:
    """Where the next range begins: whole pieces of at most OVERLAP words, and room for the next piece after them."""
    words, begin = 0, last
    room = min(OVERLAP, WORDS - pieces[last].tokens)
    while begin - 1 > first and words + pieces[begin - 1].tokens <= room:
        begin -= 1
        words += pieces[begin].tokens
    return begin


def _new_words(pieces: Sequence[Span], groups: Sequence[tuple[int, int]]) -> int:
    """Words of the last range that the one before it does not hold."""
    (_, before), (_, end) = next(pairwise(groups))
    return sum(piece.tokens for piece in pieces[before:end])


def _span(pieces: Sequence[Span]) -> Span:
    return Span(pieces[0].start, pieces[-1].end, sum(piece.tokens for piece in pieces))
