"""The clinician's question: shown, searched with, and raising what it names; never evidence for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.report import Report
from core.domain.task import WORK_UP, TaskInput
from core.runtime import inquiry
from tests.helpers import workup

CASE = workup.case_of(workup.note("A 40-year-old woman. Productive cough. Fever 38.9 C. Focal crackles. Feels unwell."))


def raised(question: str) -> list[tuple[str, str, str]]:
    found = inquiry.raised(TaskInput(question=question), (), workup.known())
    return [(f.id, f.concept, f.polarity) for f in found]


@pytest.mark.parametrize(
    ("question", "concepts"),
    [
        ("Is this a pulmonary embolism?", ["WR:pulmonary-embolism"]),
        ("Can PE be ruled out?", ["WR:pulmonary-embolism"]),
        ("Pneumonia or heart failure?", ["WR:pneumonia", "WR:heart-failure"]),
        ("Is the cough of importance?", []),
        ("Her mother had asthma. What now?", []),
        (WORK_UP, []),
    ],
)
def test_what_a_question_raises(question: str, concepts: list[str]) -> None:
    assert raised(question) == [(f"f{n}", concept, "possible") for n, concept in enumerate(concepts, start=1)]


def lines(report: Report, identifier: str) -> list[str]:
    return [line.text for block in report.blocks if block.id == identifier for line in block.lines]


def test_the_question_is_shown_answered_and_searched_with(profile: Path) -> None:
    plain = workup.work_up(profile, CASE, run_id="r0")
    asked = workup.work_up(profile, CASE, run_id="r1", question="Is this a pulmonary embolism?")
    first, second = lines(asked.report(CASE), "question")
    assert first == "Question: “Is this a pulmonary embolism?”"
    assert second.startswith("Pulmonary embolism, raised by the question: ")
    embolism = next(h for h in asked.done.differential.hypotheses if h.slug == "pulmonary-embolism")
    source = asked.done.find(embolism.raised_by[0])
    assert source and source.provenance.label == inquiry.LABEL
    assert not any(h.raised_by for h in plain.done.differential.hypotheses)
    assert lines(plain.report(CASE), "question") == []
    assert plain.searches != asked.searches
    before = {h.slug: h.for_ and h.for_[0].weight for h in plain.done.differential.hypotheses}
    for h in asked.done.differential.hypotheses:  # a question is no evidence
        assert h.slug not in before or before[h.slug] == (h.for_ and h.for_[0].weight)
