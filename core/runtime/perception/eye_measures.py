"""Pressure and disc of each eye in prose: "IOP right 58 mmHg, left 17", "C/D 0.75 OD, 0.9 OS".

Pure. Two numbers without a side are read right then left, and that is said. It must not know what a number means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.domain.case import Note
from core.runtime.perception.analytes import Analytes
from core.runtime.perception.drafts import Draft
from core.runtime.perception.numbers import IMPLAUSIBLE, measured

_SIDES = {"right": "right", "r": "right", "re": "right", "od": "right"}
_SIDES |= {"left": "left", "l": "left", "le": "left", "os": "left"}
_SIDE = r"\b(?P<side>right|left|Right|Left|RIGHT|LEFT|RE|LE|OD|OS|R|L)\b"
_ASIDE = re.compile(r"\((?![^)]*\d\s*(?:mm|OD|OS|right|left))[^)]*\)")
_STOP = re.compile(r"[.;]\s+(?=[A-Z])|\n\s*\n|\b(?:CCT|VA|visual acuity|pachymetry|[Gg]onio\w*|disc|[Nn]o\b|target)")
_PRESSURE = re.compile(
    r"\b(?:IOPs?|[Ii]ntraocular pressures?|[Ee]ye pressures?|"
    r"(?<![a-z] )(?:[Tt]he |His |Her )?[Pp]ressures(?= (?:were|are|of)\b[^.\n/]{0,30}mm\s?Hg))\b"
)
_DISC = re.compile(r"\b(?:[Vv]ertical )?(?:[Cc]up[-/ ](?:to[- ])?[Dd]isc(?: ratios?)?|C[/:]D(?: ratios?)?|[Vv]?CDRs?)")
_PRESSURE_PART = re.compile(
    rf"{_SIDE}|(?P<n>(?<![\d.:])\d{{1,3}}(?:\.\d)?)"
    r"(?!\d|[:.]\d|\s*(?:years?|am|pm|AM|PM|%|microns|degrees|days|weeks|months|h\b))"
)
_DISC_PART = re.compile(rf"{_SIDE}|(?P<n>(?<![\d.])(?:0?\.\d{{1,2}}|1\.0))(?![\d%])")
_TAIL, _HEAD, _NEAR = 110, 24, 25  # characters read behind the name, before it, and between a number and its side
_SAID = "side not written; read right then left"


class _Measure(NamedTuple):
    quantity: str
    name: str
    unit: str
    word: re.Pattern[str]
    part: re.Pattern[str]


class _Reading(NamedTuple):
    side: str  # "" = not known
    value: float
    end: int
    said: str = ""


_MEASURES = (
    _Measure("iop", "Intraocular pressure", "mm[Hg]", _PRESSURE, _PRESSURE_PART),
    _Measure("cup_disc", "Cup-disc ratio", "{ratio}", _DISC, _DISC_PART),
)


def eye_measures(note: Note, analytes: Analytes) -> Iterator[Draft]:
    """Pressures and cup-disc ratios of a note; a lone value without a side is of no named eye."""
    for measure in _MEASURES:
        names = list(measure.word.finditer(note.text))
        for number, match in enumerate(names):
            following = names[number + 1].start() if number + 1 < len(names) else len(note.text)
            for reading in _readings(note.text, measure, match, limit=following):
                yield _draft(note, measure, reading, analytes, start=match.start())


def _readings(text: str, measure: _Measure, match: re.Match[str], *, limit: int) -> Sequence[_Reading]:
    """At most two values behind the name, each with its side."""
    stop = _STOP.search(text, match.end()) if measure.quantity == "iop" else None
    end = min(match.end() + _TAIL, limit, stop.start() if stop else limit)
    tail = _ASIDE.sub(lambda aside: " " * len(aside.group()), text[match.end() : end])
    parts = list(measure.part.finditer(tail))
    numbers = [part for part in parts if part["n"]][:2]
    if not numbers:
        return ()
    head = re.split(r"\. |\n", text[max(0, match.start() - _HEAD) : match.start()])[-1]
    before = [_SIDES[side.lower()] for side in re.findall(_SIDE, head)]
    sides = _leading(parts, numbers, before[-1]) if before else _nearest(parts, numbers)
    found = [
        _Reading(side, float(number["n"]), match.end() + number.end())
        for side, number in zip(sides, numbers, strict=True)
    ]
    if len(found) == 2 and sides == ["", ""]:
        return [found[0]._replace(side="right", said=_SAID), found[1]._replace(side="left", said=_SAID)]
    return found if len(found) == 2 and set(sides) == {"right", "left"} else found[:1]


def _nearest(parts: Sequence[re.Match[str]], numbers: Sequence[re.Match[str]]) -> list[str]:
    """Sides that stand before their numbers, or, where a number comes first, behind them."""
    if parts[0]["side"]:
        return _leading(parts, numbers, "")
    sides = []
    for index, number in enumerate(numbers):
        high = numbers[index + 1].start() if index + 1 < len(numbers) else number.end() + _NEAR
        behind = [p for p in parts if p["side"] and number.end() <= p.start() < min(high, number.end() + _NEAR)]
        sides.append(_SIDES[behind[0]["side"].lower()] if behind else "")
    return sides


def _leading(parts: Sequence[re.Match[str]], numbers: Sequence[re.Match[str]], side: str) -> list[str]:
    """For each number the last side before it; `side` is what stood before the name."""
    sides, used = [], 0
    for number in numbers:
        fresh = [p for p in parts if p["side"] and used <= p.start() < number.start()]
        side = _SIDES[fresh[-1]["side"].lower()] if fresh else side
        sides.append(side)
        side, used = "", number.end()
    return sides


def _draft(note: Note, measure: _Measure, reading: _Reading, analytes: Analytes, *, start: int) -> Draft:
    bad = "" if analytes.plausible(f"{measure.quantity}_right", reading.value) else IMPLAUSIBLE
    return measured(
        note,
        (start, reading.end),
        quantity=f"{measure.quantity}_{reading.side or 'max'}",
        name=f"{measure.name}, {reading.side} eye" if reading.side else measure.name,
        value=reading.value,
        unit=measure.unit,
        note_text=bad or reading.said,
    )
