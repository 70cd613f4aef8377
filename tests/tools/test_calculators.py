"""The library as a whole: its records, what is unknown, what is refused, what is said.

A score is always answered as an interval while an item is missing, and the interval holds every way to fill it.
"""

from __future__ import annotations

import json
import random
import re

import msgspec
import pytest

from core.domain.action import CallTool, ToolResult
from core.domain.arithmetic import names
from core.domain.units import parse_unit
from core.errors import ToolError
from core.runtime.registry import ToolContext
from tests.helpers.calculations import calculated, given
from tests.helpers.runs import CASE
from tools.calculator import calculator
from tools.calculators import CALCULATORS
from tools.calculators.evaluation import compute
from tools.calculators.reading import Given, Refused
from tools.calculators.record import Calculator, Input

SCORES = [each for each in CALCULATORS.values() if each.output.shape == "score"]
REFERENCE = re.compile(r"(19|20)\d\d|NBK\d+")


def named(name: str, text: str, **more: object) -> ToolResult:
    inputs = [msgspec.structs.asdict(one) for one in given(text)]
    arguments = json.dumps({"calculator": name, "inputs": inputs, **more})
    return calculator.bind(ToolContext(case=CASE)).call(CallTool(tool="calculator", arguments=arguments))


# ------------------------------------------------------------------------------------------------------- records


def test_there_are_fifty_five() -> None:
    assert len(CALCULATORS) == 55


@pytest.mark.parametrize("each", CALCULATORS.values(), ids=lambda each: each.id)
def test_a_record_is_whole(each: Calculator) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]+", each.id)
    assert each.use.endswith(".")
    assert each.avoid.endswith(".")
    assert REFERENCE.search(each.citation.text)
    assert each.citation.status == "unreviewed"
    words = {word for one in each.inputs for word in one.options} | {"yes", "no"}
    known = {one.name for one in each.inputs} | {one.name for one in each.derived} | words
    texts = [case for part in (*each.derived, *each.terms) for case in part.cases]
    conditions = [
        *(case.condition for case in texts),
        *(b.condition for b in each.bands),
        *(g.condition for g in each.guards),
    ]
    for text in [*(case.value for case in texts), *conditions]:
        assert not text or names(text) <= known | {"value"}, text
    assert len(each.inputs) == len({one.name for one in each.inputs}) <= 32
    assert not words & {one.name for one in each.inputs}
    for one in each.inputs:
        parse_unit(one.unit or "{score}")
        if one.plausible and one.possible:
            assert one.possible.low <= one.plausible.low < one.plausible.high <= one.possible.high


# ------------------------------------------------------------------------------------------------------- unknown


def _some_value(wanted: Input, draw: random.Random) -> Given:
    if wanted.options:
        return Given(wanted.name, draw.choice(wanted.options))
    assert wanted.plausible
    return Given(wanted.name, draw.uniform(wanted.plausible.low, wanted.plausible.high), wanted.unit)


@pytest.mark.parametrize("each", SCORES, ids=lambda each: each.id)
def test_missing_items_leave_an_interval_that_holds_every_way_to_fill_them(each: Calculator) -> None:
    draw = random.Random(each.id)
    whole = tuple(_some_value(one, draw) for one in each.inputs)
    needed = tuple(one for one, wanted in zip(whole, each.inputs, strict=True) if wanted.required)
    start = needed or whole[:1]
    empty = compute(each, start)
    assert empty.low < empty.high
    assert set(empty.missing) >= {one.name for one in each.inputs if not one.required and one.default is None} - {
        one.name for one in start
    }
    assert each.output.range.low <= empty.low
    assert empty.high <= each.output.range.high
    for _ in range(3):
        filled = compute(
            each, (*start, *(_some_value(o, draw) for o in each.inputs if o.name not in {s.name for s in start}))
        )
        assert filled.missing == ()
        assert empty.low <= filled.low == filled.high <= empty.high
    absent = compute(each, start, assume_absent=True)
    assert empty.low <= absent.low == absent.high <= empty.high
    assert absent.missing == ()
    assert set(absent.assumed) >= set(empty.missing)


