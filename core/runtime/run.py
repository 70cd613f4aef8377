"""`Run`: the only door to effects. It commits each to the journal before returning it, and answers from the journal
what is already there, so that calling a workflow again is resuming it (design section 2).

An effect's key is its place in the program (`branch`, counter, kind). A key whose request differs from the recorded one
means another program wrote the journal: the run then opens read-only instead of guessing.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from core import codec
from core.domain import event as ev
from core.domain import memory as fold
from core.domain.action import CallTool, ToolResult
from core.domain.chat import CallRecord, Method, ModelReply, ModelRequest, Scores
from core.domain.evidence import Answer, Question
from core.domain.pack import BackboneInfo
from core.domain.ports import Backbone, Found, Knowledge, Query, Retriever, Tool
from core.domain.task import TaskInput
from core.errors import BugError, Cancelled, ModelError, StoreError, ToolError, Waiting
from core.runtime.budget import Budget
from core.settings import Settings
from core.store.journal import Journal, RunRow, answer_key

E = TypeVar("E")
REPLAY = "replay"  # code of the error: the journal was written by another program


class Hooks:
    """What the surroundings want to hear: a committed row, a piece of text, an effect about to happen."""

    def committed(self, row: ev.Recorded) -> None:
        """A row is in the journal."""

    def delta(self, text: str) -> None:
        """The model wrote a piece of text; for the window only, never stored."""

    def effect(self, key: str) -> None:
        """An effect is about to be executed (fault injection, progress)."""


class _Shared:
    """What all branches of a run share: journal, doubles or real parts, recorded rows, folded memory."""

    def __init__(self, row: RunRow, journal: Journal, hooks: Hooks, stop: threading.Event) -> None:
        self.row = row
        self.journal = journal
        self.hooks = hooks
        self.stop = stop
        # A stop is no part of the program: with it a resumed run would see another memory than an uninterrupted one.
        self._recorded = [kept for kept in journal.events(row.id) if not isinstance(kept.event, ev.RunCancelled)]
        self._last = self._recorded[-1].n if self._recorded else 0
        self._folded = 0
        self.rows = {event.key: event for event in self._recorded}
        self.places = {_place(event.key): event.key for event in self._recorded if not event.key.endswith("=")}
        self.memory = fold.WorkingMemory()
        first = next((event.n for event in self._recorded if _of_workflow(event.key)), self._last + 1)
        self.fold_until(first - 1)

    def fold_until(self, n: int) -> None:
        """Fold recorded rows up to number `n`: a replay sees at each step what the first execution saw there."""
        while self._folded < len(self._recorded) and self._recorded[self._folded].n <= n:
            self.memory = fold.apply(self.memory, self._recorded[self._folded])
            self._folded += 1

    def append(self, branch: str, key: str, event: ev.Event) -> ev.Recorded:
        self.fold_until(self._last)
        committed = self.journal.append(self.row.id, event, branch=branch, key=key, actor=self.row.actor)
        self.rows[key] = committed
        self.memory = fold.apply(self.memory, committed)
        self.hooks.committed(committed)
        return committed


class Run:
    """One run of a workflow over one case revision. Use it from one thread."""

    def __init__(
        self,
        row: RunRow,
        journal: Journal,
        *,
        backbone: Backbone | None,
        retriever: Retriever,
        knowledge: Knowledge,
        tools: Mapping[str, Tool] | None = None,
        budget: Budget | None = None,
        hooks: Hooks | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._shared = _Shared(row, journal, hooks or Hooks(), stop or threading.Event())
        self._backbone = backbone
        self._retriever = retriever
        self.knowledge = knowledge
        self._tools = tools or {}
        self._branch = ""
        self._count = 0
        self.budget = budget or Budget()
        self.rng = random.Random(row.seed)

    @property
    def task(self) -> TaskInput:
        return self._shared.row.task

    @property
    def settings(self) -> Settings:
        return self._shared.row.settings

    @property
    def memory(self) -> fold.WorkingMemory:
        """The fold of everything up to the present step; the same at this step in every replay."""
        return self._shared.memory

    @property
    def cancelled(self) -> bool:
        return self._shared.stop.is_set()

    @property
    def backbone(self) -> BackboneInfo | None:
        """What the model tells of itself; None: the run has no model."""
        return self._backbone.info if self._backbone else None

    @property
    def rng_seed(self) -> int:
        """The run's seed, for requests."""
        return self._shared.row.seed

    @property
    def last_record(self) -> CallRecord | None:
        """The record of the latest model call up to the present step; the same at this step in every replay."""
        for row in sorted(self._shared.rows.values(), key=lambda row: -row.n):
            if row.n <= self.memory.last_n and isinstance(row.event, ev.ModelReplied) and (kept := _records(row.event)):
                return kept[0]
        return None

    def now(self) -> str:
        """The moment the run was queued: the same in every replay."""
        return self._shared.row.created_at

    def branch(self, name: str) -> Run:
        """A named branch with keys of its own (independent sub-steps keep their keys when siblings change)."""
        child = object.__new__(Run)
        child.__dict__.update(self.__dict__)
        child._branch = f"{self._branch}{name}/"
        child._count = 0
        child.rng = random.Random(f"{self._shared.row.seed}/{child._branch}")
        return child

    def note(self, event: ev.Event) -> None:
        """Commit an event that has no outside effect."""
        key = self._next("note")
        known = self._known(key)
        if known is None:
            self._append(key, event)
        elif codec.digest(known.event) != codec.digest(event):
            raise _mismatch(key)

    def model(self, request: ModelRequest) -> ModelReply:
        """One reply of the model.

        Raises:
            ModelError: no model, budget spent, or the call failed.
        """
        call = _called(request, kind="reply")
        return self._model(call, lambda b: ev.ModelReplied(replies=(b.reply(request, self._delta),))).replies[0]

    def sample(self, request: ModelRequest, n: int) -> tuple[ModelReply, ...]:
        """`n` candidates from one shared prefix."""
        call = _called(request, kind="sample", count=n)
        return self._model(call, lambda b: ev.ModelReplied(replies=b.sample(request, n, self._delta))).replies

    def rank(
        self,
        request: ModelRequest,
        options: tuple[str, ...],
        *,
        method: Method = "pmi",
        neutral: ModelRequest | None = None,
    ) -> Scores:
        """The options' probabilities from log-likelihoods (runtime.md 4.5)."""
        call = _called(request, kind="rank", options=options)

        def score(backbone: Backbone) -> ev.ModelReplied:
            return ev.ModelReplied(scores=backbone.score(request, options, method=method, neutral=neutral))

        scores = self._model(call, score).scores
        if scores is None:
            raise BugError("a rank effect without scores")
        return scores

    def call(self, call: CallTool) -> ToolResult:
        """A tool's result; a refusal of the tool becomes an observation (`failed`)."""
        tool = self._tools.get(call.tool)
        if tool is None:
            raise BugError(f"no tool named {call.tool}")
        key = self._next("tool")
        self._begin(key, ev.ToolStarted(tool=tool.name, version=tool.version, arguments=call.arguments))
        answer = self._answer(key) or self._append(answer_key(key), self._use(tool, call, key)).event
        if isinstance(answer, ev.ToolFailed):
            return ToolResult(text=answer.text, failed=True)
        return _expect(answer, ev.ToolFinished, key).result

    def _use(self, tool: Tool, call: CallTool, key: str) -> ev.Event:
        self._shared.hooks.effect(key)
        start = time.perf_counter()
        try:
            result = tool.call(call)
        except ToolError as error:
            return ev.ToolFailed(tool=tool.name, code=error.code, text=error.text)
        return ev.ToolFinished(tool=tool.name, result=result, seconds=round(time.perf_counter() - start, 4))

    def retrieve(self, query: Query) -> Found:
        """Passages of the knowledge store."""
        key = self._next("retrieve")
        wanted = codec.digest(query)
        known = self._known(key)
        if known is None:
            self._step(key)
            self._shared.hooks.effect(key)
            known = self._append(key, _retrieved(self._retriever.search(query), query, wanted))
        event = _expect(known.event, ev.Retrieved, key)
        if event.query_sha256 != wanted:
            raise _mismatch(key)
        return Found(hits=event.hits, passages=event.passages, path=event.path, fingerprint=event.fingerprint)

    def ask(self, question: Question) -> tuple[Answer, ...]:
        """The clinician's answers; what cannot be asked now is "not obtainable".

        Raises:
            Waiting: the question is in the journal, its answer is not; the run goes on when it is.
        """
        key = self._next("ask")
        self._begin(key, ev.QuestionAsked(question=question))
        answer = self._answer(key)
        if answer is None:
            if self.settings.on_question == "wait":
                raise Waiting
            unavailable = tuple(Answer(concept=gap.concept, state="not obtainable") for gap in question.gaps)
            answer = self._append(answer_key(key), ev.QuestionAnswered(answers=unavailable, actor="unavailable")).event
        return _expect(answer, ev.QuestionAnswered, key).answers

    def _model(self, call: ev.ModelCalled, effect: Callable[[Backbone], ev.ModelReplied]) -> ev.ModelReplied:
        key = self._next(call.kind)
        if self._known(key) is None:
            self._admit()
        self._begin(key, call)
        answer = self._answer(key) or self._append(answer_key(key), self._infer(key, effect)).event
        if isinstance(answer, ev.ModelFailed):
            raise ModelError(answer.text, code=answer.code)
        return _expect(answer, ev.ModelReplied, key)

    def _admit(self) -> None:
        """A new model call needs a model and room in the budget."""
        if self._backbone is None:
            raise ModelError("The run has no model.", code="no model")
        if spent := self.budget.exhausted(self.memory):
            raise ModelError(f"The run's budget is spent: {spent}.", code="budget")

    def _infer(self, key: str, effect: Callable[[Backbone], ev.ModelReplied]) -> ev.Event:
        self._shared.hooks.effect(key)
        if self._backbone is None:
            raise BugError("inference without a model")
        try:
            return effect(self._backbone)
        except ModelError as error:
            return ev.ModelFailed(code=error.code, text=error.text)

    def _next(self, kind: str) -> str:
        self._count += 1
        key = f"{self._branch}{self._count}.{kind}"
        if self._shared.places.get(_place(key), key) != key:
            raise _mismatch(key)
        return key

    def _known(self, key: str) -> ev.Recorded | None:
        """The recorded row of that key; from here on it, and all before it, are part of the memory."""
        row = self._shared.rows.get(key)
        if row is not None:
            self._shared.fold_until(row.n)
        return row

    def _step(self, key: str) -> None:
        """A step boundary: here a stopped run ends."""
        if self.cancelled:
            raise Cancelled(key)

    def _begin(self, key: str, event: ev.Event) -> None:
        """Commit the start of an effect, or check it against the recorded one."""
        known = self._known(key)
        if known is None:
            self._step(key)
            self._append(key, event)
        elif codec.digest(known.event) != codec.digest(event):
            raise _mismatch(key)
        elif answer_key(key) not in self._shared.rows:
            self._step(key)

    def _answer(self, key: str) -> ev.Event | None:
        known = self._known(answer_key(key))
        return known.event if known else None

    def _append(self, key: str, event: ev.Event) -> ev.Recorded:
        return self._shared.append(self._branch, key, event)

    def _delta(self, text: str) -> None:
        self._shared.hooks.delta(text)


