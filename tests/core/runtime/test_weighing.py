"""The arithmetic of weighing against hand calculations."""

from __future__ import annotations

import math

import msgspec
import pytest

from core.domain.condition import Applies, Condition
from core.domain.evidence import Finding, Gap, Quantity
from core.retrieval.knowledge import packaged
from core.runtime import gaps, weighing
from core.runtime.ledger import Ledger, Patient
from tests.helpers.clues import KNOWLEDGE, WEIGHTS, SmallKnowledge, clue, condition, finding, ledger


def test_score_is_the_published_formula() -> None:
    """S = (3 + 2 - 0.75 - 2) / sqrt(1 + 3 + 2 + 2 + 1 + 2), by hand 2.25 / sqrt(11)."""
    c = condition(
        "a",
        clue("WR:h", "hallmark"),
        clue("WR:t1", "typical"),
        clue("WR:t2", "typical"),
        clue("WR:o", "occasional"),
        clue("WR:x", "against"),
    )
    found = ledger(finding("WR:h"), finding("WR:t1"), finding("WR:t2", "absent"), finding("WR:x"))
    assert weighing.weigh(c, found, WEIGHTS).structural == pytest.approx(2.25 / math.sqrt(11), abs=1e-12)


@pytest.mark.parametrize(
    ("strength", "polarity", "expected"),
    [
        ("hallmark", "present", 3.0),
        ("typical", "present", 2.0),
        ("occasional", "present", 1.0),
        ("against", "present", -2.0),
        ("excludes", "present", -6.0),
        ("hallmark", "absent", -1.5),
        ("typical", "absent", -0.75),
        ("occasional", "absent", 0.0),
        ("against", "absent", 0.0),
    ],
)
def test_each_strength_counts_as_published(strength: str, polarity: str, expected: float) -> None:
    c = condition("a", clue("WR:h", strength))
    assert weighing.weigh(c, ledger(finding("WR:h", polarity)), WEIGHTS).weights[0].contribution == expected


def test_unknown_counts_nothing_but_is_in_the_denominator() -> None:
    known = condition("a", clue("WR:t", "typical"))
    more = condition("b", clue("WR:t", "typical"), clue("WR:u", "typical"))
    found = ledger(finding("WR:t"))
    assert weighing.weigh(known, found, WEIGHTS).structural == pytest.approx(2 / math.sqrt(3))
    assert weighing.weigh(more, found, WEIGHTS).structural == pytest.approx(2 / math.sqrt(5))


def test_only_present_current_and_of_the_patient_counts_as_has() -> None:
    c = condition("a", clue("WR:h", "hallmark"))
    for more in ({"polarity": "possible"}, {"time": "past"}, {"who": "family"}, {"time": "future"}):
        found = ledger(msgspec.structs.replace(finding("WR:h"), **more))
        assert weighing.weigh(c, found, WEIGHTS).weights[0].standing.state == "unknown", more
    assert weighing.weigh(c, ledger(finding("WR:h")), WEIGHTS).weights[0].standing.state == "present"


def test_a_specific_finding_counts_for_the_general_clue_and_a_general_denial_for_the_specific() -> None:
    general, special = (
        condition("a", clue("WR:leg-swelling", "typical")),
        condition("b", clue("WR:left-leg-swelling", "typical")),
    )
    present = ledger(finding("WR:left-leg-swelling"))
    denied = ledger(finding("WR:leg-swelling", "absent"))
    only_left_denied = ledger(finding("WR:left-leg-swelling", "absent"))
    assert weighing.weigh(general, present, WEIGHTS).weights[0].standing.state == "present"
    assert weighing.weigh(special, denied, WEIGHTS).weights[0].standing.state == "absent"
    assert weighing.weigh(general, only_left_denied, WEIGHTS).weights[0].standing.state == "unknown"


