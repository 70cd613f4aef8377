"""The `direct` workflow: the shortest path from a case to an assessment. Read it first.

direct.md: findings (1), candidates and weighing (3), verify and ask (4), assessment (5). The structure carries it: with
no model the same steps give a complete assessment; the model only ranks.
"""

from __future__ import annotations

from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.runtime import working
from core.runtime.run import Run

NAME = "direct"
VERSION = "1"


def direct(case: Case, run: Run) -> Assessment:
    """Findings, candidates, weighing, ranking, questions, assessment."""
    findings = working.perceive(case, run)
    run.note(ev.EvidenceAdded(findings=findings, stage="Findings"))

    candidates = run.retrieve(working.candidate_query(findings))
    seen = working.weigh(run, findings, candidates)
    run.note(ev.HypothesisChanged(differential=working.shown(run, seen), stage="first weighing"))

    answers = working.ask(run, seen)
    if answers:
        seen = working.weigh(run, (*findings, *answers), candidates, asked=working.asked(run))
        run.note(ev.HypothesisChanged(differential=working.shown(run, seen), stage="after the answers"))
    run.note(ev.GapFound(gaps=seen.gaps))

    treatment = working.treatment(run, seen)
    return working.conclude(case, run, seen, treatment)
