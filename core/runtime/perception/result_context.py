"""What stands around a laboratory result in prose: its power of ten, the range printed behind it, what it is not.

Pure. Knows no analyte table; specimens.py tells its fluid, results.py reads names and numbers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from core.domain import units
from core.domain.units import Unit
from core.runtime.perception.specimens import is_of_other_fluid

_LOOK = 60  # characters before a result in which its fluid or fraction may be named
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:[.,]\d+)?)"
# Right before a name: another fluid, another lipoprotein, a salt that is a drug; and a fraction of the analyte.
_ELSEWHERE = re.compile(
    r"\b(?:CSF|cerebrospinal(?: fluid)?|pleural(?: fluid)?|ascit\w+(?: fluid)?|synovial(?: fluid)?|fluid|urin\w+|"
    r"dialysate|stool|sweat|very|sodium)\s+$",
    re.I,
)
# "2.1 +ve", "6.8 + fluids" are numbers; "1+", "3 +, ketones", "+2" are grades of a strip or of a finding.
_GRADE = re.compile(r"\d\+|\d\s\++(?=\s*(?:[,;.)]|$))", re.M)
_GRADED = re.compile(r"\s?\(?\++\s?\d?(?![\d.]*\d)|\s?\(?\+{2,}")
_IONS = frozenset(["sodium", "potassium", "calcium", "corrected_calcium", "magnesium", "ammonia", "iron"])
_CHARGE = re.compile(r"\s?(?:[23]\+|\+{1,3})")
_FRACTION = re.compile(r"\b(?:direct|indirect|conjugated|unconjugated|ioni[sz]ed)\s+$", re.I)
_COUNTED = re.compile(r"(?:^|[\s,(])\d{1,3}\s+$")  # "8 white blood cells" in a field of the microscope
_FRACTIONS = {"white_cells": _COUNTED, "red_cells": _COUNTED, "bilirubin": _FRACTION, "calcium": _FRACTION}
_MARKER = re.compile(r"CA[\s-]?(?:125|19|15|27|72)\b")
_RANGE = re.compile(
    r"\s*[(\[]\s*(?:(?:normal|reference|ref\.?|expected|local|laboratory)\s*)*(?:ranges?|values?|limits?|intervals?|RR|"
    rf"NR|N|n)?\s*[:=,]?\s*(?:(?P<low>{_NUMBER})\s*(?:-|\u2013|\u2014|~|to)\s*(?P<high>{_NUMBER})|"
    rf"(?P<c>[<>\u2264\u2265]|less than|up to)\s*(?P<limit>{_NUMBER}))\s*(?P<rest>[^()\[\]]{{0,20}})[)\]]"
)


# "3.9 x 105 cells/uL" (the raised number lost its height), "2.8 lakh/mm3".
_POWER = re.compile(
    r"\s*(?:[\u00d7\u2715xX*]\s*10\s?[\^E]?\s?(?P<power>\d{1,2})(?!\d)|(?P<lakh>lakhs?|lacs?)\b)"
    r"(?:\s*(?P<what>[A-Za-z]*)\s*(?P<per>/|per )\s*(?P<of>cu\.?\s?mm|[A-Za-z\u00b5\u03bc]+3?))?",
    re.I,
)
_LAKH = 5
_SPELT = {"cumm": "mm3", "microliter": "uL", "microlitre": "uL", "liter": "L", "litre": "L"}


class Scaled(NamedTuple):
    """A power of ten behind a number. `unit` is None where none follows; `foreign`: what follows and is no unit."""

    factor: float
    unit: Unit | None
    end: int
    foreign: str = ""


class Printed(NamedTuple):
    """A printed range; `unit` is None where none is written in it."""

    low: float | None
    high: float | None
    unit: Unit | None
    text: str


def is_elsewhere(text: str, start: int, analyte: str) -> bool:
    """Whether a result that begins at `start` is of another fluid than blood, or of something else altogether."""
    before = text[max(0, start - _LOOK) : start]
    if _ELSEWHERE.search(before) or _MARKER.match(text, start):
        return True
    kind = _FRACTIONS.get(analyte)
    if kind is not None and kind.search(before):
        return True
    return is_of_other_fluid(text, start, analyte)


def charge_end(text: str, at: int, analyte: str) -> int | None:
    """Where a value may begin behind a name: behind an ion's charge ("Ca 2+"); None where a grade stands ("+++")."""
    if analyte in _IONS:
        charge = _CHARGE.match(text, at)
        return charge.end() if charge else at
    return None if _GRADED.match(text, at) else at


def is_grade(text: str, start: int) -> bool:
    """Whether a number that begins at `start` is a grade: "1+", "2 +"; one with decimals, or of two digits, is none."""
    return _GRADE.match(text, start) is not None


def power_of_ten(text: str, end: int) -> Scaled | None:
    """The power of ten right behind a number, with the unit behind it; None where there is none."""
    match = _POWER.match(text, end)
    power = 0 if match is None else _LAKH if match["lakh"] else int(match["power"])
    if match is None or not 3 <= power <= 12:
        return None
    if not match["per"]:
        return Scaled(10.0**power, None, match.end())
    if match["what"].lower() not in ("", "cell", "cells"):
        return Scaled(10.0**power, None, match.end(), match.group().strip())
    of = re.sub(r"[.\s]", "", match["of"])
    of = _SPELT.get(of.lower(), of)
    whole = units.find_unit(f"10*{power}/{of}")
    if whole is not None:
        return Scaled(1.0, whole, match.end())
    return Scaled(10.0**power, units.find_unit(f"/{of}"), match.end(), match.group().strip())


def printed_range(text: str, end: int, unit: Unit | None) -> Printed | None:
    """The range in brackets right behind a result; None where there is none, or where it is in another unit."""
    match = _RANGE.match(text, end)
    if match is None:
        return None
    rest = match["rest"].strip(" ,;.")
    written = units.find_unit(rest) if rest else None
    if rest and written is None or (unit is not None and written is not None and str(written) != str(unit)):
        return None
    if match["limit"]:
        limit = _figure(match["limit"])
        is_floor = match["c"] in (">", "\u2265")
        sign = match["c"] if len(match["c"]) == 1 else "<"
        return Printed(limit if is_floor else None, None if is_floor else limit, written, f"{sign}{match['limit']}")
    low, high = _figure(match["low"]), _figure(match["high"])
    return Printed(low, high, written, f"{match['low']}-{match['high']}") if low < high else None


def _figure(text: str) -> float:
    is_grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", text) is not None
    return float(text.replace(",", "" if is_grouped else "."))