def test_a_contradiction_counts_as_unknown_until_the_clinician_settles_it() -> None:
    both = [finding("WR:h"), finding("WR:h", "absent")]
    assert ledger(*both).standing("WR:h").state == "contradicted"
    answered = msgspec.structs.replace(finding("WR:h", "absent"), id="f9", extractor="clinician")
    assert ledger(*both, answered).standing("WR:h").state == "absent"


@pytest.mark.parametrize(
    ("rule", "patient", "expected"),
    [
        (Applies(sex="female"), Patient(sex="male"), False),
        (Applies(sex="female"), Patient(sex="female"), True),
        (Applies(sex="female"), Patient(), True),
        (Applies(age_min=40), Patient(age=39.9), False),
        (Applies(age_max=40), Patient(age=41), False),
        (Applies(age_min=40, age_max=60), Patient(age=50), True),
        (Applies(pregnancy=True), Patient(pregnant=False), False),
    ],
)
def test_a_clue_concerns_only_whom_it_says(rule: Applies, patient: Patient, expected: bool) -> None:
    assert weighing.applies(rule, patient) is expected


def test_the_clinicians_word_settles_what_follows_for_general_ones_too() -> None:
    """Documents: left calf swollen, and no leg swelling. Answer: the left calf is not swollen."""
    both = [finding("WR:left-leg-swelling"), finding("WR:leg-swelling", "absent")]
    assert ledger(*both).standing("WR:left-leg-swelling").state == "contradicted"
    answered = finding("WR:left-leg-swelling", "absent", id="f9", extractor="clinician")
    settled = ledger(*both, answered)
    assert settled.standing("WR:left-leg-swelling").state == "absent"
    assert settled.standing("WR:leg-swelling").state == "absent"


def test_an_allergy_is_no_drug_taken() -> None:
    assert ledger(finding("WR:penicillin", extractor="allergy")).standing("WR:penicillin").state == "unknown"


def test_what_is_assumed_reaches_general_and_specific_concepts() -> None:
    plain = ledger()
    swollen, not_swollen = plain.assume("WR:left-leg-swelling", "present"), plain.assume("WR:leg-swelling", "absent")
    assert swollen.standing("WR:leg-swelling").state == "present"
    assert not_swollen.standing("WR:left-leg-swelling").state == "absent"
    assert plain.assume("WR:left-leg-swelling", "absent").standing("WR:leg-swelling").state == "unknown"
    assert plain.standing("WR:leg-swelling").state == "unknown"


def test_candidates_need_a_hallmark_or_two_others() -> None:
    one_typical = condition("one", clue("WR:t", "typical"), clue("WR:u", "typical"))
    hallmark = condition("hall", clue("WR:h", "hallmark"))
    two = condition("two", clue("WR:t", "typical"), clue("WR:h", "occasional"))
    found = ledger(finding("WR:t"), finding("WR:h"))
    names = [
        s.condition.slug
        for s in weighing.candidates((one_typical, hallmark, two), found, WEIGHTS, retrieval={}, raised={})
    ]
    assert sorted(names) == ["hall", "two"]


def test_at_most_eleven_named_candidates_and_raised_ones_are_kept() -> None:
    many = tuple(condition(f"c{i:02d}", clue("WR:h", "hallmark")) for i in range(20))
    weak = condition("weak", clue("WR:z", "typical"))
    chosen = weighing.candidates(
        (*many, weak), ledger(finding("WR:h")), WEIGHTS, retrieval={}, raised={"weak": ("f1",)}
    )
    assert len(chosen) == WEIGHTS.candidates - 1
    assert "weak" in {s.condition.slug for s in chosen}


def test_shares_are_a_softmax_with_something_else_at_zero() -> None:
    """By hand: logits 1.6/0.8 + 0.35*1 = 2.35 and 0; shares 1/(1+e^-2.35)."""
    scored = msgspec.structs.replace(weighing.weigh(condition("a"), ledger(), WEIGHTS), structural=1.6)
    shares = weighing.shares((scored,), {"a": 1.0}, tau=0.8, beta=0.35)
    assert shares["a"] == pytest.approx(1 / (1 + math.exp(-2.35)), abs=1e-12)
    assert math.fsum(shares.values()) == pytest.approx(1.0)


