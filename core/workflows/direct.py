"""The `direct` workflow: the shortest path from a case to an assessment. Read it first.

direct.md: findings (1), candidates and weighing (3), verify and ask (4), assessment (5). The structure carries it: with
no model the same steps give a complete assessment; the model only ranks.
"""

from __future__ import annotations

from core.domain.assessment import Assessment
from core.domain.case import Case
from core.runtime import working
from core.runtime.run import Run

NAME = "direct"
VERSION = "1"


def direct(case: Case, run: Run) -> Assessment:
    """Findings, candidates, weighing, ranking, questions, assessment."""
    findings = working.perceive(case, run)
    candidates = working.candidates(run, findings)
    view = working.weigh(run, findings, candidates, stage="first weighing")

    answers = working.ask(run, view)
    if answers:
        view = working.weigh(run, (*findings, *answers), candidates, stage="after the answers")

    treatment = working.treatment(run, view)
    return working.conclude(case, run, view, treatment)
