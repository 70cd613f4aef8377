"""The fold: pure, the same in any portions, deaf to repeats; and what each event does to the memory."""

from __future__ import annotations

import random

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain import memory as fold
from core.domain.memory import WorkingMemory
from tests.core.domain.test_event import EVENTS, GAP

AT = "2026-01-02T03:04:05.000+00:00"


def row(event: ev.Event, n: int) -> ev.Recorded:
    return ev.Recorded(run_id="r1", seq=n + 100, n=n, branch="", key=f"{n}.x", at=AT, event=event)


def rows(*events: ev.Event) -> list[ev.Recorded]:
    return [row(event, n) for n, event in enumerate(events, start=1)]


ALL = rows(*EVENTS)


def test_the_same_rows_give_the_same_bytes() -> None:
    one, two = fold.fold(ALL), fold.fold(list(ALL))
    assert codec.encode(one) == codec.encode(two)
    assert one.last_n == len(EVENTS)


@pytest.mark.parametrize("seed", range(20))
def test_any_portions_give_the_same_memory(seed: int) -> None:
    chance = random.Random(seed)
    memory, place = None, 0
    while place < len(ALL):
        step = chance.randint(1, 5)
        overlap = chance.randint(0, min(3, place))  # the window reads rows it already has
        memory = fold.fold(ALL[place - overlap : place + step], memory)
        place += step
    assert memory == fold.fold(ALL)


def test_a_row_is_counted_once() -> None:
    called, replied = ALL[5], ALL[6]
    memory = fold.fold([called, replied, called, replied, replied])
    assert memory.model_calls == 1
    assert len(memory.steps) == 1


def test_folding_changes_no_earlier_memory() -> None:
    before = fold.fold(ALL[:4])
    kept = codec.encode(before)
    fold.fold(ALL[4:], before)
    assert codec.encode(before) == kept


def test_every_event_has_its_rule_and_none_fails_on_an_empty_memory() -> None:
    for event in EVENTS:
        memory = fold.apply(WorkingMemory(), row(event, 1))
        assert memory.last_n == 1
        # These close a line of the live view; here there is none.
        closes_a_line = isinstance(event, ev.ModelFailed | ev.ToolFailed | ev.ToolFinished)
        assert closes_a_line or memory != WorkingMemory(last_n=1), type(event).__name__


def after(*events: ev.Event) -> WorkingMemory:
    return fold.fold(rows(*events))


def event(kind: type[ev.Event]) -> ev.Event:  # type: ignore[valid-type]
    return next(each for each in EVENTS if type(each) is kind)


@pytest.mark.parametrize(
    ("kinds", "status"),
    [
        ((), "queued"),
        ((ev.CaseOpened, ev.RunStarted), "running"),
        ((ev.RunStarted, ev.QuestionAsked), "waiting"),
        ((ev.RunStarted, ev.QuestionAsked, ev.QuestionAnswered), "running"),
        ((ev.RunStarted, ev.RunCancelled), "stopped"),
        ((ev.RunStarted, ev.RunCancelled, ev.ModelCalled), "running"),
        ((ev.RunStarted, ev.RunFailed), "failed"),
        ((ev.RunStarted, ev.RunFinished), "finished"),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(kind.__name__ for kind in value),
)
def test_status(kinds: tuple[type, ...], status: str) -> None:
    assert after(*(event(kind) for kind in kinds)).status == status


def test_a_question_is_open_until_answered() -> None:
    asked = after(event(ev.QuestionAsked))
    assert asked.question is not None
    assert asked.question.gaps == (GAP,)
    assert not asked.steps[-1].done
    answered = after(event(ev.QuestionAsked), event(ev.QuestionAnswered))
    assert answered.question is None
    assert [answer.concept for answer in answered.answers] == ["WR:x"]
    assert answered.steps[-1].done


def timed(tokens_in: int, tokens_out: int, prefill: float, decode: float) -> ev.ModelReplied:
    replied = event(ev.ModelReplied)
    assert isinstance(replied, ev.ModelReplied)
    assert replied.scores is not None
    record = msgspec.structs.replace(
        replied.scores.record, tokens_in=tokens_in, tokens_out=tokens_out, ms_prefill=prefill, ms_decode=decode
    )
    return ev.ModelReplied(scores=msgspec.structs.replace(replied.scores, record=record))


def test_tokens_and_seconds_add_up() -> None:
    called = event(ev.ModelCalled)
    memory = after(called, timed(100, 10, 400.0, 100.0), called, timed(50, 40, 200.0, 300.0))
    assert (memory.model_calls, memory.tokens_in, memory.tokens_out) == (2, 150, 50)
    assert memory.model_seconds == pytest.approx(1.0)
    assert memory.tokens_per_second == pytest.approx(200.0)
    assert [(step.tokens, step.done) for step in memory.steps] == [(110, True), (90, True)]
    assert WorkingMemory().tokens_per_second == 0.0


def test_a_failed_effect_closes_its_line_as_failed() -> None:
    for begun, failed in ((ev.ModelCalled, ev.ModelFailed), (ev.ToolStarted, ev.ToolFailed)):
        [line] = after(event(begun), event(failed)).steps
        assert (line.done, line.failed) == (True, True)


def test_evidence_and_passages_are_collected_once() -> None:
    memory = after(event(ev.EvidenceAdded), event(ev.Retrieved), event(ev.Retrieved))
    assert [finding.id for finding in memory.findings] == ["f1"]
    assert [item.id for item in memory.evidence] == ["e1"]
    assert [passage.cid for passage in memory.passages] == [1]
    assert len(memory.steps) == 3


def test_reviews_and_signature() -> None:
    memory = after(event(ev.SentenceReviewed), event(ev.HypothesisStruck), event(ev.AssessmentSigned))
    assert [review.verdict for review in memory.reviews] == ["reject"]
    assert (memory.struck, memory.signed_by) == (("WR:pe",), "dr")


def test_gaps_replace_each_other_and_are_closed_by_name() -> None:
    memory = after(event(ev.GapFound), ev.GapFound(gaps=()), event(ev.GapClosed))
    assert (memory.gaps, memory.closed) == ((), ("WR:x",))


def test_a_changed_rung_keeps_its_reason() -> None:
    memory = after(event(ev.RungChanged))
    assert (memory.rung, memory.rung_reason) == ("cpu", "no device")
