"""Laboratory results to findings: analyte, unit, own range or the program's, latest value, change (direct.md 1.2).

Pure. A unit that is not understood, or that the analyte cannot have, is shown and never interpreted. A result stands
for the concepts that the concept table gives its analyte and flag. It must not know how prose is read (results.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, cast

import msgspec

from core.domain import units
from core.domain.case import LabRow, LabTable
from core.domain.evidence import Abnormal, Finding, Provenance, Quantity, Time
from core.domain.ports import Knowledge
from core.domain.units import Unit, WrongDimension
from core.runtime.ledger import Patient
from core.runtime.perception.analytes import Analyte, Analytes, Interval, canonical
from core.runtime.perception.drafts import DERIVED, LABORATORY, Draft, cell_source, derived_source
from core.runtime.perception.numbers import IMPLAUSIBLE

NOT_UNDERSTOOD = "unit not understood, not interpreted"
NO_UNIT = "no unit written, not interpreted"
OWN_REFERENCE = "reference of the program, adult"
ADULT = 18
_NUMBER = re.compile(r"\s*(?P<c>[<>\u2264\u2265]=?)?\s*(?P<n>-?\d+(?:[.,]\d+)?)\s*[*HLhl]{0,2}\s*")
_CRITICAL = frozenset(["HH", "LL", "C", "CH", "CL", "CRIT", "CRITICAL", "PANIC"])
_FLAGS: dict[str, Literal["low", "high"]] = {"H": "high", "HIGH": "high", "L": "low", "LOW": "low"}
_FLAGS |= {"HH": "high", "LL": "low", "CH": "high", "CL": "low", "+": "high", "-": "low"}
_WORDS: dict[str, Literal["low", "high", "normal"]] = {"negative": "normal", "not detected": "normal", "neg": "normal"}
_WORDS |= {"positive": "high", "detected": "high", "pos": "high", "normal": "normal"}
Direction = Literal["low", "high", "normal", ""]


class Result(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One result as printed or written, with its analyte if the name is known."""

    analyte: Analyte | None
    test: str
    text: str
    provenance: Provenance
    number: float | None
    unit: str = ""
    comparator: str = ""
    word: str = ""
    low: float | None = None
    high: float | None = None
    range_text: str = ""
    flag: str = ""
    collected_at: str = ""
    time: Time = "current"
    note: str = ""


