"""Computes a calculator: one number where everything is known, an interval where an item is missing.

The interval runs over every value that the missing items can have: words are tried one by one, unknown numbers leave
a condition undecided (Kleene 1952), so both its outcomes count. It must not know any single calculator.
"""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections.abc import Iterator, Mapping

import msgspec

from core.domain.arithmetic import ArithmeticRefused, evaluate, holds, names
from core.domain.units import format_value, parse_unit
from tools.calculators.reading import Given, Reading, Refused, constants, read
from tools.calculators.record import Calculator, Case, Input, Term

Values = Mapping[str, float]
_WORD = re.compile(r"[A-Za-z_]\w*")


class Span(msgspec.Struct, frozen=True):
    """The least and the most that a value can be."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


class Computed(msgspec.Struct, frozen=True, kw_only=True):
    """A result. `low` equals `high` unless something in `missing` would change it.

    `assumed` names what was taken as absent, normal or by default. A date is a day number, a gestational age is in
    days; `text` shows either as a person reads it.
    """

    calculator: str
    version: str
    low: float
    high: float
    unit: str
    text: str
    band: str
    formula: str
    substituted: str
    warnings: tuple[str, ...]
    missing: tuple[str, ...]
    assumed: tuple[str, ...]
    citation: str


def compute(calculator: Calculator, given: tuple[Given, ...], *, assume_absent: bool = False) -> Computed:
    """The result for what is given.

    With `assume_absent`, an item that is not given counts as absent, a choice as its first word, an unmeasured number
    as normal. Raises Refused.
    """
    reading = read(calculator, given)
    _require(calculator, reading, anything=bool(given))
    values = constants(calculator) | reading.values
    absent = _absent(calculator, values) if assume_absent else {}
    values |= absent
    _refuse(calculator, values)
    spans = [_span(calculator, term, values) for term in calculator.terms]
    open_terms = [term for term, span in zip(calculator.terms, spans, strict=True) if span.low < span.high]
    unknown = _ordered(calculator, {name for term in open_terms for name in _missing(calculator, term.cases, values)})
    if assume_absent:
        spans = [Span(normal, normal) for normal in map(_normal, spans)]
    total = Span(_sum(span.low for span in spans), _sum(span.high for span in spans))
    assumed = _ordered(calculator, {*absent, *reading.defaults, *(unknown if assume_absent else ())})
    return Computed(
        calculator=calculator.id,
        version=calculator.version,
        low=total.low,
        high=total.high,
        unit=calculator.output.unit if calculator.output.shape == "number" else "",
        text=_text(calculator, total),
        band=_band(calculator, total, values),
        formula=formula_text(calculator),
        substituted=_substituted(calculator, reading, spans),
        warnings=(*reading.warnings, *_warnings(calculator, values, total)),
        missing=() if assume_absent else unknown,
        assumed=assumed,
        citation=calculator.citation.text,
    )


def formula_text(calculator: Calculator) -> str:
    """Everything that is computed, one line a value or term."""
    return "\n".join(_lines(calculator, {}))


def inputs_text(calculator: Calculator) -> str:
    """What a calculator reads, in one line: name (unit or words), a question mark behind what may be left out."""
    return ", ".join(f"{each.name} ({_kind(each)}){'' if each.required else '?'}" for each in calculator.inputs)


def _kind(wanted: Input) -> str:
    return {"number": wanted.unit, "date": "2026-11-30"}.get(wanted.kind, "/".join(wanted.options))


def _require(calculator: Calculator, reading: Reading, *, anything: bool) -> None:
    absent = [each.name for each in calculator.inputs if each.required and each.name not in reading.values]
    if absent or not anything:
        needed = ", ".join(absent) or "a value"
        raise Refused("missing", f"{calculator.id} needs {needed}; it reads {inputs_text(calculator)}")


def _absent(calculator: Calculator, values: Values) -> dict[str, float]:
    """Items that are not given, as absent; choices, as their first word."""
    words = constants(calculator)
    return {each.name: words[each.options[0]] for each in calculator.inputs if each.options and each.name not in values}


def _refuse(calculator: Calculator, values: Values) -> None:
    known = _settled(calculator, values)
    for guard in calculator.guards:
        if guard.refuse and _holds(guard.condition, known):
            raise Refused("out of scope", f"{calculator.id}: {guard.sentence}")


def _warnings(calculator: Calculator, values: Values, total: Span) -> Iterator[str]:
    known = _settled(calculator, values)
    yield from (guard.sentence for guard in calculator.guards if not guard.refuse and _holds(guard.condition, known))
    limits = calculator.output.range
    if total.low < limits.low or total.high > limits.high:
        yield f"the result lies outside {limits.low:g} to {limits.high:g}: check the values"


# ----------------------------------------------------------------------------------------------- terms to spans


def _span(calculator: Calculator, term: Term, values: Values) -> Span:
    """The value of a term, or all that it can be. Raises Refused where an unknown number leaves it open."""
    whole = _decided(term.cases, _settled(calculator, values))
    words = constants(calculator)
    unknown = _missing(calculator, term.cases, values)
    choices = [each for each in calculator.inputs if each.name in unknown and each.options]
    if (whole is not None and whole.low == whole.high) or not choices:
        found = [whole]
    else:
        found = [
            _decided(
                term.cases,
                _settled(calculator, {**values, **dict(zip([c.name for c in choices], picked, strict=True))}),
            )
            for picked in itertools.product(*([words[word] for word in each.options] for each in choices))
        ]
    spans = [span for span in found if span is not None]
    if len(spans) < len(found):
        raise Refused("missing", f"{calculator.id} needs {', '.join(unknown)} for its {term.label}")
    return Span(min(span.low for span in spans), max(span.high for span in spans))


def _settled(calculator: Calculator, values: Values) -> dict[str, float]:
    """The values with the derived ones that are certain."""
    known = dict(values)
    for derived in calculator.derived:
        span = _decided(derived.cases, known)
        if span is not None and span.low == span.high:
            known[derived.name] = span.low
    return known


def _decided(cases: tuple[Case, ...], values: Values) -> Span | None:
    """The span over the cases that may hold; None if one of them has a value that is not known."""
    found = []
    for case in cases:
        truth = _holds(case.condition, values) if case.condition else True
        if truth is False:
            continue
        if not names(case.value) <= values.keys():
            return None
        found.append(_number(case.value, values))
        if truth:
            break
    else:
        found.append(0.0)
    return Span(min(found), max(found))


def _number(text: str, values: Values) -> float:
    try:
        return float(evaluate(text, values))
    except ArithmeticRefused as refused:
        raise Refused("not defined", f"{text} is not defined for these values: {refused.code}") from refused


def _holds(condition: str, values: Values) -> bool | None:
    return holds(condition, values, _no_finding)


def _no_finding(concept: str) -> bool:
    raise LookupError(concept)  # no calculator asks for findings of a case


def _missing(calculator: Calculator, cases: tuple[Case, ...], values: Values) -> tuple[str, ...]:
    """The inputs that the cases read, themselves or through derived values, and that are not known."""
    derived = {each.name: each.cases for each in calculator.derived}
    read_names: set[str] = set()
    waiting = list(cases)
    while waiting:
        case = waiting.pop()
        used = names(case.value) | (names(case.condition) if case.condition else frozenset())
        fresh = used - read_names
        read_names |= fresh
        waiting += [inner for name in fresh for inner in derived.get(name, ())]
    return _ordered(calculator, read_names - values.keys())


def _ordered(calculator: Calculator, wanted: set[str]) -> tuple[str, ...]:
    return tuple(each.name for each in calculator.inputs if each.name in wanted)


def _normal(span: Span) -> float:
    """The value that adds the least: what a measurement that was never asked for counts."""
    return min(max(0.0, span.low), span.high)


def _sum(values: Iterator[float]) -> float:
    return math.fsum(values)


# ------------------------------------------------------------------------------------------------ words for people


def _band(calculator: Calculator, total: Span, values: Values) -> str:
    found = [_meaning(calculator, value, values) for value in dict.fromkeys((total.low, total.high))]
    return " to ".join(dict.fromkeys(found))


def _meaning(calculator: Calculator, value: float, values: Values) -> str:
    known = {**values, "value": value}
    return next((band.text for band in calculator.bands if not band.condition or _holds(band.condition, known)), "")


def _text(calculator: Calculator, total: Span) -> str:
    return " to ".join(dict.fromkeys(_worded(calculator, value) for value in (total.low, total.high)))


def _worded(calculator: Calculator, value: float) -> str:
    output = calculator.output
    if output.shape == "date":
        return datetime.date.fromordinal(round(value)).isoformat()
    if output.shape == "weeks and days":
        weeks, days = divmod(round(value), 7)
        return f"{weeks} weeks {days} days"
    if output.shape == "score":
        return f"{value:g}"
    return format_value(value, parse_unit(output.unit), decimals=output.decimals)


def _substituted(calculator: Calculator, reading: Reading, spans: list[Span]) -> str:
    """The formula with the values in it; of a score, what each item gave."""
    if len(calculator.terms) == 1:
        return "\n".join(_lines(calculator, reading.shown))
    given = [(term.label, span) for term, span in zip(calculator.terms, spans, strict=True) if span != Span(0, 0)]
    return " + ".join(f"{label} {span}" for label, span in given) or "no item counts"


def _lines(calculator: Calculator, shown: Mapping[str, str]) -> Iterator[str]:
    alone = len(calculator.terms) == 1
    yield from (f"{each.name} = {_written(each.cases, shown)}" for each in calculator.derived)
    for term in calculator.terms:
        yield _written(term.cases, shown) if alone else f"{term.label}: {_written(term.cases, shown)}"


def _written(cases: tuple[Case, ...], shown: Mapping[str, str]) -> str:
    parts = [f"{case.value} if {case.condition}" if case.condition else case.value for case in cases]
    text = " else ".join(parts if not cases[-1].condition else [*parts, "0"])
    return _WORD.sub(lambda word: shown.get(word.group(), word.group()), text)
