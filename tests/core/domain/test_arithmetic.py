"""The arithmetic language, against exact fractions and 40-digit decimals worked out beside each text."""

import datetime
import itertools
import random
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest

from core.domain.arithmetic import ArithmeticRefused, concepts, evaluate, holds, names
from core.domain.units import Quantity, parse_unit

NAMES = {"creatinine": Fraction(5, 4), "age": Fraction(71), "weight_kg": Fraction(163, 2), "x_1": Fraction(-3, 8)}
VALUES = {name: float(value) for name, value in NAMES.items()}

# A grown expression: its text, its exact value, and the largest size met on the way (rounding errors scale with it).
Grown = tuple[str, Fraction, Fraction]


def leaf(draw: random.Random) -> Grown:
    if draw.random() < 0.25:
        name = draw.choice(sorted(NAMES))
        return name, NAMES[name], abs(NAMES[name])
    text = draw.choice([f"{draw.randint(1, 400)}", f"{draw.uniform(0.1, 50):.3f}", f"{draw.randint(1, 99)}e-1"])
    return text, Fraction(text), abs(Fraction(text))


def grow(draw: random.Random, depth: int) -> Grown:
    if depth == 0 or draw.random() < 0.15:
        return leaf(draw)
    rule = draw.choice([grow_sum, grow_product, grow_call, grow_power, grow_choice, grow_sign])
    return rule(draw, depth - 1)


def grow_sum(draw: random.Random, depth: int) -> Grown:
    (a, x, big), (b, y, huge) = grow(draw, depth), grow(draw, depth)
    sign = draw.choice("+-")
    value = x + y if sign == "+" else x - y
    return f"({a} {sign} {b})", value, max(big, huge, abs(value))


def grow_product(draw: random.Random, depth: int) -> Grown:
    (a, x, big), (b, y, _) = grow(draw, depth), leaf(draw)
    sign = draw.choice("*/")
    value = x * y if sign == "*" else x / y
    scale = abs(y) if sign == "*" else 1 / abs(y)
    return f"({a}{sign}{b})", value, max(big * scale, big)


def grow_call(draw: random.Random, depth: int) -> Grown:
    (a, x, big), (b, y, huge) = grow(draw, depth), grow(draw, depth)
    function = draw.choice(["min", "max", "abs"])
    if function == "abs":
        return f"abs({a})", abs(x), big
    return f"{function}({a}, {b})", min(x, y) if function == "min" else max(x, y), max(big, huge)


def grow_power(draw: random.Random, depth: int) -> Grown:
    a, x, big = leaf(draw)
    exponent = draw.randint(0, 3)
    return f"({a} {draw.choice(['^', '**'])} {exponent})", x**exponent, max(big, big**exponent)


