"""The composition root: the only place that knows all concrete classes, and puts them together.

Whatever is heavy (retrieval, models, numpy, readers) is imported inside the function that needs it, so that the
window's first paint and short commands stay light. Needs no Qt.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from core import codec, paths
from core import settings as options
from core.domain.case import Case
from core.domain.chat import ImagePart
from core.domain.pack import BackboneInfo, Calibration
from core.domain.task import task_from_case
from core.errors import UserError
from core.settings import Settings
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.consent import Consents
from core.store.database import Database, now, open_database
from core.store.journal import Journal, RunRow
from core.store.packs import Packs

if TYPE_CHECKING:
    from core.domain.condition import Condition
    from core.domain.memory import WorkingMemory
    from core.domain.ports import Backbone, Knowledge, Retriever, Terminology, Tool
    from core.domain.report import Remark
    from core.retrieval.derived import SiteKnowledge
    from core.retrieval.editions import Calendar
    from core.retrieval.guidelines import GuidelineRetriever
    from core.retrieval.index import PassageIndex
    from core.retrieval.sources.starter import StarterSet
    from core.retrieval.synonyms import Synonyms
    from core.runtime.protocol import Planned
    from core.runtime.service import Workflow
    from core.store.knowledge import KnowledgeStore
    from desktop.vectors import KnowledgeVectors
    from models import Site
    from models.packs import FastMark

DATABASE = "workbench.db"
NO_BACKBONE = "none"
PROGRAM = "wardround"  # who acts where nobody asked for it: the shipped guidelines are put in place
OnQuestion = Literal["unavailable", "wait"]


class Stores:
    """The open stores of one thread; also a context manager that closes them."""

    def __init__(self, profile: Path) -> None:
        from core.store import migrations

        self.database: Database = open_database(profile / DATABASE, migrations.workbench)
        self.cases = Cases(self.database)
        self.journal = Journal(self.database)
        self.artifacts = Artifacts(self.database, profile)
        self.consents = Consents(self.database)
        self.packs = Packs(self.database)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Stores:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Workbench:
    """A profile and who works in it; what windows and commands start from."""

    def __init__(self, profile: Path, settings: Settings, actor: str) -> None:
        self.profile = profile
        self.settings = settings
        self.actor = actor

    def open_stores(self) -> Stores:
        """Stores for the calling thread; close them there."""
        return Stores(self.profile)

    def pack_book(self, packs: Packs) -> Ledger:
        """What is remembered of model packs, written as this person."""
        return Ledger(packs, self.actor)

    def worker_command(self, fault: str = "") -> list[str]:
        """How a worker for this profile is started; `fault` is for tests."""
        arguments = ["--worker", "--profile", str(self.profile)]
        return paths.own_command(*arguments, *(["--fault", fault] if fault else []))

    def workflow_version(self, name: str) -> str:
        """The version of a workflow as it is now.

        Raises:
            UserError: there is none of that name.
        """
        return workflow(name).version

    def edition_remarks(self, memory: WorkingMemory) -> tuple[Remark, ...]:
        """What is to be said today of the guideline editions that a run's assessment cites (N14).

        Raises:
            StoreError: the knowledge cannot be read.
        """
        from core.retrieval.editions import Calendar
        from core.runtime.usage import remarks
        from core.store.knowledge import FILE, KnowledgeStore
        from core.store.migrations import knowledge

        path = self.profile / FILE
        if memory.assessment is None or not path.is_file():
            return ()
        store = KnowledgeStore(open_database(path, knowledge))
        try:
            calendar = Calendar.of(self.settings, date.today)
            return remarks(memory.assessment.evidence, store.packs(), calendar)
        finally:
            store.close()

    def queue(
        self,
        case: Case,
        question: str = "",
        *,
        backbone: str | None = None,
        on_question: OnQuestion | None = None,
        seed: int = 0,
        workflow: str = "direct",
    ) -> RunRow:
        """Write a run into the queue. `backbone`: a pack, "none", or None for the profile's own choice.

        Raises:
            UserError: no such workflow.
        """
        chosen = self.settings.models.backbone if backbone is None else backbone
        settings = msgspec.structs.replace(self.settings, on_question=on_question or self.settings.on_question)
        row = RunRow(
            id=f"r{uuid.uuid4().hex[:10]}",
            case_id=case.id,
            revision=case.revision,
            task=task_from_case(case, question),
            workflow=workflow,
            version=self.workflow_version(workflow),
            mode=settings.mode,
            backbone="" if chosen == NO_BACKBONE else chosen,
            settings=settings,
            seed=seed,
            actor=self.actor,
            status="queued",
            resumes=0,
            created_at=now(),
        )
        with self.open_stores() as stores:
            stores.journal.queue(row)
        return row


def workflow(name: str) -> Workflow:
    """A workflow under its name.

    Raises:
        UserError: there is none of that name.
    """
    from core.runtime.service import Workflow
    from core.workflows import direct

    known = {direct.NAME: Workflow(direct.NAME, direct.VERSION, direct.direct)}
    if name not in known:
        raise UserError(f"There is no workflow {name}. Known: {', '.join(sorted(known))}.", code="no such workflow")
    return known[name]


class Ledger:
    """What is remembered of model packs between starts: `models.packs.PackLedger` over the store."""

    def __init__(self, packs: Packs, actor: str) -> None:
        self._packs = packs
        self._actor = actor

    def marks(self, pack: str, version: str) -> tuple[FastMark, ...]:
        from models.packs import FastMark

        kept = self._packs.detail(pack, version, state="ready")
        return codec.decode(kept, tuple[FastMark, ...]) if kept else ()

    def remember(self, pack: str, version: str, marks: tuple[FastMark, ...]) -> None:
        detail = codec.encode(marks).decode()
        self._packs.set_state(pack, version, state="ready", detail=detail, actor=self._actor)

    def quarantine(self, pack: str, version: str, detail: str) -> None:
        self._packs.set_state(pack, version, state="quarantined", detail=detail, actor=self._actor)

    def quarantined(self, pack: str, version: str) -> str:
        return self._packs.detail(pack, version, state="quarantined")

    def calibration(self, pack: str, *, n_ctx: int, rung: str) -> Calibration | None:
        return self._packs.calibration(pack, n_ctx=n_ctx, rung=rung)

    def forget(self, pack: str, version: str) -> None:
        self._packs.forget(pack, version, actor=self._actor)


def site_of(settings: Settings) -> Site:
    """What a profile's settings say about loading a model."""
    from models import Site

    return Site(
        device=settings.models.device,
        fallback=settings.fallback,
        smaller=settings.models.smaller,
        verify=settings.verify_on_load,
    )


