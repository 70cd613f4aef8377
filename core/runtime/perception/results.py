"""Laboratory results written in notes: "K 6.8", "CRP 145 mg/L", "creatinine 2.3 mg/dL (baseline 1.0)".

Pure. A name of the analyte table, then a number, then a unit. Without a unit a number counts only where the analyte
has none or where one unit alone is plausible, and that is said; a unit that the analyte cannot have means that the
number is no result ("magnesium 2 g"). Interpretation is laboratory.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.domain import units
from core.domain.case import Note
from core.domain.evidence import Time
from core.domain.units import Unit
from core.retrieval.terms import Word, words
from core.runtime.perception.analytes import Analyte, Analytes
from core.runtime.perception.drafts import note_source
from core.runtime.perception.laboratory import Result
from core.runtime.perception.numbers import time_of
from core.runtime.perception.result_context import charge_end, is_elsewhere, is_grade, power_of_ten, printed_range
from core.runtime.perception.specimens import is_named_behind

_LONGEST_NAME = 6  # words
_SHORT = 3  # letters; such names count in lower case only with a unit
# Also words or units: capitals only.
_WORDS_TOO = frozenset(["got", "be", "pt", "ap", "ag", "ld", "tc", "tp", "all", "lip", "mg", "ca", "bil"])
_TAKEN = frozenset(["iron", "folate", "b12", "vitamin_d", "insulin", "ethanol", "cortisol"])  # also drugs: unit needed
_GAP = re.compile(
    r"[+-]{0,2}\s*(?:\([^)\d]{1,25}\)\s*)?[:=~,\u2248]?\s*(?:(?:of|is|was|at|now|today|level|count|result|measured|then|"
    r"initially|up|down|to|only|remains|raised|elevated|high|low|still|about|around|approximately|on|arrival|admission|"
    r"venous|has|risen|fallen|rising|falling|peaked|came|back|as|serum|repeat|latest|from|rose|fell|increased)\b[.,:]?\s+|"
    r"[:=]\s*){0,5}"
)
_NUMBER = re.compile(
    r"(?P<c>[<>\u2264\u2265]=?\s*)?(?P<n>-?\d{1,3}(?:,\d{3})+|-?\d{1,6}(?:\.\d+)?)(?![\d:]|/\d|\.\d|,\d)"
)
_NOT_A_RESULT = re.compile(
    r"\s*[-\u2013]?\s*(?:times|doses?|tablets?|days?|hours?|hrs?|h\b|weeks?|months?|years?|minutes?|mins?|x\s?\d|am\b|"
    r"pm\b|th\b|st\b|nd\b|rd\b|fold|units?\b|puffs?|drops?|ampoules?|bags?|out of|of \d|[-\u2013]\s?\d)",
    re.I,
)
_SERIES = re.compile(
    r"(?:\s+at\s+\d+\s?h(?:ours?)?)?\s*(?:,\s*(?:then|now|and)?|;|then|and then|->|\u2192|rising to|falling to|up to|"
    r"down to|to)\s*(?:now\s+|at\s+)?(?=\d)",
    re.I,
)
_TOLD_SERIES = re.compile(
    r"\s*,?\s*(?:then|and then|now|->|\u2192|rising to|falling to|up to|down to|to)\s*(?:now\s+|at\s+)?(?=\d)", re.I
)
_BASELINE = re.compile(
    r"\s*[,(;]?\s*(?:his|her|their|the)?\s*(?:baseline|usual(?:ly)?|previous(?:ly)?|prior|from|was|normally)\s*"
    r"(?:was|is|of|about|around|value|:)?\s*(?=\d)",
    re.I,
)
_IN_BLOOD = re.compile(
    r"\s*[,;(/]?\s*(?P<named>(?:(?:paired|simultaneous|with|against|vs\.?)\s+)*(?:serum|plasma|blood|capillary))\s*"
    r"(?:level|value|is|was|of|[:=])?\s*(?=\d)",
    re.I,
)
_EARLIER = re.compile(r"\b(?:baseline|usual|previous|prior|last)[ \t]+$", re.I)
# "urea and creatinine of 37 and 2.3": which number is whose is not guessed.
_SHARED = re.compile(r"[^.;\n]{0,60}\brespectively\b", re.I)
_UNIT_LIKE = re.compile(r"\s?[A-Za-z\u00b5\u03bc]{0,5}/\s?[A-Za-z\u00b5\u03bc][A-Za-z0-9.^]*")
_PAIR_BEFORE, _PAIR_BEHIND = re.compile(r"(?:\band|/|&)\s*$", re.I), re.compile(r"\s*(?:and|/|,|&)\s*\d")
_MOST = 4  # values of one series
_UNIT_CHARACTERS, _UNIT_WORDS = 24, 3


class _Value(NamedTuple):
    """A number with what is written behind it. `unit` is None where no unit stands there."""

    number: float
    comparator: str
    unit: Unit | None
    start: int
    end: int
    foreign: str = ""  # what stands like a unit and is none


def written_results(note: Note, analytes: Analytes) -> Iterator[Result]:
    """The results of a note in order."""
    tokens = words(note.text)
    index = 0
    while index < len(tokens):
        named = tokens[index].norm in analytes.first_words
        found = _name(note.text, tokens, index, analytes) if named else None
        if found is not None:
            analyte, last = found
            yield from _results(note, analytes, analyte, span=(tokens[index].start, tokens[last - 1].end))
        index = index + 1 if found is None else found[1]


def _name(text: str, tokens: Sequence[Word], index: int, analytes: Analytes) -> tuple[Analyte, int] | None:
    """The longest analyte name that begins at a word, and the index behind it."""
    for last in range(min(len(tokens), index + _LONGEST_NAME), index, -1):
        span = tokens[index:last]
        name = analytes.names.get(tuple(token.norm for token in span))
        between = (text[left.end : right.start] for left, right in zip(span, span[1:], strict=False))
        if name is None or not all(gap.strip() in ("", "-", "/", "'") for gap in between):
            continue
        if len(span) > 1 or span[0].norm not in _WORDS_TOO or span[0].raw.isupper() or span[0].raw in ("Mg", "Ca"):
            return analytes.by_id[name], last
    return None


def _results(note: Note, analytes: Analytes, analyte: Analyte, *, span: tuple[int, int]) -> Iterator[Result]:
    values = list(_values(note.text, analyte, span[1]))
    if not values or _is_shared(note.text, span[0], values[-1].end):
        return
    if is_elsewhere(note.text, span[0], analyte.id) or is_named_behind(note.text, values[-1].end, analyte.id):
        yield from _beside(note, analytes, analyte, values[-1])
        return
    unit = next((value.unit for value in values if value.unit is not None), None)
    raw = note.text[span[0] : span[1]]
    if unit is None and (analyte.id in _TAKEN or (len(raw) <= _SHORT and raw.islower())):
        return
    at = values[-1].end
    baseline = _one_value(note.text, analyte, _BASELINE, at)
    earlier = _EARLIER.search(note.text[max(0, span[0] - 12) : span[0]]) or raw.lower().startswith("baseline")
    for number, value in enumerate(values):
        is_last = number == len(values) - 1
        time = time_of(note.text, span[0], value.end) if is_last and not earlier else "past"
        yield _result(note, analytes, analyte, value, unit=unit, start=span[0], time=time)
    if baseline is not None:
        yield _result(note, analytes, analyte, baseline, unit=baseline.unit or unit, start=at, time="past")


def _beside(note: Note, analytes: Analytes, analyte: Analyte, fluid: _Value) -> Iterator[Result]:
    """The value in blood written beside that of another fluid: "glucose 1.1 (serum 7.2)"."""
    lead, blood = _IN_BLOOD.match(note.text, fluid.end), _one_value(note.text, analyte, _IN_BLOOD, fluid.end)
    if lead is not None and blood is not None:
        start = lead.start("named")
        time = time_of(note.text, start, blood.end)
        yield _result(note, analytes, analyte, blood, unit=blood.unit or fluid.unit, start=start, time=time)


def _is_shared(text: str, start: int, end: int) -> bool:
    """Whether several names share several numbers."""
    paired = _PAIR_BEFORE.search(text[max(0, start - 6) : start]) and _PAIR_BEHIND.match(text, end)
    return paired is not None or _SHARED.match(text, end) is not None


def _values(text: str, analyte: Analyte, at: int) -> Iterator[_Value]:
    """The numbers behind a name: one, or a series ("90, then 180", "from 90 to 312")."""
    begin = charge_end(text, at, analyte.id)
    if begin is None:
        return
    pattern, at = _GAP, begin
    for _ in range(_MOST):
        value = _one_value(text, analyte, pattern, at)
        if value is None:
            return
        yield value
        pattern, at = _SERIES if value.unit is not None else _TOLD_SERIES, value.end


def _one_value(text: str, analyte: Analyte, lead: re.Pattern[str], at: int) -> _Value | None:
    """The number behind a lead, unless what follows it says that it is no result."""
    gap = lead.match(text, at)
    number = _NUMBER.match(text, gap.end()) if gap else None
    if number is None or "\n" in text[at : number.start()] or is_grade(text, number.start("n")):
        return None
    figure = float(number["n"].replace(",", ""))
    comparator = (number["c"] or "").strip()[:1]
    scaled = power_of_ten(text, number.end())
    if scaled is not None:
        foreign = scaled.foreign if scaled.unit is None else ""
        if scaled.unit is not None and not units.acceptable(analyte.id, scaled.unit):
            return None
        return _Value(round(figure * scaled.factor, 6), comparator, scaled.unit, number.start(), scaled.end, foreign)
    unit, end = _unit(text, number.end())
    if unit is None and _NOT_A_RESULT.match(text, number.end()):
        return None
    if unit is not None and not units.acceptable(analyte.id, unit):
        return None
    other = _UNIT_LIKE.match(text, number.end()) if unit is None else None
    return _Value(figure, comparator, unit, number.start(), end, other.group().strip() if other else "")


def _unit(text: str, at: int) -> tuple[Unit | None, int]:
    """The unit written right behind a number, and where it ends."""
    tail = re.split(r"[;()\n]|,\s|\.\s", text[at : at + _UNIT_CHARACTERS], maxsplit=1)[0]
    pieces = list(re.finditer(r"\S+", tail))[:_UNIT_WORDS]
    for piece in reversed(pieces):
        candidate = tail[: piece.end()].strip().rstrip(".,:")
        unit = units.find_unit(candidate)
        if unit is None and not candidate.startswith("M"):  # "u/L", "meq/L"; a capital M may be mega
            unit = units.find_unit(candidate.lower())
        if unit is not None:
            return unit, at + len(tail[: piece.end()].rstrip(".,:"))
    return None, at


def _result(
    note: Note, analytes: Analytes, analyte: Analyte, value: _Value, *, unit: Unit | None, start: int, time: Time
) -> Result:
    said = ""
    printed = printed_range(note.text, value.end, unit)
    if unit is None and printed is not None and printed.unit is not None and not value.foreign:
        unit = printed.unit if units.acceptable(analyte.id, printed.unit) else None
    if unit is None and not value.foreign and analyte.unit not in ("{ratio}", "{score}"):
        unit = analytes.only_unit(analyte, value.number)
        said = f"no unit written; read as {unit}, in which alone it is plausible" if unit else ""
    return Result(
        analyte=analyte,
        test=analyte.name,
        text=note.text[start : value.end].strip(" ,;("),
        provenance=note_source(note, start, value.end),
        number=value.number,
        unit=str(unit) if unit else value.foreign,
        comparator=value.comparator,
        low=printed.low if printed else None,
        high=printed.high if printed else None,
        range_text=printed.text if printed else "",
        collected_at=note.written_on,
        time=time,
        note=said,
    )
