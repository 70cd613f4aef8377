"""The event union: complete, tagged by name, readable for ever; the first rows of the golden journal prove the last."""

from __future__ import annotations

import inspect
from typing import get_args

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain.action import ToolResult
from core.domain.evidence import Answer, Evidence, Finding, Gap, Provenance, Quantity, Question
from core.domain.hypothesis import Differential, Hypothesis, Reason
from core.domain.passage import Hit
from core.domain.ports import Query
from core.domain.task import TaskInput
from models.scripted import ScriptedBackbone
from tests.helpers.runs import OneHit, an_assessment, request

PLACE = Provenance(kind="cell", reference="t1", sha256="0" * 64, label="labs, row 3", row=3, column="value")
FINDING = Finding(
    id="f1", concept="WR:k", name="Potassium", provenance=PLACE, extractor="labs 1", value=Quantity(5.9, "mmol/L")
)
GAP = Gap(concept="WR:x", name="x", obtain="history", why="matters", value_bits=0.25)
SCORED = ScriptedBackbone().score(request("x"), ("a", "b"), method="total", neutral=None)
FOUND = OneHit().search(Query(text="q"))
EVENTS: list[ev.Event] = [
    ev.CaseOpened(case="c1", revision=2, items=("n1",), task=TaskInput(question="?")),
    ev.RunStarted(
        workflow="direct", version="1", mode="paper", seed=1, settings_sha256="0" * 64, profile="p", backbone="b"
    ),
    ev.RunFinished(assessment=an_assessment("done"), reason="complete"),
    ev.RunFailed(code="bug", text="Sorry."),
    ev.RunCancelled(step="3.rank", steps_done=4),
    ev.ModelCalled(kind="rank", prompt_name="p", prompt_sha256="0" * 64, request_sha256="1" * 64, options=("a", "b")),
    ev.ModelReplied(scores=SCORED),
    ev.ModelFailed(code="context", text="Too long."),
    ev.ToolStarted(tool="calculator", version="1", arguments="{}"),
    ev.ToolFinished(tool="calculator", result=ToolResult(text="4"), seconds=0.1),
    ev.ToolFailed(tool="calculator", code="unit", text="No."),
    ev.Retrieved(
        query_sha256="2" * 64, purpose="p", hits=FOUND.hits, passages=FOUND.passages, path="bm25", fingerprint="f"
    ),
    ev.EvidenceAdded(findings=(FINDING,), items=(Evidence(id="e1", text="K 5.9", provenance=PLACE),), stage="s"),
    ev.HypothesisChanged(
        differential=Differential(
            hypotheses=(
                Hypothesis(
                    slug="pe",
                    title="PE",
                    concept="WR:pe",
                    band="leading",
                    structural=1.5,
                    share=0.5,
                    for_=(Reason(text="r", concept="WR:x", strength="typical", weight=2.0),),
                ),
            ),
            sufficient=True,
        ),
        stage="first",
    ),
    ev.HypothesisStruck(concept="WR:pe", actor="dr", reason="CT normal"),
    ev.GapFound(gaps=(GAP,)),
    ev.GapClosed(concept="WR:x", status="answered", evidence="e1"),
    ev.QuestionAsked(question=Question(gaps=(GAP,), wording=("x?",))),
    ev.QuestionAnswered(answers=(Answer(concept="WR:x", state="present"),), actor="dr"),
    ev.RungChanged(from_rung="gpu", to_rung="cpu", reason="no device"),
    ev.SentenceReviewed(section="s", sentence=1, verdict="reject", actor="dr"),
    ev.AssessmentSigned(actor="dr", report_sha256="3" * 64),
    ev.EventDamaged(),
]
NAMES = {type(event).__name__ for event in EVENTS}


def test_the_union_holds_every_event_class() -> None:
    classes = {
        name
        for name, kind in inspect.getmembers(ev, inspect.isclass)
        if kind.__module__ == ev.__name__ and not name.startswith("_") and name != "Recorded"
    }
    assert {kind.__name__ for kind in get_args(ev.Event)} == classes == NAMES


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_as_it_went(event: ev.Event) -> None:
    data = codec.encode(event)
    assert codec.decode(data, ev.Event) == event
    assert codec.encode(codec.decode(data, ev.Event)) == data
    assert f'"event":"{type(event).__name__}"'.encode() in data


@pytest.mark.parametrize(
    "data", [b'{"event":"Invented"}', b'{"event":"RunFailed","code":1,"text":""}', b'{"code":"c","text":"t"}', b"[]"]
)
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        codec.decode(data, ev.Event)


def test_an_older_row_without_newer_fields_is_read() -> None:
    """Fields that come later must have a default, or old journals could not be opened."""
    old = b'{"event":"ModelCalled","kind":"reply","prompt_name":"p","prompt_sha256":"s","request_sha256":"r"}'
    event = codec.decode(old, ev.Event)
    assert event == ev.ModelCalled(kind="reply", prompt_name="p", prompt_sha256="s", request_sha256="r", count=1)


def test_events_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        EVENTS[0].case = "other"  # type: ignore[union-attr,misc]


def test_a_statement_without_a_source_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="without a reference"):
        Provenance(kind="document", reference="", sha256="0" * 64, label="x")
    assert Hit(cid=1, score=1.0, ranks={}).cid == 1