class WorkerParts:
    """What the worker's service works with (`core.runtime.service.Parts`)."""

    def __init__(
        self,
        profile: Path,
        stores: Stores,
        knowledge: Callable[[str], Knowledge],
        retriever: Retriever,
        *,
        effect: Callable[[str], None],
        crash_file: Callable[[BaseException], str],
        vectors: KnowledgeVectors | None = None,
        on_stall: Callable[[], None] | None = None,
        library: Library | None = None,
    ) -> None:
        self.journal = stores.journal
        self.cases = stores.cases
        self.knowledge = knowledge
        self.retriever = retriever
        self.effect = effect
        self.crash_file = crash_file
        self.rss = resident_bytes
        self.workflow = workflow
        self._packs = stores.packs
        self._artifacts = stores.artifacts
        self._on_stall = on_stall
        self._library = library
        self._profile = profile
        self._vectors = vectors
        self._before = 0
        self._cards = False  # a model library is loaded that knows of graphics cards

    def card(self) -> tuple[int, int]:
        """Used and whole memory of the graphics cards in bytes; zeros without one, or while no model was loaded."""
        if not self._cards:
            return 0, 0
        from models.llama.accelerators import graphics_cards

        cards = graphics_cards()
        self._cards = bool(cards)
        return sum(card.total - card.free for card in cards), sum(card.total for card in cards)

    def tools(self, case: Case) -> dict[str, Tool]:
        """The toolbox, bound to a case."""
        from core.retrieval.case_passages import CasePassages
        from core.runtime.registry import ToolContext
        from tools import TOOLS

        library = self._library
        context = ToolContext(
            case=case,
            shelves=library.retriever if library else None,
            terminology=library.terminology if library else None,
            documents=CasePassages(case.notes, synonyms=library.synonyms if library else None),
        )
        return {tool.name: tool.bind(context) for tool in TOOLS}

    def backbone(
        self, pack: str, settings: Settings, *, on_verify: Callable[[int, int], None], stop: threading.Event
    ) -> Backbone:
        """The language model of a pack, checked and loaded.

        Raises:
            UserError, ModelError, Cancelled: as `models.open_backbone`.
        """
        if scripted_seconds() is not None:
            return _scripted(pack, stop)
        from models import open_backbone

        ledger = Ledger(self._packs, PROGRAM)
        self._before = resident_bytes()
        opened = open_backbone(
            pack,
            stop=stop,
            on_progress=on_verify,
            site=site_of(settings),
            ledger=ledger,
            calibrations=ledger,
            pictures=self._picture,
            on_stall=self._on_stall,
        )
        self._cards = True
        return opened

    def _picture(self, part: ImagePart) -> bytes:
        """What a model is to see of a stored picture."""
        from core.imaging.view import render_view

        return render_view(self._artifacts.read(part.artifact_sha256), part)

    def plan(self, pack: str, n_ctx: int, settings: Settings) -> Planned:
        """Where a pack would run now, and what that takes.

        Raises:
            UserError: it is not installed, fits nowhere, or the policy forbids the rung.
        """
        from core.runtime.protocol import Planned
        from models.llama.loader import plan_pack

        calibrations = Ledger(self._packs, PROGRAM)
        rung, plan = plan_pack(pack, site=site_of(settings), n_ctx=n_ctx, calibrations=calibrations)
        return Planned(pack=pack, rung=rung.name, reason=rung.reason, plan=plan)

    def calibrate(self, info: BackboneInfo, *, tokens: int, seconds: float) -> None:
        """Remember what a run of a real model came to."""
        peak = resident_bytes() - self._before
        if scripted_seconds() is None and peak > 0 and seconds > 0:
            measured = Calibration(
                pack=info.pack_id, n_ctx=info.n_ctx, rung=info.rung, peak=peak, tok_s=tokens / seconds, tokens=tokens
            )
            self._packs.calibrate(measured, actor=PROGRAM)

    def embed(self, on_texts: Callable[[int, int], None], stop: threading.Event) -> int:
        """Make every missing vector of the knowledge.

        Raises:
            UserError, ModelError, StoreError, Cancelled: as `desktop.vectors.KnowledgeVectors.build`.
        """
        return self._vectors.build(on_texts=on_texts, stop=stop) if self._vectors else 0

    def settings(self) -> Settings:
        """The profile's settings as they are now."""
        return options.load(self._profile)