def _place(key: str) -> str:
    """Where in the program an effect stands: its key without the kind."""
    return key.rsplit(".", 1)[0]


def _of_workflow(key: str) -> bool:
    """Does the key name an effect of the workflow, not an act of the service ("case", "start", "stop7")?"""
    return key.rsplit("/", 1)[-1][:1].isdigit()


def _records(event: ev.ModelReplied) -> tuple[CallRecord, ...]:
    """What the calls of an event record; none where the model gave no reply."""
    return ((event.scores.record,) if event.scores else ()) + tuple(reply.record for reply in event.replies)


def _called(
    request: ModelRequest, *, kind: Literal["reply", "sample", "rank"], count: int = 1, options: tuple[str, ...] = ()
) -> ev.ModelCalled:
    return ev.ModelCalled(
        kind=kind,
        prompt_name=request.prompt_name,
        prompt_sha256=request.prompt_sha256,
        request_sha256=codec.digest(request),
        count=count,
        options=options,
    )


def _retrieved(found: Found, query: Query, wanted: str) -> ev.Retrieved:
    return ev.Retrieved(
        query_sha256=wanted,
        purpose=query.purpose,
        hits=found.hits,
        passages=found.passages,
        path=found.path,
        fingerprint=found.fingerprint,
    )


def _expect(event: ev.Event, kind: type[E], key: str) -> E:
    if not isinstance(event, kind):
        raise _mismatch(key)
    return event


def _mismatch(key: str) -> StoreError:
    return StoreError(
        f"This run was made by another version of its workflow (step {key}); it can be read, not continued.",
        code=REPLAY,
    )
