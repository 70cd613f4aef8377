"""The calculator: a thin tool over the arithmetic language. It computes; it knows no case and no formula of its own."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.arithmetic import ArithmeticRefused, Value, evaluate
from core.domain.units import Quantity, Unit, UnknownUnit, WrongDimension, parse_unit
from core.errors import ToolError
from core.runtime.registry import ToolContext, tool

DIGITS = 12  # significant digits shown: what a double holds for certain after a few operations


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named value."""

    name: Annotated[str, msgspec.Meta(description="Lower-case name used in the expression.")]
    value: Annotated[float, msgspec.Meta(description="The number.")]
    unit: Annotated[str, msgspec.Meta(description="Its unit, as written in the case; empty: a plain number.")] = ""


class Calculation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of the calculator."""

    expression: Annotated[str, msgspec.Meta(description="What to compute, such as `sodium - chloride - 24 mmol/L`.")]
    inputs: Annotated[
        tuple[Input, ...], msgspec.Meta(max_length=32, description="Named values that the expression uses, at most 32.")
    ] = ()
    unit: Annotated[str, msgspec.Meta(description="Unit of the result; empty: that of the leftmost quantity.")] = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data`: a number with its unit, or a truth value."""

    value: float | bool
    unit: str


@tool(name="calculator", version="1")
def calculator(arguments: Calculation, context: ToolContext) -> ToolResult:
    """Compute a number or a comparison. Never calculate in your head: call this tool.

    `expression` may use + - * / ^, brackets, comparisons, `min max abs round sqrt exp ln log10`, numbers with units
    ("4.1 mmol/L") and the names in `inputs`. Units are converted; quantities of different kinds are refused. `unit`
    asks for the result in that unit. The answer is one line: the value and its unit, or "true" or "false".
    """
    del context  # what is computed depends on the arguments alone
    wanted = _unit(arguments.unit)
    try:
        value = evaluate(arguments.expression, _values(arguments.inputs), unit=wanted)
    except (ArithmeticRefused, WrongDimension) as refused:
        raise ToolError(f"calculator: {refused}", code="arithmetic") from refused
    unit = arguments.unit.strip()
    value = value if isinstance(value, bool) else float(f"{value:.{DIGITS}g}")
    shown = str(value).lower() if isinstance(value, bool) else f"{value:.{DIGITS}g} {unit}".strip()
    return ToolResult(text=shown, data=codec.encode(Outcome(value=value, unit=unit)).decode())


def _values(inputs: tuple[Input, ...]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for given in inputs:
        if given.name in values:
            raise ToolError(f"calculator: the name {given.name} is given twice", code="arguments")
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