@contextmanager
def worker_parts(
    profile: Path,
    *,
    effect: Callable[[str], None],
    crash_file: Callable[[BaseException], str],
    on_texts: Callable[[int, int], None],
    on_stall: Callable[[], None] | None = None,
) -> Iterator[WorkerParts]:
    """Everything a worker needs, open as long as the context lasts; use it from the opening thread.

    `on_texts` hears passages embedded and in all, while a search waits for missing vectors; `on_stall`
    hears when other programs have brought the model to a halt.
    """
    from desktop.vectors import KnowledgeVectors

    real = scripted_seconds() is None
    vectors = KnowledgeVectors(profile, options.load(profile), on_texts=on_texts) if real else None
    with Stores(profile) as stores, open_library(profile, vectors=vectors) as library:
        yield WorkerParts(
            profile,
            stores,
            library.knowledge,
            library.retriever,
            effect=effect,
            crash_file=crash_file,
            vectors=vectors,
            on_stall=on_stall,
            library=library,
        )


class Library:
    """The knowledge of a profile, open: store, index, search, and what a run of a moment knows."""

    def __init__(
        self,
        store: KnowledgeStore,
        index: PassageIndex,
        retriever: GuidelineRetriever,
        *,
        site: Callable[[], SiteKnowledge],
        calendar: Calendar,
        terminology: Terminology,
        synonyms: Synonyms,
    ) -> None:
        self.store = store
        self.index = index
        self.retriever = retriever
        self.calendar = calendar
        self.terminology = terminology
        self.synonyms = synonyms
        self._make_site = site  # concepts and conditions: who only searches does not wait for them
        self._site: SiteKnowledge | None = None

    def knowledge(self, moment: str = "") -> Knowledge:
        """Concepts, conditions and rules, those of the guidelines approved then (ISO 8601; "" = now) among them."""
        self._site = self._site or self._make_site()
        return self._site.at(moment or now())


