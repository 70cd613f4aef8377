"""The trigger phrases of clinical prose, found in a sentence (knowledge.md section 10).

Reads two word lists (TOML texts handed in) and finds their phrases, longest first, each word used once. It must not
know what a trigger reaches: that is context.py.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.retrieval.terms import Word, norm

ALWAYS = frozenset({"absent", "family", "past"})  # as a heading ("Denies:") these reach to the line's end
_LINK = re.compile(r"[\s\-\u2010-\u2015'\u2019/.]*")
_HOLD = 8  # words on either side of what "should ... develop" holds
_WHO = frozenset({"family", "other"})
_TURNS = frozenset({("but",), ("however",), ("although",), ("though",), ("whereas",), ("while",), ("yet",)})
_AUXILIARY = frozenset({"has", "had", "also", "who", "have"})
_SUFFERS = frozenset({"has", "had", "have", "suffers", "suffered", "died"})  # "his wife, who has asthma"
_ARTICLE = frozenset({"his", "her", "the", "a", "their", "my"})
_MUTUAL = frozenset({("versus",), ("vs",)})


class Cue(NamedTuple):
    """A trigger in a sentence: its words, what it may mean (kind, direction), word indices, and is it a heading."""

    phrase: tuple[str, ...]
    kinds: frozenset[tuple[str, str]]
    first: int
    last: int
    headed: bool

    def has(self, kind: str, direction: str) -> bool:
        """Whether the trigger can mean that on that side."""
        return (kind, direction) in self.kinds


class CueTable:
    """Immutable. `triggers` rows are {text, kind, direction}; `narration` holds lists of words by name."""

    mutual = _MUTUAL

    def __init__(self, triggers: Iterable[Mapping[str, str]], narration: Mapping[str, Any]) -> None:
        self._phrases: dict[str, dict[tuple[str, ...], set[tuple[str, str]]]] = {}
        for row in triggers:
            phrase = norm(row["text"])
            if phrase:  # "?" is a sign, not a word: context.py reads it itself
                kinds = self._phrases.setdefault(phrase[0], {}).setdefault(phrase, set())
                kinds.add((row["kind"], row.get("direction", "")))
        self._longest = {
            first: sorted(found, key=lambda phrase: (-len(phrase), phrase)) for first, found in self._phrases.items()
        }
        self._around = [
            (norm(left), norm(right)) for left, right in (text.split("...") for text in narration.get("around", ()))
        ]
        self._adjacent = frozenset(norm(text) for text in narration.get("adjacent", ()))
        self._adverbs = frozenset(narration.get("adverbs", ()))
        self._fit = frozenset(norm(text) for text in narration.get("findings_fit", ()))
        self._examinations = frozenset(narration.get("examinations", ()))
        self._cause = frozenset(norm(text) for text in narration.get("cause", ()))
        self._reporting = frozenset(narration.get("reporting", ()))
        self._beside = frozenset(narration.get("beside", ()))
        self.subjects = frozenset(narration.get("subjects", ()))
        self.now = frozenset(narration.get("now", ()))
        self.onset = frozenset(narration.get("onset", ()))
        self.begun = frozenset(narration.get("begun", ()))
        self.months = frozenset(narration.get("months", ()))
        self.plural = frozenset(narration.get("plural", ()))
        self.bridge = frozenset(narration.get("bridge", ()))
        self.leading = frozenset(narration.get("leading", ()))
        self.joining = frozenset(narration.get("joining", ()))
        self.onward = frozenset(norm(text) for text in narration.get("onward", ()))
        self.anaphoric = frozenset(norm(text) for text in narration.get("anaphoric", ()))
        self.over = frozenset(norm(text) for text in narration.get("over", ()))
        self.ending = frozenset(narration.get("ending", ()))
        self.linking = frozenset(narration.get("linking", ()))
        self.choosing = frozenset(norm(text) for text in narration.get("choosing", ()))
        self.conceding = frozenset(norm(text) for text in narration.get("conceding", ()))
        self.persons = frozenset(narration.get("persons", ()))
        self.until_comma = _MUTUAL | {norm(text) for text in narration.get("until_comma", ())}

    def find(self, text: str, tokens: Sequence[Word], taken: set[int]) -> list[Cue]:
        """The cues of a sentence in order; words of findings (`taken`) are no cues."""
        found: list[Cue] = []
        index = 0
        while index < len(tokens):
            cue = self._at(text, tokens, index, taken)
            if cue is not None:
                found.append(cue)
            index = index + 1 if cue is None else cue.last
        return found

    def _at(self, text: str, tokens: Sequence[Word], index: int, taken: set[int]) -> Cue | None:
        for phrase in self._longest.get(tokens[index].norm, ()):
            last = self._spelt(tokens, index, phrase)
            if last is None or not taken.isdisjoint(range(index, last)) or not _linked(text, tokens[index:last]):
                continue
            end = tokens[last - 1].end
            headed = text[end : end + 2].strip()[:1] == ":"
            return Cue(phrase, frozenset(self._phrases[phrase[0]][phrase]), index, last, headed)
        return None

    def _spelt(self, tokens: Sequence[Word], index: int, phrase: tuple[str, ...]) -> int | None:
        """Where a phrase that begins at a word ends (adverbs may stand inside it); None if it is not there."""
        for number, wanted in enumerate(phrase):
            while number and index < len(tokens) and wanted != tokens[index].norm in self._adverbs:
                index += 1
            if index >= len(tokens) or tokens[index].norm != wanted:
                return None
            index += 1
        return index

    def is_adjacent(self, phrase: tuple[str, ...]) -> bool:
        """Whether a trigger speaks of the next word only."""
        return phrase in self._adjacent

    def fits(self, tokens: Sequence[Word], cue: Cue) -> bool:
        """Whether an examination is the subject of "consistent with": then the finding is there."""
        return cue.phrase in self._fit and any(token.norm in self._examinations for token in tokens[: cue.first])

    def ends(self, cue: Cue, kind: str) -> bool:
        """Whether a cue is a terminator for statements of that kind."""
        if not any(name == "terminator" for name, _ in cue.kinds):
            return False
        if kind in _WHO:
            return cue.phrase in _TURNS
        return not (kind in ("past", "future") and cue.phrase in self._cause)

    def speaks(self, tokens: Sequence[Word], cue: Cue) -> bool:
        """Whether a relative is named as informant or companion: "daughter reports", "lives with his wife"."""
        after = [token.norm for token in tokens[cue.last : cue.last + 4]]
        owns = after[:1] in (["whose"], ["s"]) or (after[:1] == ["who"] and not _SUFFERS.isdisjoint(after[1:2]))
        while after and after[0] in _AUXILIARY:
            after = after[1:]
        before = [token.norm for token in tokens[max(0, cue.first - 2) : cue.first]]
        if before and before[-1] in _ARTICLE:
            before = before[:-1]
        if after and after[0] in self._reporting:
            return True
        return not owns and bool(before) and before[-1] in self._beside

    def held(self, tokens: Sequence[Word], span: tuple[int, int]) -> bool:
        """Whether a finding stands in the gap of a split trigger: "should shock develop"."""
        before = [token.norm for token in tokens[max(0, span[0] - _HOLD) : span[0]]]
        after = [token.norm for token in tokens[span[1] : span[1] + _HOLD]]
        return any(_holds(before, left) and _holds(after, right) for left, right in self._around)


def table(context: str, narration: str) -> CueTable:
    """The table from the TOML texts of context.toml and narration.toml."""
    told = tomllib.loads(narration)
    return CueTable([*tomllib.loads(context)["trigger"], *told.get("trigger", ())], told)


def _linked(text: str, span: Sequence[Word]) -> bool:
    return all(
        _LINK.fullmatch(text, left.end, right.start) is not None for left, right in zip(span, span[1:], strict=False)
    )


def _holds(tokens: Sequence[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(tokens[index : index + size]) == phrase for index in range(len(tokens) - size + 1))
