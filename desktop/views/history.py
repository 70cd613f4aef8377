"""The work-ups of the open case: their list, the way from it to one of them or to two, and the word on an earlier one.

Keeps the list in step with the run on the screen; what is read of the journal is read beside the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame

from desktop.i18n import tr
from desktop.state import jobs, run_comparison, runs
from desktop.state.jobs import Opened
from desktop.state.run_comparison import Beside
from desktop.state.runs import RunSummary
from desktop.views import pieces
from desktop.views.comparison_page import ComparisonPage
from desktop.views.desk import Desk
from desktop.views.full_page import FullPage
from desktop.views.pieces import Picture, text
from desktop.views.runs_list import RunsPage

EARLIER = "This is an earlier work-up, of {at}. A later one is there."
OLD_DATA = "It was made from revision {n} of the case; the case now has revision {latest}."


class EarlierNotice(QFrame):
    """Stands over a work-up that is not the latest, or that does not know the case's latest data."""

    def __init__(self, show_latest: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setProperty("tone", "caution")
        self.said = text("")
        self.latest = pieces.button(tr("Show the latest"), show_latest)
        pieces.row(self, Picture("clock", "caution", 18), self.said, self.latest, margins=(16, 4, 12, 4)).setStretch(
            1, 1
        )
        self.hide()

    def tell(self, sentence: str, *, later: bool) -> None:
        """What is to be known before reading; nothing hides it. `later`: there is a later work-up to go to."""
        self.said.setText(sentence)
        self.setAccessibleName(sentence)
        self.latest.setVisible(later)
        self.setVisible(bool(sentence))


class History(QObject):
    """`arrived` says that another run is on the screen now, with its status."""

    arrived = Signal(str)

    def __init__(self, show: Callable[[FullPage], object], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._desk: Desk | None = None
        self._found: tuple[RunSummary, ...] = ()
        self._seen = ""
        self._on_run_pages = False
        self.page = RunsPage()
        self.notice = EarlierNotice(self.open_latest)
        self._beside: ComparisonPage | None = None
        self.page.opened.connect(self.open_run)
        self.page.compared.connect(self.compare)

    def attach(self, desk: Desk) -> None:
        """The profile is there."""
        self._desk = desk
        desk.opened.connect(lambda _opened: self.refresh())
        desk.run_started.connect(self.refresh)
        desk.space.live.settled.connect(lambda _run, _status: self.refresh())
        desk.space.live.changed.connect(self._on_live)

    def refresh(self) -> None:
        """Read the runs of the open case anew."""
        if self._desk is not None and self._desk.case is not None:
            case = self._desk.case.id
            self._desk.work(runs.list_runs(self._desk.space.bench, case), lambda found: self._on_found(case, found))

    def _on_found(self, case_id: str, found: tuple[RunSummary, ...]) -> None:
        desk = self._desk
        if desk is None or desk.case is None or desk.case.id != case_id:
            return
        self._found = found
        engine = desk.space.engine
        live = {run.id: "running" if engine.current == run.id else "queued" for run in found if engine.pending(run.id)}
        self.page.show_runs(found, live, desk.space.live.run_id)
        self._tell()

    def _on_live(self) -> None:
        """The run on the screen began, waits, or is another one: the list says so."""
        live = self._desk.space.live if self._desk is not None else None
        if live is not None and (state := f"{live.run_id} {live.status}") != self._seen:
            self._seen = state
            self.refresh()

    # ------------------------------------------------------------------------------------------ one of them

    def open_run(self, run_id: str) -> None:
        """Put a run of the open case on the screen."""
        desk = self._desk
        if desk is None or desk.case is None:
            return
        if run_id == desk.space.live.run_id:
            self.arrived.emit(desk.space.live.status)
            return
        job = jobs.open_case(desk.space.bench, desk.case.id, run_id)
        desk.work(job, self._on_read)

    def open_latest(self) -> None:
        if self._found:
            self.open_run(self._found[0].id)

    def _on_read(self, opened: Opened) -> None:
        desk = self._desk
        if desk is None or desk.case is None or desk.case.id != opened.case.id:
            return
        desk.shown = None
        desk.space.live.show(opened.run, opened.memory)
        self.arrived.emit(desk.space.live.status)

    # -------------------------------------------------------------------------------------------- two of them

    def compare(self, one: str, other: str) -> None:
        """Show two runs of the open case beside each other."""
        if self._desk is not None and self._desk.case is not None:
            job = run_comparison.compare_runs(self._desk.space.bench, self._desk.case.id, one, other)
            self._desk.work(job, self._on_compared)

    def _on_compared(self, found: Beside) -> None:
        desk = self._desk
        if desk is None or desk.case is None or desk.case.id != found.one.case_id:
            return
        page = self._beside
        if page is None:
            page = self._beside = ComparisonPage()
            page.opened.connect(self.open_run)
        page.show_two(found, desk.case)
        self._show(page)

    # ----------------------------------------------------------------------------------------- an earlier one

    def on_page(self, *, of_run: bool) -> None:
        """Another page of the case is shown; the notice stands over those of a run."""
        self._on_run_pages = of_run
        self._tell()

    def _tell(self) -> None:
        desk = self._desk
        row = desk.space.live.row if desk is not None else None
        if desk is None or desk.case is None or row is None or row.case_id != desk.case.id or not self._on_run_pages:
            self.notice.tell("", later=False)
            return
        later = any(run.created_at > row.created_at for run in self._found if run.case_id == row.case_id)
        at = row.created_at[:16].replace("T", " ")
        said = [tr(EARLIER, at=at)] if later else []
        if row.revision < desk.case.revision:
            said.append(tr(OLD_DATA, n=row.revision, latest=desk.case.revision))
        self.notice.tell(" ".join(said), later=later)
