"""Where sentences begin and end in clinical prose and in guideline text (knowledge.md section 4).

Own rules, no model: an end mark, a blank, then a capital, a digit or a new word; known abbreviations, initials, numbers
and brackets hold a sentence together; a line break ends one unless the line was wrapped. Knows no concept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Never the end of a sentence, whatever follows.
_NEVER = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "rev", "e.g", "eg", "i.e", "ie", "vs", "cf", "viz", "fig", "figs", "eq"]
    + ["ref", "refs", "vol", "pp", "eds", "approx", "ca", "incl", "excl", "esp", "spp", "subsp", "tel"]
)
# Ends of a sentence only before a capitalised word.
_SOMETIMES = frozenset(
    ["etc", "b.d", "o.d", "t.d.s", "q.d.s", "t.i.d", "q.i.d", "b.i.d", "q.d", "p.r.n", "p.o", "i.v", "i.m", "s.c"]
    + ["p.r", "a.m", "p.m", "a.c", "p.c", "h.s", "n.p.o", "u.s", "u.k", "ph.d", "m.d", "co", "inc", "ltd", "al"]
    + ["no", "nos", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "hr", "hrs"]
    + ["min", "mins", "sec", "secs", "yr", "yrs", "wk", "wks", "mo", "mos", "ft", "lb", "lbs", "oz", "max", "avg"]
    + ["temp", "resp", "wt", "ht", "dept", "hosp", "univ", "tab", "tabs", "caps", "soln", "inj", "susp", "jr", "sr"]
)
# A single capital after one of these is a name, not an initial: "hepatitis C. The".
_LETTERED = frozenset(
    ["hepatitis", "vitamin", "type", "group", "grade", "class", "stage", "child", "influenza", "factor", "zone", "lead"]
)
_CLOSING = "\"'\u2019\u201d)]}"
_END = re.compile(r"[.!?\u2026]+[\"'\u2019\u201d)\]}]*(?=\s)")
_TOKEN = re.compile(r"[^\s(\[{\"\u201c]*$")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u25e6\u2013]\s+|\d{1,2}[.)]\s+|[a-z]\)\s+)?")
_NUMBERED = re.compile(r"\s*(?:\d{1,2}|[a-z])")
_BRACKETS = re.compile(r"\([^()\n]{0,300}\)|\[[^\[\]\n]{0,300}\]")
_LONGEST_WORD = 80  # characters; none of the words listed here is as long
_WRAP_FROM = 60  # characters; text in shorter lines was not wrapped by a program
_RAGGED = 20  # characters by which lines of wrapped text differ
_LINE = re.compile(r"[^\n]*(?:\n|$)")


def split(text: str) -> tuple[tuple[int, int], ...]:
    """Half-open character spans of the sentences, in order, without blanks and list marks around them."""
    found: list[tuple[int, int]] = []
    for start, end in _blocks(text):
        edge = start
        for stop in (*_stops(text, start, end), end):
            span = _trimmed(text, edge, stop)
            if span[0] < span[1]:
                found.append(span)
            edge = stop
    return tuple(found)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    mark = _BULLET.match(text, start, end)
    start = mark.end() if mark else start
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Runs of lines that belong together: a line break is kept inside only where the line was wrapped."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text) if m.group()]
    lengths = sorted((len(text[a:b].rstrip()) for a, b in lines), reverse=True)
    width = lengths[0] if lengths else 0
    is_wrapped = len(lengths) > 1 and lengths[1] > width - _RAGGED  # one long line alone proves no wrapping
    begin: int | None = None
    for number, (start, end) in enumerate(lines):
        begin = start if begin is None else begin
        following = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        if not _wrapped(text[start:end].rstrip(), following, width, is_wrapped=is_wrapped):
            yield begin, end
            begin = None


def _wrapped(line: str, following: str, width: int, *, is_wrapped: bool) -> bool:
    """Whether the sentence runs on: the next line's first word would not have fitted on this one."""
    first = following.split(maxsplit=1)[0] if following.strip() else ""
    marked = (_BULLET.match(following) or [""])[0].strip()
    if not line.strip() or not first or marked or line.endswith((".", ":", "!", "?")):
        return False
    full = width >= _WRAP_FROM and len(line) + 1 + len(first) > width
    return line.endswith(",") or (full and (is_wrapped or first[0].islower()))


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets after the end marks that end a sentence inside one block."""
    held = [match.span() for match in _BRACKETS.finditer(text, start, end)]
    for match in _END.finditer(text, start, end):
        inside = any(a < match.start() < b - 1 for a, b in held)
        rest = text[match.end() : end].lstrip()
        if rest and not inside and _ends(text, start, match, rest):
            yield match.end()


def _ends(text: str, start: int, match: re.Match[str], rest: str) -> bool:
    mark = match.group().rstrip(_CLOSING)
    near = max(start, match.start() - _LONGEST_WORD)  # a search from the start of a long block would be quadratic
    before = (_TOKEN.search(text, near, match.start()) or [""])[0]
    first = rest.lstrip("\"'\u2018\u201c([{-*\u2022")[:1]
    if mark != ".":
        return not first.islower()
    return _full_stop_ends(text[start : match.start()], before.lower().lstrip("-/"), first)


def _full_stop_ends(head: str, before: str, first: str) -> bool:
    """Whether a full stop after the word `before` ends the sentence, given the first character of what follows."""
    if before in _NEVER or _is_initial(head, before) or _NUMBERED.fullmatch(head):
        return False
    if before in _SOMETIMES:
        return first.isupper()
    if first.islower():
        return len(before) >= 3 and before.isalpha()
    return True


def _is_initial(head: str, before: str) -> bool:
    """A single capital, as in "J. Smith" or "E. coli"."""
    if len(before) != 1 or not head.endswith(before.upper()) or not before.isalpha():
        return False
    earlier = head[:-1].split()
    return not earlier or earlier[-1].lower().rstrip(",-") not in _LETTERED
