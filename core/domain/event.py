"""The event union: all that can happen in a run (design section 5). Pure values; only the journal writes them."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.action import ToolResult
from core.domain.assessment import Assessment
from core.domain.chat import ModelReply, Scores
from core.domain.evidence import Answer, Evidence, Finding, Gap, Question
from core.domain.hypothesis import Differential
from core.domain.passage import Hit, Passage
from core.domain.task import TaskInput


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Common form: tagged by class name."""


class CaseOpened(_Event, frozen=True, kw_only=True, tag="CaseOpened"):
    case: str
    revision: int
    items: tuple[str, ...]
    task: TaskInput


class RunStarted(_Event, frozen=True, kw_only=True, tag="RunStarted"):
    workflow: str
    version: str
    mode: str
    seed: int
    settings_sha256: str
    profile: str
    backbone: str


class RunFinished(_Event, frozen=True, kw_only=True, tag="RunFinished"):
    assessment: Assessment
    reason: str = ""


class RunFailed(_Event, frozen=True, kw_only=True, tag="RunFailed"):
    code: str
    text: str


class RunCancelled(_Event, frozen=True, kw_only=True, tag="RunCancelled"):
    step: str
    steps_done: int


class ModelCalled(_Event, frozen=True, kw_only=True, tag="ModelCalled"):
    kind: Literal["reply", "sample", "rank"]
    prompt_name: str
    prompt_sha256: str
    request_sha256: str
    count: int = 1
    options: tuple[str, ...] = ()


class ModelReplied(_Event, frozen=True, kw_only=True, tag="ModelReplied"):
    replies: tuple[ModelReply, ...] = ()
    scores: Scores | None = None


class ModelFailed(_Event, frozen=True, kw_only=True, tag="ModelFailed"):
    code: str
    text: str


class ToolStarted(_Event, frozen=True, kw_only=True, tag="ToolStarted"):
    tool: str
    version: str
    arguments: str


class ToolFinished(_Event, frozen=True, kw_only=True, tag="ToolFinished"):
    tool: str
    result: ToolResult
    seconds: float


class ToolFailed(_Event, frozen=True, kw_only=True, tag="ToolFailed"):
    tool: str
    code: str
    text: str


class Retrieved(_Event, frozen=True, kw_only=True, tag="Retrieved"):
    query_sha256: str
    purpose: str
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    path: str
    fingerprint: str


class EvidenceAdded(_Event, frozen=True, kw_only=True, tag="EvidenceAdded"):
    findings: tuple[Finding, ...] = ()
    items: tuple[Evidence, ...] = ()
    stage: str = ""


class HypothesisChanged(_Event, frozen=True, kw_only=True, tag="HypothesisChanged"):
    differential: Differential
    stage: str


class HypothesisStruck(_Event, frozen=True, kw_only=True, tag="HypothesisStruck"):
    concept: str
    actor: str
    reason: str


class GapFound(_Event, frozen=True, kw_only=True, tag="GapFound"):
    gaps: tuple[Gap, ...]


class GapClosed(_Event, frozen=True, kw_only=True, tag="GapClosed"):
    concept: str
    status: Literal["answered", "not obtainable", "unavailable"]
    evidence: str = ""


class QuestionAsked(_Event, frozen=True, kw_only=True, tag="QuestionAsked"):
    question: Question


class QuestionAnswered(_Event, frozen=True, kw_only=True, tag="QuestionAnswered"):
    answers: tuple[Answer, ...]
    actor: str


class RungChanged(_Event, frozen=True, kw_only=True, tag="RungChanged"):
    from_rung: str
    to_rung: str
    reason: str
    expected_s: float = 0.0


class SentenceReviewed(_Event, frozen=True, kw_only=True, tag="SentenceReviewed"):
    section: str
    sentence: int
    verdict: Literal["accept", "edit", "reject"]
    actor: str
    text: str = ""
    reason: str = ""


class AssessmentSigned(_Event, frozen=True, kw_only=True, tag="AssessmentSigned"):
    actor: str
    report_sha256: str


class EventDamaged(_Event, frozen=True, kw_only=True, tag="EventDamaged"):
    """Stands where a row cannot be read, so that the others are shown; never written."""


Event = (
    CaseOpened
    | RunStarted
    | RunFinished
    | RunFailed
    | RunCancelled
    | ModelCalled
    | ModelReplied
    | ModelFailed
    | ToolStarted
    | ToolFinished
    | ToolFailed
    | Retrieved
    | EvidenceAdded
    | HypothesisChanged
    | HypothesisStruck
    | GapFound
    | GapClosed
    | QuestionAsked
    | QuestionAnswered
    | RungChanged
    | SentenceReviewed
    | AssessmentSigned
    | EventDamaged
)


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A journal row: `seq` orders all rows of a profile, `n` the rows of one run; `key` names the effect."""

    run_id: str
    seq: int
    n: int
    branch: str
    key: str
    at: str
    event: Event