def test_an_excluding_finding_takes_the_condition_out() -> None:
    c = condition("a", clue("WR:h", "hallmark"), clue("WR:x", "excludes"))
    scored = weighing.weigh(c, ledger(finding("WR:h"), finding("WR:x")), WEIGHTS)
    assert scored.excluded is not None
    assert "a" not in weighing.shares((scored,), {}, tau=0.8, beta=0.0)


def test_too_little_is_said_to_be_too_little() -> None:
    c = condition("a", clue("WR:t", "typical"), clue("WR:u", "typical"), clue("WR:v", "typical"))
    one = weighing.weigh(c, ledger(finding("WR:t")), WEIGHTS)
    three = weighing.weigh(c, ledger(finding("WR:t"), finding("WR:u"), finding("WR:v")), WEIGHTS)
    assert "only one finding" in weighing.insufficient((one,), weighing.informative((one,)), WEIGHTS)
    assert weighing.insufficient((three,), weighing.informative((three,)), WEIGHTS) == ""


def test_entropy_in_bits() -> None:
    assert weighing.entropy({"a": 0.5, "b": 0.25, "c": 0.25}) == pytest.approx(1.5)


def frame(*conditions: Condition, findings: tuple[Finding, ...] = ()) -> gaps.Frame:
    found = ledger(*findings)
    scored = tuple(weighing.weigh(c, found, WEIGHTS) for c in conditions)
    return gaps.Frame(scored=scored, ledger=found, weights=WEIGHTS, model={}, beta=0.0)


def test_the_clue_that_separates_is_worth_more_than_the_one_all_share() -> None:
    a = condition("a", clue("WR:shared", "typical"), clue("WR:only-a", "typical"))
    b = condition("b", clue("WR:shared", "typical"), clue("WR:only-b", "occasional"))
    worth = {gap.concept: gap.value_bits for gap in gaps.missing(frame(a, b), KNOWLEDGE, closed=frozenset())}
    assert worth["WR:only-a"] > worth["WR:shared"] >= 0


def test_value_of_information_is_the_expected_drop_of_entropy() -> None:
    """Recomputed here from the definition, with a score and a softmax written out."""
    a, b = condition("a", clue("WR:h", "hallmark")), condition("b")
    gap = gaps.missing(frame(a, b), KNOWLEDGE, closed=frozenset())[0]

    def bits(score: float) -> float:
        powers = [math.exp(score / 0.8), 1.0, 1.0]
        return -sum(p / sum(powers) * math.log2(p / sum(powers)) for p in powers)

    size = math.sqrt(4)
    expected = bits(0.0) - 0.5 * (bits(3 / size) + bits(-1.5 / size))
    assert gap.value_bits == pytest.approx(max(0.0, expected), abs=1e-4)


def test_questions_are_at_most_three_critical_first_and_never_a_test() -> None:
    a = condition(
        "a",
        clue("WR:h1", "typical"),
        clue("WR:h2", "hallmark"),
        clue("WR:h3", "typical", critical=True),
        clue("WR:h4", "typical", obtain="examination"),
        clue("WR:lab", "hallmark", obtain="laboratory", critical=True),
    )
    found = gaps.missing(frame(a, condition("b")), KNOWLEDGE, closed=frozenset())
    question = gaps.question((), found, KNOWLEDGE)
    assert question is not None
    asked = [gap.concept for gap in question.gaps]
    assert len(asked) == 3 and asked[0] == "WR:h3" and "WR:lab" not in asked
    assert [test.concepts for test in gaps.next_tests(found, {"a": "A", "b": "B"}, KNOWLEDGE)] == [("WR:lab",)]


def test_of_a_finding_and_its_kind_only_one_is_asked() -> None:
    a = condition("a", clue("WR:leg-swelling", "typical"), clue("WR:left-leg-swelling", "typical", critical=True))
    found = gaps.missing(frame(a, condition("b")), KNOWLEDGE, closed=frozenset())
    question = gaps.question((), found, KNOWLEDGE)
    assert question is not None
    assert [gap.concept for gap in question.gaps] == ["WR:left-leg-swelling"]


