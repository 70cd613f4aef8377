"""What was known before today, and an infection beside the sepsis that it leads to, against hand calculations."""

from __future__ import annotations

import math

import pytest

from core.domain.case import Case
from core.domain.condition import Condition
from core.domain.evidence import Finding
from core.retrieval.knowledge import packaged
from core.runtime import findings as reading
from core.runtime import sources, weighing
from core.runtime.perception.known import KNOWN
from core.runtime.weighing import Scored
from tests.helpers.clues import WEIGHTS, clue, condition, finding, ledger
from tests.helpers.workup import note

SEPSIS = condition(
    "sepsis",
    clue("WR:infection-source", "typical"),
    clue("WR:fever", "typical"),
    clue("WR:confusion", "occasional"),
    clue("WR:lactate", "typical"),
    clue("WR:hypotension", "typical"),
    arises_from=("lung",),
    beyond_source=("WR:hypotension",),
)
LUNG = condition(
    "lung", clue("WR:consolidation", "hallmark"), clue("WR:fever", "typical"), clue("WR:confusion", "occasional")
)
SIZE = math.sqrt(1 + 2 + 2 + 1 + 2 + 2)  # of sepsis


def settled(*found: Finding, local: Condition = LUNG) -> dict[str, Scored]:
    known = ledger(*found)
    rows = [weighing.weigh(c, known, WEIGHTS) for c in (SEPSIS, local)]
    return {s.condition.slug: s for s in sources.settle(rows, known, WEIGHTS)}


def test_without_a_failing_circulation_the_source_has_the_findings_it_explains() -> None:
    """Source 2 and lactate 2 stay; fever 2 and confusion 1 are counted with the pneumonia."""
    found = settled(*map(finding, ("WR:consolidation", "WR:fever", "WR:confusion", "WR:lactate")))
    assert found["sepsis"].structural == pytest.approx(4 / SIZE)
    assert {w.clue.concept: w.within for w in found["sepsis"].weights if w.within} == {
        "WR:fever": "WR:lung",
        "WR:confusion": "WR:lung",
    }
    assert found["lung"].structural == pytest.approx(6 / math.sqrt(7))


def test_with_a_failing_circulation_sepsis_keeps_them_and_its_source() -> None:
    found = settled(*map(finding, ("WR:consolidation", "WR:fever", "WR:confusion", "WR:hypotension")))
    assert found["sepsis"].structural == pytest.approx((2 + 2 + 1 + 2) / SIZE)
    source = next(w for w in found["sepsis"].weights if w.clue.concept == "WR:infection-source")
    assert source.standing.findings == ("f-WR:consolidation-present",)


def test_what_has_no_finding_of_its_own_is_no_source() -> None:
    """Fever and confusion are of any infection; an infection that is excluded is none either."""
    alone = settled(finding("WR:fever"), finding("WR:confusion"))
    assert alone["sepsis"].structural == pytest.approx(3 / SIZE)
    local = condition("lung", *LUNG.clues, clue("WR:clear-film", "excludes"))
    excluded = settled(*map(finding, ("WR:consolidation", "WR:fever", "WR:clear-film")), local=local)
    assert excluded["sepsis"].structural == pytest.approx(2 / SIZE)


def test_the_shipped_sepsis_names_conditions_and_concepts_that_exist() -> None:
    known = packaged()
    sepsis = next(c for c in known.conditions if c.slug == "sepsis")
    assert sepsis.arises_from and set(sepsis.arises_from) <= {c.slug for c in known.conditions}
    assert all(known.concept(concept) for concept in (*sepsis.beyond_source, sources.SOURCE))


def test_a_disease_known_before_counts_against_itself_and_todays_findings_as_ever() -> None:
    """Own clue 2 becomes -2: (2 - 2) / sqrt(1 + 2 + 2), against (2 + 2) / sqrt(1 + 2 + 2) where it is new."""
    lung = condition("copd", clue("WR:copd", "typical"), clue("WR:wheeze", "typical"))
    before, wheeze = finding("WR:copd", note=KNOWN), finding("WR:wheeze")
    known = weighing.weigh(lung, ledger(before, wheeze), WEIGHTS)
    assert known.structural == pytest.approx(0.0)
    assert [(w.clue.strength, w.contribution) for w in known.weights] == [("typical", 2.0), ("against", -2.0)]
    new = weighing.weigh(lung, ledger(finding("WR:copd"), wheeze), WEIGHTS)
    assert new.structural == pytest.approx(4 / math.sqrt(5))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("PMH: COPD, hypertension.", "Chronic obstructive pulmonary disease", True),
        ("PMH: COPD, hypertension.", "Hypertension", True),
        ("Past medical history: gout. Asthma.", "Asthma", True),
        ("PMH: gout. Examination: asthma with wheeze.", "Asthma", False),
        ("Known heart failure, EF 35%.", "Heart failure", True),
        ("Known gout, presents with heart failure.", "Heart failure", False),
        ("Gout since 2012.", "Gout", True),
        ("Asthma for 12 years.", "Asthma", True),
        ("Asthmatic, breathless.", "Asthma", True),
        ("New heart failure.", "Heart failure", False),
        ("3 week history of cough.", "Cough", False),
        ("PMH: gout.\nHeart failure.", "Heart failure", False),
    ],
)
def test_what_is_told_as_known_before(text: str, name: str, expected: bool) -> None:
    case = Case(id="c", title="c", revision=1, created_at="2026-11-30T08:00:00", items=(note(text),))
    found = [f for f in reading.perceive(case, packaged()) if f.name == name]
    assert found and [f.note == KNOWN for f in found] == [expected]
