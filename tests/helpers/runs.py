"""Small cases, runs and doubles for tests of the journal and of what runs on it. Knows no window and no real model."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from core.domain import event as ev
from core.domain.action import CallTool, ToolResult
from core.domain.assessment import Assessment, Sentence
from core.domain.case import Case, Note
from core.domain.chat import ModelRequest, Sampling, message
from core.domain.condition import Condition, Rule
from core.domain.evidence import Gap, Question
from core.domain.hypothesis import Differential
from core.domain.passage import Concept, Hit, Passage, Source
from core.domain.ports import Annotated, Backbone, Found, Query, Tool
from core.domain.task import TaskInput
from core.errors import ToolError
from core.runtime.budget import Budget
from core.runtime.run import Hooks, Run
from core.settings import Settings
from core.store import migrations
from core.store.cases import Cases
from core.store.database import Database, open_database
from core.store.journal import Journal, RunRow

ACTOR = "tester"
AT = "2026-01-02T03:04:05.000+00:00"
NOTE = Note(id="n1", title="letter", text="Breathless for two days.", sha256="0" * 64)
CASE = Case(id="c1", title="Breathlessness", revision=1, created_at=AT, items=(NOTE,))
GAP = Gap(concept="calf-swelling", name="calf swelling", obtain="examination", why="raises embolism")
QUESTION = Question(gaps=(GAP,), wording=("Is a calf swollen?",))


class Shelf:
    """An open profile with one case."""

    def __init__(self, folder: Path) -> None:
        self.database: Database = open_database(folder / "workbench.db", migrations.workbench)
        self.cases = Cases(self.database)
        self.journal = Journal(self.database)
        if not self.cases.list():
            self.cases.save(CASE, ACTOR, AT)

    def queue(self, **changes: object) -> RunRow:
        """A queued run of the case; returns its row."""
        row = a_row(**changes)
        self.journal.queue(row)
        return row


def a_row(**changes: object) -> RunRow:
    plain = RunRow(
        id="r1",
        case_id=CASE.id,
        revision=1,
        task=TaskInput(question="What is it?"),
        workflow="toy",
        version="1",
        mode="adaptive",
        backbone="scripted",
        settings=Settings(),
        seed=7,
        actor=ACTOR,
        status="queued",
        resumes=0,
        created_at=AT,
    )
    return msgspec.structs.replace(plain, **changes)


def request(text: str, name: str = "toy") -> ModelRequest:
    return ModelRequest(
        messages=(message("user", text),),
        sampling=Sampling(seed=1),
        prompt_name=name,
        prompt_sha256="f" * 64,
    )


class OneHit:
    """A retriever that always finds the same passage; `searches` counts."""

    def __init__(self) -> None:
        self.searches = 0

    def search(self, query: Query) -> Found:
        self.searches += 1
        passage = Passage(
            cid=1,
            key="starter/pe/1",
            pack="starter",
            pack_title="Starter set",
            edition="2026",
            licence="Apache-2.0",
            doc="pe",
            title="Pulmonary embolism",
            section="Symptoms",
            section_class="symptoms",
            start=0,
            end=4,
            text="Text",
            sha256="a" * 64,
        )
        hit = Hit(cid=1, score=1.5, ranks={"bm25": 1})
        return Found(hits=(hit,), passages=(passage,), path=f"one:{query.text}", fingerprint="fp")


class NoKnowledge:
    """Knows no concept and no rule."""

    conditions: tuple[Condition, ...] = ()
    rules: tuple[Rule, ...] = ()

    def source(self, key: str) -> Source | None:
        return None

    def concept(self, identifier: str) -> Concept | None:
        return None

    def ancestors(self, identifier: str) -> frozenset[str]:
        return frozenset({identifier})

    def annotate(self, text: str) -> tuple[Annotated, ...]:
        return ()

    def lab_concepts(self, analyte: str, flag: str) -> tuple[str, ...]:
        return ()


class Doubler:
    """A tool that doubles a number and refuses negative ones; `calls` counts."""

    name = "double"
    version = "1"

    def __init__(self) -> None:
        self.calls = 0

    def call(self, call: CallTool) -> ToolResult:
        self.calls += 1
        number = int(call.arguments)
        if number < 0:
            raise ToolError("double: not negative, please", code="negative")
        return ToolResult(text=str(2 * number))


def an_assessment(text: str) -> Assessment:
    return Assessment(
        conclusion="insufficient",
        headline=Sentence(text=text, evidence=()),
        differential=Differential(hypotheses=(), sufficient=False),
    )


def toy(case: Case, run: Run) -> Assessment:
    """A workflow that uses every kind of effect; its result depends on all of them."""
    run.note(ev.EvidenceAdded(stage="first"))
    scores = run.rank(request("rank"), ("embolism", "pneumonia"), neutral=request(""))
    best = max(zip(scores.total_ll, scores.options, strict=True))[1]
    found = run.retrieve(Query(text=best))
    doubled = run.call(CallTool(tool="double", arguments="21"))
    refused = run.call(CallTool(tool="double", arguments="-1"))
    answers = run.ask(QUESTION)
    side = run.branch("side")
    drafts = side.sample(request("draft", "draft"), 2)
    reply = run.model(request("final", "final"))
    draw = run.rng.randint(0, 10**6), side.rng.randint(0, 10**6)
    parts = (best, found.path, doubled.text, refused.text, answers[0].state, drafts[1].text, reply.text, draw)
    steps = len(run.memory.steps)
    return an_assessment(f"{case.title}: {parts} {run.now()} {steps}")


TOY_REPLIES = {"draft": ("draft one", "draft two"), "final": "the end"}


def start(
    row: RunRow,
    journal: Journal,
    *,
    backbone: Backbone | None,
    retriever: OneHit | None = None,
    tool: Tool | None = None,
    budget: Budget | None = None,
    hooks: Hooks | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """A run over doubles."""
    return Run(
        row,
        journal,
        backbone=backbone,
        retriever=retriever or OneHit(),
        knowledge=NoKnowledge(),
        tools={"double": tool or Doubler()},
        budget=budget,
        hooks=hooks,
        stop=stop,
    )
