"""Hostile expressions for the arithmetic language: each refused for its own reason, in at most 5 ms.

BENIGN and HOSTILE go through the same fixture. The controls show that the attacks are real: the same texts succeed
when Python's own evaluator reads them, and when the depth limit is lifted.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain import arithmetic_parser
from core.domain.arithmetic import ArithmeticRefused, evaluate

Outcome = tuple[str, float | bool | str, float]
LIMIT_S = 0.005
VALUES = {"x": 2.0, "creatinine": 1.25}


@pytest.fixture
def attempt() -> Callable[[str], Outcome]:
    """What the language makes of a text: ("value", it) or ("refused", code), and the least time of three tries."""

    def run(text: str) -> Outcome:
        seconds: list[float] = []
        kind: str
        result: float | bool | str
        for _ in range(3):
            start = time.process_time()
            try:
                kind, result = "value", evaluate(text, VALUES)
            except ArithmeticRefused as refused:
                kind, result = "refused", refused.code
            seconds.append(time.process_time() - start)
        return kind, result, min(seconds)

    return run


BENIGN = [
    ("1 + 2 * 3", 7.0), ("x ^ 2 - 1", 3.0), ("2 ** 3", 8.0), ("(140 - 60) * 72 / (72 * x)", 40.0),
    ("max(1, x, 3)", 3.0),
    ("round(3.14159, 2)", 3.14), ("sqrt(16)", 4.0), ("1 if creatinine > 1.2 else 0", 1.0), ("x >= 2", True),
    ("70 kg * 10%", 7.0), ("5 mg/dL + 0.05 g/L", 10.0), ("days(2024-01-01, 2024-12-31)", 365.0), ("mod(7, 4)", 3.0),
    ("--------x", 2.0), ("((((((((((x))))))))))", 2.0), ("floor(7 / 2)", 3.0),
]  # fmt: skip

HOSTILE = [
    ("__import__('os').system('id')", "unknown function"),
    ("open('owned', 'w')", "unknown function"),
    ("eval('1')", "unknown function"),
    ("exec('x = 1')", "unknown function"),
    ("compile('1', '', 'eval')", "unknown function"),
    ("getattr(x, 'real')", "unknown function"),
    ("globals()", "unknown function"),
    ("breakpoint()", "unknown function"),
    ("exit()", "unknown function"),
    ("().__class__.__bases__", "syntax"),
    ("(1).__class__", "attribute"),
    ("x.__class__.__mro__", "attribute"),
    ("x.real", "attribute"),
    ("max.__self__", "syntax"),
    ("''.__class__", "string"),
    ("'a' * 1000000000", "string"),
    ('"a"', "string"),
    ("f'{x}'", "string"),
    ("'''", "string"),
    ('"unclosed', "string"),
    ("[1, 2, 3]", "index"),
    ("[0] * 1000000000", "index"),
    ("x[0]", "index"),
    ("[i for i in (1, 2)]", "index"),
    ("{1: 2}", "character"),
    ("{x}", "character"),
    ("lambda: 1", "character"),
    ("lambda y: y", "character"),
    ("(lambda y = 1)", "syntax"),
    ("x = 1", "assignment"),
    ("(x := 5)", "assignment"),
    ("max(x=1)", "assignment"),
    ("x; x", "character"),
    ("x\n; import os", "character"),
    ("import os", "syntax"),
    ("10 ** 10 ** 10", "exponent"),
    ("9 ^ 9 ^ 9 ^ 9", "exponent"),
    ("2 ^ 1000000", "exponent"),
    ("1e308 * 10", "not finite"),
    ("1e999", "not finite"),
    ("exp(1e6)", "not finite"),
    ("1e15", "too large"),
    ("1e14 * 1e14 ^ 0.5", "too large"),
    ("(0 - 1) ^ 0.5", "not real"),
    ("sqrt(-1)", "not real"),
    ("1j * 1j", "unknown unit"),
    ("1 / 0", "division by zero"),
    ("0 ^ -1", "division by zero"),
    ("round(1, 1000000000)", "places"),
    ("1 // 0", "floor division"),
    ("5 % 0", "modulo"),
    ("'%s' % x", "string"),
    ("x << 1000000000", "syntax"),
    ("~x", "character"),
    ("x & 1", "character"),
    ("x @ x", "character"),
    ("1,000 * 2", "thousands comma"),
    ("1, 2", "syntax"),
    ("*x", "syntax"),
    ("x if x else x", "not a truth value"),
    ("1 < 2 < 3", "chained comparison"),
    ("not x", "logic outside a rule"),
    ("x or 1", "logic outside a rule"),
    ("has('WR:a')", "logic outside a rule"),
    ("True", "unknown name"),
    ("__builtins__", "unknown name"),
    ("ｘ + 1", "character"),
    ("x\u200b", "character"),
    ("\x00", "character"),
    ("٣ + 1", "character"),
    ("x # comment", "character"),
    ("x \\\n + 1", "character"),
    ("`x`", "character"),
    ("0x41", "unknown unit"),
    ("1_000", "unknown unit"),
    ("007", "leading zero"),
    ("5 mg mg", "unknown unit"),
    ("(" * 199 + "1" + ")" * 199, "too deep"),
    ("(" * 400, "too deep"),
    ("sqrt(" * 60 + "4" + ")" * 60, "too deep"),
    ("2^" * 60 + "1", "too deep"),
    ("-" * 399 + "1", "sign run"),
    ("1" + "+1" * 199, "too many parts"),
    ("1 a/" * 99 + "1 a", "too many parts"),
    ("min(" + "1, " * 120 + "1)", "too many parts"),
    ("1" * 401, "too long"),
    ("x" * 1_000_000, "too long"),
    ("1" * 400, "not finite"),
    ("x" * 400, "unknown name"),
    ("", "empty"),
    (" \t\n", "empty"),
    (")", "syntax"),
    ("1 +", "incomplete"),
]


@pytest.mark.parametrize(("text", "expected"), BENIGN)
def test_benign_expression_has_its_value(attempt: Callable[[str], Outcome], text: str, expected: float | bool) -> None:
    kind, result, seconds = attempt(text)
    assert (kind, result) == ("value", expected)
    assert seconds <= LIMIT_S


@pytest.mark.parametrize(("text", "code"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_expression_is_refused_for_its_reason(attempt: Callable[[str], Outcome], text: str, code: str) -> None:
    kind, result, seconds = attempt(text)
    assert (kind, result) == ("refused", code)
    assert seconds <= LIMIT_S


@pytest.mark.parametrize("text", [None, 5, b"1 + 1", ["1"], {"a": 1}])
def test_what_is_no_text_is_refused(attempt: Callable[[object], Outcome], text: object) -> None:
    assert attempt(text)[:2] == ("refused", "not text")


def test_random_strings_meet_no_other_exception() -> None:
    draw = random.Random(622)
    signs = "0123456789.,+-*/^%()<>=!&|[]{}'\"_ x:;#°µ²⁹\n"
    words = ["**", "//", "<=", "has(", "and ", "not ", "min(", "days(", "2024-01-01", "mg/dL", "10*9/L", "1e9", "mmHg"]
    pieces = [*signs, *words, "x", "round(", "K/uL", " if ", " else "]
    slowest = 0.0
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 90)))
        start = time.process_time()
        try:
            evaluate(text, VALUES, has=(lambda concept: True) if draw.random() < 0.5 else None)
        except ArithmeticRefused as refused:
            assert 0 <= refused.position <= len(text)
        slowest = max(slowest, time.process_time() - start)
    assert slowest <= 0.02


def test_control_the_interpreter_itself_obeys_the_same_texts(
    attempt: Callable[[str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write, climb, grow = "open('owned', 'w').close()", "().__class__.__base__", "'a' * 1000000"
    assert [attempt(text)[0] for text in (write, climb, grow)] == ["refused"] * 3
    assert not Path("owned").exists()
    eval(write)  # noqa: S307 - the defence off, in a scratch folder
    assert Path("owned").exists()
    assert eval(climb) is object  # noqa: S307
    assert len(eval(grow)) == 1_000_000  # noqa: S307


def test_control_without_the_depth_limit_the_stack_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic_parser, "DEEPEST", 10_000)
    with pytest.raises(RecursionError):
        evaluate("(" * 199 + "1" + ")" * 199, VALUES)
