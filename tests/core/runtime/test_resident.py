"""The worker's model: each fall is one notice, one row, one badge; a forbidden one starts nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from core.domain import event as ev
from core.domain.evidence import Answer
from core.domain.memory import fold
from core.errors import Cancelled, ModelError, RungAsked, UserError
from core.runtime import protocol, report
from core.settings import Models, Settings
from models.scripted import INFO
from tests.helpers.desk import Bench, Desk
from tests.helpers.runs import CASE, Shelf, an_assessment

State = Literal["present", "absent", "not obtainable"]
FALLEN = msgspec.structs.replace(
    INFO, wanted="gpu_full", rung="cpu", reason="The graphics card is not used.", expected_s=90.0
)


@pytest.fixture
def shelf(profile: Path) -> Shelf:
    return Shelf(profile)


@pytest.fixture
def bench(shelf: Shelf) -> Bench:
    return Bench(shelf)


@pytest.fixture
def desk(bench: Bench) -> Desk:
    return Desk(bench)


def changes(shelf: Shelf, run: str = "r1") -> list[ev.RungChanged]:
    return [row.event for row in shelf.journal.events(run) if isinstance(row.event, ev.RungChanged)]


def test_complaint_B1(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    """ollama/ollama#10707, silent fall to the processor: one notice, one row, one badge, of two runs each its own.

    Acceptance 12 and 13 of runtime.md. The second run finds the model loaded: its results fell all the same.
    """
    bench.info = FALLEN
    for run in ("r1", "r2"):
        shelf.queue(id=run)
        desk.service.execute(run)
    changed = ev.RungChanged(from_rung="gpu_full", to_rung="cpu", reason=FALLEN.reason, expected_s=90.0)
    assert changes(shelf, "r1") == changes(shelf, "r2") == [changed]
    assert desk.told(protocol.Rung) == [protocol.Rung(**msgspec.structs.asdict(changed))] * 2
    assert bench.opened == 1
    memory = fold(shelf.journal.events("r2"))
    assert (memory.rung, memory.rung_reason, memory.expected_s) == ("cpu", FALLEN.reason, 90.0)
    banner = report.build(CASE, shelf.journal.run("r2"), memory).banner
    assert banner[-2:] == (
        "Result produced under processor: The graphics card is not used.",
        "Running on CPU: expected time about 2 min",
    )


def test_a_run_of_another_case_drops_what_the_model_keeps_of_the_one_before(
    shelf: Shelf, bench: Bench, desk: Desk
) -> None:
    """runtime.md 4.6: a state holds the patient's text in recoverable form."""
    for run in ("r1", "r2"):
        shelf.queue(id=run)
        desk.service.execute(run)
    [model] = bench.backbones
    assert model.forgotten == 0
    row = msgspec.structs.replace(shelf.journal.run("r2"), case_id="another")
    assert desk.service._model.for_run(row, lambda event, key: None) is model
    assert model.forgotten == 1


def test_where_it_was_wanted_nothing_is_announced(shelf: Shelf, desk: Desk) -> None:
    shelf.queue()
    desk.service.execute("r1")
    assert changes(shelf) == desk.told(protocol.Rung) == []


