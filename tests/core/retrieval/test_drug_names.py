"""Which drug a name means: the order of the ways to match, and that a doubtful name is no drug but near names."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from core.retrieval.drug_names import SIMILAR, DrugNames, Match
from core.retrieval.terms import norm
from core.store.knowledge_values import Named

ENTRIES = {
    "F:1": "Brelomycin", "F:2": "Quentaprine", "F:3": "Quentaprine acetate", "F:4": "Soluval chloride",
    "F:5": "Soluval bicarbonate", "F:6": "Tramivel hydrochloride", "F:7": "Tavorexin", "F:8": "Tavolexin",
    "G:1": "Brelomycin",
}  # fmt: skip
SYNONYMS = {"Brelox": "F:1", "Quentaprin-S": "F:2", "Brelomycin": "F:7", "Ghost": "W:1"}


@pytest.fixture(scope="module")
def names() -> DrugNames:
    named = [
        Named(concept=drug, vocab="F", kind="drug", text=text, norm=" ".join(norm(text)), type="exact")
        for text, drug in SYNONYMS.items()
    ]
    return DrugNames(named, ENTRIES)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ("brelomycin", Match("F:1", "Brelomycin", "exact")),  # the first entry of that name, not the one called so too
        ("BRELOX", Match("F:1", "Brelox", "synonym")),
        ("quentaprin s", Match("F:2", "Quentaprin-S", "synonym")),
        ("Breloxx", Match("F:1", "Brelox", "fuzzy")),
        ("Brel", Match("F:1", "Brelox", "prefix")),
        ("quentap", Match("F:2", "Quentaprine", "prefix")),  # the other name is a form of this one
        ("tramivel", Match("F:6", "Tramivel hydrochloride", "prefix")),
        ("brelomicin", Match("F:1", "Brelomycin", "fuzzy")),
        ("brelomycin 250 mg tablets", Match("F:1", "Brelomycin", "fuzzy")),
    ],
)
def test_the_order_of_the_ways_to_match(names: DrugNames, asked: str, match: Match) -> None:
    assert names.match(asked) == (match, ())


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("soluval", ("soluval bicarbonate", "soluval chloride")),  # begins two drugs
        ("tavoxexin", ("tavolexin", "tavorexin")),  # resembles two alike
    ],
)
def test_two_drugs_that_fit_alike_are_none(names: DrugNames, asked: str, near: tuple[str, ...]) -> None:
    assert names.match(asked) == (None, near)


def test_a_mere_part_of_a_name_is_not_near_it(names: DrugNames) -> None:
    assert fuzz.WRatio("hydrochloride", "tramivel hydrochloride") >= SIMILAR  # the ratio alone would take it
    match, near = names.match("hydrochloride")
    assert match is None and len(near) == 3


@pytest.mark.parametrize("asked", ["", "  ", "-", "bre", "\u4e2d", "ghost", "paracetamol"])
def test_what_is_not_there_is_no_drug(names: DrugNames, asked: str) -> None:
    match, near = names.match(asked)
    assert match is None and len(near) <= 3
