"""The command line asks a person at the terminal whether a model may run where it was not wanted, and nobody else."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.domain import event as ev
from core.domain.evidence import Answer, Gap, Question
from core.settings import Settings
from desktop.cli import answers
from desktop.cli.answers import Plan
from desktop.cli.terminal import Terminal
from tests.helpers.runs import Shelf

WORDS = "The graphics card is not used. Shall this work-up run on the processor?"


class Typed(io.StringIO):
    """What a person types; `there`: at a terminal, or from a pipe."""

    there = True

    def isatty(self) -> bool:
        return self.there


def waiting(profile: Path, *, kind: str = "rung") -> Any:
    """A session whose run r1 waits for an answer."""
    shelf = Shelf(profile)
    shelf.queue(settings=Settings(fallback="ask", on_question="wait"))
    gap = Gap(concept="rung:cpu", name="Where the model runs", obtain="other", why="why", kind=kind)  # type: ignore[arg-type]
    asked = ev.QuestionAsked(question=Question(gaps=(gap,), wording=(WORDS,)))
    shelf.journal.append("r1", asked, branch="", key="rung:cpu", actor="tester")
    bench = SimpleNamespace(actor="tester", settings=Settings(fallback="ask"))
    return SimpleNamespace(stores=shelf, terminal=Terminal(json=False), bench=bench)


def given(session: Any) -> list[Answer]:
    rows = session.stores.journal.events("r1")
    return [answer for row in rows if isinstance(row.event, ev.QuestionAnswered) for answer in row.event.answers]


@pytest.mark.parametrize(
    ("typed", "state"), [("yes\n", "present"), ("Y\n", "present"), ("no\n", "absent"), ("", "absent")]
)
def test_a_person_at_the_terminal_is_asked(
    profile: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, state: str
) -> None:
    monkeypatch.setattr("sys.stdin", Typed(typed))
    session = waiting(profile)
    plan = answers.attended(session, Plan())
    assert plan.leave
    assert answers.give(session, "r1", plan)
    assert given(session) == [Answer(concept="rung:cpu", state=state)]  # type: ignore[arg-type]
    assert f"{WORDS} (yes/no)" in capsys.readouterr().out


def test_nobody_at_the_terminal_is_no_yes(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Typed, "there", False)
    monkeypatch.setattr("sys.stdin", Typed("yes\n"))
    session = waiting(profile)
    assert not answers.attended(session, Plan()).leave  # the run is queued as it always was: refused with its sentence
    assert not answers.give(session, "r1", Plan(on_question="wait"))
    assert answers.give(session, "r1", Plan(on_question="wait", given={"rung:cpu": "present"}))
    assert given(session) == [Answer(concept="rung:cpu", state="present")]


def test_no_other_question_is_put_at_the_terminal(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Typed("yes\n"))
    session = waiting(profile, kind="clue")
    assert answers.give(session, "r1", answers.attended(session, Plan()))
    assert given(session) == [Answer(concept="rung:cpu", state="not obtainable")]


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(fallback="forbid"), Settings(fallback="ask", on_question="wait")]
)
def test_only_where_the_policy_is_to_ask_and_questions_do_not_wait(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr("sys.stdin", Typed())
    session: Any = SimpleNamespace(terminal=Terminal(json=False), bench=SimpleNamespace(settings=settings))
    assert answers.attended(session, Plan()) == Plan()
    assert answers.attended(session, Plan(on_question="unavailable")) == Plan(on_question="unavailable")