@contextmanager
def open_library(profile: Path, *, vectors: KnowledgeVectors | None = None) -> Iterator[Library]:
    """The knowledge of a profile; use it from the opening thread.

    Without `vectors` passages are found by words alone; with them they are closed here.
    """
    from core.retrieval import catalogue
    from core.retrieval.editions import Calendar
    from core.retrieval.synonyms import Synonyms

    calendar = Calendar.of(options.load(profile), date.today)
    store, index, retriever, content = catalogue.open_knowledge(
        profile, paths.cache_folder(), PROGRAM, dense=vectors.dense if vectors else None, calendar=calendar
    )
    try:
        yield Library(
            store,
            index,
            retriever,
            site=lambda: _site(content, store),
            calendar=calendar,
            terminology=_terminology(content, store),
            synonyms=Synonyms(content.concepts),
        )
    finally:
        if vectors:
            vectors.close()
        store.close()


def _terminology(content: StarterSet, store: KnowledgeStore) -> Terminology:
    from core.retrieval.dictionary import WordLists
    from core.retrieval.terminology import InstalledTerminology

    folder = resources.files("core.retrieval").joinpath("resources")
    stopwords, abbreviations = (folder.joinpath(f"{n}.toml").read_text("utf-8") for n in ("stopwords", "abbreviations"))
    return InstalledTerminology(store, WordLists(stopwords, abbreviations), starter=content.concepts)


def _site(content: StarterSet, store: KnowledgeStore) -> SiteKnowledge:
    from core.retrieval.derived import SiteKnowledge
    from core.retrieval.knowledge import WORD_LISTS, StarterKnowledge

    folder = resources.files("core.retrieval").joinpath("resources")
    lists = {name: folder.joinpath(f"{name}.toml").read_text("utf-8") for name in WORD_LISTS}
    return SiteKnowledge(StarterKnowledge(content, **lists), store)


@contextmanager
def open_knowledge(profile: Path, *, vectors: KnowledgeVectors | None = None) -> Iterator[tuple[Knowledge, Retriever]]:
    """Concepts, conditions and rules as of now, and the search over the guidelines; as `open_library`."""
    with open_library(profile, vectors=vectors) as library:
        yield library.knowledge(), library.retriever


def starter_conditions() -> tuple[Condition, ...]:
    """The conditions that ship with the program."""
    from core.retrieval import knowledge

    return knowledge.packaged().conditions


def scripted_seconds() -> float | None:
    """Tests only: how long each call of the scripted model takes; None: the real model is used."""
    if os.environ.get("WARDROUND_TESTING") != "1" or os.environ.get("WARDROUND_TEST_BACKBONE") != "scripted":
        return None
    return float(os.environ.get("WARDROUND_TEST_SECONDS", "0"))


def _scripted(pack: str, stop: threading.Event) -> Backbone:
    from models.scripted import INFO, ScriptedBackbone

    info = msgspec.structs.replace(INFO, pack_id=pack)
    return ScriptedBackbone(seconds=scripted_seconds() or 0.0, stop=stop, info=info)


def resident_bytes() -> int:
    """This process's resident memory; 0 where the system does not tell it in /proc."""
    if sys.platform == "win32":
        return 0
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
