"""The steps of a diagnostic work-up over a run: what `direct` and later workflows string together.

Each step is pure but for the effects it asks of `Run`. direct.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.domain.chat import Sampling
from core.domain.condition import Condition
from core.domain.evidence import Answer, Finding
from core.domain.hypothesis import Differential
from core.domain.passage import Passage
from core.domain.ports import Found, Query
from core.errors import ModelError
from core.runtime import answers as answer_rules
from core.runtime import assessing, differential, findings, inquiry, prompts, ranking, wording
from core.runtime.differential import View
from core.runtime.evidence_book import EvidenceBook
from core.runtime.run import Run
from core.runtime.weighing import Scored

PROMPTS = "core.workflows.prompts"
CANDIDATES = 12  # passages searched for candidates
MOST_TREATED = 2  # leading conditions whose treatment is quoted
_LISTED = 40  # evidence items shown to the model that sums up


def perceive(case: Case, run: Run) -> tuple[Finding, ...]:
    """The case as findings (direct.md section 1), into the journal with the evidence they are.

    What the clinician's question raises stands with them.
    """
    read = findings.perceive(case, run.knowledge)
    seen = (*read, *inquiry.raised(run.task, read, run.knowledge))
    run.note(_added("Findings", seen))
    return seen


def _added(stage: str, fresh: Sequence[Finding], known: Sequence[Finding] = ()) -> ev.EvidenceAdded:
    """New findings, with evidence ids that go on where those of the known ones end."""
    items = EvidenceBook((*known, *fresh)).items[len(known) :]
    return ev.EvidenceAdded(findings=tuple(fresh), items=items, stage=stage)


def candidates(run: Run, seen: Sequence[Finding]) -> Found:
    """The problem list, and the clinician's question, as a search for conditions."""
    listed = wording.problems(seen, [finding.id for finding in seen])
    listed = (*listed, *filter(None, (inquiry.own(run.task),)))
    return run.retrieve(Query(text="; ".join(listed), problems=listed, k=CANDIDATES, purpose="candidates"))


def weigh(run: Run, seen: Sequence[Finding], found: Found, *, stage: str) -> View:
    """Candidates, structural score, the model's ranking, gaps (direct.md sections 3 and 4); the journal shows them."""
    weights = run.settings.weighing
    ledger, scored = differential.candidates(
        seen, found, run.knowledge, patient=findings.patient(seen), weights=weights
    )
    view = differential.view(
        ledger,
        scored,
        run.knowledge,
        rank=_rank(run, seen, scored),
        beta=_beta(run),
        weights=weights,
        closed=frozenset(answer.concept for answer in run.memory.answers),
    )
    run.note(ev.HypothesisChanged(differential=_shown(run, view), stage=stage))
    run.note(ev.GapFound(gaps=(*view.contradicted, *view.gaps)))
    return view


def _rank(run: Run, seen: Sequence[Finding], scored: Sequence[Scored]) -> ranking.ModelRank | None:
    """The model's ranking of those not excluded; not asked for where it would weigh nothing."""
    if not _beta(run):
        return None
    listed = wording.problems(seen, differential.touching(scored))
    titles = {s.condition.slug: s.condition.title for s in scored if s.excluded is None}
    return ranking.rank(run, prompts.load(PROMPTS, "direct_rank"), listed, titles)


def _beta(run: Run) -> float:
    weights = run.settings.weighing
    return weights.beta_small if run.backbone is None or run.backbone.small else weights.beta_large


def _shown(run: Run, view: View) -> Differential:
    """The differential as the live view shows it."""
    return differential.differential(view, run.knowledge, EvidenceBook(view.findings), run.settings.weighing)


def ask(run: Run, view: View) -> tuple[Finding, ...]:
    """One stop with at most three questions; the answers as findings of the clinician."""
    question = differential.question(view, run.knowledge)
    if question is None:
        return ()
    given = run.ask(question)
    fresh = answer_rules.findings_of(given, view.findings, run.knowledge, at=run.now())
    if fresh:
        run.note(_added("Answers", fresh, view.findings))
    for answer in given:
        run.note(_closed(answer))
    return fresh


def _closed(answer: Answer) -> ev.GapClosed:
    return ev.GapClosed(
        concept=answer.concept, status="not obtainable" if answer.state == "not obtainable" else "answered"
    )


def treatment(run: Run, view: View) -> tuple[Passage, ...]:
    """Of each leading condition the first guideline passage on treatment; none when evidence is insufficient."""
    if view.why_insufficient:
        return ()
    leading = [h.slug for h in _shown(run, view).hypotheses if h.band == "leading"][:MOST_TREATED]
    found = (_first_treatment(run, s.condition) for s in view.order() if s.condition.slug in leading)
    return tuple(passage for passage in found if passage is not None)


def _first_treatment(run: Run, condition: Condition) -> Passage | None:
    """Of the guideline itself before what others write under its title."""
    own = condition.derivations[0].passage.doc if condition.derivations else ""
    query = Query(
        text=f"{condition.title} treatment next steps",
        concepts=(condition.concept,),
        classes=("treatment", "followup"),
        docs=(own,) if own else (),
        purpose="first treatment",
    )
    titled = [passage for passage in run.retrieve(query).passages if passage.title == condition.title]
    shipped = (passage for passage in titled if passage.doc == f"starter:{condition.slug}")
    return next(shipped, titled[0] if titled else None)


def conclude(case: Case, run: Run, view: View, passages: tuple[Passage, ...]) -> Assessment:
    """The assessment of a weighed case."""
    return assessing.assess(
        assessing.Material(
            case=case,
            question=inquiry.own(run.task),
            seen=view,
            quantities=findings.quantities(view.findings),
            knowledge=run.knowledge,
            weights=run.settings.weighing,
            treatment=passages,
            summary=_summary(run, view),
            injections=findings.instructions(case),
            unanswered=_unanswered(run),
            model=run.last_record,
        )
    )


def _unanswered(run: Run) -> tuple[str, ...]:
    """What was asked and could not be answered, by name."""
    names = {gap.concept: gap.name for gap in run.memory.gaps}
    asked = [answer.concept for answer in run.memory.answers if answer.state == "not obtainable"]
    return tuple(_name(run, concept, names.get(concept, concept)) for concept in asked)


def _name(run: Run, identifier: str, otherwise: str) -> str:
    concept = run.knowledge.concept(identifier)
    return concept.name if concept else otherwise


def _summary(run: Run, view: View) -> tuple[str, ...]:
    """Sentences of the model, unchecked; none for small backbones unless the setting asks for them."""
    wanted = run.settings.summary
    backbone = run.backbone
    if backbone is None or wanted == "off" or (wanted == "auto" and backbone.small):
        return ()
    listed = "\n".join(f"[{item.id}] {item.text}" for item in EvidenceBook(view.findings).items[:_LISTED])
    prompt = prompts.load(PROMPTS, "direct_summary")
    try:
        reply = run.model(prompt.request(Sampling(seed=run.rng_seed, temperature=0.0, max_tokens=160), evidence=listed))
    except ModelError:
        return ()
    return tuple(line.strip(" -*") for line in reply.text.splitlines() if line.strip(" -*"))