def grow_choice(draw: random.Random, depth: int) -> Grown:
    (a, x, big), (b, y, huge) = grow(draw, depth), grow(draw, depth)
    (left, p, _), (right, q, _) = leaf(draw), leaf(draw)
    sign = draw.choice(["<", "<=", ">", ">=", "==", "!="])
    outcome = {"<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q, "==": p == q, "!=": p != q}[sign]
    return f"({a} if {left} {sign} {right} else {b})", x if outcome else y, max(big, huge)


def grow_sign(draw: random.Random, depth: int) -> Grown:
    a, x, big = grow(draw, depth)
    return f"-{a}", -x, big


def test_two_hundred_grown_expressions_are_right() -> None:
    draw = random.Random(2026)
    right = 0
    while right < 200:
        text, exact, largest = grow(draw, 3)
        if len(text) > 400 or largest > 10**12:
            continue
        assert abs(Fraction(evaluate(text, VALUES)) - exact) <= Fraction(1, 10**12) * max(1, largest), text
        right += 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7.0), ("(1 + 2) * 3", 9.0), ("2 ^ 3 ^ 2", 512.0), ("2 ** -1", 0.5), ("-2 ^ 2", -4.0),
        ("(-2) ^ 2", 4.0), ("8 - 3 - 2", 3.0), ("64 / 4 / 2", 8.0), ("--3", 3.0), ("+-+3", -3.0), ("1e3 + .5", 1000.5),
        ("mod(-7, 3)", 2.0), ("floor(-0.5)", -1.0), ("ceil(1.2)", 2.0), ("round(7.345, 1)", 7.3), ("round(2.5)", 2.0),
        ("round(1234, -2)", 1200.0), ("log(8, 2)", 3.0), ("log10(1000)", 3.0), ("exp(0)", 1.0), ("sqrt(2.25)", 1.5),
        ("max(1, 2 if 3 > 2 else 5, 1.5)", 2.0), ("1 if 1 > 2 else 2 if 2 > 3 else 3", 3.0), ("6/min(2, 3)", 3.0),
        ("abs(-4.5)", 4.5), ("70 * 10%", 7.0), ("50% + 10%", 60.0), ("7% * 100", 7.0), ("3 g / 500 mg", 6.0),
        ("140 mmol/L - 4 mmol/L - 24 mmol/L", 112.0), ("1 kg + 500 g", 1.5), ("4 h * 50 mL/h", 200.0),
        ("days(2024-02-01, 2024-03-01)", 29.0), ("days(2025-03-01, 2025-02-01) / 7", -4.0), ("150 x10^9/L", 150.0),
        ("38.5 °C - 37 Cel", 1.5), ("sqrt(4 m2)", 2.0), ("5 in * 2", 10.0), ("(2 m) ^ 2 + 1 m2", 5.0),
    ],
)  # fmt: skip
def test_expression_by_hand(text: str, expected: float) -> None:
    assert evaluate(text, {}) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("sqrt({x})", Decimal.sqrt), ("ln({x})", Decimal.ln), ("log10({x})", Decimal.log10), ("exp({x} / 50)",
         lambda x: (x / 50).exp()), ("{x} ^ 0.5", Decimal.sqrt), ("{x} ^ (1/3)", lambda x: (x.ln() / 3).exp()),
        ("log({x}, 7)", lambda x: x.ln() / Decimal(7).ln()), ("142 * {x} ^ -1.2", lambda x: 142 * (x.ln() *
         Decimal("-1.2")).exp()),
    ],
)  # fmt: skip
def test_functions_against_decimals(text: str, exact: Callable[[Decimal], Decimal]) -> None:
    getcontext().prec = 40
    draw = random.Random(text)
    for _ in range(15):
        x = f"{draw.uniform(1.1, 900):.4f}"
        assert evaluate(text.format(x=x), {}) == pytest.approx(float(exact(Decimal(x))), rel=1e-12)