class _Read(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A result with what was made of it. `value` is canonical; `direction` is empty where it was not compared."""

    result: Result
    unit: Unit | None
    value: float | None
    direction: Direction
    critical: bool
    range_text: str
    note: str
    distance: float = 0.0  # how many times beyond the limit it was compared with


def of_table(table: LabTable, analytes: Analytes) -> Iterator[Result]:
    """The rows of a table."""
    for row in table.rows:
        match = _NUMBER.fullmatch(row.value)
        number = row.number
        if number is None and match:
            number = float(match["n"].replace(",", "."))
        yield Result(
            analyte=analytes.of_row(row.test, row.loinc),
            test=row.test,
            text=f"{row.test} {row.value} {row.unit}".strip(),
            provenance=cell_source(table, row),
            number=number,
            unit=row.unit,
            comparator=(match["c"] or "")[:1] if match else "",
            word=row.value.strip().lower(),
            low=row.low,
            high=row.high,
            range_text=_printed_range(row),
            flag=row.flag.strip().upper(),
            collected_at=row.collected_at,
        )


def _printed_range(row: LabRow) -> str:
    if row.range_text:
        return row.range_text
    if row.low is None and row.high is None:
        return ""
    if row.low is None or row.high is None:
        return f"up to {row.high:g}" if row.low is None else f"from {row.low:g}"
    return f"{row.low:g} to {row.high:g}"


def interpret(
    results: Iterable[Result], patient: Patient, analytes: Analytes, knowledge: Knowledge
) -> tuple[Draft, ...]:
    """Findings of all results: one each, and one for every further concept that a latest value stands for."""
    groups: dict[str, list[_Read]] = defaultdict(list)
    for result in results:
        name = result.analyte.id if result.analyte else f"?{result.test.casefold()}"
        groups[name].append(_read(result, patient, analytes))
    drafts: list[Draft] = []
    for name in sorted(groups):
        drafts += _group(groups[name], knowledge)
    return tuple(drafts)


# ------------------------------------------------------------------------------------------------- one result


def _read(result: Result, patient: Patient, analytes: Analytes) -> _Read:
    unit, refusal = _unit_of(result)
    value = None
    if result.number is not None and unit is not None and result.analyte is not None:
        value = canonical(result.analyte.id, result.number, unit)
        if value is not None and not analytes.plausible(result.analyte.id, value):
            refusal = IMPLAUSIBLE
    if refusal:
        shown = result.range_text
        return _Read(result=result, unit=unit, value=None, direction="", critical=False, range_text=shown, note=refusal)
    direction, range_text, said, distance = _compare(result, value, patient)
    notes = [result.note, f"reported as {result.comparator}{result.number:g}" if result.comparator else "", said]
    return _Read(
        result=result,
        unit=unit,
        value=value,
        direction=direction,
        critical=direction in ("low", "high") and result.flag in _CRITICAL,
        range_text=range_text,
        note="; ".join(note for note in notes if note),
        distance=distance,
    )


def _unit_of(result: Result) -> tuple[Unit | None, str]:
    """The unit, and why the result is not interpreted (empty when it is)."""
    analyte = result.analyte
    if result.number is None:
        return None, "" if result.word in _WORDS else "not a number, not interpreted"
    if not result.unit.strip():
        if analyte is not None and analyte.unit in ("{ratio}", "{score}"):
            return units.parse_unit(analyte.unit), ""
        return None, NO_UNIT
    unit = units.find_unit(result.unit)
    if unit is None:
        return None, NOT_UNDERSTOOD
    if analyte is None:
        return unit, ""
    own = units.parse_unit(analyte.unit)
    foreign = bool(unit.kind) and unit.kind != own.kind
    return unit, NOT_UNDERSTOOD if foreign or not units.acceptable(analyte.id, unit) else ""


def _compare(result: Result, value: float | None, patient: Patient) -> tuple[Direction, str, str, float]:
    """Direction, the range it was compared with, what is to be said if it was not compared, and how far it lies out."""
    if result.number is None:
        return _WORDS[result.word], result.range_text, "", 0.0
    if result.low is not None or result.high is not None:
        direction = _against(result.number, result.comparator, result.low, result.high)
        return direction, result.range_text, "", _beyond(result.number, result.low, result.high)
    if result.flag in _FLAGS:
        return _FLAGS[result.flag], result.range_text or "flag of the report", "", 0.0
    return _against_program(result, value, patient)


def _against(number: float, comparator: str, low: float | None, high: float | None) -> Direction:
    """Where a number lies; a censored one ("<5") only where that is certain."""
    if comparator in ("<", "\u2264"):
        if low is not None and low > 0:
            return "low" if number <= low else ""
        return "normal" if high is not None and number <= high else ""
    if comparator in (">", "\u2265"):
        return "high" if high is not None and number >= high else "normal" if high is None and low is not None else ""
    if low is not None and number < low:
        return "low"
    return "high" if high is not None and number > high else "normal"


def _against_program(result: Result, value: float | None, patient: Patient) -> tuple[Direction, str, str, float]:
    analyte = result.analyte
    if analyte is None or not analyte.reference:
        return "", "", "", 0.0
    if value is None:
        return "", "", "not compared: FEU or DDU not stated", 0.0
    interval, why = _interval(analyte, patient)
    if interval is None:
        return "", "", why, 0.0
    shown = _shown(interval, units.parse_unit(analyte.unit))
    direction = _against(value, result.comparator, interval.low, interval.high)
    return direction, f"{shown} ({OWN_REFERENCE})", "", _beyond(value, interval.low, interval.high)


def _interval(analyte: Analyte, patient: Patient) -> tuple[Interval | None, str]:
    """The program's interval for this patient, or why there is none."""
    if patient.age is not None and patient.age < ADULT:
        return None, "not compared: the program's reference is for adults"
    if patient.pregnant:
        return None, "not compared: the program's reference is not for pregnancy"
    fitting = [interval for interval in analyte.reference if interval.sex in ("any", patient.sex)]
    return (fitting[0], "") if fitting else (None, "not compared: sex not known")


def _shown(interval: Interval, unit: Unit) -> str:
    low = "" if interval.low is None else f"{interval.low:g}"
    high = "" if interval.high is None else units.format_value(interval.high, unit)
    if low and high:
        return f"{low} to {high}"
    return f"up to {high}" if high else f"from {units.format_value(cast(float, interval.low), unit)}"


# ------------------------------------------------------------------------------------------- results together


def _group(reads: Sequence[_Read], knowledge: Knowledge) -> Iterator[Draft]:
    """All results of one analyte: the latest stands, earlier dated ones are past."""
    current = [read for read in reads if read.result.time == "current"]
    dated = sorted({read.result.collected_at for read in current if read.result.collected_at})
    standing = [read for read in current if not read.result.collected_at or read.result.collected_at == dated[-1]]
    chosen = max((read for read in standing if read.value is not None or read.direction), key=_gravity, default=None)
    for read in reads:
        past = read not in standing and read.result.time == "current"
        change = _change(read, reads) if read is chosen else None
        draft = Draft(finding=_finding(read, knowledge, past=past, is_chosen=read is chosen, change=change))
        yield draft
        if read is chosen:
            yield from _stands_for(read, draft, knowledge)


def _gravity(read: _Read) -> tuple[object, ...]:
    """Which of several undated or simultaneous values counts: the most abnormal one."""
    rank = 2 if read.critical else 1 if read.direction in ("low", "high") else 0
    return rank, bool(read.result.collected_at), read.distance, read.result.text


def _beyond(number: float, low: float | None, high: float | None) -> float:
    """How many times beyond its limit a number lies; 0 inside."""
    if high is not None and number > high > 0:
        return number / high
    return low / number if low is not None and 0 < number < low else 0.0


def _finding(read: _Read, knowledge: Knowledge, *, past: bool, is_chosen: bool, change: float | None) -> Finding:
    result = read.result
    name = result.analyte.name if result.analyte else result.test
    name = f"{name}: {result.word}" if result.number is None else name
    concepts = _concepts(read, knowledge) if is_chosen else ()
    key = result.analyte.id if result.analyte else "unlisted"
    unit = str(read.unit) if read.unit is not None else result.unit
    counts = is_chosen or past or result.time != "current"  # one current value of a quantity, whatever is written twice
    abnormal: Abnormal = "critical" if read.critical else read.direction or "unknown"
    return Finding(
        id="",
        concept=concepts[0] if concepts else f"LAB:{key}",
        name=name,
        provenance=result.provenance,
        extractor=LABORATORY,
        text=result.text,
        time="past" if past else result.time,
        quantity=result.analyte.id if result.analyte and read.value is not None and counts else "",
        value=None if result.number is None else Quantity(result.number, unit),
        change=change,
        collected_at=result.collected_at or None,
        abnormal=abnormal,
        reference_range=read.range_text,
        note=read.note,
    )


def _concepts(read: _Read, knowledge: Knowledge) -> tuple[str, ...]:
    """Concepts of the analyte with that flag, the most specific first."""
    analyte = read.result.analyte
    if analyte is None or not read.direction:
        return ()
    found = knowledge.lab_concepts(analyte.id, read.direction)
    return tuple(sorted(found, key=lambda concept: (-len(knowledge.ancestors(concept)), concept)))


def _stands_for(read: _Read, draft: Draft, knowledge: Knowledge) -> Iterator[Draft]:
    """Further concepts of the value, and those that it says are absent; a value that is not compared says nothing."""
    analyte = read.result.analyte
    if analyte is None or not read.direction:
        return
    present = _concepts(read, knowledge)
    for concept in present[1:]:
        yield _said(concept, "present", read, draft, knowledge)
    implied = {above for concept in present for above in knowledge.ancestors(concept)}
    for concept in _denied(analyte, read.direction, knowledge):
        if concept not in implied:
            yield _said(concept, "absent", read, draft, knowledge)


def _denied(analyte: Analyte, direction: Direction, knowledge: Knowledge) -> Iterator[str]:
    """Concepts of the other flags; what is not normal is not normal in any wider sense ("normal troponin") either."""
    for flag in ("low", "high"):
        yield from knowledge.lab_concepts(analyte.id, flag) if flag != direction else ()
    if direction in ("low", "high"):
        for concept in knowledge.lab_concepts(analyte.id, "normal"):
            yield from sorted(knowledge.ancestors(concept))


def _said(
    concept: str, polarity: Literal["present", "absent"], read: _Read, draft: Draft, knowledge: Knowledge
) -> Draft:
    entry = knowledge.concept(concept)
    formula = f"{draft.finding.name} is {read.direction}"
    return Draft(
        finding=Finding(
            id="",
            concept=concept,
            name=entry.name if entry else concept,
            provenance=derived_source(formula, [draft]),
            extractor=DERIVED,
            text=read.result.text,
            polarity=polarity,
            collected_at=read.result.collected_at or None,
            formula=formula,
        ),
        inputs=(draft,),
    )


def _change(read: _Read, reads: Sequence[_Read]) -> float | None:
    """Latest minus the dated one before, in the unit of the latest; KDIGO and others need both."""
    at, unit, analyte = read.result.collected_at, read.unit, read.result.analyte
    if not at or unit is None or read.result.number is None or analyte is None:
        return None
    earlier = [r for r in reads if r.result.collected_at and r.result.collected_at < at and r.value is not None]
    if not earlier:
        return None
    before = max(earlier, key=lambda r: (r.result.collected_at, r.result.text))
    try:
        old = units.convert_analyte(analyte.id, cast(float, before.result.number), cast(Unit, before.unit), unit)
    except WrongDimension:
        return None
    return round(read.result.number - old, 6)
