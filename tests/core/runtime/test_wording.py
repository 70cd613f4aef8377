"""Findings as phrases: value, range, polarity, time and whose they are are never lost on the way."""

from __future__ import annotations

import pytest

from core.domain.evidence import Answer, Finding, Quantity
from core.runtime import wording
from tests.helpers.clues import clue, finding
from tests.helpers.workup import known

K = finding("LAB:potassium", name="Potassium", quantity="potassium", value=Quantity(6.2, "mmol/L"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "Potassium 6.2 mmol/L"),
        ({"abnormal": "high", "reference_range": "3.5-5.3"}, "Potassium 6.2 mmol/L (high; reference 3.5-5.3)"),
        ({"change": 1.1}, "Potassium 6.2 mmol/L (up 1.1 mmol/L since the value before)"),
        ({"change": -1.1}, "Potassium 6.2 mmol/L (down 1.1 mmol/L since the value before)"),
        ({"change": 0.0}, "Potassium 6.2 mmol/L (no change since the value before)"),
        ({"time": "past"}, "Potassium 6.2 mmol/L (in the past)"),
        ({"value": Quantity(6.2, "flagons")}, "Potassium 6.2 flagons"),
        ({"note": "implausible as written"}, "Potassium 6.2 mmol/L (implausible as written)"),
    ],
)
def test_a_measurement_keeps_all_that_qualifies_it(changes: dict[str, object], text: str) -> None:
    assert wording.statement(finding("LAB:potassium", **{**_fields(K), **changes})) == text


def _fields(of: Finding) -> dict[str, object]:
    return {"name": of.name, "quantity": of.quantity, "value": of.value}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "Chest pain"),
        ({"polarity": "absent"}, "No chest pain"),
        ({"polarity": "possible"}, "Possible chest pain"),
        ({"who": "family"}, "Chest pain (in the family)"),
        ({"polarity": "absent", "time": "past"}, "No chest pain (in the past)"),
        ({"time": "future"}, "Chest pain (as a possibility ahead)"),
        ({"formula": "age 70 years"}, "Chest pain (computed: age 70 years)"),
    ],
)
def test_a_concept_keeps_polarity_time_and_person(changes: dict[str, object], text: str) -> None:
    assert wording.statement(finding("WR:chest-pain", **{"name": "Chest pain", **changes})) == text


def test_a_stopped_drug_with_its_dose_is_not_said_to_be_taken() -> None:
    dose = {"name": "Ramipril", "value": Quantity(5.0, "mg")}
    assert wording.statement(finding("WR:ramipril", "absent", **dose)) == "No ramipril 5 mg"
    assert wording.statement(finding("WR:ramipril", time="past", **dose)) == "Ramipril 5 mg (in the past)"


def test_an_allergy_is_no_drug() -> None:
    allergy = finding("WR:penicillin", name="Penicillin", extractor="allergy")
    assert wording.statement(allergy) == "Allergy recorded: Penicillin"
    assert wording.problems([allergy], []) == ()


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("Raised CRP", "raised CRP"),
        ("CRP", "CRP"),
        ("T-wave inversion", "T-wave inversion"),
        ("pH", "pH"),
        ("African or Caribbean ancestry", "African or Caribbean ancestry"),
        ("Kussmaul breathing", "Kussmaul breathing"),
    ],
)
def test_names_inside_a_phrase(name: str, inside: str) -> None:
    assert wording.lowered(name) == inside


def test_the_problem_list_holds_what_is_present_and_abnormal_what_matters_first() -> None:
    found = [
        finding("WR:cough", name="Cough"),
        finding("WR:fever", "absent", name="Fever"),
        finding("WR:asthma", name="Asthma", who="family"),
        finding(
            "LAB:k", name="Potassium", quantity="potassium", value=Quantity(6.2, "mmol/L"), abnormal="high", id="k"
        ),
        finding("LAB:na", name="Sodium", quantity="sodium", value=Quantity(140.0, "mmol/L"), abnormal="normal"),
        finding("WR:ramipril", name="Ramipril", value=Quantity(5.0, "mg")),
    ]
    assert wording.problems(found, ["k"]) == ("potassium 6.2 mmol/L (high)", "cough", "ramipril")
    many = [finding(f"WR:x{n}", name=f"Sign {n:02d}") for n in range(40)]
    assert len(wording.problems(many, [])) == wording.MOST_PROBLEMS


def test_answers_are_read_back() -> None:
    assert wording.read_back(Answer(concept="WR:fever", state="absent"), "Fever") == "Fever: absent"
    answered = Answer(concept="WR:fever", state="present", value=Quantity(38.9, "Cel"), text="since Monday")
    assert wording.read_back(answered, "Fever") == "Fever: present 38.9 °C (“since Monday”)"


@pytest.mark.parametrize(
    ("words", "text"), [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_lists_in_words(words: tuple[str, ...], text: str) -> None:
    assert wording.joined(words) == text


def test_a_disease_asked_for_in_the_history_is_a_known_one() -> None:
    asthma = known().concept("WR:asthma")
    assert wording.clue_name(asthma, clue("WR:asthma", "typical")) == "Known asthma"
    assert wording.clue_name(asthma, clue("WR:asthma", "typical", obtain="examination")) == "Asthma"
    assert wording.clue_name(None, clue("WR:x", "typical")) == "WR:x"