PATIENT = {
    "weight": Quantity(70.0, parse_unit("kg")),
    "height": Quantity(175.0, parse_unit("cm")),
    "temperature": Quantity(38.0, parse_unit("Cel")),
    "fio2": Quantity(40.0, parse_unit("%")),
    "po2": Quantity(8.0, parse_unit("kPa")),
    "potassium": Quantity(6.7, parse_unit("mmol/L")),
    "d_dimer": Quantity(600.0, parse_unit("ng/mL FEU")),
    "lmp": datetime.date(2026, 1, 1),
    "points": 3.0,
}


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("weight / height ^ 2", "kg/m2", 70 / 1.75**2), ("15 mg/kg * weight", "g", 1.05),
        ("1.05 g / 15 mg/kg", "kg", 70),
        ("5 ug/kg/min * weight * 1 h", "mg", 21), ("po2 / fio2", "kPa", 20), ("po2", "mmHg", 60.00493),
        ("temperature", "degF", 100.4), ("5 mL * 2 mg/L", "mg", 0.01), ("500 mg / 250 mL", "mg/mL", 2),
        ("fio2 + 5", "{fraction}", 0.45), ("points * 2", "{score}", 6), ("1 / 4", "%", 25),
        ("sqrt(weight * 4 kg)", "g", 16733.2005), ("days(lmp, 2026-01-15)", "wk", 2),
    ],
)  # fmt: skip
def test_result_in_the_unit_asked_for(text: str, unit: str, expected: float) -> None:
    assert evaluate(text, PATIENT, unit=parse_unit(unit)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("potassium >= 6.5", True), ("potassium >= 6.7 mmol/L", True), ("potassium > 6700 umol/L", False),
        ("temperature >= 100.4 [degF]", True), ("temperature < 310 K", False), ("fio2 < 0.5 {fraction}", True),
        ("0.3 / 0.2 >= 1.5", True), ("0.1 + 0.2 == 0.3", True), ("0.1 + 0.2 > 0.3", False), ("points != 4", True),
        ("d_dimer > 500", True), ("d_dimer > 0.5 mg/L FEU", True), ("3 <= 2", False), ("2 <= 2", True),
    ],
)  # fmt: skip
def test_comparison(text: str, truth: bool) -> None:
    assert evaluate(text, PATIENT) is truth


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("1 + albumin", "unknown name", 4), ("weight + height", "wrong dimension", 7), ("potassium > 6 mg/dL",
         "wrong dimension", 10), ("points + weight", "wrong dimension", 7), ("ln(weight)", "wrong dimension", 0),
        ("d_dimer > 500 ng/mL DDU", "wrong dimension", 8), ("temperature - 2 K", "wrong dimension", 12),
        ("temperature * weight", "wrong dimension", 12), ("sqrt(weight)", "wrong dimension", 0), ("2 ^ weight",
         "wrong dimension", 2), ("5 mmoll", "unknown unit", 2), ("10*9/L", "incomplete", 0), ("lmp + 1", "date", 0),
        ("days(points, lmp)", "date", 5), ("days(2026-13-01, lmp)", "date", 5), ("2026-01-01", "date", 0),
        ("days(1, 2)", "date", 5), ("7 % 3", "modulo", 2), ("7%3", "modulo", 2), ("weight % 3", "modulo", 7),
        ("7 // 2", "floor division", 2), ("1,000 * 2", "thousands comma", 0), ("max(1,200, 3)", "thousands comma", 4),
        ("1 < 2 < 3", "chained comparison", 6), ("2 + (1 < 2)", "not a number", 7), ("1 if 2 else 3",
         "not a truth value", 5), ("1 / 0", "division by zero", 2), ("mod(1, 0)", "division by zero", 0),
        ("0 ^ -1", "division by zero", 2), ("(-8) ^ 0.5", "not real", 5), ("sqrt(-1)", "not real", 0), ("ln(0)",
         "not real", 0), ("log(2, 1)", "division by zero", 0), ("9e14 * 2", "too large", 5),
        ("exp(800)", "not finite", 0),
        ("2 ^ 17", "exponent", 2), ("round(1, 16)", "places", 0), ("round(1, 0.5)", "places", 0),
        ("1 +", "incomplete", 3),
        ("1 2", "syntax", 2), ("sqrt(1, 2)", "arguments", 0), ("min()", "arguments", 0), ("sqrt + 1", "syntax", 0),
        ("1 < 2 and 2 < 3", "logic outside a rule", 6), ('has("WR:x")', "logic outside a rule", 0),
    ],
)  # fmt: skip
def test_refusal_names_code_and_place(text: str, code: str, position: int) -> None:
    with pytest.raises(ArithmeticRefused) as refused:
        evaluate(text, PATIENT)
    assert (refused.value.code, refused.value.position) == (code, position)


@pytest.mark.parametrize(("text", "unit"), [("1050 mg / 70 kg", "mg/kg"), ("weight", "cm"), ("2 * 3", "mmol/L")])
def test_result_of_another_dimension_is_refused(text: str, unit: str) -> None:
    with pytest.raises(ArithmeticRefused) as refused:
        evaluate(text, PATIENT, unit=parse_unit(unit))
    assert refused.value.code == "wrong dimension"


def test_a_value_that_is_not_finite_is_refused() -> None:
    for bad in (float("nan"), float("inf"), Quantity(float("nan"), parse_unit("kg"))):
        with pytest.raises(ArithmeticRefused) as refused:
            evaluate("x > 1", {"x": bad})
        assert (refused.value.code, refused.value.position) == ("not finite", 0)


FOUND = {"WR:nsaid": True, "WR:asthma": False, "WR:copd": None}
WHAMMY = 'has("WR:nsaid") and (creatinine_ratio >= 1.5 or creatinine_rise_48h >= 26)'


