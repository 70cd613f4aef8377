"""Answers as findings: the state as it was given, the words read like a note, the person as the source."""

from __future__ import annotations

import pytest

from core.domain.evidence import Answer, Finding, Quantity
from core.runtime import answers, findings
from core.runtime.ledger import CLINICIAN
from tests.helpers import workup

AT = workup.AT


def found(*given: Answer, known: tuple[Finding, ...] = ()) -> tuple[Finding, ...]:
    return answers.findings_of(given, known, workup.known(), at=AT)


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_plain_answer_is_one_finding_of_the_person(state: str) -> None:
    (finding,) = found(Answer(concept="WR:fever", state=state))  # type: ignore[arg-type]
    assert (finding.concept, finding.name, finding.polarity) == ("WR:fever", "Fever", state)
    assert (finding.provenance.kind, finding.extractor, finding.id) == ("clinician", CLINICIAN, "f1")


def test_not_obtainable_is_no_finding() -> None:
    assert found(Answer(concept="WR:fever", state="not obtainable")) == ()


def test_ids_go_on_after_the_known_ones_and_computed_findings_keep_their_inputs() -> None:
    known = findings.perceive(workup.case_of(workup.note("Cough.")), workup.known())
    fresh = found(Answer(concept="WR:dyspnoea", state="present", text="HR 124 now"), known=known)
    assert [finding.id for finding in fresh] == [f"f{len(known) + n}" for n in range(1, len(fresh) + 1)]
    rate = next(finding for finding in fresh if finding.quantity == "heart_rate")
    fast = next(finding for finding in fresh if finding.concept == "WR:tachycardia")
    assert fast.inputs == (rate.id,)


def test_the_state_goes_before_the_words() -> None:
    """ "Absent" with words that name the same thing: the choice counts."""
    fresh = found(Answer(concept="WR:fever", state="absent", text="fever only last month"))
    assert [f.polarity for f in fresh if f.concept == "WR:fever"] == ["absent"]


def test_one_answer_does_not_overrule_another() -> None:
    fresh = found(
        Answer(concept="WR:fever", state="present", text="no cough"),
        Answer(concept="WR:cough", state="present"),
    )
    assert [(f.concept, f.polarity) for f in fresh] == [("WR:fever", "present"), ("WR:cough", "present")]


@pytest.mark.parametrize("text", ["her mother had a cough", "had a cough in 2009", "possible cough if she lies down"])
def test_words_about_others_or_the_past_are_not_taken_for_the_patient_now(text: str) -> None:
    fresh = found(Answer(concept="WR:fever", state="present", text=text))
    assert not [f for f in fresh if f.concept == "WR:cough" and f.holds]


def test_a_value_keeps_its_unit_and_is_read_as_the_quantity_it_belongs_to() -> None:
    fresh = found(Answer(concept="WR:fever", state="present", value=Quantity(102.0, "[degF]")))
    (heat,) = [f for f in fresh if f.quantity == "temperature"]
    assert heat.value == Quantity(102.0, "[degF]")
    assert findings.quantities(fresh)["temperature"].value == Quantity(102.0, "[degF]")


def test_words_without_an_answer_are_heard_too() -> None:
    fresh = found(Answer(concept="WR:fever", state="not obtainable", text="has a productive cough"))
    assert [f.concept for f in fresh] == ["WR:productive-cough"]


def test_an_allergy_that_is_named_stays_an_allergy() -> None:
    fresh = found(Answer(concept="WR:fever", state="absent", text="allergic to penicillin"))
    allergy = next(f for f in fresh if f.concept == "WR:penicillin")
    assert allergy.extractor == "allergy"
