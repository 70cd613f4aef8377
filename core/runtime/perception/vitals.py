"""Vital signs and bedside scores in prose: blood pressure, pulse, breathing, oxygen, temperature, and more.

Pure. A value outside the limits of plausibility is kept and marked "implausible as written", never repaired. It must
not know concepts: what a number means is derived.py; how it is written is vital_patterns.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from core.domain.case import Note
from core.domain.units import parse_unit
from core.runtime.perception import vital_patterns as written
from core.runtime.perception.analytes import Analytes, canonical
from core.runtime.perception.drafts import Draft
from core.runtime.perception.numbers import IMPLAUSIBLE, measured

_SOON = 60  # characters between a pressure and a further reading of it


def vital_signs(note: Note, analytes: Analytes) -> Iterator[Draft]:
    """Every measurement of a note, in no particular order."""
    yield from _pressures(note, analytes)
    for sign in written.SIGNS:
        for match in sign.pattern.finditer(note.text):
            yield _plain(note, sign, match, analytes)
    yield from _saturations(note, analytes)
    yield from _temperatures(note, analytes)
    yield from _peak_flows(note, analytes)


def _checked(analytes: Analytes, quantity: str, value: float, unit: str) -> str:
    """The note of an implausible value, else empty."""
    converted = canonical(quantity, value, parse_unit(unit))
    return "" if converted is not None and analytes.plausible(quantity, converted) else IMPLAUSIBLE


def _pressures(note: Note, analytes: Analytes) -> Iterator[Draft]:
    taken: list[range] = []
    for pattern in (written.PRESSURE, written.BARE_PRESSURE):
        for match in pattern.finditer(note.text):
            if not any(match.start("s") in span for span in taken):
                taken.append(range(*match.span()))
                yield from _pair(note, match, analytes)
    for match in written.FURTHER_PRESSURE.finditer(note.text):
        first = any(0 <= match.start() - span.stop <= _SOON for span in taken)
        if first and not any(match.start("s") in span for span in taken) and int(match["s"]) > int(match["d"]):
            taken.append(range(*match.span()))
            yield from _pair(note, match, analytes)
    for match in written.SYSTOLIC.finditer(note.text):
        value = float(match["n"])
        bad = _checked(analytes, "systolic_bp", value, "mm[Hg]")
        yield _pressure(note, match.span(), "systolic", value=value, bad=bad)


def _pair(note: Note, match: re.Match[str], analytes: Analytes) -> Iterator[Draft]:
    systolic, diastolic = float(match["s"]), float(match["d"])
    bad = _checked(analytes, "systolic_bp", systolic, "mm[Hg]")
    bad = bad or _checked(analytes, "diastolic_bp", diastolic, "mm[Hg]")
    bad = bad or (IMPLAUSIBLE if diastolic >= systolic else "")
    yield _pressure(note, match.span(), "systolic", value=systolic, bad=bad)
    yield _pressure(note, match.span(), "diastolic", value=diastolic, bad=bad)


def _pressure(note: Note, span: tuple[int, int], which: str, *, value: float, bad: str) -> Draft:
    name = f"{which.capitalize()} blood pressure"
    return measured(note, span, quantity=f"{which}_bp", name=name, value=value, unit="mm[Hg]", note_text=bad)


def _plain(note: Note, sign: written.Sign, match: re.Match[str], analytes: Analytes) -> Draft:
    value, unit, said = float(match["n"]), sign.unit, ""
    groups = match.groupdict()
    if groups.get("m"):
        said = f"range {match['n']} to {match['m']} as written; the middle is used"
        value = (value + float(match["m"])) / 2
    value, unit = _UNIT_WORDS.get((sign.quantity, (groups.get("u") or "").strip()), _same)(value, unit)
    note_text = _checked(analytes, sign.quantity, value, unit) or said
    return measured(
        note, match.span(), quantity=sign.quantity, name=sign.name, value=value, unit=unit, note_text=note_text
    )


def _same(value: float, unit: str) -> tuple[float, str]:
    return value, unit


def _in(unit: str) -> Callable[[float, str], tuple[float, str]]:
    return lambda value, _: (value, unit)


_RATIOS = ("fev1_fvc", "cardiothoracic_ratio")  # written as a share of one or of a hundred
_UNIT_WORDS: dict[tuple[str, str], Callable[[float, str], tuple[float, str]]] = {
    ("weight", "lb"): _in("[lb]"),
    ("weight", "lbs"): _in("[lb]"),
    ("weight", "pounds"): _in("[lb]"),
    ("height", "m"): _in("m"),
    ("height", "metres"): _in("m"),
    **{(ratio, "%"): lambda value, unit: (value / 100, unit) for ratio in _RATIOS},
    **{(ratio, ""): lambda value, unit: (value / 100 if value > 1 else value, unit) for ratio in _RATIOS},
}


def _saturations(note: Note, analytes: Analytes) -> Iterator[Draft]:
    for match in written.SATURATION.finditer(note.text):
        value = float(match["n"])
        bad = _checked(analytes, "spo2", value, "%")
        air = written.AIR.match(note.text, match.end())
        flow = None if air else written.FLOW.match(note.text, match.end())
        end = (air or flow or match).end()
        given = 0.0 if air else float(flow["n"]) if flow else None
        span = (match.start(), end)
        yield measured(note, span, quantity="spo2", name="Oxygen saturation", value=value, unit="%", note_text=bad)
        if given is not None:
            bad = _checked(analytes, "oxygen_flow", given, "L/min")
            yield measured(
                note, span, quantity="oxygen_flow", name="Oxygen given", value=given, unit="L/min", note_text=bad
            )


def _temperatures(note: Note, analytes: Analytes) -> Iterator[Draft]:
    for match in written.TEMPERATURE.finditer(note.text):
        value = float(match["n"].replace(",", "."))
        unit, said = _scale(value, match["u"] or "", named=bool(match["k"]))
        if unit:
            bad = _checked(analytes, "temperature", value, unit) or said
            yield measured(
                note, match.span(), quantity="temperature", name="Temperature", value=value, unit=unit, note_text=bad
            )


def _scale(value: float, spelled: str, *, named: bool) -> tuple[str, str]:
    """Unit and remark of a temperature; an empty unit where a lone "T" is none ("T 12")."""
    spelled = spelled.strip().lower()
    if spelled.endswith(("f", "\u2109")) or spelled == "fahrenheit":
        return "[degF]", ""
    if spelled.endswith(("c", "\u2103")) or spelled == "celsius":
        return "Cel", ""
    if 30 <= value <= 45:
        return "Cel", ""
    if 86 <= value <= 113:
        return "[degF]", "no unit written; read as degrees Fahrenheit, in which alone it is plausible"
    return ("Cel", "") if named and (value < 30 or value > 113) and value > 15 else ("", "")


def _peak_flows(note: Note, analytes: Analytes) -> Iterator[Draft]:
    for match in written.PEAK_FLOW.finditer(note.text):
        percent = round(100 * float(match["n"]) / float(match["m"]), 1)
        bad = _checked(analytes, "pef_percent", percent, "%")
        said = f"{match['n']} of {match['w']} {match['m']} L/min"
        yield measured(
            note,
            match.span(),
            quantity="pef_percent",
            name=f"Peak flow, share of {match['w']} ({said})",
            value=percent,
            unit="%",
            note_text=bad,
        )
