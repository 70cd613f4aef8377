"""The short words in which calculators are declared: each makes one or more parts of a record (record.py).

Texts are in the arithmetic language. Besides the inputs' names they may use the words of the choices and `yes`, `no`
(`sex == female`, `smoker == yes`). It must not know how a record is evaluated, nor any single calculator.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.calculators.record import (
    Band,
    Calculator,
    Case,
    Citation,
    Derived,
    Guard,
    Input,
    Output,
    Range,
    Term,
)

Part = Input | Derived | Term | Guard | Band
Parts = tuple[Part, ...]
Text = str | float
Limits = tuple[float, float]


def number(
    name: str,
    label: str,
    unit: str = "{score}",
    *,
    plausible: Limits,
    possible: Limits,
    analyte: str = "",
    required: bool = True,
    default: float | None = None,
) -> Input:
    """A number with its unit; limits in that unit."""
    return Input(
        name=name,
        label=label,
        kind="number",
        unit=unit,
        analyte=analyte,
        plausible=Range(*plausible),
        possible=Range(*possible),
        required=required and default is None,
        default=default,
    )


def yes_no(name: str, label: str) -> Input:
    """A finding that is present, absent or unknown."""
    return Input(name=name, label=label, kind="yes-no", options=("no", "yes"))


def choice(name: str, label: str, *options: str, required: bool = False, default: str | None = None) -> Input:
    """One of several words; the first is what "assume absent" takes."""
    return Input(name=name, label=label, kind="choice", options=options, required=required, default=default)


def day(name: str, label: str) -> Input:
    """A calendar day; texts see it as a day number."""
    return Input(name=name, label=label, kind="date", unit="d", required=True)


def formula(text: str, label: str = "result") -> Term:
    """A term that is computed, whatever the case."""
    return Term(label=label, cases=(Case("", text),))


def first(label: str, *cases: tuple[str, Text]) -> Term:
    """A term that takes the value of the first condition that holds."""
    return Term(label=label, cases=_cases(cases))


def when(condition: str, points: Text, label: str) -> Term:
    """Points under one condition."""
    return first(label, (condition, points))


def steps(name: str, below: Text, *bounds: tuple[float, Text], label: str = "") -> Term:
    """Points by bands of a number: `below` the first bound, then from each bound (included) its points."""
    rising = [(f"{name} >= {bound:g}", points) for bound, points in bounds]
    return first(label or name.replace("_", " "), *reversed(rising), ("", below))


def item(name: str, label: str, points: Text) -> Parts:
    """A yes-no input and its points."""
    return either(points, (name, label))


def either(points: Text, *named: tuple[str, str], label: str = "") -> Parts:
    """Yes-no inputs of which one is enough for the points."""
    condition = " or ".join(f"{name} == yes" for name, _ in named)
    inputs = tuple(yes_no(name, text) for name, text in named)
    return (*inputs, when(condition, points, label or named[0][1]))


def choose(name: str, label: str, **points: Text) -> Parts:
    """A choice whose words carry points; the first word is the normal one."""
    cases = [(f"{name} == {word}", value) for word, value in points.items()]
    return choice(name, label, *points), first(label, *cases)


def define(name: str, *cases: tuple[str, Text] | str) -> Derived:
    """An intermediate value: a formula, or cases of which the first that holds counts."""
    return Derived(name=name, cases=_cases([case if isinstance(case, tuple) else ("", case) for case in cases]))


def refuse(condition: str, sentence: str) -> Guard:
    """No result where the condition holds."""
    return Guard(condition=condition, sentence=sentence, refuse=True)


def warn(condition: str, sentence: str) -> Guard:
    """A result, with a warning."""
    return Guard(condition=condition, sentence=sentence)


def bands(*texts: tuple[str, str]) -> Parts:
    """What the result means, by condition over `value`; an empty condition is the rest."""
    return tuple(Band(condition, text) for condition, text in texts)


def score(low: float, high: float) -> Output:
    """Points, from the fewest to the most that can be reached."""
    return Output(shape="score", range=Range(low, high))


def measure(unit: str, decimals: int, low: float, high: float) -> Output:
    """A number in a unit; outside the range it is shown with a warning."""
    return Output(unit=unit, decimals=decimals, range=Range(low, high))


def calculator(
    id: str,
    name: str,
    *parts: Part | Parts,
    output: Output,
    cite: str,
    use: str,
    avoid: str,
    version: str = "1",
) -> Calculator:
    """The record made of its parts, in their order."""
    flat = tuple(_flat(parts))
    return Calculator(
        id=id,
        name=name,
        version=version,
        inputs=tuple(part for part in flat if isinstance(part, Input)),
        derived=tuple(part for part in flat if isinstance(part, Derived)),
        terms=tuple(part for part in flat if isinstance(part, Term)),
        guards=tuple(part for part in flat if isinstance(part, Guard)),
        bands=tuple(part for part in flat if isinstance(part, Band)),
        output=output,
        citation=Citation(cite),
        use=use,
        avoid=avoid,
    )


def _flat(parts: tuple[Part | Parts, ...]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, tuple):
            yield from part
        else:
            yield part


def _cases(cases: tuple[tuple[str, Text], ...] | list[tuple[str, Text]]) -> tuple[Case, ...]:
    return tuple(Case(condition, value if isinstance(value, str) else f"{value:g}") for condition, value in cases)
