"""State as a pure fold of events: `apply(memory, event) -> memory`.

The live view, replay, audit, resume, bug reports and golden tests all use this one fold. Must stay pure: no clock, no
I/O. As the event union of inspect_ai.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.evidence import Answer, Evidence, Finding, Gap, Question
from core.domain.hypothesis import Differential
from core.domain.passage import Passage
from core.domain.task import TaskInput

Status = Literal["queued", "running", "waiting", "finished", "failed", "stopped"]


class StepLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the live view: what was done, in words, and what it cost."""

    n: int
    kind: str
    text: str
    at: str
    done: bool = True
    failed: bool = False
    seconds: float = 0.0
    tokens: int = 0


class WorkingMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of a run at one moment."""

    status: Status = "queued"
    task: TaskInput | None = None
    workflow: str = ""
    version: str = ""
    profile: str = ""
    backbone: str = ""
    steps: tuple[StepLine, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    passages: tuple[Passage, ...] = ()
    differential: Differential | None = None
    struck: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    closed: tuple[str, ...] = ()
    question: Question | None = None
    answers: tuple[Answer, ...] = ()
    reviews: tuple[ev.SentenceReviewed, ...] = ()
    signed_by: str = ""
    assessment: Assessment | None = None
    error: str = ""
    rung: str = ""
    rung_reason: str = ""
    expected_s: float = 0.0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    model_seconds: float = 0.0
    last_n: int = 0

    @property
    def tokens_per_second(self) -> float:
        """Tokens read and written per second of model time; 0 before the first call."""
        return (self.tokens_in + self.tokens_out) / self.model_seconds if self.model_seconds else 0.0


def fold(rows: Iterable[ev.Recorded], start: WorkingMemory | None = None) -> WorkingMemory:
    """Fold journal rows in order."""
    memory = start or WorkingMemory()
    for row in rows:
        memory = apply(memory, row)
    return memory


def apply(memory: WorkingMemory, row: ev.Recorded) -> WorkingMemory:
    """One step of the fold. Rows already folded (n not above `last_n`) change nothing."""
    if row.n <= memory.last_n:
        return memory
    changed = _RULES[type(row.event)](memory, row.event, row)
    return msgspec.structs.replace(changed, last_n=row.n)


def _with(memory: WorkingMemory, **changes: Any) -> WorkingMemory:
    return msgspec.structs.replace(memory, **changes)


def _step(memory: WorkingMemory, row: ev.Recorded, kind: str, text: str, **more: Any) -> tuple[StepLine, ...]:
    return (*memory.steps, StepLine(n=row.n, kind=kind, text=text, at=row.at, **more))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _finish_last(memory: WorkingMemory, kind: str, **changes: Any) -> tuple[StepLine, ...]:
    """The last open line of that kind, closed."""
    steps = list(memory.steps)
    for index in range(len(steps) - 1, -1, -1):
        if steps[index].kind == kind and not steps[index].done:
            steps[index] = msgspec.structs.replace(steps[index], done=True, **changes)
            break
    return tuple(steps)


def _opened(memory: WorkingMemory, event: ev.CaseOpened, row: ev.Recorded) -> WorkingMemory:
    text = f"Case opened: revision {event.revision}, {_count(len(event.items), 'item')}"
    return _with(memory, task=event.task, steps=_step(memory, row, "case", text))


def _started(memory: WorkingMemory, event: ev.RunStarted, row: ev.Recorded) -> WorkingMemory:
    return _with(
        memory,
        status="running",
        workflow=event.workflow,
        version=event.version,
        profile=event.profile,
        backbone=event.backbone,
        steps=_step(memory, row, "run", f"Run started: {event.workflow} {event.version}"),
    )


def _finished(memory: WorkingMemory, event: ev.RunFinished, row: ev.Recorded) -> WorkingMemory:
    steps = _step(memory, row, "run", "Assessment ready")
    return _with(memory, status="finished", assessment=event.assessment, steps=steps, error="")


def _failed(memory: WorkingMemory, event: ev.RunFailed, row: ev.Recorded) -> WorkingMemory:
    steps = _step(memory, row, "run", event.text, failed=True)
    return _with(memory, status="failed", error=event.text, steps=steps)


def _cancelled(memory: WorkingMemory, event: ev.RunCancelled, row: ev.Recorded) -> WorkingMemory:
    steps = _step(memory, row, "run", "Stopped by the clinician")
    return _with(memory, status="stopped", steps=steps)


def _model_called(memory: WorkingMemory, event: ev.ModelCalled, row: ev.Recorded) -> WorkingMemory:
    what = {
        "reply": "Model writes",
        "sample": f"Model writes {event.count} candidates",
        "rank": f"Model ranks {len(event.options)} options",
    }[event.kind]
    steps = _step(memory, row, "model", f"{what} ({event.prompt_name})", done=False)
    return _with(memory, status="running", steps=steps, model_calls=memory.model_calls + 1)


def _model_replied(memory: WorkingMemory, event: ev.ModelReplied, row: ev.Recorded) -> WorkingMemory:
    records = [reply.record for reply in event.replies] + ([event.scores.record] if event.scores else [])
    tokens_in = records[0].tokens_in if records else 0
    tokens_out = sum(record.tokens_out for record in records)
    seconds = (records[0].ms_prefill + max(r.ms_decode for r in records)) / 1000 if records else 0.0
    return _with(
        memory,
        steps=_finish_last(memory, "model", seconds=seconds, tokens=tokens_in + tokens_out),
        tokens_in=memory.tokens_in + tokens_in,
        tokens_out=memory.tokens_out + tokens_out,
        model_seconds=memory.model_seconds + seconds,
        rung=records[0].rung if records else memory.rung,
    )


def _model_failed(memory: WorkingMemory, event: ev.ModelFailed, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, steps=_finish_last(memory, "model", failed=True))


def _tool_started(memory: WorkingMemory, event: ev.ToolStarted, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, status="running", steps=_step(memory, row, "tool", f"Tool: {event.tool}", done=False))


def _tool_finished(memory: WorkingMemory, event: ev.ToolFinished, row: ev.Recorded) -> WorkingMemory:
    return _with(
        memory,
        steps=_finish_last(memory, "tool", seconds=event.seconds),
        evidence=memory.evidence + event.result.evidence,
    )


def _tool_failed(memory: WorkingMemory, event: ev.ToolFailed, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, steps=_finish_last(memory, "tool", failed=True))


def _retrieved(memory: WorkingMemory, event: ev.Retrieved, row: ev.Recorded) -> WorkingMemory:
    known = {passage.cid for passage in memory.passages}
    fresh = tuple(passage for passage in event.passages if passage.cid not in known)
    text = f"Guidelines searched ({event.purpose}): {_count(len(event.hits), 'passage')}"
    return _with(memory, passages=memory.passages + fresh, steps=_step(memory, row, "search", text))


def _evidence(memory: WorkingMemory, event: ev.EvidenceAdded, row: ev.Recorded) -> WorkingMemory:
    text = f"{event.stage or 'Evidence'}: {_count(len(event.findings), 'finding')}"
    return _with(
        memory,
        findings=memory.findings + event.findings,
        evidence=memory.evidence + event.items,
        steps=_step(memory, row, "evidence", text),
    )


def _hypotheses(memory: WorkingMemory, event: ev.HypothesisChanged, row: ev.Recorded) -> WorkingMemory:
    leading = [h.title for h in event.differential.hypotheses if h.band == "leading"]
    text = f"Weighed ({event.stage}): " + (", ".join(leading) or "no leading condition")
    return _with(memory, differential=event.differential, steps=_step(memory, row, "weigh", text))


def _struck(memory: WorkingMemory, event: ev.HypothesisStruck, row: ev.Recorded) -> WorkingMemory:
    steps = _step(memory, row, "weigh", f"Struck by {event.actor}: {event.reason}")
    return _with(memory, struck=(*memory.struck, event.concept), steps=steps)


def _gaps(memory: WorkingMemory, event: ev.GapFound, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, gaps=event.gaps, steps=_step(memory, row, "gap", f"{_count(len(event.gaps), 'gap')} found"))


def _gap_closed(memory: WorkingMemory, event: ev.GapClosed, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, closed=(*memory.closed, event.concept))


def _asked(memory: WorkingMemory, event: ev.QuestionAsked, row: ev.Recorded) -> WorkingMemory:
    text = f"Question to the clinician: {_count(len(event.question.gaps), 'item')}"
    steps = _step(memory, row, "question", text, done=False)
    return _with(memory, status="waiting", question=event.question, steps=steps)


def _answered(memory: WorkingMemory, event: ev.QuestionAnswered, row: ev.Recorded) -> WorkingMemory:
    others = {gap.concept for gap in memory.question.gaps if gap.kind == "rung"} if memory.question else set()
    return _with(
        memory,
        status="running",
        question=None,
        answers=memory.answers + tuple(answer for answer in event.answers if answer.concept not in others),
        steps=_finish_last(memory, "question"),
    )


def _rung(memory: WorkingMemory, event: ev.RungChanged, row: ev.Recorded) -> WorkingMemory:
    steps = _step(memory, row, "model", f"Model runs under {event.to_rung}: {event.reason}")
    return _with(memory, rung=event.to_rung, rung_reason=event.reason, expected_s=event.expected_s, steps=steps)


def _reviewed(memory: WorkingMemory, event: ev.SentenceReviewed, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, reviews=(*memory.reviews, event))


def _signed(memory: WorkingMemory, event: ev.AssessmentSigned, row: ev.Recorded) -> WorkingMemory:
    return _with(memory, signed_by=event.actor)


def _damaged(memory: WorkingMemory, event: ev.EventDamaged, row: ev.Recorded) -> WorkingMemory:
    text = f"Event {row.n} is damaged in the file and cannot be shown"
    return _with(memory, steps=_step(memory, row, "damage", text, failed=True))


_RULES: dict[type, Callable[[WorkingMemory, Any, ev.Recorded], WorkingMemory]] = {
    ev.CaseOpened: _opened,
    ev.RunStarted: _started,
    ev.RunFinished: _finished,
    ev.RunFailed: _failed,
    ev.RunCancelled: _cancelled,
    ev.ModelCalled: _model_called,
    ev.ModelReplied: _model_replied,
    ev.ModelFailed: _model_failed,
    ev.ToolStarted: _tool_started,
    ev.ToolFinished: _tool_finished,
    ev.ToolFailed: _tool_failed,
    ev.Retrieved: _retrieved,
    ev.EvidenceAdded: _evidence,
    ev.HypothesisChanged: _hypotheses,
    ev.HypothesisStruck: _struck,
    ev.GapFound: _gaps,
    ev.GapClosed: _gap_closed,
    ev.QuestionAsked: _asked,
    ev.QuestionAnswered: _answered,
    ev.RungChanged: _rung,
    ev.SentenceReviewed: _reviewed,
    ev.AssessmentSigned: _signed,
    ev.EventDamaged: _damaged,
}