def test_resume_under_the_same_rung_is_no_change(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    bench.info = FALLEN
    shelf.queue()
    row = shelf.journal.run("r1")
    for _ in range(2):
        desk.service._run(row, CASE)
    assert len(changes(shelf)) == len(desk.told(protocol.Rung)) == 1


@pytest.mark.parametrize("fallback", ["forbid", "ask"])
def test_what_the_policy_does_not_let_fall_is_not_started(
    shelf: Shelf, bench: Bench, desk: Desk, fallback: str
) -> None:
    bench.load_error = UserError("Not here. The setting fallback stops here.", code="rung")
    shelf.queue(settings=Settings(fallback=fallback))  # type: ignore[arg-type]
    desk.service.execute("r1")
    assert [row.event for row in shelf.journal.events("r1")] == [
        ev.RunFailed(code="rung", text="Not here. The setting fallback stops here.")
    ]


def asking(bench: Bench) -> None:
    """A model that runs on the processor alone, and whose loader asks where that is the policy."""

    def loads(key: str) -> None:
        may = bench.wished.fallback == "announce"
        refused = RungAsked("Nobody.", why=FALLEN.reason, rung="cpu", where="on the processor")
        bench.load_error = None if may else refused

    bench.info, bench.on_load = FALLEN, loads
    bench.functions["quiet"] = lambda case, run: an_assessment(str(run.backbone))


def kinds(shelf: Shelf) -> list[str]:
    return [type(row.event).__name__ for row in shelf.journal.events("r1")]


@pytest.mark.parametrize("state", ["present", "absent", "not obtainable"])
def test_a_site_that_wants_to_be_asked_is_asked_before_anything_is_started(
    shelf: Shelf, bench: Bench, desk: Desk, state: State
) -> None:
    """runtime.md section 10, `ask`: yes goes on there and is journalled; anything else starts nothing."""
    asking(bench)
    shelf.queue(workflow="quiet", settings=Settings(fallback="ask", on_question="wait"))
    for _ in range(2):  # a worker that ends while the person thinks asks no second time
        desk.service.execute("r1")
    assert kinds(shelf) == ["QuestionAsked"] and bench.opened == 0
    memory = fold(shelf.journal.events("r1"))
    assert memory.status == shelf.journal.run("r1").status == "waiting" and memory.question is not None
    assert memory.question.wording == ("The graphics card is not used. Shall this work-up run on the processor?",)
    shelf.journal.answer("r1", (Answer(concept="rung:cpu", state=state),), "tester")
    desk.service.execute("r1")
    events = shelf.journal.events("r1")
    if state == "present":
        assert kinds(shelf)[:5] == ["QuestionAsked", "QuestionAnswered", "RungChanged", "CaseOpened", "RunStarted"]
        assert (changes(shelf)[0].to_rung, bench.opened, kinds(shelf)[-1]) == ("cpu", 1, "RunFinished")
        assert fold(events).answers == ()  # nothing of it is about the patient
    else:
        assert kinds(shelf) == ["QuestionAsked", "QuestionAnswered", "RunFailed"] and bench.opened == 0
        assert events[-1].event == ev.RunFailed(
            code="rung", text="The graphics card is not used. That was asked and not agreed to: nothing was started."
        )


def test_a_model_that_fits_even_less_than_was_agreed_to_is_asked_about_again(
    shelf: Shelf, bench: Bench, desk: Desk
) -> None:
    asking(bench)
    shelf.queue(workflow="quiet", settings=Settings(fallback="ask", on_question="wait"))
    desk.service.execute("r1")
    shelf.journal.answer("r1", (Answer(concept="rung:cpu", state="present"),), "tester")
    bench.info = msgspec.structs.replace(FALLEN, rung="cpu_small", reason="Little memory is free.")
    desk.service.execute("r1")
    assert kinds(shelf) == ["QuestionAsked", "QuestionAnswered", "QuestionAsked"]
    shelf.journal.answer("r1", (Answer(concept="rung:cpu_small", state="present"),), "tester")
    desk.service.execute("r1")
    assert [changed.to_rung for changed in changes(shelf)] == ["cpu_small"]


def test_where_nobody_can_be_asked_nothing_is_started(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    asking(bench)
    shelf.queue(workflow="quiet", settings=Settings(fallback="ask"))
    desk.service.execute("r1")
    assert [row.event for row in shelf.journal.events("r1")] == [ev.RunFailed(code="rung", text="Nobody.")]


def test_going_on_without_a_model_is_asked_too(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    bench.load_error = ModelError("There is not enough memory.", code="memory")
    bench.functions["quiet"] = lambda case, run: an_assessment(str(run.backbone))
    shelf.queue(workflow="quiet", settings=Settings(fallback="ask", on_question="wait"))
    desk.service.execute("r1")
    assert fold(shelf.journal.events("r1")).question is not None
    shelf.journal.answer("r1", (Answer(concept="rung:no model", state="present"),), "tester")
    desk.service.execute("r1")
    assert [changed.to_rung for changed in changes(shelf)] == ["no model"]
    assert kinds(shelf)[-1] == "RunFinished"


def test_another_wish_is_another_load(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    """A model loaded where it fell must not serve a run that wants it elsewhere."""
    for n, models in enumerate((Models(), Models(), Models(device="gpu"))):
        shelf.queue(id=f"r{n}", settings=Settings(models=models))
        desk.service.execute(f"r{n}")
    assert bench.opened == 2


@pytest.mark.parametrize(("code", "count"), [("bad_model", 1), ("pack_damaged", 1), ("memory", 0)])
def test_spoilt_model_file_is_a_fault_beside_the_announcement(
    shelf: Shelf, bench: Bench, desk: Desk, code: str, count: int
) -> None:
    """Section 6 of runtime.md: the window offers to verify the pack; the run goes on without a model."""
    bench.load_error = ModelError("The model file cannot be read (model pack p, file model.gguf).", code=code)
    bench.functions["quiet"] = lambda case, run: an_assessment(str(run.backbone))
    shelf.queue(workflow="quiet")
    desk.service.execute("r1")
    faults = [protocol.Fault(code=code, detail=str(bench.load_error))] * count
    assert desk.told(protocol.Fault) == faults
    assert isinstance(shelf.journal.events("r1")[-1].event, ev.RunFinished)


def test_model_can_be_loaded_let_go_and_planned_between_runs(bench: Bench, desk: Desk) -> None:
    run: Callable[..., None] = desk.service._arrange
    run(protocol.Load(pack=""))
    run(protocol.Load(pack=Settings().models.backbone))
    assert bench.opened == 1
    run(protocol.Unload(role="text"))
    assert bench.backbones[0].closed
    run(protocol.Plan(pack="p", n_ctx=512))
    [planned] = desk.told(protocol.Planned)
    assert isinstance(planned, protocol.Planned) and planned.plan.kv == 512
    run(protocol.Plan(pack="absent", n_ctx=512))
    run(protocol.Load(pack="p", role="vision"))
    assert [fault.code for fault in desk.told(protocol.Fault)] == ["pack_missing", "role"]  # type: ignore[attr-defined]


def test_stop_while_loading_ends_the_load(bench: Bench, desk: Desk) -> None:
    bench.on_effect = lambda key: (_ for _ in ()).throw(Cancelled("verify"))
    desk.service._stop.set()
    desk.service._arrange(protocol.Load(pack="p"))
    assert desk.sent == [protocol.Cancelled(run="")]


def test_finished_run_leaves_its_measurement(shelf: Shelf, bench: Bench, desk: Desk) -> None:
    shelf.queue()
    desk.service.execute("r1")
    memory = fold(shelf.journal.events("r1"))
    assert memory.model_calls > 0
    assert bench.calibrated == [(INFO.pack_id, memory.tokens_in + memory.tokens_out)]
