"""The safety rules that belong to no single condition: the closed list, their sources, and when each holds."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from importlib import resources
from typing import Any

import pytest

from core.domain.analyte_factors import MEASURED
from core.domain.arithmetic import concepts, holds, names
from core.domain.units import Quantity, parse_unit
from core.retrieval.sources.starter import packaged

# id, what is true at the threshold, what is just not: the thresholds of the closed list
THRESHOLDS = [
    ("critical-potassium-high", "potassium", 6.5, 6.4), ("critical-potassium-low", "potassium", 2.4, 2.5),
    ("critical-sodium-low", "sodium", 119, 120), ("critical-sodium-high", "sodium", 161, 160),
    ("critical-glucose-low", "glucose", 2.9, 3.0), ("critical-glucose-high", "glucose", 25.1, 25),
    ("critical-haemoglobin-low", "haemoglobin", 69, 70), ("critical-lactate-high", "lactate", 4.0, 3.9),
    ("critical-ph-low", "ph", 7.19, 7.20), ("critical-spo2-low", "spo2", 89, 90),
    ("critical-sbp-low", "systolic_bp", 89, 90), ("critical-gcs-low", "gcs", 8, 9),
    ("critical-platelets-low", "platelets", 19, 20), ("critical-neutrophils-low", "neutrophils", 0.4, 0.5),
]  # fmt: skip
# id, values, findings on record, whether the flag is due
CASES: list[tuple[str, dict[str, float], set[str], bool]] = [
    ("triple-whammy", {"creatinine_ratio": 1.5}, {"ibuprofen", "ramipril", "furosemide"}, True),
    ("triple-whammy", {"creatinine_rise_48h": 26}, {"naproxen", "losartan", "indapamide"}, True),
    ("triple-whammy", {"creatinine_ratio": 1.2, "creatinine_rise_48h": 9}, {"ibuprofen", "arb", "diuretic"}, False),
    ("triple-whammy", {"creatinine_ratio": 2.0}, {"ibuprofen", "ramipril"}, False),
    ("triple-whammy", {"creatinine_ratio": 2.0}, {"aspirin", "ramipril", "furosemide"}, False),
    ("metformin-egfr-below-30", {"egfr": 29}, {"metformin"}, True),
    ("metformin-egfr-below-30", {"egfr": 30}, {"metformin"}, False),
    ("metformin-egfr-below-30", {"egfr": 12}, {"gliclazide"}, False),
    ("anticoagulant-active-bleeding", {}, {"apixaban", "melaena"}, True),
    ("anticoagulant-active-bleeding", {}, {"apixaban", "anaemia"}, False),
    ("anticoagulant-active-bleeding", {}, {"clopidogrel", "melaena"}, False),
    ("beta-blocker-in-asthma", {}, {"propranolol", "asthma"}, True),
    ("beta-blocker-in-asthma", {}, {"bisoprolol", "asthma-exacerbation"}, True),
    ("beta-blocker-in-asthma", {}, {"bisoprolol", "copd"}, False),
    ("beta-blocker-in-asthma", {}, {"bisoprolol", "childhood-asthma"}, False),
    ("potassium-raising-drug", {"potassium": 5.5}, {"ramipril"}, True),
    ("potassium-raising-drug", {"potassium": 5.9}, {"co-trimoxazole"}, True),
    ("potassium-raising-drug", {"potassium": 5.9}, {"potassium-supplement"}, True),
    ("potassium-raising-drug", {"potassium": 5.4}, {"spironolactone"}, False),
    ("potassium-raising-drug", {"potassium": 6.0}, {"furosemide"}, False),
    ("anticholinergic-in-angle-closure", {}, {"amitriptyline", "acute-angle-closure"}, True),
    ("anticholinergic-in-angle-closure", {}, {"oxybutynin", "closed-angle"}, True),
    ("anticholinergic-in-angle-closure", {"iop_max": 52}, {"ipratropium", "mid-dilated-pupil"}, True),
    ("anticholinergic-in-angle-closure", {"iop_max": 28}, {"oxybutynin", "open-angle-glaucoma"}, False),
    ("anticholinergic-in-angle-closure", {"iop_max": 52}, {"latanoprost", "acute-angle-closure"}, False),
    ("nsaid-in-aki", {}, {"diclofenac", "aki-stage-2"}, True),
    ("nsaid-in-aki", {"aki_stage": 1}, {"naproxen"}, True),
    ("nsaid-in-aki", {"aki_stage": 0}, {"naproxen"}, False),
    ("nsaid-in-aki", {"aki_stage": 3}, {"paracetamol"}, False),
    ("topical-beta-blocker-in-airway-disease", {}, {"timolol", "asthma"}, True),
    ("topical-beta-blocker-in-airway-disease", {}, {"timolol", "copd-exacerbation"}, True),
    ("topical-beta-blocker-in-airway-disease", {}, {"latanoprost", "asthma"}, False),
    ("beta-blocker-in-asthma", {}, {"timolol", "asthma"}, False),
]  # fmt: skip
ORDERS = ("immediately", "emergency", "rule out", "safe to discharge")
STARTER = packaged()
PARENTS = {concept.id: concept.parents for concept in STARTER.concepts}
TABLE: dict[str, Any] = tomllib.loads((resources.files("core.retrieval.starter") / "safety.toml").read_text("utf-8"))
RULES = {row["id"]: row for row in TABLE["rule"]}


def _is_a(concept: str, wanted: str) -> bool:
    return concept == wanted or any(_is_a(parent, wanted) for parent in PARENTS[concept])


def _due(rule: str, values: dict[str, float], findings: Collection[str]) -> bool:
    known = {name: Quantity(float(value), parse_unit(MEASURED[name].unit)) for name, value in values.items()}
    present = [f"WR:{finding}" for finding in findings]
    assert set(present) <= set(PARENTS)
    return holds(RULES[rule]["when"], known, lambda wanted: any(_is_a(item, wanted) for item in present)) is True


def test_exactly_the_closed_list_is_there() -> None:
    assert set(RULES) == {row[0] for row in THRESHOLDS} | {row[0] for row in CASES}
    assert len(RULES) == len(TABLE["rule"]) == 22


def test_every_rule_names_a_source_known_concepts_and_known_quantities() -> None:
    keys = [source["key"] for source in TABLE["source"]]
    assert len(keys) == len(set(keys))
    assert {row["citation"] for row in RULES.values()} == set(keys)
    for row in RULES.values():
        assert concepts(row["when"]) <= set(PARENTS), row["id"]
        assert names(row["when"]) <= set(MEASURED), row["id"]
        assert row["severity"] in {"critical", "serious", "caution"}


def test_the_wording_states_and_never_orders() -> None:
    texts = [(row["id"], text) for row in RULES.values() for text in (row["flag"], row["action"])]
    assert [(rule, text) for rule, text in texts if any(word in text.casefold() for word in ORDERS)] == []
    assert [row["id"] for row in RULES.values() if not row["action"].startswith("A clinician would ")] == []


@pytest.mark.parametrize(("rule", "quantity", "met", "unmet"), THRESHOLDS)
def test_a_critical_value_counts_from_its_threshold(rule: str, quantity: str, met: float, unmet: float) -> None:
    assert _due(rule, {quantity: met}, ())
    assert not _due(rule, {quantity: unmet}, ())
    assert not _due(rule, {}, ())


@pytest.mark.parametrize(("rule", "values", "findings", "due"), CASES)
def test_a_drug_rule_holds_for_the_class_and_only_then(
    rule: str, values: dict[str, float], findings: set[str], due: bool
) -> None:
    assert _due(rule, values, sorted(findings)) is due
