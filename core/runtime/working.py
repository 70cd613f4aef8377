"""The steps of a diagnostic work-up over a run: what `direct` and later workflows string together.

Each step is pure but for the effects it asks of `Run`. direct.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.domain.chat import Sampling
from core.domain.evidence import Finding
from core.domain.hypothesis import Differential
from core.domain.passage import Passage
from core.domain.ports import Found, Query
from core.errors import ModelError
from core.runtime import answers as answer_rules
from core.runtime import assessing, differential, findings, prompts, ranking, wording
from core.runtime.differential import View
from core.runtime.evidence_book import EvidenceBook
from core.runtime.run import Run

PROMPTS = "core.workflows.prompts"
_LISTED = 40  # evidence items shown to the model that sums up


def perceive(case: Case, run: Run) -> tuple[Finding, ...]:
    """The case as findings (direct.md section 1)."""
    return findings.perceive(case, run.knowledge)


def candidate_query(seen: Sequence[Finding]) -> Query:
    """The problem list as a search for conditions."""
    listed = wording.problems(seen, [finding.id for finding in seen])
    return Query(text="; ".join(listed), problems=listed, k=12, purpose="candidates")


def weigh(run: Run, seen: Sequence[Finding], found: Found, *, asked: Iterable[str] = ()) -> View:
    """Candidates, structural score, the model's ranking, gaps (direct.md sections 3 and 4)."""
    weights = run.settings.weighing
    ledger, scored = differential.candidates(
        seen, found, run.knowledge, patient=findings.patient(seen), weights=weights
    )
    touching = {f for s in scored for w in s.weights if w.contribution for f in w.standing.findings}
    listed = wording.problems(seen, sorted(touching))
    titles = {s.condition.slug: s.condition.title for s in scored if s.excluded is None}
    rank = ranking.rank(run, prompts.load(PROMPTS, "direct_rank"), listed, titles)
    return differential.view(
        ledger,
        scored,
        run.knowledge,
        rank=rank,
        beta=_beta(run),
        weights=weights,
        contradicted=tuple(c for c in findings.contradictions(seen) if ledger.standing(c).state == "contradicted"),
        closed=frozenset(asked),
    )


def _beta(run: Run) -> float:
    weights = run.settings.weighing
    return weights.beta_small if run.backbone is None or run.backbone.small else weights.beta_large


def shown(run: Run, seen: View) -> Differential:
    """The differential as the live view shows it."""
    return differential.differential(seen, run.knowledge, EvidenceBook(seen.findings), run.settings.weighing)


def asked(run: Run) -> tuple[str, ...]:
    """Concepts that were asked in this run; none is asked twice."""
    return tuple(answer.concept for answer in run.memory.answers)


def ask(run: Run, seen: View) -> tuple[Finding, ...]:
    """One stop with at most three questions; the answers as findings of the clinician."""
    question = seen.question
    if question is None:
        return ()
    given = run.ask(question)
    fresh = answer_rules.findings_of(given, seen.findings, run.knowledge, actor="clinician")
    if fresh:
        run.note(ev.EvidenceAdded(findings=fresh, stage="Answers"))
    for answer in given:
        run.note(
            ev.GapClosed(
                concept=answer.concept, status="not obtainable" if answer.state == "not obtainable" else "answered"
            )
        )
    return fresh


def treatment(run: Run, seen: View) -> tuple[Passage, ...]:
    """Guideline passages on the first treatment of the leading condition; none when evidence is insufficient."""
    order = seen.order()
    if seen.why_insufficient or not order:
        return ()
    condition = order[0].condition
    query = Query(
        text=f"{condition.title} treatment next steps",
        concepts=(condition.concept,),
        classes=("treatment", "followup"),
        purpose="first treatment",
    )
    found = run.retrieve(query)
    return tuple(passage for passage in found.passages if passage.title == condition.title)


def conclude(case: Case, run: Run, seen: View, passages: tuple[Passage, ...]) -> Assessment:
    """The assessment of a weighed case."""
    return assessing.assess(
        assessing.Material(
            case=case,
            seen=seen,
            quantities=findings.quantities(seen.findings),
            knowledge=run.knowledge,
            weights=run.settings.weighing,
            treatment=passages,
            summary=_summary(run, seen),
            injections=findings.instructions(case),
            unanswered=_unanswered(run),
            model=run.last_record,
        )
    )


def _unanswered(run: Run) -> tuple[str, ...]:
    names = {gap.concept: gap.name for gap in run.memory.gaps}
    found = []
    for answer in run.memory.answers:
        if answer.state == "not obtainable":
            concept = run.knowledge.concept(answer.concept)
            found.append(f"answer about {concept.name if concept else names.get(answer.concept, answer.concept)}")
    return tuple(found)


def _summary(run: Run, seen: View) -> tuple[str, ...]:
    """Sentences of the model, unchecked; none for small backbones unless the setting asks for them."""
    wanted = run.settings.summary
    backbone = run.backbone
    if backbone is None or wanted == "off" or (wanted == "auto" and backbone.small):
        return ()
    listed = "\n".join(f"[{item.id}] {item.text}" for item in EvidenceBook(seen.findings).items[:_LISTED])
    prompt = prompts.load(PROMPTS, "direct_summary")
    try:
        reply = run.model(prompt.request(Sampling(seed=run.rng_seed, temperature=0.0, max_tokens=160), evidence=listed))
    except ModelError:
        return ()
    return tuple(line.strip(" -*") for line in reply.text.splitlines() if line.strip(" -*"))
