"""The work that is done beside the window's thread. Each function returns a job `(progress, stop) -> value`.

A job opens stores of its own and closes them; core's heavier modules are imported inside, so that the first paint waits
for none of them. Knows no Qt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from core.domain.case import Case, CaseSummary
from core.domain.case_find import Found
from core.domain.memory import WorkingMemory, fold
from core.domain.report import Report
from core.errors import UserError
from core.runtime.examples import TITLES
from core.settings import Settings, save
from desktop.i18n import tr
from desktop.state import report_files, settings_form
from desktop.state.report_files import Draw
from desktop.state.settings_form import Value
from desktop.state.trends import Trend, trends

if TYPE_CHECKING:
    from core.runtime.case_search import Finder
    from core.store.journal import RunRow
    from desktop.state.workbench import Stores, Workbench

T = TypeVar("T")
Progress = Callable[[int, int, str], None]
Told = Callable[[str, str], None]
Job = Callable[[Progress, threading.Event], T]
NO_MODEL = "none"
MOVE_S = 0.05  # progress is told this often at most: a file takes less than a millisecond
EXAMPLES = TITLES


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A case as the window opens it: its latest revision, its runs (newest first), the chosen run and its fold, and the
    trends of its laboratory values.
    """

    case: Case
    runs: tuple[RunRow, ...] = ()
    run: RunRow | None = None
    memory: WorkingMemory = WorkingMemory()
    trends: dict[tuple[str, int], Trend] = {}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A report with what its links lead to: the case at the run's revision and the run's memory."""

    report: Report
    case: Case
    memory: WorkingMemory


class Interrupted(msgspec.Struct, frozen=True, kw_only=True):
    """A run that a closed window or a crash left behind, with the steps of it that are saved."""

    run_id: str
    case_id: str
    title: str
    steps: int = 0


def _with_stores(bench: Workbench, work: Callable[[Stores], T]) -> T:
    stores = bench.open_stores()
    with closing(stores.database):
        return work(stores)


def list_cases(bench: Workbench) -> Job[tuple[CaseSummary, ...]]:
    """The case list."""
    return lambda progress, stop: _with_stores(bench, lambda stores: stores.cases.list())


def interrupted(bench: Workbench) -> Job[tuple[Interrupted, ...]]:
    """Runs to offer for resume: the newest run of its case, at rest without an end."""

    def find(stores: Stores) -> tuple[Interrupted, ...]:
        last = {summary.last_run: summary for summary in stores.cases.list()}
        return tuple(_kept(stores, row) for row in stores.journal.unfinished() if row.id in last)

    return lambda progress, stop: _with_stores(bench, find)


def kept(bench: Workbench, run_id: str) -> Job[Interrupted]:
    """What is saved of a run whose process ended unexpectedly."""
    return lambda progress, stop: _with_stores(bench, lambda stores: _kept(stores, stores.journal.run(run_id)))


def _kept(stores: Stores, row: RunRow) -> Interrupted:
    steps = len(fold(stores.journal.events(row.id)).steps)
    return Interrupted(run_id=row.id, case_id=row.case_id, title=stores.cases.load(row.case_id).title, steps=steps)


def problem_facts(bench: Workbench) -> Job[tuple[str, ...]]:
    """Lines for a problem report: counts, states, settings, the machine. No word of any case, no name, no path."""

    def gather(stores: Stores) -> tuple[str, ...]:
        from desktop.state import problem

        return tuple(problem.facts(bench.settings, stores))

    return lambda progress, stop: _with_stores(bench, gather)


def open_case(bench: Workbench, case_id: str, run_id: str = "") -> Job[Opened]:
    """A case, its runs, and what one of them (the newest, unless another is named) has done so far."""

    def read(stores: Stores) -> Opened:
        runs = stores.journal.runs(case_id)
        run = next((row for row in runs if row.id == run_id), runs[0] if runs else None)
        memory = fold(stores.journal.legible(run.id)) if run else WorkingMemory()
        case = stores.cases.load(case_id)
        return Opened(case=case, runs=runs, run=run, memory=memory, trends=trends(case))

    return lambda progress, stop: _with_stores(bench, read)


def new_finder() -> Finder:
    """A place for the texts of a search."""
    from core.runtime.case_search import Finder

    return Finder()


def search_cases(bench: Workbench, finder: Finder, wanted: str) -> Job[tuple[Found, ...]]:
    """The cases whose texts hold every word; `finder` keeps the texts between two searches."""

    def work(progress: Progress, stop: threading.Event) -> tuple[Found, ...]:
        from core.store.case_texts import CaseTexts

        return _with_stores(bench, lambda stores: finder.search(CaseTexts(stores.database), wanted, stop.is_set))

    return work


def queue_run(bench: Workbench, case: Case, question: str, *, use_model: bool) -> Job[RunRow]:
    """Write a run into the queue; in the window a run waits for its answers."""
    backbone = None if use_model else NO_MODEL
    return lambda progress, stop: bench.queue(case, question, backbone=backbone, on_question="wait")


def _silent(name: str, reason: str) -> None:
    """Nobody listens to single files."""


def _paced(progress: Progress) -> Progress:
    """Progress, told at most every `MOVE_S` and at the end."""
    last = 0.0

    def told(done: int, total: int, name: str) -> None:
        nonlocal last
        if done == total or time.monotonic() - last >= MOVE_S:
            last = time.monotonic()
            progress(done, total, name)

    return told


def import_files(
    bench: Workbench, places: Sequence[Path], *, case_id: str = "", title: str = "", on_file: Told = _silent
) -> Job[Case]:
    """Read files and folders into a new case, or into the next revision of one.

    `on_file(name, reason)` is called in the job's thread, as soon as a file was read (reason "") or was not.
    """

    def work(progress: Progress, stop: threading.Event) -> Case:
        from core.runtime.intake import import_paths
        from core.store.database import now

        def keep(stores: Stores) -> Case:
            return import_paths(
                tuple(places),
                case_id=case_id or None,
                title=title,
                settings=bench.settings,
                cases=stores.cases,
                artifacts=stores.artifacts,
                actor=bench.actor,
                clock=now,
                on_progress=_paced(progress),
                on_file=on_file,
                stop=stop,
            )

        return _with_stores(bench, keep)

    return work


def import_example(bench: Workbench, letter: str, *, on_file: Told = _silent) -> Job[Case]:
    """Write one of the shipped example cases into a temporary folder and import it."""

    def work(progress: Progress, stop: threading.Event) -> Case:
        from tempfile import TemporaryDirectory

        from core.runtime import examples

        with TemporaryDirectory(prefix="wardround-example-") as folder:
            progress(0, 0, tr("writing the example"))
            examples.write(letter, Path(folder))
            return import_files(bench, [Path(folder)], title=EXAMPLES[letter], on_file=on_file)(progress, stop)

    return work


def save_settings(bench: Workbench, answers: Mapping[str, Value]) -> Job[Settings]:
    """Change settings of the profile and write them.

    Raises:
        UserError: a value that cannot be, or a file that cannot be written; the settings are as they were.
    """

    def work(progress: Progress, stop: threading.Event) -> Settings:
        settings = settings_form.changed(bench.settings, answers)
        try:
            save(bench.profile, settings)
        except OSError as error:
            raise UserError(tr("The settings could not be written: {why}.", why=error.strerror), code="disk") from error
        return settings

    return work


def read_picture(bench: Workbench, sha256: str) -> Job[bytes]:
    """The PNG bytes of a preview."""
    return lambda progress, stop: _with_stores(bench, lambda stores: stores.artifacts.read(sha256))


def build_report(bench: Workbench, run_id: str) -> Job[Shown]:
    """The report of a run with everything its links lead to."""
    return lambda progress, stop: _with_stores(bench, lambda stores: _shown(bench, stores, run_id))


def _shown(bench: Workbench, stores: Stores, run_id: str) -> Shown:
    from core.runtime import report

    row = stores.journal.run(run_id)
    case = stores.cases.load(row.case_id, row.revision)
    memory = fold(stores.journal.legible(run_id))
    faults = stores.journal.verify(run_id)
    remarks = bench.edition_remarks(memory)
    return Shown(report=report.build(case, row, memory, faults=faults, remarks=remarks), case=case, memory=memory)


def export_report(
    bench: Workbench, run_id: str, target: Path, *, case_id: str, draw: Draw, replace: bool = False
) -> Job[Path]:
    """Write the report as one file, PDF (drawn by `draw`) or HTML by its name.

    `case_id` is the case on the screen: another one is refused. `replace`: a file that is there may be overwritten.

    Raises:
        UserError: the run belongs to another case, or the file cannot be written.
    """

    def write(stores: Stores) -> Path:
        from core.runtime.report_html import html

        form = report_files.form_of(target)
        shown = _shown(bench, stores, run_id)
        if shown.case.id != case_id:
            raise UserError(tr("This report belongs to another case; nothing was written."), code="other case")
        previews = {picture.preview_sha256 for picture in shown.case.pictures if picture.preview_sha256}
        pictures = {name: stores.artifacts.read(name) for name in sorted(previews)}
        if form == report_files.PDF:
            data = draw(report_files.paper(shown.report, shown.case, shown.memory, pictures))
        else:
            data = html(shown.report, shown.case, pictures).encode()
        return report_files.keep(target, data, replace=replace)

    return lambda progress, stop: _with_stores(bench, write)