@pytest.mark.parametrize(
    ("name", "text", "low", "high", "missing"),
    [
        ("cha2ds2_vasc", "age 70 a; sex female", 2, 8, 7),  # 1 + 1 for age and sex; open are four of 1 and three for 2
        ("wells_dvt", "cancer yes", -1, 9, 10),  # the item of -2 points counts in the lower end
        (
            "wells_pe",
            "previous_pe yes; heart_rate 90 /min",
            1.5,
            11,
            6,
        ),  # one of both is enough: previous_dvt is not missing
        ("curb65", "age 70 a; diastolic 55 mmHg", 2, 5, 3),  # the systolic pressure changes nothing
        (
            "heart",
            "age 70 a; history slight; ecg normal; troponin normal; smoking yes; diabetes yes; obesity yes",
            4,
            4,
            0,
        ),
        (
            "sofa",
            "platelets 200 10*9/L; bilirubin 1 mg/dL; gcs 15; creatinine 1 mg/dL; urine_output 900 mL/day",
            0,
            8,
            11,
        ),
        (
            "sirs",
            "temperature 37 Cel; heart_rate 80 /min; respiratory_rate 25 /min; white_cells 8 10*9/L; bands no",
            1,
            1,
            0,
        ),
    ],
)
def test_intervals_by_hand(name: str, text: str, low: float, high: float, missing: int) -> None:
    found = calculated(name, text)
    assert (found.low, found.high, len(found.missing)) == (low, high, missing)
    assert found.text == (f"{low:g} to {high:g}" if low < high else f"{low:g}")


def test_a_formula_with_an_unknown_finding_is_an_interval_too() -> None:
    text = "age 55 a; sex male; cholesterol 213 mg/dL; hdl 50 mg/dL; systolic 120 mmHg"
    found = calculated("framingham_hard_chd", text)
    ways = [
        calculated("framingham_hard_chd", f"{text}; smoker {s}; treated {t}").low
        for s in ("yes", "no")
        for t in ("yes", "no")
    ]
    assert (found.low, found.high) == (min(ways), max(ways))
    assert found.missing == ("treated", "smoker")
    assert found.band == "low risk to intermediate risk"


# ------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("name", "text", "code", "words"),
    [
        ("anion_gap", "sodium 140 mmol/L; chloride 100 mmol/L", "missing", "needs bicarbonate"),
        ("feverpain", "", "missing", "feverpain needs a value"),
        (
            "cockcroft_gault",
            "age 50 a; sex male; weight 70 kg; weight_rule by_bmi; creatinine 1 mg/dL",
            "missing",
            "height",
        ),
        (
            "anion_gap",
            "sodium 140 mg/dL; chloride 100 mmol/L; bicarbonate 24 mmol/L",
            "unit",
            "not a unit of this quantity",
        ),
        ("anion_gap", "sodium 140; chloride 100 mmol/L; bicarbonate 24 mmol/L", "unit", "unit of sodium is missing"),
        ("centor_mcisaac", "age 20 a; temperature 37 degrees celsisus", "unit", "unknown unit"),
        ("sirs", "white_cells 9000 /m^3", "unit", "unknown unit"),
        ("corrected_calcium", "calcium 8 mg/dL; albumin 17.1 g/dL", "impossible", "0.2 to 8 g/dL"),
        ("body_mass_index", "weight 70 kg; height 1.75 cm", "impossible", "height 1.75 cm is impossible"),
        ("fib4", "age 50 a; ast 40 U/L; alt yes; platelets 200 10*9/L", "number", "alt is a number in U/L"),
        ("fib4", "age 50 a; ast 40 U/L; alt nan U/L; platelets 200 10*9/L", "number", "alt is a number"),
        ("child_pugh", "ascites tense", "option", "none, slight, moderate"),
        ("cha2ds2_vasc", "age 70 a; sex yes", "option", "male, female"),
        ("due_date", "last_period 2023-02-29", "date", "2026-11-30"),
        ("due_date", "last_period 1023-02-27", "impossible", "1900 to 2100"),
        ("gestational_age", "last_period 2024-01-02; today 2024-01-01", "out of scope", "before the last period"),
        (
            "ldl_friedewald",
            "cholesterol 300 mg/dL; hdl 40 mg/dL; triglycerides 401 mg/dL",
            "out of scope",
            "measure LDL",
        ),
        (
            "delta_ratio",
            "sodium 140 mmol/L; chloride 100 mmol/L; bicarbonate 24 mmol/L",
            "not defined",
            "division by zero",
        ),
        ("feverpain", "fever yes; fever no", "given twice", "twice"),
        ("feverpain", "colour yes", "unknown input", "it reads fever, purulence"),
    ],
)
def test_refusals(name: str, text: str, code: str, words: str) -> None:
    with pytest.raises(Refused, match=words) as refused:
        calculated(name, text)
    assert refused.value.code == code
    with pytest.raises(ToolError, match="^calculator: ") as told:
        named(name, text)
    assert told.value.code in {code, "bad_args"}  # what is no number of JSON is refused before it is read


