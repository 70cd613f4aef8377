"""Published cut-offs: met where the numbers say so, in any unit, and only for whom they are about."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.evidence import Finding, Quantity
from core.domain.passage import Fact
from core.runtime import criteria
from core.runtime.evidence_book import EvidenceBook
from core.runtime.ledger import Patient
from tests.helpers.clues import condition, finding

FACT = Fact(
    id="k", quantity="potassium", population="adults", comparator=">=", unit="mmol/L", kind="diagnostic",
    statement="Hyperkalaemia is a potassium of 5.5 mmol/L or more.", citation="x", low=5.5,
)  # fmt: skip


def value(number: float, unit: str = "mmol/L", **more: object) -> Finding:
    return finding("LAB:k", name="Potassium", quantity="potassium", value=Quantity(number, unit), id="f1", **more)


@pytest.mark.parametrize(
    ("comparator", "low", "high", "number", "met"),
    [
        (">=", 5.5, None, 5.5, True),
        (">", 5.5, None, 5.5, False),
        ("<", None, 5.5, 5.4, True),
        ("<=", None, 5.5, 5.6, False),
        ("=", 5.5, None, 5.5, True),
        ("between", 5.0, 5.5, 5.5, True),
        ("between", 5.0, 5.5, 5.6, False),
        (">=", None, None, 5.5, None),
    ],
)
def test_comparisons(comparator: str, low: float | None, high: float | None, number: float, met: bool | None) -> None:
    fact = msgspec.structs.replace(FACT, comparator=comparator, low=low, high=high)
    assert criteria.met(fact, value(number)) is met


def test_a_value_is_compared_in_the_unit_of_the_fact() -> None:
    """354 umol/L of creatinine are 4.0 mg/dL (88.42 umol/L each)."""
    fact = msgspec.structs.replace(FACT, quantity="creatinine", unit="umol/L", low=354.0)
    assert criteria.met(fact, value(4.1, "mg/dL")) is True
    assert criteria.met(fact, value(3.9, "mg/dL")) is False
    assert criteria.met(fact, value(6.0, "flagons")) is None
    assert criteria.met(fact, value(400.0, "umol/L", note="implausible as written")) is None


@pytest.mark.parametrize(
    ("population", "age", "sex", "concerned"),
    [
        ("adults", 90, "male", True),
        ("men of 40 years or more", 39, "male", False),
        ("men of 40 years or more", 40, "male", True),
        ("men of 40 years or more", 60, "female", False),
        ("men younger than 40 years", 39, "", True),
        ("women", None, "female", True),
        ("women", None, "male", False),
        ("adults from 50 to 75 years with acute breathlessness", 76, "", False),
        ("adults from 50 to 75 years with acute breathlessness", 75, "", True),
        ("adults up to 50 years whose probability is not high", 51, "", False),
        ("adults above 75 years", None, "", True),
    ],
)
def test_whom_a_fact_is_about(population: str, age: float | None, sex: str, concerned: bool) -> None:
    assert criteria.concerns(population, Patient(age=age, sex=sex)) is concerned


def test_what_was_measured_is_compared_and_what_was_not_is_named_once() -> None:
    other = msgspec.structs.replace(FACT, id="na", quantity="sodium", statement="Sodium.")
    named = msgspec.structs.replace(FACT, id="w", quantity="Wells score", statement="Wells.")
    file = condition("a", facts=(FACT, other, named))
    book = EvidenceBook([value(6.1)])
    measured = list(criteria.measured(file, {"potassium": value(6.1)}, Patient(), book))
    unmeasured = list(criteria.unmeasured(file, {"potassium": value(6.1)}, Patient(), book))
    assert [sentence.text for sentence in measured] == [
        "Hyperkalaemia is a potassium of 5.5 mmol/L or more. Here potassium is 6.1 mmol/L: cut-off met."
    ]
    assert measured[0].evidence == ("e1", "e2")
    assert [s.text for s in unmeasured] == ["A: published cut-offs exist for sodium, not found in this case."]


def test_the_population_is_said_where_the_statement_does_not() -> None:
    fact = msgspec.structs.replace(FACT, population="adults on dialysis")
    (sentence,) = criteria.measured(
        condition("a", facts=(fact,)), {"potassium": value(5.0)}, Patient(), EvidenceBook([value(5.0)])
    )
    assert sentence.text.endswith("cut-off not met (stated for adults on dialysis).")
