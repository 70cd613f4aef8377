"""What the words around a finding say of it: polarity, time, and whose it is (knowledge.md section 10).

A trigger reaches twelve words to its side, to the next terminator or the sentence's end; the nearest wins, absent
before possible at equal distance. The word lists are handed in (cues.py). It must not know concepts, cases or units.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from core.domain.evidence import Polarity, Time, Who
from core.retrieval.cues import ALWAYS, Cue, CueTable
from core.retrieval.terms import Word, words

REACH = 12  # words outside findings
_SENTENCE_HEADING = re.compile(r"[A-Z][\w /&'-]{0,30}:")
_YEAR = re.compile(r"(?:19|20)\d\d")
_QUERY_BEFORE = re.compile(r"\?+\s?\Z")
_QUERY_AFTER = re.compile(r"\s?\?")
_MINUS_AFTER = re.compile(r"\s*(?:\(-\)|-ve\b|[:=]\s*(?:no|n|nil|none|negative|absent)\s*(?:[,;.)\n]|\Z))", re.I)
_APPOSED = 4  # words between a finding and the comma before what is said of it
_LATE = 3  # words between "which" or a comma and what says that it is over: "which has since settled"
_GROWN = 18  # years; younger than this, "aged 7" tells of the past of somebody who is named as older
_WHO: tuple[Who, ...] = ("family", "other")


class Context(msgspec.Struct, frozen=True):
    """The context of one span. `trigger` is what made it past, "year" for a year; empty where nothing did."""

    polarity: Polarity
    time: Time
    who: Who
    sentence: tuple[int, int]
    trigger: str = ""


class _Sentence(NamedTuple):
    """A sentence prepared once: words, findings as word ranges, cues, and where scopes end (word indices)."""

    text: str
    start: int
    end: int
    tokens: list[Word]
    spans: list[tuple[int, int]]
    cues: list[Cue]
    commas: list[int]
    stops: list[int]  # semicolons
    outside: list[int]  # words outside findings before each index


class Annotator:
    """Immutable. `annotate` is a pure function of text, sentences and spans."""

    def __init__(self, table: CueTable) -> None:
        self._table = table

    def annotate(
        self, text: str, sentences: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
    ) -> tuple[Context, ...]:
        """One context for each span (half-open character offsets, in order of position), inside its sentence."""
        results: list[Context] = []
        carried: list[Cue] = []
        starts = [start for start, _ in spans]
        before = 0
        for start, end in sentences:
            inside = list(spans[bisect_left(starts, start) : bisect_left(starts, end)])
            sentence = self._prepare(text, (start, end), inside)
            if carried and _breaks_off(text, before, start):
                carried = []
            results += [self._context(sentence, span, carried) for span in sentence.spans]
            carried = _headed(sentence) or carried
            before = end
        return tuple(results)

    def _prepare(self, text: str, bounds: tuple[int, int], inside: Iterable[tuple[int, int]]) -> _Sentence:
        start, end = bounds
        tokens = [Word(w.norm, w.raw, w.start + start, w.end + start) for w in words(text[start:end])]
        begins = [token.start for token in tokens]
        ranges = [(bisect_left(begins, a), max(bisect_left(begins, a) + 1, bisect_left(begins, b))) for a, b in inside]
        taken = {index for a, b in ranges for index in range(a, b)}
        outside = [0]
        for index in range(len(tokens)):
            outside.append(outside[-1] + (index not in taken))
        gaps = [text[left.end : right.start] for left, right in zip(tokens, tokens[1:], strict=False)]
        return _Sentence(
            text=text,
            start=start,
            end=end,
            tokens=tokens,
            spans=ranges,
            cues=self._table.find(text, tokens, taken),
            commas=[index + 1 for index, gap in enumerate(gaps) if "," in gap],
            stops=[index + 1 for index, gap in enumerate(gaps) if ";" in gap],
            outside=outside,
        )

    def _context(self, sentence: _Sentence, span: tuple[int, int], carried: list[Cue]) -> Context:
        time, trigger = self._time(sentence, span)
        polarity = self._polarity(sentence, span, carried)
        if polarity == "absent" and time == "past":
            time = "current"  # what was never there, or is gone, is not there now
        if polarity == "possible" and time == "future":
            polarity = "present"  # a condition or plan is not a suspicion
        return Context(
            polarity=polarity,
            time=time,
            who=self._who(sentence, span, carried),
            sentence=(sentence.start, sentence.end),
            trigger=trigger,
        )

    # ------------------------------------------------------------------------------------------ polarity

    def _polarity(self, sentence: _Sentence, span: tuple[int, int], carried: list[Cue]) -> Polarity:
        if span[0] < len(sentence.tokens) and (marked := _marked(sentence, span)):
            return marked
        best: tuple[int, int, Polarity] | None = None
        for cue in sentence.cues:
            if self._is_over(sentence, cue, span):
                continue  # a matter of time: it was there
            for rank, kind in enumerate(("absent", "possible")):
                distance = self._reaches(sentence, cue, span, kind)
                if distance is not None and not self._table.fits(sentence.tokens, cue):
                    polarity: Polarity = "absent" if kind == "absent" else "possible"
                    found = (distance, rank, polarity)
                    best = found if best is None or found < best else best
        if best is None and any(cue.has("absent", "forward") for cue in carried):
            return "absent"
        if best is None and sentence.text[sentence.end - 1 : sentence.end] == "?":
            return "possible"
        return "present" if best is None else best[2]

    def _reaches(self, sentence: _Sentence, cue: Cue, span: tuple[int, int], kind: str) -> int | None:
        """Distance in words from a cue to a finding that it reaches with that meaning; None if it does not."""
        if cue.last <= span[0] and cue.has(kind, "forward"):
            return self._forward(sentence, cue, span[0], kind)
        if cue.first >= span[1] and cue.has(kind, "backward"):
            return self._backward(sentence, cue, span[1], kind)
        return None

    def _forward(self, sentence: _Sentence, cue: Cue, target: int, kind: str) -> int | None:
        distance = target - cue.last
        if self._table.is_adjacent(cue.phrase) and (distance or target in sentence.commas):
            return None
        headed = cue.headed and kind in ALWAYS
        far = sentence.outside[target] - sentence.outside[cue.last] >= REACH and not headed
        if far or self._blocked(sentence, cue.last, target, kind):
            return None
        single = (kind == "past" and len(cue.phrase) == 1 and not headed) or cue.phrase in self._table.until_comma
        if single and _between(sentence.commas, cue.last, target + 1):
            return None
        if cue.phrase in self._table.choosing and not self._is_choice(sentence, cue, target):
            return None
        return None if self._is_conceded(sentence, cue, target) else distance

    def _is_choice(self, sentence: _Sentence, cue: Cue, target: int) -> bool:
        """Whether "either" offers a finding: an "or" follows in the same breath, and it is not denied as a whole."""
        end = min((stop for stop in (*sentence.commas, *sentence.stops) if stop > target), default=len(sentence.tokens))
        denied = any(
            other.has("absent", "forward")
            and other.last <= cue.first
            and not self._blocked(sentence, other.last, cue.first, "absent")
            for other in sentence.cues
        )
        return not denied and any(token.norm == "or" for token in sentence.tokens[cue.last : end])

    def _is_conceded(self, sentence: _Sentence, cue: Cue, target: int) -> bool:
        """Whether a finding stands behind what is conceded: "despite no cough or sputum, raised white cells".

        The concession ends at the comma behind its "and" or "or", else at its first comma.
        """
        opened = max(
            (c.last for c in sentence.cues if c.phrase in self._table.conceding and c.last <= cue.first), default=None
        )
        if opened is None:
            return False
        commas = [comma for comma in sentence.commas if comma > opened]
        joined = (i for i in range(opened, target) if sentence.tokens[i].norm in self._table.joining)
        listed = next(joined, opened)
        closing = next((comma for comma in commas if comma > listed), commas[0] if commas else target + 1)
        return cue.last < closing <= target

    def _backward(self, sentence: _Sentence, cue: Cue, target: int, kind: str) -> int | None:
        if cue.has(kind, "forward") and cue.phrase not in self._table.mutual and _followed(sentence, cue):
            return None
        distance = cue.first - target
        if cue.phrase in self._table.anaphoric:
            return None if any(target < first < cue.first for first, _ in sentence.spans) else distance
        far = sentence.outside[cue.first] - sentence.outside[target] >= REACH
        if (
            far
            or self._blocked(sentence, target, cue.first, kind, back=True)
            or self._overtaken(sentence, target, cue.first)
        ):
            return None
        if _between(sentence.commas, target, cue.first + 1) and not self._spans_commas(sentence, cue, target):
            return None
        return distance

    def _overtaken(self, sentence: _Sentence, target: int, end: int) -> bool:
        """Whether another finding, not joined to this one, is nearer: "had dialysis until the fever settled"."""
        for first, last in sentence.spans:
            if target < first < end:
                if not self._joined(sentence, target, first):
                    return True
                target = last
        return False

    def _joined(self, sentence: _Sentence, left: int, right: int) -> bool:
        """Whether the words between two findings make a list of them."""
        between = {token.norm for token in sentence.tokens[left:right]}
        is_listed = _between(sentence.commas, left, right + 1) or not self._table.joining.isdisjoint(between)
        return is_listed and right - left <= _APPOSED

    def _spans_commas(self, sentence: _Sentence, cue: Cue, target: int) -> bool:
        """Whether a backward cue takes more than its own comma segment: a plural verb, or a mere apposition."""
        crossed = [comma for comma in sentence.commas if target <= comma <= cue.first]
        if cue.phrase[0] in self._table.plural:  # its subject is the list, unless a clause of its own stands before
            begin = max((c for c in (*sentence.commas, *sentence.stops) if c < target), default=0)
            return sentence.tokens[begin].norm not in self._table.leading
        between = {token.norm for token in sentence.tokens[crossed[-1] : cue.first]}
        closed = cue.last == len(sentence.tokens) or cue.last in (*sentence.commas, *sentence.stops)
        alone = not any(target <= first < crossed[0] for first, _ in sentence.spans)
        near = len(crossed) == 1 and crossed[0] - target <= _APPOSED
        return near and alone and closed and between <= self._table.bridge

    def _blocked(self, sentence: _Sentence, low: int, high: int, kind: str, *, back: bool = False) -> bool:
        """Whether a terminator stands between two word positions."""
        if _between(sentence.stops, low, high + 1):
            return True
        return any(low <= cue.first < high and self._ends(cue, kind, back) for cue in sentence.cues) or self._turned(
            sentence, low, high, kind
        )

    def _ends(self, cue: Cue, kind: str, back: bool) -> bool:
        return self._table.ends(cue, kind) and not (back and cue.phrase in self._table.onward)

    def _turned(self, sentence: _Sentence, low: int, high: int, kind: str) -> bool:
        """Words that end only what is said of the past, or of a relative."""
        enders = self._table.now if kind == "past" else self._table.subjects if kind in _WHO else frozenset()
        return any(token.norm in enders for token in sentence.tokens[low:high])

    # --------------------------------------------------------------------------------------------- time

    def _time(self, sentence: _Sentence, span: tuple[int, int]) -> tuple[Time, str]:
        if self._table.held(sentence.tokens, span):
            return "future", "should"
        best: tuple[int, Time, str] | None = None
        times: tuple[Time, ...] = ("future", "past")
        for cue in sentence.cues:
            for kind in times:
                distance = self._reaches(sentence, cue, span, kind)
                if distance is None or (kind == "past" and self._is_onset(sentence, cue, span)):
                    continue
                found = (distance, kind, " ".join(cue.phrase))
                best = found if best is None or found < best else best
        if best is not None:
            return best[1], best[2]
        if any(self._is_over(sentence, cue, span) for cue in sentence.cues):
            return "past", "over"
        if self._has_year(sentence, span):
            return "past", "year"
        return ("past", "age") if self._has_age(sentence, span) else ("current", "")

    def _is_over(self, sentence: _Sentence, cue: Cue, span: tuple[int, int]) -> bool:
        """Whether a finding is told and then, in a clause of its own, said to be over: "which has since settled".

        "The rash has resolved" is no such thing: that says what is not there now.
        """
        if cue.phrase not in self._table.over or cue.first < span[1]:
            return False
        closed = cue.last == len(sentence.tokens) or cue.last in (*sentence.commas, *sentence.stops)
        if not closed and sentence.tokens[cue.last].norm not in self._table.ending:
            return False
        links = [index for index in range(span[1], cue.first) if sentence.tokens[index].norm in self._table.linking]
        breaks = [stop for stop in (*sentence.commas, *sentence.stops) if span[1] < stop <= cue.first]
        link = max((*links, *breaks), default=None)  # where the clause begins that says so
        between = {token.norm for token in sentence.tokens[link : cue.first]} if link is not None else set()
        if link is None or cue.first - link > _LATE or not between <= self._table.bridge | self._table.linking:
            return False
        return not self._overtaken(sentence, span[1], link)

    def _is_onset(self, sentence: _Sentence, cue: Cue, span: tuple[int, int]) -> bool:
        """ "Began two months ago", "since last week": the time of the beginning, not of the end."""
        between = [token.norm for token in sentence.tokens[span[1] : cue.first]]
        if cue.phrase[0] == "last":
            return bool(between) and (between[-1] in self._table.onset or not self._table.begun.isdisjoint(between))
        return cue.phrase[-1] == "ago" and not self._table.onset.isdisjoint(between)

    def _has_year(self, sentence: _Sentence, span: tuple[int, int]) -> bool:
        """A bare year in the finding's comma segment, or one that opens the sentence; not a full date, "since 2014"."""
        left, right = _segment(sentence, span)
        if [token.norm for token in sentence.tokens[: left - 1]] == ["in"] and sentence.commas[:1] == [left]:
            return _YEAR.fullmatch(sentence.tokens[left - 1].norm) is not None
        for index in range(left, right):
            if _YEAR.fullmatch(sentence.tokens[index].norm) and not self._is_date(sentence, index, left):
                low, high = (span[1], index) if index >= span[1] else (index + 1, span[0])
                if not self._blocked(sentence, low, high, "past"):
                    return True
        return False

    def _has_age(self, sentence: _Sentence, span: tuple[int, int]) -> bool:
        """An age behind the finding in its comma segment at which it was there: "a broken arm aged 7".

        Not the age that the text gives the patient, and not "since the age of 7".
        """
        left, right = _segment(sentence, span)
        for index in range(span[1] + 1, right):
            number = sentence.tokens[index].norm
            said = {token.norm for token in sentence.tokens[max(left, index - 3) : index]}
            if not number.isdigit() or said.isdisjoint(("aged", "age")) or not said.isdisjoint(self._table.persons):
                continue
            earlier = {token.norm for token in sentence.tokens[span[1] : index]}
            named = re.search(rf"\b{number}[- ]?(?:years?[- ]old|y/?o|yrs?|[MF])\b", sentence.text)
            if int(number) < _GROWN and not named and earlier.isdisjoint(self._table.onset):
                return True
        return False

    def _is_date(self, sentence: _Sentence, index: int, left: int) -> bool:
        before = sentence.tokens[index - 1] if index > 0 else None
        if before is None:
            return False
        earlier = {token.norm for token in sentence.tokens[left:index]}
        begun = earlier & self._table.onset - {"for"}  # "operated on for appendicitis in 1998"
        return before.norm in self._table.months or before.norm.isdigit() or bool(begun)

    # ---------------------------------------------------------------------------------------------- who

    def _who(self, sentence: _Sentence, span: tuple[int, int], carried: list[Cue]) -> Who:
        best: tuple[int, Who] | None = None
        for cue in sentence.cues:
            if self._table.speaks(sentence.tokens, cue):
                continue
            for kind in _WHO:
                distance = self._reaches(sentence, cue, span, kind)
                if distance is not None:
                    best = min(best, (distance, kind)) if best is not None else (distance, kind)
        if best is not None:
            return best[1]
        return "family" if any(cue.has("family", "forward") for cue in carried) else "patient"


