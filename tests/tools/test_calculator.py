"""The calculator against values computed by hand; what it cannot do is said to the model in one sentence."""

from __future__ import annotations

import json

import pytest

from core.domain.action import CallTool, ToolResult
from core.errors import ToolError
from core.runtime.registry import ToolContext
from tests.helpers.runs import CASE
from tools.calculator import calculator


def calculate(expression: str, unit: str = "", **inputs: tuple[float, str]) -> ToolResult:
    given = [{"name": name, "value": value, "unit": its} for name, (value, its) in inputs.items()]
    arguments = json.dumps({"expression": expression, "inputs": given, "unit": unit})
    return calculator.bind(ToolContext(case=CASE)).call(CallTool(tool="calculator", arguments=arguments))


@pytest.mark.parametrize(
    ("expression", "unit", "inputs", "text"),
    [
        ("2 + 3 * 4", "", {}, "14"),
        ("(2 + 3) * 4", "", {}, "20"),
        ("sodium - chloride - bicarbonate", "mmol/L", {"sodium": 140, "chloride": 100, "bicarbonate": 24}, "16 mmol/L"),
        ("max(3, 7, 5) - abs(-2)", "", {}, "5"),
        ("1 / 3", "", {}, "0.333333333333"),
        ("10 mg * 3", "g", {}, "0.03 g"),
        ("37 > 36.5", "", {}, "true"),
        ("1 == 2", "", {}, "false"),
    ],
)
def test_values(expression: str, unit: str, inputs: dict[str, float], text: str) -> None:
    given = {name: (float(value), unit) for name, value in inputs.items()}
    assert calculate(expression, unit, **given).text == text


def test_units_are_converted_into_the_one_asked_for() -> None:
    result = calculate("weight * 2 mg/kg", "g", weight=(70000.0, "g"))
    assert result.text == "0.14 g"
    assert json.loads(result.data) == {"unit": "g", "value": 0.14}


@pytest.mark.parametrize(
    ("expression", "unit", "code", "words"),
    [
        ("1 +", "", "arithmetic", "incomplete"),
        ("1 / 0", "", "arithmetic", "division by zero"),
        ("potassium + 1", "", "arithmetic", "unknown name"),
        ("1 mg + 1 mL", "", "arithmetic", "wrong dimension"),
        ("__import__('os')", "", "arithmetic", "at 0|unknown function|character|string"),
        ("1 mg", "furlong", "unit", "unknown unit"),
        ('has("asthma")', "", "arithmetic", "logic outside a rule"),
    ],
)
def test_refusals(expression: str, unit: str, code: str, words: str) -> None:
    with pytest.raises(ToolError, match=words) as refused:
        calculate(expression, unit)
    assert refused.value.code == code
    assert refused.value.text.startswith("calculator: ")


def test_a_name_may_be_given_once() -> None:
    given = [{"name": "a", "value": 1}, {"name": "a", "value": 2}]
    call = CallTool(tool="calculator", arguments=json.dumps({"expression": "a", "inputs": given}))
    with pytest.raises(ToolError, match="given twice"):
        calculator.bind(ToolContext(case=CASE)).call(call)
