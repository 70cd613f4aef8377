"""The dictionary matcher: which concepts a text names, and where (knowledge.md section 9).

A trie over normed words. It must not know context (negation, time, who), cases or where the concepts came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from core.domain.passage import Concept, Mention
from core.retrieval.terms import Word, is_abbreviation, norm, singular, words

# Words that may stand inside a surface without changing the finding: "swollen left calf" is a swollen calf.
FILLERS = frozenset(
    ["a", "an", "the", "his", "her", "their", "my", "your", "left", "right", "mild", "moderate", "severe", "very"]
    + ["slightly", "some", "marked", "l", "r", "lt", "rt"]
)
_SIDES = {"l": "left", "lt": "left", "r": "right", "rt": "right"}  # "L leg swollen"
_MOST_FILLERS = 2
_SHORTEST = 2  # characters
_LONGEST = 12  # words
# What may lie between two words of one term. Commas, brackets and full stops end a term.
_GAP = re.compile(r"[\s\-\u2010-\u2015\u2212'\u2019/:+<>=%&]*|\.")
_SYMBOL = re.compile(r"[+<>=]")
_PLUSES = re.compile(r"\s*\++")


class _Entry(NamedTuple):
    concept: str
    exact: tuple[str, ...]  # words as written, for abbreviations; else empty
    symbols: tuple[str, ...]  # signs that the surface holds and the text must hold too: "protein +++"


class _Node:
    __slots__ = ("entries", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.entries: list[_Entry] = []


class _Found(NamedTuple):
    concept: str
    first: int  # word indices, half-open
    last: int
    end: int  # character offset


class Matcher:
    """Immutable after construction. Where two concepts claim one surface, the first in the given order has it."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._root = _Node()
        for concept in concepts:
            for surface in (concept.name, *concept.surfaces):
                self._add(concept.id, surface)

    def _add(self, concept: str, surface: str) -> None:
        terms = norm(surface)
        if len(surface) < _SHORTEST or not terms or len(terms) > _LONGEST or "".join(terms).isdigit():
            return
        node = self._root
        for term in terms:
            node = node.next.setdefault(term, _Node())
        exact = tuple(word.raw for word in words(surface)) if is_abbreviation(surface) else ()
        node.entries.append(_Entry(concept=concept, exact=exact, symbols=tuple(_SYMBOL.findall(surface))))

    def find(self, text: str, tokens: Sequence[Word] | None = None) -> tuple[Mention, ...]:
        """Mentions in order of position; none overlap: the one of more words wins, then the leftmost."""
        tokens = words(text) if tokens is None else tokens
        found = [hit for first in range(len(tokens)) if (hit := self._longest(text, tokens, first)) is not None]
        found = [hit for hit in found if not self._is_of_another_kind(text, tokens, hit)]
        found.sort(key=lambda hit: (hit.first - hit.last, hit.first))
        taken: set[int] = set()
        chosen: list[_Found] = []
        for hit in found:
            span = range(hit.first, hit.last)
            if taken.isdisjoint(span):
                taken.update(span)
                chosen.append(hit)
        chosen.sort(key=lambda hit: hit.first)
        return tuple(Mention(hit.concept, tokens[hit.first].start, hit.end) for hit in chosen)

    def _is_of_another_kind(self, text: str, tokens: Sequence[Word], hit: _Found) -> bool:
        """Whether "non-" takes the first word away and leaves the concept: "non-ischaemic cardiomyopathy"."""
        if hit.first == 0 or tokens[hit.first - 1].norm != "non" or hit.last - hit.first < 2:
            return False
        rest = self._longest(text, tokens, hit.first + 1)
        return rest is not None and (rest.concept, rest.last) == (hit.concept, hit.last)

    def _longest(self, text: str, tokens: Sequence[Word], first: int) -> _Found | None:
        """The longest term that begins at one word; of two as long, the one that passes over fewer words."""
        best: _Found | None = None
        passed = 0
        stack = [(child, first + 1, 0, True) for child in _children(self._root, tokens[first].norm)]
        while stack:
            node, position, skipped, is_whole = stack.pop()
            if is_whole and node.entries and (best is None or (position, -skipped) > (best.last, -passed)):
                hit = _accept(node, text, tokens[first:position])
                if hit is not None:
                    best, passed = _Found(hit[0], first, position, hit[1]), skipped
            if position < len(tokens) and _joined(text, tokens[position - 1], tokens[position]):
                term = tokens[position].norm
                stack += [(child, position + 1, skipped, True) for child in _children(node, term)]
                if term in FILLERS and skipped < _MOST_FILLERS:
                    stack.append((node, position + 1, skipped + 1, False))  # a term does not end in a filler
        return best


def _children(node: _Node, term: str) -> Iterator[_Node]:
    child = node.next.get(term)
    if child is not None:
        yield child
    if term in _SIDES and (child := node.next.get(_SIDES[term])) is not None:
        yield child
    stem = singular(term)
    if stem != term and (child := node.next.get(stem)) is not None:
        yield child


def _joined(text: str, before: Word, after: Word) -> bool:
    return (
        before.end + 1 == after.start
        and text[before.end] == " "
        or (_GAP.fullmatch(text, before.end, after.start) is not None)
    )


def _accept(node: _Node, text: str, span: Sequence[Word]) -> tuple[str, int] | None:
    """Concept and end of the first entry of a node that the text as written satisfies."""
    for entry in node.entries:
        if entry.exact and not _same_letters(span, entry.exact):
            continue
        end = span[-1].end
        if entry.symbols:
            pluses = _PLUSES.match(text, end)
            end = pluses.end() if pluses else end
            if tuple(_SYMBOL.findall(text[span[0].start : end])) != entry.symbols:
                continue
        return entry.concept, end
    return None


def _same_letters(span: Sequence[Word], exact: tuple[str, ...]) -> bool:
    raw = tuple(word.raw for word in span)
    return raw == exact or (raw[:-1] == exact[:-1] and raw[-1] == exact[-1] + "s")