def _between(positions: Sequence[int], low: int, high: int) -> bool:
    """Whether a position lies in low..high-1, counting a boundary before word `low` as outside."""
    return bisect_left(positions, high) > bisect_left(positions, low)


def _segment(sentence: _Sentence, span: tuple[int, int]) -> tuple[int, int]:
    """The words (half-open) between the commas or semicolons around a finding."""
    breaks = (*sentence.commas, *sentence.stops)
    left = max((c for c in breaks if c <= span[0]), default=0)
    return left, min((c for c in breaks if c >= span[1]), default=len(sentence.tokens))


def _followed(sentence: _Sentence, cue: Cue) -> bool:
    """Whether a finding stands directly behind a cue: then the cue belongs to it."""
    apart = cue.last in sentence.stops or cue.last in sentence.commas
    return not apart and any(first == cue.last for first, _ in sentence.spans)


def _marked(sentence: _Sentence, span: tuple[int, int]) -> Polarity | None:
    """Signs instead of words: "?PE", "PE?", "wheeze: no", "fever (-)"."""
    start, end = sentence.tokens[span[0]].start, sentence.tokens[span[1] - 1].end
    if _MINUS_AFTER.match(sentence.text, end):
        return "absent"
    left = max((sentence.tokens[c].start for c in (*sentence.commas, *sentence.stops) if c <= span[0]), default=None)
    opening = sentence.start if left is None else left
    if _QUERY_BEFORE.search(sentence.text, max(0, min(opening, start) - 2), start):
        return "possible"
    return "possible" if _QUERY_AFTER.match(sentence.text, end) else None


def _headed(sentence: _Sentence) -> list[Cue]:
    """Cues that are headings of their line: "Denies: ..." holds to the line's end."""
    return [cue for cue in sentence.cues if cue.headed and cue.first <= 1]


def _breaks_off(text: str, before: int, start: int) -> bool:
    """Whether a heading's reach ends between two sentences: another heading, a new line, for a list a blank line."""
    gap = text[before:start]
    is_list = text[:before].endswith(":") or gap.strip() != ""
    return _SENTENCE_HEADING.match(text, start) is not None or ("\n\n" if is_list else "\n") in gap
