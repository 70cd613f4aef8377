"""What the pages have in common: the open case, the work beside the thread, and who is told when it is done.

Starts jobs of `desktop.state.jobs` through `desktop.operation` and hands results on as signals; draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.domain.case import Case
from core.domain.evidence import Evidence
from core.domain.memory import WorkingMemory
from desktop import crash
from desktop.i18n import tr
from desktop.operation import Explain, Job, Operation
from desktop.state import jobs
from desktop.state.case_list import CaseList
from desktop.state.incoming import Incoming, IncomingRows
from desktop.state.jobs import Interrupted, Opened, Shown
from desktop.state.report_files import Paper
from desktop.state.settings_form import Value
from desktop.state.source import Source, resolve
from desktop.state.workspace import Workspace
from desktop.views.crash_notice import CLOSED_BADLY, Crash

TAKE_MS = 100  # how often the files that an import told of are taken over: one batch, not one signal a file


class Desk(QObject):
    """The acts of the window on one profile."""

    told = Signal(str, str)  # tone, sentence
    opened = Signal(object)  # Opened
    run_started = Signal()
    report_ready = Signal(object)  # Shown
    exported = Signal(str)
    import_began = Signal(str)
    import_moved = Signal(int, int, str)
    import_over = Signal(object, str)  # Case or None, sentence of the failure
    left_over = Signal(object)  # Interrupted
    crashed = Signal(object)  # Crash
    problem_written = Signal(str)
    settings_changed = Signal()

    def __init__(self, space: Workspace, cases: CaseList, explain: Explain, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.space = space
        self._cases = cases
        self.explain = explain
        self.case: Case | None = None
        self.shown: Shown | None = None
        self._import: Operation | None = None
        self.incoming = IncomingRows(self)
        self._incoming = Incoming()
        self._take_files = QTimer(self, interval=TAKE_MS)
        self._take_files.timeout.connect(lambda: self.incoming.add(self._incoming.take()))
        self._wanted = ""
        self._status = ""
        space.live.settled.connect(self._on_settled)
        space.live.told.connect(self.told)
        space.live.changed.connect(self._on_live)
        space.engine.restarted.connect(self._on_worker_crash)
        space.engine.gave_up.connect(self._on_worker_crash)

    def work(
        self,
        job: Job,
        done: Callable[..., object],
        failed: Callable[[str], object] | None = None,
    ) -> Operation:
        """Start a job; its result goes to `done`, its sentence to `failed` or to the top of the window."""
        operation = Operation(job, self.explain)
        operation.done.connect(done)
        operation.failed.connect(failed or self._complain)
        return operation.start()

    # ------------------------------------------------------------------------------------------ cases

    def refresh(self) -> None:
        """Read the case list anew."""
        self.work(jobs.list_cases(self.space.bench), self._cases.show)

    def find_interrupted(self) -> None:
        """Tell of runs that an earlier window left behind."""
        self.work(jobs.interrupted(self.space.bench), self._on_interrupted)

    def open_case(self, case_id: str, run_id: str = "") -> None:
        """Open a case with its newest run or another; a later wish wins over one still being read."""
        self._wanted = case_id
        self.work(jobs.open_case(self.space.bench, case_id, run_id), self._on_opened)

    def resume(self, left: Interrupted) -> None:
        """Open the case of an interrupted run and go on with it."""
        self._wanted = left.case_id
        self.work(jobs.open_case(self.space.bench, left.case_id), self._on_resume)

    def _on_opened(self, opened: Opened) -> None:
        if opened.case.id != self._wanted:
            return
        self.case, self.shown = opened.case, None
        self.space.live.show(opened.run, opened.memory)
        self.opened.emit(opened)

    def _on_resume(self, opened: Opened) -> None:
        self._on_opened(opened)
        self.space.live.resume()
        self.run_started.emit()

    def _on_interrupted(self, found: tuple[Interrupted, ...]) -> None:
        """After a crash of the window the notice offers the newest one; the others have a line each."""
        if self.space.abrupt:
            self.space.abrupt = False
            self.crashed.emit(Crash(happened=tr(CLOSED_BADLY), left=found[0] if found else None))
            found = found[1:]
        for left in found:
            self.left_over.emit(left)

    def _on_worker_crash(self, run: str, sentence: str) -> None:
        def tell(left: Interrupted) -> None:
            self.crashed.emit(Crash(happened=sentence, left=left, goes_on=True))

        self.work(jobs.kept(self.space.bench, run), tell)

    def report_problem(self, happened: str) -> None:
        """Write a report without case text, and tell where it lies."""

        def write(facts: tuple[str, ...]) -> None:
            path = crash.report(happened, facts)
            if path == crash.NOT_WRITTEN:
                self.told.emit("critical", tr("The report could not be written: the log folder refuses it."))
            else:
                self.problem_written.emit(path)

        self.work(jobs.problem_facts(self.space.bench), write)

    # ----------------------------------------------------------------------------------------- import

    def import_places(self, places: Sequence[Path], *, into: str = "") -> None:
        """Read files and folders; into a new case, or as the next revision of one."""
        names = ", ".join(place.name for place in places[:2]) + (" …" if len(places) > 2 else "")
        job = jobs.import_files(self.space.bench, places, case_id=into, on_file=self._incoming.told)
        self._start_import(job, tr("Reading {names}", names=names))

    def import_example(self, letter: str) -> None:
        job = jobs.import_example(self.space.bench, letter, on_file=self._incoming.told)
        self._start_import(job, tr("Opening the example"))

    @property
    def importing(self) -> bool:
        """Is an import under way?"""
        return self._import is not None

    def cancel_import(self) -> None:
        if self._import is not None:
            self._import.cancel()

    def _start_import(self, job: Job, words: str) -> None:
        if self._import is not None:
            self.told.emit("caution", tr("One import is under way; start the next one when it is done."))
            return
        self._incoming.take()
        self.incoming.start()
        self._take_files.start()
        self._import = self.work(job, self._on_imported, self._on_import_failed)
        self._import.progressed.connect(self.import_moved)
        self._import.cancelled.connect(self._on_import_cancelled)
        self.import_began.emit(words)

    def _end_import(self) -> None:
        self._import = None
        self._take_files.stop()
        self.incoming.add(self._incoming.take())

    def _on_imported(self, case: Case) -> None:
        self._end_import()
        self.refresh()
        self.import_over.emit(case, "")
        self.open_case(case.id)

    def _on_import_failed(self, sentence: str) -> None:
        self._end_import()
        self.import_over.emit(None, sentence)

    def _on_import_cancelled(self) -> None:
        self._end_import()
        self.import_over.emit(None, tr("Cancelled; nothing was added."))

    def fetch_picture(self, sha256: str, done: Callable[[bytes], None], failed: Callable[[str], None]) -> None:
        """The bytes of a preview for a viewer."""
        self.work(jobs.read_picture(self.space.bench, sha256), done, failed)

    # ------------------------------------------------------------------------------------------- runs

    def start_run(self, question: str, use_model: bool) -> None:
        """Queue a run of the open case and hand it to the worker."""
        if self.case is not None:
            job = jobs.queue_run(self.space.bench, self.case, question, use_model=use_model)
            self.work(job, self._on_queued)

    def _on_queued(self, row: object) -> None:
        self.shown = None
        self.space.live.begin(row)  # type: ignore[arg-type]
        self.refresh()
        self.run_started.emit()

    def _on_live(self) -> None:
        """The list says when a run begins, waits or rests."""
        status = f"{self.space.live.run_id} {self.space.live.memory.status}"
        if status != self._status:
            self._status = status
            self.refresh()

    def _on_settled(self, run: str, status: str) -> None:
        self.refresh()
        if run == self.space.live.run_id and status == "finished":
            self.build_report()

    # ----------------------------------------------------------------------------------------- report

    def build_report(self) -> None:
        """Build the report of the run on the screen, unless it is the one that is shown already."""
        live = self.space.live
        if self.shown is not None and (self.shown.report.run_id, self.shown.memory.last_n) == (
            live.run_id,
            live.memory.last_n,
        ):
            self.report_ready.emit(self.shown)
        elif live.row is not None:
            self.work(jobs.build_report(self.space.bench, live.run_id), self._on_report)

    def _on_report(self, shown: Shown) -> None:
        if shown.report.run_id == self.space.live.run_id:
            self.shown = shown
            self.report_ready.emit(shown)

    def export(self, target: Path, *, replace: bool) -> None:
        """Write the report of the run on the screen as one file; over one that is there only where that was asked."""
        if self.case is not None and self.space.live.row is not None:
            job = jobs.export_report(
                self.space.bench,
                self.space.live.run_id,
                target,
                case_id=self.case.id,
                draw=_draw,
                replace=replace,
            )
            self.work(job, lambda path: self.exported.emit(str(path)))

    # --------------------------------------------------------------------------------------- settings

    def save_settings(
        self, answers: Mapping[str, Value], *, done: Callable[[], object], failed: Callable[[str], object]
    ) -> None:
        """Keep changed settings; what begins from now on is done under them."""

        def kept(settings: object) -> None:
            self.space.bench.settings = settings  # type: ignore[assignment]
            self.settings_changed.emit()
            done()

        self.work(jobs.save_settings(self.space.bench, answers), kept, failed)

    def source(self, evidence_id: str, *, from_report: bool) -> Source | None:
        """Where a piece of evidence comes from, by the report's case revision or by the live run's."""
        if from_report and self.shown is not None:
            case, memory = self.shown.case, self.shown.memory
            remark = self.shown.report.remark(evidence_id)
        elif self.case is not None:
            case, memory, remark = self.case, self.space.live.memory, ""
        else:
            return None
        evidence = find_evidence(memory, evidence_id)
        return resolve(evidence, case, memory, remark=remark) if evidence is not None else None

    def _complain(self, sentence: str) -> None:
        self.told.emit("critical", sentence)


def _draw(paper: Paper) -> bytes:
    """The pages of a report; what draws them is loaded when it is first wanted."""
    from desktop.views.report_pdf import draw

    return draw(paper)


def find_evidence(memory: WorkingMemory, evidence_id: str) -> Evidence | None:
    """An evidence item of a run, from its assessment once there is one."""
    items = memory.assessment.evidence if memory.assessment else memory.evidence
    return next((item for item in items if item.id == evidence_id), None)
