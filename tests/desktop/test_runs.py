"""The runs of a case in words, what is marked, and two of them beside each other: values and item model, no window."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt

from core.domain import event as ev
from core.domain.evidence import Answer
from core.domain.memory import fold
from core.errors import UserError
from core.runtime import comparison
from desktop.state import run_comparison, runs
from desktop.state.runs import MARKED, RunRows, RunSummary
from tests.helpers.kept_runs import assessment, keep, keep_three
from tests.helpers.runs import AT, CASE, QUESTION, Shelf, a_row


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Three runs of one case. Read only."""
    made = Shelf(tmp_path_factory.mktemp("runs"))
    keep_three(made.journal, CASE.id)
    other = msgspec.structs.replace(CASE, id="c2")
    made.cases.save(other, "tester", AT)
    keep(made.journal, a_row(id="strange", case_id="c2"), ev.RunFailed(code="x", text="The model pack is damaged."))
    yield made
    made.database.close()


class Bench:
    """A profile of which only the stores are asked for; closing it is left to the fixture."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def open_stores(self) -> Any:
        database = SimpleNamespace(close=lambda: None)
        return SimpleNamespace(database=database, journal=self.shelf.journal, cases=self.shelf.cases)


def listed(shelf: Shelf, case: str = CASE.id) -> tuple[RunSummary, ...]:
    return runs.list_runs(Bench(shelf), case)(lambda *_: None, None)  # type: ignore[arg-type]


def beside(shelf: Shelf, one: str, other: str) -> run_comparison.Beside:
    return run_comparison.compare_runs(Bench(shelf), CASE.id, one, other)(lambda *_: None, None)  # type: ignore[arg-type]


def recorded(n: int, at: str, event: ev.Event) -> ev.Recorded:
    return ev.Recorded(run_id="r", seq=n, n=n, branch="", key=str(n), at=f"2026-11-30T{at}+00:00", event=event)


# ------------------------------------------------------------------------------------------------------- in words


def test_every_run_is_there_newest_first_with_its_state_and_conclusion(shelf: Shelf) -> None:
    found = listed(shelf)
    assert [run.id for run in found] == ["run-2", "run-1", "run-0"]
    assert [run.status for run in found] == ["waiting", "finished", "finished"]
    headlines = [
        "Asks: 1 thing",
        "Best supported by the findings: Embolism.",
        "Best supported by the findings: Asthma.",
    ]
    assert [run.headline for run in found] == headlines
    assert {run.question for run in found} == {"What is it?"}
    assert [runs.begun(run) for run in found] == ["2026-11-30  10:15", "2026-11-30  09:15", "2026-11-30  08:15"]
    [failed] = listed(shelf, "c2")
    assert (failed.status, failed.headline) == ("failed", "The model pack is damaged.")


def test_time_of_work_leaves_out_waiting_and_rest() -> None:
    """By hand: 2 s and 0.5 s of work, a night of waiting, 3 s, a day stopped, 1.25 s, and what came after the end."""
    events = [
        recorded(1, "08:00:00.000", ev.EvidenceAdded(stage="a")),
        recorded(2, "08:00:02.000", ev.EvidenceAdded(stage="b")),
        recorded(3, "08:00:02.500", ev.QuestionAsked(question=QUESTION)),
        recorded(4, "19:30:00.000", ev.QuestionAnswered(answers=(Answer(concept="x", state="absent"),), actor="dr")),
        recorded(5, "19:30:03.000", ev.RunCancelled(step="x", steps_done=1)),
        recorded(6, "20:00:00.000", ev.EvidenceAdded(stage="c")),
        recorded(7, "20:00:01.250", ev.RunFinished(assessment=assessment("Asthma", "Embolism"))),
        recorded(8, "23:00:00.000", ev.AssessmentSigned(actor="dr", report_sha256="")),
    ]
    assert runs.worked(events) == pytest.approx(2 + 0.5 + 3 + 1.25)
    assert runs.worked(events[:1]) == 0
    torn = [events[0], msgspec.structs.replace(events[1], at="not a time"), events[2]]
    assert runs.worked(torn) == 0
    signed = runs.summarise(a_row(), fold(events), events)
    assert runs.state_words(signed, "finished") == ("shield", "good", "signed by dr")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (42.4, "42 s"), (59.6, "1 min 0 s"), (190, "3 min 10 s"), (3900, "1 h 5 min")],
)
def test_a_time_of_work_is_said_shortly(seconds: float, said: str) -> None:
    assert runs.lasting(seconds) == said


def test_model_and_rung_stand_in_the_row_or_that_there_was_none(shelf: Shelf) -> None:
    run = listed(shelf)[0]
    assert "without a model" in runs.technical(run)
    with_model = msgspec.structs.replace(run, backbone="smol-1", rung="cpu")
    assert "smol-1 on the processor" in runs.technical(with_model)
    assert runs.technical(with_model).endswith("revision 1")


# --------------------------------------------------------------------------------------------------- the item model


def test_two_are_marked_at_most_and_the_earlier_one_comes_first(shelf: Shelf) -> None:
    rows = RunRows()
    rows.show(listed(shelf), {})
    told: list[int] = []
    rows.marked_changed.connect(lambda: told.append(len(rows.marked)))
    rows.mark(0)
    rows.mark(2)
    assert [run.id for run in rows.marked] == ["run-0", "run-2"]
    rows.mark(1)
    assert [run.id for run in rows.marked] == ["run-0", "run-1"]
    rows.mark(1)
    assert told == [1, 2, 2, 1]
    rows.show(listed(shelf), {})
    assert [run.id for run in rows.marked] == ["run-0"], "a list read anew keeps its marks"
    checked = rows.setData(rows.index(1), Qt.CheckState.Checked.value, int(Qt.ItemDataRole.CheckStateRole))
    assert checked
    assert rows.index(1).data(MARKED) is True
    assert Qt.CheckState(rows.index(1).data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked


def test_a_run_that_should_be_running_and_is_not_was_stopped(shelf: Shelf) -> None:
    started = msgspec.structs.replace(listed(shelf)[0], status="running")
    rows = RunRows()
    rows.show((started,), {})
    assert rows.status(started) == "stopped"
    rows.show((started,), {started.id: "queued"})
    assert rows.status(started) == "queued"
    assert "in the queue" in rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole)


# ------------------------------------------------------------------------------------------------ two of them


def test_the_page_says_what_the_command_says(shelf: Shelf) -> None:
    """Every line of the command's comparison is a row of the page's, and no other is."""
    found = beside(shelf, "run-1", "run-0")
    assert (found.one.id, found.other.id) == ("run-0", "run-1"), "the earlier one is the first, whoever was named first"
    read = shelf.journal
    pairs = [(read.run(name), fold(read.events(name))) for name in ("run-0", "run-1")]
    printed = comparison.text(comparison.compare(*pairs))
    rows = [f"  {d.what}: {d.one}  |  {d.other}" for part in found.parts for d in part.differences]
    assert rows
    assert rows == [line for line in printed.splitlines() if "  |  " in line]


def test_each_difference_is_told_by_its_kind(shelf: Shelf) -> None:
    found = {part.title: part for part in beside(shelf, "run-0", "run-1").parts}
    kinds = {title: [(d.what, d.change) for d in part.differences] for title, part in found.items()}
    assert kinds["Safety flags"] == [("Potassium is 6.9.", "added")]
    assert kinds["Findings"] == [("Cough", "gone"), ("Wheeze", "added")]
    assert kinds["Ranking"] == [("Asthma", "changed"), ("Embolism", "changed")]
    assert kinds["Task and settings"] == []
    assert {what for what, _ in kinds["Sentences"]} == {
        f"{words} {name}." if words.endswith(":") else f"{name} {words}"
        for name in ("Asthma", "Embolism")
        for words in ("Best supported by the findings:", "fits the findings.")
    }


def test_a_run_of_another_case_is_refused(shelf: Shelf) -> None:
    with pytest.raises(UserError, match="belong to two cases; nothing is compared") as refused:
        beside(shelf, "run-0", "strange")
    assert refused.value.code == "other case"