@pytest.mark.parametrize(
    ("text", "values", "truth"),
    [
        (WHAMMY, {"creatinine_ratio": 1.6}, True), (WHAMMY, {"creatinine_ratio": 1.2}, None),
        (WHAMMY, {"creatinine_ratio": 1.2, "creatinine_rise_48h": 20.0}, False), (WHAMMY, {}, None),
        ('has("WR:asthma") and potassium > 5', {}, False), ('has("WR:nsaid") or potassium > 5', {}, True),
        ('has("WR:copd") or potassium > 5', {"potassium": 5.2}, True), ('not has("WR:copd")', {}, None),
        ('not has("WR:asthma") and not potassium > 5', {"potassium": 4.0}, True), ("potassium * 0 > 1", {}, None),
        ("max(potassium, 7) > 5", {}, None), ("potassium > (6 if age > 65 else 6)", {"potassium": 6.5}, True),
        ("potassium > (6 if age > 65 else 7)", {"potassium": 6.5}, None),
        ('1 < 2 if has("WR:copd") else 3 < 4', {}, True),
    ],
)  # fmt: skip
def test_rule_where_not_everything_is_known(text: str, values: dict[str, float], truth: bool | None) -> None:
    assert holds(text, values, FOUND.get) is truth


def test_and_or_not_follow_the_tables_of_kleene() -> None:
    order = {False: 0, None: 1, True: 2}  # strong Kleene logic: and = minimum, or = maximum, not = mirror
    back = {rank: truth for truth, rank in order.items()}
    for a, b in itertools.product(order, order):
        found = {"WR:a": a, "WR:b": b}.get
        assert holds('has("WR:a") and has("WR:b")', {}, found) is back[min(order[a], order[b])]
        assert holds('has("WR:a") or has("WR:b")', {}, found) is back[max(order[a], order[b])]
        assert holds('not has("WR:a")', {}, found) is back[2 - order[a]]


def test_a_rule_binds_not_before_and_before_or() -> None:
    found = {"WR:t": True, "WR:f": False}.get
    assert holds('has("WR:t") or has("WR:f") and has("WR:f")', {}, found) is True
    assert holds('not has("WR:f") and has("WR:t")', {}, found) is True
    assert holds('not (has("WR:t") or has("WR:f"))', {}, found) is False


def test_evaluating_a_rule_needs_every_name() -> None:
    def has(concept: str) -> bool:
        return bool(FOUND[concept])

    assert evaluate(WHAMMY, {"creatinine_ratio": 1.6, "creatinine_rise_48h": 1.0}, has=has) is True
    with pytest.raises(ArithmeticRefused) as refused:
        evaluate(WHAMMY, {"creatinine_ratio": 1.6}, has=has)
    assert (refused.value.code, refused.value.position) == ("unknown name", WHAMMY.index("creatinine_rise_48h"))


@pytest.mark.parametrize(
    ("text", "code"),
    [("potassium + 1", "not a truth value"), ("potassium", "not a truth value"), ("has(WR)", "arguments"),
     ('has("nsaid")', "arguments"), ('has("WR:a", "WR:b")', "syntax"), ('"WR:a"', "string"),
     ("potassium and age", "not a truth value"), ("has", "syntax"), ('has("WR:a") + 1', "not a number")],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str, code: str) -> None:
    with pytest.raises(ArithmeticRefused) as refused:
        holds(text, {"potassium": 5.0, "age": 70.0}, FOUND.get)
    assert refused.value.code == code


def test_names_and_concepts_of_a_text() -> None:
    assert names(WHAMMY) == {"creatinine_ratio", "creatinine_rise_48h"}
    assert names("days(lmp, 2026-01-01) / 7 if weight > 5 kg else min(a_1, 3 a)") == {"lmp", "weight", "a_1"}
    assert concepts('has("WR:nsaid") and not has("WR:ace-inhibitor")') == {"WR:nsaid", "WR:ace-inhibitor"}


def test_limits_are_met_exactly() -> None:
    assert evaluate("+".join(["1"] * 50), {}) == 50.0  # 99 nodes
    assert evaluate("(" * 20 + "1" + ")" * 20, {}) == 1.0
    assert evaluate("-" * 8 + "1", {}) == 1.0
    assert evaluate("1" + " " * 399, {}) == 1.0
    assert evaluate("10 ^ 14.99", {}) == pytest.approx(9.7723722e14)
    for text, code in [
        ("+".join(["1"] * 51), "too many parts"),
        ("(" * 21 + "1" + ")" * 21, "too deep"),
        ("-" * 9 + "1", "sign run"),
        ("1" + " " * 400, "too long"),
        ("10 ^ 15", "too large"),
    ]:
        with pytest.raises(ArithmeticRefused) as refused:
            evaluate(text, {})
        assert refused.value.code == code
