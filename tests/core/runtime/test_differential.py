"""The differential as it is shown: order, "something else", cells, what the notes raise, what the search finds."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.condition import Condition
from core.domain.evidence import Finding
from core.domain.hypothesis import Differential
from core.domain.passage import Concept
from core.domain.ports import Found, Query
from core.runtime import differential
from core.runtime.differential import View
from core.runtime.evidence_book import EvidenceBook
from core.runtime.ledger import Patient
from core.runtime.ranking import ModelRank
from core.runtime.weighing import SOMETHING_ELSE
from tests.helpers.clues import WEIGHTS, SmallKnowledge, clue, condition, finding
from tests.helpers.runs import OneHit

NOTHING = Found(hits=(), passages=(), path="", fingerprint="")
A = condition("a", clue("WR:h", "hallmark"), clue("WR:t", "typical"), clue("WR:x", "against"))
B = condition("b", clue("WR:t", "typical"), clue("WR:o", "occasional"), clue("WR:z", "excludes"))


class Diseases(SmallKnowledge):
    """Every condition's own concept is a disease."""

    def concept(self, identifier: str) -> Concept | None:
        known = super().concept(identifier)
        own = {file.concept for file in self.conditions}
        return msgspec.structs.replace(known, kind="disease") if known and identifier in own else known


def seen(
    *found: Finding, conditions: tuple[Condition, ...] = (A, B), search: Found = NOTHING, rank: ModelRank | None = None
) -> tuple[View, Differential, SmallKnowledge]:
    known = Diseases(conditions=conditions)
    ledger, scored = differential.candidates(found, search, known, patient=Patient(), weights=WEIGHTS)
    view = differential.view(ledger, scored, known, rank=rank, beta=0.35, weights=WEIGHTS, closed=frozenset())
    return view, differential.differential(view, known, EvidenceBook(found), WEIGHTS), known


def test_something_else_is_always_one_of_them_and_never_leads() -> None:
    _, shown, _ = seen(finding("WR:h"), finding("WR:t"))
    other = next(h for h in shown.hypotheses if h.slug == SOMETHING_ELSE)
    assert other.band != "leading" and 0 < other.share < 1
    assert sum(h.share for h in shown.hypotheses) == pytest.approx(1.0, abs=1e-3)


def test_with_nothing_to_go_by_something_else_does_not_lead_either() -> None:
    _, shown, _ = seen()
    assert not shown.sufficient and "leading" not in {h.band for h in shown.hypotheses}


def test_order_is_by_share_and_excluded_conditions_come_last() -> None:
    _, shown, _ = seen(finding("WR:h"), finding("WR:t"), finding("WR:o"), finding("WR:z"))
    assert [h.slug for h in shown.hypotheses] == ["a", SOMETHING_ELSE, "b"]
    last = shown.hypotheses[-1]
    assert (last.band, last.excluded_because, last.share) == ("excluded", "Z", 0.0)


def test_an_excluded_condition_that_the_model_did_not_rank_is_shown_without_its_part() -> None:
    rank = ModelRank(z={"a": 0.0}, spread={"a": 0.1})
    _, shown, _ = seen(finding("WR:h"), finding("WR:t"), finding("WR:o"), finding("WR:z"), rank=rank)
    assert {h.slug: h.model for h in shown.hypotheses} == {"a": 0.0, SOMETHING_ELSE: None, "b": None}


def test_cells_are_sorted_by_what_they_count_and_carry_case_and_source() -> None:
    _, shown, _ = seen(finding("WR:t"), finding("WR:h", "absent"), finding("WR:x"))
    a = next(h for h in shown.hypotheses if h.slug == "a")
    assert [(r.text, r.weight) for r in a.for_] == [("T", 2.0)]
    assert [(r.text, r.weight) for r in a.against] == [("X", -2.0), ("H: absent", -1.5)]
    assert all(len(r.evidence) == 2 for r in (*a.for_, *a.against))


def test_what_a_sound_work_up_needs_stands_first_among_the_missing() -> None:
    c = condition("c", clue("WR:o", "occasional", critical=True), clue("WR:h", "hallmark"), clue("WR:t", "typical"))
    _, shown, _ = seen(conditions=(c,))
    (row,) = [h for h in shown.hypotheses if h.slug == "c"]
    assert [reason.concept for reason in row.missing] == ["WR:o", "WR:h", "WR:t"]


def test_a_contradicted_clue_counts_nothing_and_is_missing() -> None:
    _, shown, _ = seen(finding("WR:t"), finding("WR:t", "absent"), finding("WR:h"))
    a = next(h for h in shown.hypotheses if h.slug == "a")
    assert "T: stated and denied" in [reason.text for reason in a.missing]


@pytest.mark.parametrize(
    ("more", "raised"),
    [
        ({"polarity": "possible"}, True),
        ({"polarity": "present"}, True),
        ({"polarity": "absent"}, False),
        ({"who": "family"}, False),
        ({"time": "past"}, False),
    ],
)
def test_what_the_notes_raise_becomes_a_candidate_marked_so(more: dict[str, object], raised: bool) -> None:
    said = msgspec.structs.replace(finding("WR:b"), **more)
    _, shown, _ = seen(finding("WR:h"), said)
    b = [h for h in shown.hypotheses if h.slug == "b"]
    assert bool(b) is raised
    assert all(h.raised_by for h in b)


def test_a_hit_of_the_guideline_search_becomes_a_candidate_and_counts_a_quarter() -> None:
    pe = condition("pe", clue("WR:q", "typical"), title="Pulmonary embolism")
    view, _, _ = seen(finding("WR:h"), conditions=(A, pe), search=OneHit().search(Query(text="x")))
    found = next(s for s in view.scored if s.condition.slug == "pe")
    assert (found.structural, found.retrieval) == (WEIGHTS.retrieval, 1.0)


def test_only_the_top_five_show_what_is_missing() -> None:
    many = tuple(condition(f"c{n}", clue("WR:h", "hallmark"), clue(f"WR:u{n}", "typical")) for n in range(7))
    _, shown, _ = seen(finding("WR:h"), conditions=many)
    assert [bool(h.missing) for h in shown.hypotheses if h.slug != SOMETHING_ELSE] == [True] * 5 + [False] * 2


def test_only_contradictions_that_bear_on_a_candidate_are_asked() -> None:
    found = (finding("WR:h"), finding("WR:t"), finding("WR:t", "absent"), finding("WR:q"), finding("WR:q", "absent"))
    known = Diseases(conditions=(A, B))
    ledger, scored = differential.candidates(found, NOTHING, known, patient=Patient(), weights=WEIGHTS)
    view = differential.view(ledger, scored, known, rank=None, beta=0.0, weights=WEIGHTS, closed=frozenset())
    question = differential.question(view, known)
    assert question is not None and question.gaps[0].concept == "WR:t"
    assert "WR:q" not in {gap.concept for gap in question.gaps}
    assert {gap.concept for gap in view.contradicted} == {"WR:t", "WR:q"}