def test_what_is_unusual_is_computed_with_a_warning() -> None:
    found = calculated("body_mass_index", "weight 300 kg; height 180 cm")
    assert found.warnings == ("Weight 300 kg is unusual (expected 2 to 250 kg): check the value and its unit",)
    assert calculated("body_mass_index", "weight 250 kg; height 180 cm").warnings == ()
    assert "made for adults" in calculated("mdrd", "age 17 a; sex male; creatinine 1 mg/dL").warnings[-1]
    assert (
        "outside"
        in calculated("free_water_deficit", "age 40 a; sex male; weight 240 kg; sodium 190 mmol/L").warnings[-1]
    )


# ----------------------------------------------------------------------------------------------- said by the tool


def test_the_result_carries_formula_and_substituted_values() -> None:
    data = json.loads(named("anion_gap", "sodium 140 mmol/L; chloride 100 mmol/L; bicarbonate 10 mmol/L").data)
    assert data["value"] == 30
    assert data["unit"] == "mmol/L"
    assert data["formula"] == "sodium - chloride - bicarbonate"
    assert data["substituted"] == "140 mmol/L - 100 mmol/L - 10 mmol/L"
    assert "Emmett" in data["citation"]
    due = json.loads(named("due_date", "last_period 2023-01-01").data)
    assert due["substituted"] == "2023-01-01 + 280 + (28 days - 28)"
    assert due["assumed"] == ["cycle"]


def test_a_score_says_what_is_missing() -> None:
    result = named("feverpain", "fever yes; purulence no; attend_rapidly yes")
    assert result.text == "FeverPAIN: 2 to 4; missing: inflamed, no_cough"
    data = json.loads(result.data)
    assert (data["value"], data["low"], data["high"]) == (None, 2, 4)
    assert data["substituted"] == (
        "Fever in the last 24 hours 1 + Onset 3 days ago or less 1 + Severely inflamed tonsils 0 to 1 + "
        "No cough or coryza 0 to 1"
    )
    assumed = named("feverpain", "fever yes", assume_absent=True)
    assert assumed.text == "FeverPAIN: 1; assumed absent or normal: purulence, attend_rapidly, inflamed, no_cough"


def test_the_unit_asked_for() -> None:
    text = "cholesterol 200 mg/dL; hdl 50 mg/dL; triglycerides 150 mg/dL"
    assert named("ldl_friedewald", text, unit="g/L").text == "LDL cholesterol (Friedewald): 1.2 g/L"
    with pytest.raises(ToolError, match="wrong dimension"):
        named("ldl_friedewald", text, unit="kg")
    with pytest.raises(ToolError, match="wrong dimension"):
        named("feverpain", "fever yes", unit="mmol/L")


def test_an_unknown_calculator_is_answered_with_names() -> None:
    with pytest.raises(ToolError, match="near: cha2ds2_vasc"):
        named("chads_vasc", "age 50 a")
    with pytest.raises(ToolError, match="there are cockcroft_gault, .*gestational_age"):
        named("qqq", "")
    with pytest.raises(ToolError, match="either an expression or the name"):
        named("feverpain", "fever yes", expression="1 + 1")
    with pytest.raises(ToolError, match="either an expression or the name"):
        named("", "")


def test_truth_values_of_json_are_yes_and_no() -> None:
    arguments = json.dumps(
        {"calculator": "wells_pe", "inputs": [{"name": "cancer", "value": True}], "assume_absent": True}
    )
    result = calculator.bind(ToolContext(case=CASE)).call(CallTool(tool="calculator", arguments=arguments))
    assert json.loads(result.data)["value"] == 1
    arguments = json.dumps({"expression": "a + 1", "inputs": [{"name": "a", "value": True}]})
    with pytest.raises(ToolError, match="a is no number"):
        calculator.bind(ToolContext(case=CASE)).call(CallTool(tool="calculator", arguments=arguments))
