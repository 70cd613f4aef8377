"""The calculator: a thin tool over the arithmetic language and the named calculators.

It computes; it knows no case and no formula of its own.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.arithmetic import ArithmeticRefused, Value, evaluate
from core.domain.units import Quantity, Unit, UnknownUnit, WrongDimension, convert, format_value, parse_unit
from core.errors import ToolError
from core.runtime.registry import ToolContext, tool
from tools.calculators import CALCULATORS
from tools.calculators.evaluation import Computed, compute
from tools.calculators.reading import Given, Refused

DIGITS = 12  # significant digits shown: what a double holds for certain after a few operations


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named value."""

    name: Annotated[
        str, msgspec.Meta(description="Lower-case name used in the expression, or input of the calculator.")
    ]
    value: Annotated[
        float | bool | str,
        msgspec.Meta(
            description="The number; for a named calculator also true or false, a word, or a day as 2026-11-30."
        ),
    ]
    unit: Annotated[str, msgspec.Meta(description="Its unit, as written in the case; empty: a plain number.")] = ""


class Calculation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of the calculator."""

    expression: Annotated[
        str,
        msgspec.Meta(description="What to compute, such as `sodium - chloride - 24 mmol/L`; empty with `calculator`."),
    ] = ""
    calculator: Annotated[
        str, msgspec.Meta(description="Id of a named calculator, such as `cha2ds2_vasc`; empty with `expression`.")
    ] = ""
    inputs: Annotated[
        tuple[Input, ...],
        msgspec.Meta(
            max_length=32, description="Named values that the expression or the calculator reads, at most 32."
        ),
    ] = ()
    unit: Annotated[str, msgspec.Meta(description="Unit of the result; empty: that of the leftmost quantity.")] = ""
    assume_absent: Annotated[
        bool,
        msgspec.Meta(
            description="Named calculators: count what is not given as absent, where the task says that it is."
        ),
    ] = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data`: a number with its unit, or a truth value."""

    value: float | bool
    unit: str


class NamedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data` of a named calculator. `value` is null while something in `missing` leaves an interval."""

    calculator: str
    version: str
    value: float | None
    low: float
    high: float
    unit: str
    band: str
    formula: str
    substituted: str
    warnings: tuple[str, ...]
    missing: tuple[str, ...]
    assumed: tuple[str, ...]
    citation: str


@tool(name="calculator", version="2")
def calculator(arguments: Calculation, context: ToolContext) -> ToolResult:
    """Compute a number, a comparison or a clinical score. Never calculate in your head: call this tool.

    `expression` may use + - * / ^, brackets, comparisons, `min max abs round sqrt exp ln log10`, numbers with units
    ("4.1 mmol/L") and the names in `inputs`. Units are converted; quantities of different kinds are refused. `unit`
    asks for the result in that unit. The answer is one line: the value and its unit, or "true" or "false".

    Or name a `calculator` (scores, clearances, corrected values, doses, dates) and give its `inputs`. A score with
    missing items is answered as a range and the list of what is missing; with `assume_absent` these count as absent. An
    unknown name is answered with the list of calculators, a calculator without inputs with what it reads.
    """
    del context  # what is computed depends on the arguments alone
    if bool(arguments.expression.strip()) == bool(arguments.calculator.strip()):
        raise ToolError("calculator: give either an expression or the name of a calculator", code="arguments")
    return _named(arguments) if arguments.calculator.strip() else _evaluated(arguments)


def _evaluated(arguments: Calculation) -> ToolResult:
    wanted = _unit(arguments.unit)
    try:
        value = evaluate(arguments.expression, _values(arguments.inputs), unit=wanted)
    except (ArithmeticRefused, WrongDimension) as refused:
        raise ToolError(f"calculator: {refused}", code="arithmetic") from refused
    unit = arguments.unit.strip()
    value = _rounded(value)
    shown = str(value).lower() if isinstance(value, bool) else f"{value:.{DIGITS}g} {unit}".strip()
    return ToolResult(text=shown, data=codec.encode(Outcome(value=value, unit=unit)).decode())


def _rounded(value: float) -> float:
    return value if isinstance(value, bool) else float(f"{value:.{DIGITS}g}")


def _named(arguments: Calculation) -> ToolResult:
    found = CALCULATORS.get(arguments.calculator.strip())
    if found is None:
        near = get_close_matches(arguments.calculator.lower(), CALCULATORS, n=3)
        known = f"near: {', '.join(near)}" if near else f"there are {', '.join(CALCULATORS)}"
        raise ToolError(f"calculator: no calculator has this name; {known}", code="calculator")
    given = tuple(Given(one.name, one.value, one.unit) for one in arguments.inputs)
    try:
        computed = compute(found, given, assume_absent=arguments.assume_absent)
    except Refused as refused:
        raise ToolError(f"calculator: {refused.text}", code=refused.code) from refused
    return _told(found.name, _in_unit(computed, arguments.unit))


def _in_unit(computed: Computed, wanted: str) -> Computed:
    """The result in the unit asked for; dates and scores have none."""
    unit = _unit(wanted)
    if unit is None:
        return computed
    try:
        own = parse_unit(computed.unit or "{score}")
        low, high = convert(computed.low, own, unit), convert(computed.high, own, unit)
    except WrongDimension as error:
        raise ToolError(f"calculator: {error}", code="unit") from error
    text = " to ".join(dict.fromkeys(format_value(value, unit) for value in (low, high)))
    return msgspec.structs.replace(computed, low=low, high=high, unit=unit.name, text=text)


def _told(name: str, computed: Computed) -> ToolResult:
    """One line for the model, everything for the record."""
    said = [f"{name}: {computed.text}" + (f" ({computed.band})" if computed.band else "")]
    said += [f"missing: {', '.join(computed.missing)}"] if computed.missing else []
    said += [f"assumed absent or normal: {', '.join(computed.assumed)}"] if computed.assumed else []
    said += [f"warning: {warning}" for warning in computed.warnings]
    low, high = _rounded(computed.low), _rounded(computed.high)
    outcome = NamedOutcome(
        calculator=computed.calculator,
        version=computed.version,
        value=low if low == high else None,
        low=low,
        high=high,
        unit=computed.unit,
        band=computed.band,
        formula=computed.formula,
        substituted=computed.substituted,
        warnings=computed.warnings,
        missing=computed.missing,
        assumed=computed.assumed,
        citation=computed.citation,
    )
    return ToolResult(text="; ".join(said), data=codec.encode(outcome).decode())


def _values(inputs: tuple[Input, ...]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for given in inputs:
        if given.name in values:
            raise ToolError(f"calculator: the name {given.name} is given twice", code="arguments")
        if isinstance(given.value, bool | str):
            raise ToolError(f"calculator: {given.name} is no number", code="arguments")
        unit = _unit(given.unit)
        values[given.name] = given.value if unit is None else Quantity(given.value, unit)
    return values


def _unit(text: str) -> Unit | None:
    if not text.strip():
        return None
    try:
        return parse_unit(text)
    except UnknownUnit as unknown:
        raise ToolError(f"calculator: {unknown}", code="unit") from unknown