def test_why_a_gap_matters_agrees_with_the_bands() -> None:
    """A typical clue of 6 lifts "a" from 0 to 2 / sqrt(13) = 0.555: below the least score, so it cannot lead."""
    clues = [clue(f"WR:t{number}", "typical") for number in range(6)]
    view = frame(condition("a", *clues), condition("b", clue("WR:u", "typical")), findings=(finding("WR:u"),))
    gap = next(g for g in gaps.missing(view, KNOWLEDGE, closed=frozenset()) if g.concept == "WR:t0")
    after = view.what_if("WR:t0", "present")
    assert after.scored[0].structural == pytest.approx(2 / math.sqrt(13))
    assert (view.outcome().band("a", WEIGHTS), after.band("a", WEIGHTS)) == ("unlikely", "possible")
    assert gap.why == "if present, A would move from unlikely to possible"


def test_with_nothing_known_no_band_is_spoken_of() -> None:
    a = condition("a", clue("WR:h", "hallmark"), clue("WR:t", "typical"))
    found = gaps.missing(frame(a, condition("b")), KNOWLEDGE, closed=frozenset())
    assert [gap.why for gap in found] == ["if present, that would speak for A"] * 2


KINDS = SmallKnowledge({"WR:sudden-dyspnoea": ("WR:dyspnoea",), "WR:productive-cough": ("WR:cough",)})


def weighed(c: Condition, *findings: Finding) -> weighing.Scored:
    return weighing.weigh(c, Ledger(findings, KINDS, Patient()), WEIGHTS)


def test_one_finding_is_not_two_clues_and_the_general_one_stays_listed() -> None:
    """Sudden dyspnoea: 2 / sqrt(1 + 2 + 2), once; neither a candidate nor enough."""
    c = condition("a", clue("WR:dyspnoea", "typical"), clue("WR:sudden-dyspnoea", "typical"))
    one = weighed(c, finding("WR:sudden-dyspnoea"))
    assert one.structural == pytest.approx(2 / math.sqrt(5))
    assert [(w.clue.concept, w.contribution, w.within) for w in one.weights] == [
        ("WR:dyspnoea", 0.0, "WR:sudden-dyspnoea"),
        ("WR:sudden-dyspnoea", 2.0, ""),
    ]
    assert not weighing.touched(one) and weighing.informative((one,)) == 1


def test_of_a_general_and_a_special_clue_the_stronger_counts() -> None:
    c = condition("a", clue("WR:cough", "hallmark"), clue("WR:productive-cough", "occasional"))
    assert [w.contribution for w in weighed(c, finding("WR:productive-cough")).weights] == [3.0, 0.0]


def test_said_twice_in_general_and_special_words_is_one_finding_across_conditions() -> None:
    a, b = condition("a", clue("WR:cough", "typical")), condition("b", clue("WR:productive-cough", "typical"))
    both = finding("WR:cough"), finding("WR:productive-cough")
    assert weighing.informative([weighed(a, *both), weighed(b, *both)]) == 1
    assert weighing.informative([weighed(a, *both, finding("WR:dyspnoea")), weighed(b, *both)]) == 1


def test_one_finding_that_matches_two_typical_clues_is_too_little() -> None:
    known = SmallKnowledge({"WR:f": ("WR:t", "WR:u")})
    c = condition("a", clue("WR:t", "typical"), clue("WR:u", "typical"), clue("WR:v", "occasional"))
    scored = weighing.weigh(c, Ledger((finding("WR:f"), finding("WR:v")), known, Patient()), WEIGHTS)
    assert scored.present("typical") == 1 and weighing.touched(scored)
    assert "two typical findings" in weighing.insufficient((scored,), 3, WEIGHTS)


