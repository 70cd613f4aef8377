"""The main window: case list at the left, the open case with its four pages, the evidence beside them.

First it paints an empty shell; `attach` gives it the profile once that is open. Every act goes through the desk.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from core.domain.case_find import Hit
from core.domain.notices import INTENDED_USE, notice
from desktop.i18n import tr
from desktop.operation import Explain
from desktop.state import settings_form
from desktop.state.case_list import CaseList
from desktop.state.jobs import Interrupted, Opened, Shown
from desktop.state.workspace import Workspace
from desktop.views import ask, menu, pieces
from desktop.views.about import About, outbound
from desktop.views.arrivals import Arrivals
from desktop.views.case_page import CasePage
from desktop.views.case_pane import CasePane
from desktop.views.consent_page import ConsentPage
from desktop.views.crash_notice import BY_HAND, CrashNotice, ProblemReport
from desktop.views.desk import Desk
from desktop.views.dropping import dropped_paths
from desktop.views.empty_page import EmptyPage
from desktop.views.evidence_panel import EvidencePanel
from desktop.views.frame import Frame
from desktop.views.full_page import FullPage
from desktop.views.history import History
from desktop.views.keys import KeySheet
from desktop.views.library import Library
from desktop.views.look import look
from desktop.views.patient_head import PatientHead
from desktop.views.pieces import text
from desktop.views.report_page import ReportPage
from desktop.views.run_page import RunPage
from desktop.views.search import Search
from desktop.views.settings_dialog import SettingsDialog
from desktop.views.strips import Strips

CASE, RUN, REPORT, RUNS = 0, 1, 2, 3
FULL = 2  # in the room: nothing, the case, then the pages of the whole profile
NARROW = 1040  # below this width the case list gives way to the open case


class Window(Frame):
    """One window a profile."""

    declined = Signal()

    def __init__(self, settings: QSettings | None = None) -> None:
        super().__init__(settings)
        self.setAcceptDrops(True)
        self._narrow = False
        self._under = 0
        self.desk: Desk | None = None
        self.library = Library(self.show_full)
        self.cases = CaseList(self)
        self.pane = CasePane(self.cases)
        self.empty = EmptyPage()
        self.head = PatientHead()
        self.case_page = CasePage(self._fetch)
        self.run_page = RunPage()
        self.report_page = ReportPage()
        self.panel = EvidencePanel(self._fetch)
        self.consent_page: ConsentPage | None = None
        self.arrivals = Arrivals(self, self.pane, self.empty)
        self.finding = Search(self.pane, self)
        self.history = History(self.show_full, self)
        self._build()
        self._connect()
        self.acts = menu.actions(self)
        self.menu = menu.menu(self, self.acts)
        menu.hang(self.menu, self.pane.menu_button)
        look().changed.connect(self._give_way)
        self._give_way()
        self.restore()

    # -------------------------------------------------------------------------------------- building

    def _build(self) -> None:
        self.pages = QStackedWidget()
        for page in (self.case_page, self.run_page, self.report_page, self.history.page):
            self.pages.addWidget(page)
        self.pages.currentChanged.connect(lambda page: self.history.on_page(of_run=page in (RUN, REPORT)))
        self.beside = QSplitter()
        self.beside.addWidget(self.pages)
        self.beside.addWidget(self.panel)
        self.beside.setHandleWidth(1)
        self.beside.setStretchFactor(0, 1)
        self.beside.setChildrenCollapsible(False)
        self.research = text(notice("N6"), "small", tone="serious")
        self.research.setContentsMargins(16, 4, 16, 4)
        self.research.hide()
        case = QWidget()
        pieces.column(case, self.head, self.history.notice, self.beside, gap=0, stretch=self.beside)
        self.room = QStackedWidget()
        self.room.addWidget(self.empty)
        self.room.addWidget(case)
        self.strips = Strips()
        self.crash = CrashNotice()
        right = QWidget()
        pieces.column(right, self.research, self.crash, self.strips, self.room, gap=0, stretch=self.room)
        self.split = QSplitter()
        self.split.addWidget(self.pane)
        self.split.addWidget(right)
        self.split.setHandleWidth(1)
        self.split.setStretchFactor(1, 1)
        self.split.setCollapsible(0, True)
        self.split.setCollapsible(1, False)
        work = QWidget()
        pieces.column(work, self.split, self.figures, self.foot(), gap=0, stretch=self.split)
        self.whole = QStackedWidget()
        self.whole.addWidget(work)
        self.setCentralWidget(self.whole)

    def _connect(self) -> None:
        self.pane.chosen.connect(lambda case_id: self._with_desk(lambda desk: desk.open_case(case_id)))
        self.pane.card.details.connect(self._show_unread)
        self.arrivals.files_wanted.connect(lambda: self._with_desk(self.library.incoming))
        self.head.turned.connect(self.turn_to)
        self.head.pane_wanted.connect(self.toggle_pane)
        self.case_page.started.connect(
            lambda question, model: self._with_desk(lambda desk: desk.start_run(question, model))
        )
        self.run_page.report_wanted.connect(self.page_report)
        self.run_page.evidence_wanted.connect(self.show_evidence)
        self.report_page.evidence_wanted.connect(self.show_evidence)
        self.panel.wanted.connect(self.show_evidence)
        self.finding.arrived.connect(self._show_place)
        self.history.arrived.connect(self._show_run)
        self.crash.resumed.connect(lambda left: self._with_desk(lambda desk: desk.resume(left)))
        self.crash.report_wanted.connect(lambda why: self._with_desk(lambda desk: desk.report_problem(why)))
        self.report_page.export_wanted.connect(self.export)

    # --------------------------------------------------------------------------------- the profile

    def attach(self, space: Workspace, explain: Explain) -> None:
        """Give the window its profile: from now on it can act."""
        desk = self.desk = Desk(space, self.cases, explain, self)
        self.run_page.attach(space.live)
        self.case_page.composer.show_model(space.model)
        self.research.setVisible(space.research)
        self.case_page.images = self.panel.images = space.research
        desk.told.connect(self.tell)
        desk.opened.connect(self._on_opened)
        desk.run_started.connect(self.page_run)
        desk.report_ready.connect(self._on_report)
        desk.exported.connect(self._on_exported)
        desk.left_over.connect(self._offer_resume)
        desk.crashed.connect(self.crash.show_crash)
        desk.problem_written.connect(lambda path: ProblemReport(self, path).open())
        desk.settings_changed.connect(lambda: self.case_page.composer.show_model(space.model))
        self.arrivals.attach(desk)
        self.resources.attach(space)
        self.finding.attach(desk)
        self.history.attach(desk)
        space.live.changed.connect(self._on_live)
        space.live.settled.connect(self._on_settled)
        if space.consented(INTENDED_USE):
            self._begin()
        else:
            self._ask_consent(space)

    def _ask_consent(self, space: Workspace) -> None:
        page = self.consent_page = ConsentPage()
        page.accepted.connect(lambda: self._on_consent(space))
        page.declined.connect(self.declined)
        self.whole.addWidget(page)
        self.whole.setCurrentWidget(page)
        page.read.setFocus()

    def _on_consent(self, space: Workspace) -> None:
        space.consent(INTENDED_USE)
        if self.consent_page is not None:
            self.whole.setCurrentIndex(0)
            self.whole.removeWidget(self.consent_page)
            self.consent_page.deleteLater()
            self.consent_page = None
        self._begin()

    def _begin(self) -> None:
        self._with_desk(lambda desk: self.empty.ready(images=desk.space.research))
        self.arrivals.open_door()
        self.pane.list.setFocus()
        self._with_desk(Desk.refresh)
        self._with_desk(Desk.find_interrupted)
        self._with_desk(self.library.make_vectors)

    def _with_desk(self, act: Callable[[Desk], object]) -> None:
        """Do something once there is a profile and consent; before that nothing happens."""
        if self.desk is not None and self.consent_page is None:
            act(self.desk)

    # ------------------------------------------------------------------------------------- sentences

    def tell(self, tone: str, words: str) -> None:
        """A sentence at the top of the window, until it is dismissed."""
        self.strips.tell(tone, words)

    def _offer_resume(self, left: Interrupted) -> None:
        self.strips.offer_resume(left, lambda found: self._with_desk(lambda desk: desk.resume(found)))

    # ------------------------------------------------------------------------------------ full pages

    def show_full(self, page: FullPage) -> None:
        """Put a page of the whole profile (not of one case) in the place of the case, until it is closed."""
        if self.room.indexOf(page) < 0:
            page.closed.connect(self.close_full)
            self.room.addWidget(page)
        if self.room.currentIndex() < FULL:
            self._under = self.room.currentIndex()
        self.room.setCurrentWidget(page)
        self._room_for_page()
        page.enter()

    def close_full(self) -> None:
        """Back to what was shown before."""
        if self.room.currentIndex() >= FULL:
            self.room.setCurrentIndex(self._under)
            self._room_for_page()

    # ---------------------------------------------------------------------------------------- pages

    def turn_to(self, page: int) -> None:
        """Show one of the four pages of the open case."""
        self.close_full()
        if self.room.currentIndex() == 0 or not self.head.tabs[page].isEnabled():
            self.head.mark(self.pages.currentIndex())
            return
        if page == REPORT:
            self._with_desk(Desk.build_report)
        self.pages.setCurrentIndex(page)
        self.head.mark(page)
        if page != RUN or not self.run_page.question.isVisible():
            (self.case_page.list, self.run_page.steps, self.report_page.body, self.history.page.list)[page].setFocus()

    def page_case(self) -> None:
        self.turn_to(CASE)

    def page_run(self) -> None:
        self.turn_to(RUN)

    def page_report(self) -> None:
        self.turn_to(REPORT)

    def page_runs(self) -> None:
        self.turn_to(RUNS)

    def _show_run(self, status: str) -> None:
        """Another run of the case is on the screen: its report where it has one, else its work-up."""
        self.panel.close_panel()
        self.report_page.clear()
        self.turn_to(REPORT if status == "finished" else RUN)

    def _on_opened(self, opened: Opened) -> None:
        self.panel.close_panel()
        self.report_page.clear()
        self.case_page.show_case(opened.case, opened.trends)
        self.head.show_case(opened.case)
        self.pane.select(opened.case.id)
        self.pane.more_action.setEnabled(True)
        self.setWindowTitle(f"{self.head.name.whole} – Wardround")
        self.room.setCurrentIndex(1)
        self.pane.setHidden(self._narrow)
        self._on_live()
        waiting = self.desk is not None and self.desk.space.live.status == "waiting"
        self.turn_to(RUN if waiting else CASE)

    def _on_live(self) -> None:
        """The run on the screen changed: the head says so."""
        if self.desk is None:
            return
        live = self.desk.space.live
        rest = live.status in ("finished", "stopped", "failed")
        self.head.show_state(live.status, has_run=live.row is not None, has_report=rest and bool(live.memory.steps))
        self.network.setText(outbound())

    def _on_settled(self, run: str, status: str) -> None:
        if self.desk is None:
            return
        mine = run == self.desk.space.live.run_id
        if mine and status == "finished" and self.pages.currentIndex() == RUN:
            self.turn_to(REPORT)
        elif status == "waiting" and not (mine and self.pages.currentIndex() == RUN):
            self.tell("serious", tr("A work-up waits for your answer."))

    def _on_report(self, shown: Shown) -> None:
        found = shown.memory.assessment
        ranked = found.differential if found is not None and found.conclusion == "ranked" else None
        self.report_page.show_report(shown.report, ranked)

    def show_evidence(self, evidence_id: str) -> None:
        """Open the source of an evidence id beside the page; of several, joined by commas, their list."""
        from_report = self.pages.currentIndex() == REPORT
        names = evidence_id.split(",")
        sources = [self.desk.source(name, from_report=from_report) for name in names] if self.desk else []
        found = [source for source in sources if source is not None]
        if not found:
            self.tell("caution", tr("This evidence is not in the run: {id}.", id=evidence_id))
            return
        first = self.panel.isHidden()
        if len(names) == 1:
            self.panel.show_source(found[0])
        else:
            self.panel.show_list(tuple(source.evidence for source in found))
        if first:
            width = self.beside.width()
            self.beside.setSizes([width * 11 // 20, width * 9 // 20])

    def _show_unread(self) -> None:
        self.turn_to(CASE)
        self.case_page.open_unread()

    # --------------------------------------------------------------------------------------- imports

    def import_files(self) -> None:
        self.arrivals.ask_files()

    def import_folder(self) -> None:
        self.arrivals.ask_folder()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.arrivals.open and dropped_paths(event):
            event.acceptProposedAction()
            self.empty.show_dropping(True)

    def dragLeaveEvent(self, event: object) -> None:
        self.empty.show_dropping(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.empty.show_dropping(False)
        if places := dropped_paths(event):
            event.acceptProposedAction()
            self.arrivals.take(places)

    # ---------------------------------------------------------------------------------------- export

    def export(self) -> None:
        """Ask where the report goes; the dialog names the case again."""
        desk = self.desk
        if desk is None or desk.case is None or not self.head.tabs[REPORT].isEnabled():
            return
        wanted = ask.target(self, self.head.name.whole, desk.case.title)
        if wanted is not None:
            desk.export(wanted[0], replace=wanted[1])

    def _on_exported(self, target: str) -> None:
        who = self.head.name.whole
        self.tell("good", tr("The report of {who} was written to {file}.", who=who, file=target))

    # ------------------------------------------------------------------------------------------ keys

    def search(self) -> None:
        self.pane.show()
        self.pane.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.pane.search.selectAll()

    def _show_place(self, hit: Hit) -> None:
        """What a search found: in the case, in the question of a run, or in its report."""
        if hit.kind == "report":
            self.report_page.look_for(hit.run, hit.line_words)
            self.turn_to(REPORT)
        elif hit.kind == "question":
            self.turn_to(RUN)
        else:
            self.turn_to(CASE)
            self.case_page.open_place(hit)

    def toggle_pane(self) -> None:
        self.pane.setVisible(self.pane.isHidden())

    def go_on(self) -> None:
        """Start the work-up on the case page, send the answers on the run page."""
        if self.room.currentIndex() != 1:
            return
        if self.pages.currentIndex() == CASE:
            self.case_page.composer.begin()
        elif self.pages.currentIndex() == RUN:
            self.run_page.question.send_answers()

    def stop_run(self) -> None:
        if self.desk is not None and self.desk.space.live.active:
            self.desk.space.live.stop()

    def close_panel(self) -> None:
        """Esc: the search while it is in use, then the page over the case, then the evidence beside it."""
        if self.pane.search.hasFocus() and self.pane.search.text():
            self.pane.search.clear()
        elif self.room.currentIndex() >= FULL:
            self.close_full()
        else:
            self.panel.close_panel()

    def show_keys(self) -> None:
        KeySheet(self).open()

    def show_settings(self) -> None:
        """Change the settings of the profile."""
        self._with_desk(self._open_settings)

    def _open_settings(self, desk: Desk) -> None:
        dialog = SettingsDialog(self, settings_form.lines(desk.space.bench.settings))
        dialog.saved.connect(lambda answers: desk.save_settings(answers, done=dialog.accept, failed=dialog.complain))
        dialog.open()

    def show_models(self) -> None:
        """The model packs, in the place of the case."""
        self._with_desk(self.library.models)

    def show_knowledge(self) -> None:
        """Guidelines, vocabularies and their search, in the place of the case."""
        self._with_desk(self.library.knowledge)

    def report_problem(self) -> None:
        """Write down what a person who helps needs to know, without a word of any case."""
        self._with_desk(lambda desk: desk.report_problem(tr(BY_HAND)))

    def show_about(self) -> None:
        About(self, self.desk.space.model if self.desk else "").open()

    # ----------------------------------------------------------------------------------------- Qt

    def _fetch(self, sha256: str, done: Callable[[bytes], None], failed: Callable[[str], None]) -> None:
        self._with_desk(lambda desk: desk.fetch_picture(sha256, done, failed))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow window gives its room to the open case; the list comes back with the width."""
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        narrow = self.width() < look().px(NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            self._room_for_page()

    def _room_for_page(self) -> None:
        self.pane.setHidden(self._narrow and self.room.currentIndex() != 0)
