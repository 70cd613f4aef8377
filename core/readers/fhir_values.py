"""FHIR values in the words of a record: numbers as written, units, times, ranges, results. Pure; knows no file."""

from __future__ import annotations

import re
from decimal import Decimal

from core.domain import units
from core.domain.case import LabRow
from core.readers.fhir_resources import Concept, Measured, Quantity, Range, ReferenceRange

LOINC = "http://loinc.org"
UCUM = "http://unitsofmeasure.org"
COMPARATORS = ("<", "<=", ">=", ">")
FLAGS = ("H", "HH", "HU", "L", "LL", "LU", "A", "AA", "POS", "DET")
WORDS = 500  # characters of one phrase; what is longer is cut, and says so
MAGNITUDE = 15  # powers of ten beyond which a number is no measurement
# LOINC's long names: "Creatinine [Mass/volume] in Serum or Plasma by ...". Of blood only: urine is another test.
_LONG_NAME = re.compile(
    r"(?P<what>[^\[\]]+?)\s*(?:\[[^\]]*\])?\s+(?:in|of)\s+(?:(?:Serum|Plasma|Blood|Serum, Plasma or Blood|"
    r"Serum or Plasma|Serum or Blood|Arterial blood|Venous blood|Capillary blood|Platelet poor plasma)\b)"
    r"(?:\s+(?:by|--)\s+.*)?"
)
_MOMENT = re.compile(r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)(?:T(\d{2}:\d{2}))?")
_BLOOD = re.compile(r"\b(?:blood|serum|plasma|venous|arterial|capillary)\b", re.I)


def phrase(text: str) -> str:
    """One line of text without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= WORDS else f"{line[:WORDS]} … (cut here: {len(line):,} characters)"


def moment(text: str) -> str:
    """Date, and time to the minute, as written; "" for what is no time. Nothing is converted."""
    match = _MOMENT.match(text.strip())
    return "T".join(part for part in match.groups() if part) if match else ""


def number(value: Decimal | None) -> str:
    """A number as written, without a power of ten; "" where there is none, or none that a measurement could be."""
    if value is None or not value.is_finite() or (value and abs(value.adjusted()) > MAGNITUDE):
        return ""
    return format(value, "f")


def quantity(value: Quantity | None) -> str:
    """ "<5 mg/L", "2.5 mg"; "" where there is no number."""
    written = number(value.value) if value else ""
    if value is None or not written:
        return ""
    sign = value.comparator if value.comparator in COMPARATORS else ""
    return f"{sign}{written} {unit(value)[0]}".strip()


def unit(value: Quantity) -> tuple[str, bool]:
    """The unit that the program understands, else as written; and whether text and code contradict each other."""
    printed, code = phrase(value.unit), phrase(value.code) if value.system in (UCUM, "") else ""
    known = [found for text in (code, printed) if (found := units.find_unit(text)) is not None]
    if len(known) == 2 and known[0] != known[1]:
        return f"{printed} or {code}", True
    if known:
        return (printed if units.find_unit(printed) else code), False
    return printed or code, False


def interval(values: Range | ReferenceRange | None) -> str:
    """ "3.5 to 5.1", "up to 5", "from 60"; "" where no end is given."""
    low, high = (quantity(values.low), quantity(values.high)) if values else ("", "")
    if low and high:
        return f"{low} to {high}"
    return f"up to {high}" if high else f"from {low}" if low else ""


def name_of_test(code: Concept, specimen: str = "") -> str:
    """What a laboratory calls the test: LOINC's long names of blood tests by their first part."""
    name = phrase(code.words)
    match = _LONG_NAME.fullmatch(name)
    name = match["what"].strip() if match else name
    elsewhere = specimen and not _BLOOD.search(specimen) and specimen.casefold() not in name.casefold()
    return f"{name} ({specimen})" if elsewhere else name


def value_words(found: Measured) -> str:
    """A result in words, whatever form its value has; "" where there is none."""
    if found.value_codeable_concept is not None:
        return phrase(found.value_codeable_concept.words)
    if found.value_boolean is not None:
        return "yes" if found.value_boolean else "no"
    if found.value_integer is not None:
        return str(found.value_integer)
    if found.value_ratio is not None:
        parts = [quantity(part) for part in (found.value_ratio.numerator, found.value_ratio.denominator)]
        return ":".join(parts) if all(parts) else ""
    written = found.value_string or moment(found.value_date_time) or found.value_time
    return phrase(written) or quantity(found.value_quantity) or interval(found.value_range)


def lab_row(found: Measured, *, row: int, at: str, specimen: str = "") -> tuple[LabRow | None, str]:
    """A result as a row (None without a value), and what is to be said of it. Numbers exactly as written."""
    measured = found.value_quantity
    exact = number(measured.value) if measured else ""
    plain = bool(exact) and measured is not None and not measured.comparator
    sign = measured.comparator if measured and measured.comparator in COMPARATORS else ""
    value = f"{sign}{exact}" if exact else value_words(found)
    if not value or not name_of_test(found.code):
        return None, ""
    named, contradictory = unit(measured) if measured else ("", False)
    low, high, printed = _range(found, named)
    codes = found.code.codes(LOINC)
    done = LabRow(
        row=row,
        test=name_of_test(found.code, specimen),
        value=value,
        number=float(exact) if plain else float(found.value_integer) if found.value_integer is not None else None,
        unit=named,
        low=low,
        high=high,
        range_text=printed,
        flag=next((code for item in found.interpretation for code in item.codes() if code in FLAGS), ""),
        collected_at=at,
        loinc=codes[0] if len(codes) == 1 else "",
    )
    return done, f"text and code of the unit contradict each other ({named})" if contradictory else ""


def _range(found: Measured, named: str) -> tuple[float | None, float | None, str]:
    """The normal range, where there is exactly one and its unit is the result's; else only its text."""
    normal = [r for r in found.reference_range if not r.type.codes() or "normal" in r.type.codes()]
    printed = "; ".join(phrase(r.text) or interval(r) for r in normal)
    ends = (normal[0].low, normal[0].high) if len(normal) == 1 else (None, None)
    foreign = any(end is not None and (end.unit or end.code) and unit(end)[0] != named for end in ends)
    if foreign or (len(normal) == 1 and (normal[0].age or normal[0].applies_to)):
        return None, None, printed
    low, high = (number(end.value) if end else "" for end in ends)
    own = "; ".join(phrase(r.text) for r in normal if r.text)
    return (float(low) if low else None), (float(high) if high else None), own if low or high else printed