def test_what_nothing_supports_and_nobody_raises_is_not_better_than_unlikely() -> None:
    searched = weighing.weigh(condition("a", clue("WR:t", "typical")), ledger(), WEIGHTS, retrieval=1.0)
    raised = msgspec.structs.replace(searched, raised_by=("f1",))
    assert weighing.band_of(searched, 0.5, 0.5, WEIGHTS) == "unlikely"
    assert weighing.band_of(raised, 0.5, 0.5, WEIGHTS) == "possible"


def measured(concept: str, polarity: str = "present") -> tuple[Finding, Finding]:
    number = finding("VS:temperature", quantity="temperature", value=Quantity(39.5, "Cel"))
    return number, finding(concept, polarity, extractor="derived-1", inputs=(number.id,))


def test_a_number_outweighs_a_word_and_the_word_is_kept() -> None:
    word = finding("WR:fever", "absent")
    standing = ledger(*measured("WR:fever"), word).standing("WR:fever")
    assert (standing.state, standing.against, standing.disputed) == ("present", (word.id,), True)


def test_the_clinicians_word_on_a_special_form_settles_the_denial_of_the_general_one() -> None:
    both = [finding("WR:left-leg-swelling"), finding("WR:leg-swelling", "absent")]
    settled = ledger(*both, finding("WR:left-leg-swelling", id="f9", extractor="clinician"))
    assert settled.standing("WR:leg-swelling").state == "present"
    general = ledger(*both, finding("WR:leg-swelling", "absent", id="f9", extractor="clinician"))
    assert general.standing("WR:left-leg-swelling").state == "absent"


def test_one_test_that_shows_two_things_is_one_row() -> None:
    labs = {"WR:raised-d-dimer": "d_dimer:high", "WR:normal-d-dimer": "d_dimer:normal"}
    known = SmallKnowledge(labs=labs)
    a = condition(
        "a",
        clue("WR:raised-d-dimer", "typical", obtain="laboratory"),
        clue("WR:st-elevation", "typical", obtain="ecg"),
        clue("WR:consolidation", "occasional", obtain="imaging"),
        clue("WR:normal-chest-film", "occasional", obtain="imaging"),
    )
    b = condition(
        "b",
        clue("WR:normal-d-dimer", "typical", obtain="laboratory"),
        clue("WR:t-wave-inversion", "typical", obtain="ecg", critical=True),
    )
    found = gaps.missing(frame(a, b), known, closed=frozenset())
    tests = gaps.next_tests(found, {"a": "A", "b": "B"}, known)
    assert [test.name for test in tests][0] == "12-lead ECG"
    assert {test.name for test in tests} == {"12-lead ECG", "D-dimer", "Imaging for consolidation", "Chest film"}
    dimer = next(test for test in tests if test.name == "D-dimer")
    assert set(dimer.concepts) == set(labs) and set(dimer.separates) == {"A", "B"}


def test_a_test_has_the_name_of_a_test_and_stands_once() -> None:
    """Over the whole starter set: no sign as a test, no criteria, no doubles."""
    known = packaged()
    names = set()
    for file in known.conditions:
        for row in (row for row in file.clues if row.obtain not in gaps.ASKABLE):
            entry = known.concept(row.concept)
            assert entry is not None
            gap = Gap(concept=row.concept, name=entry.name, obtain=row.obtain, why="if present, x", separates=("a",))
            (test,) = gaps.next_tests((gap,), {}, known)
            names.add(test.name)
    assert {"Troponin", "Creatinine", "Spirometry", "12-lead ECG"} <= names
    no_test = ("criteria", "rise or fall", "obstruction", "reversib", "eGFR", "acidosis", "casts", "sliding", "cytosis")
    assert not [name for name in names if any(word in name for word in no_test)]
    assert len({name.lower() for name in names}) == len(names)


def test_what_was_asked_is_not_asked_again() -> None:
    a = condition("a", clue("WR:h1", "typical"), clue("WR:h2", "typical"))
    found = gaps.missing(frame(a), KNOWLEDGE, closed=frozenset({"WR:h1"}))
    assert [gap.concept for gap in found] == ["WR:h2"]
