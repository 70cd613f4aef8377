"""The collections: packs of knowledge with state, dates and size; adding, approving, retiring, verifying, changes.

Everything slow is a job through the desk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QFrame, QMenu, QSplitter, QWidget

from desktop.i18n import tr
from desktop.operation import Job
from desktop.state import knowledge_model, library_jobs
from desktop.state.knowledge_model import COLLECTION, CollectionList
from desktop.state.knowledge_reader import Collection
from desktop.state.library_jobs import Checked, History, Imported, Told
from desktop.views import ask, pieces
from desktop.views.collection_dialogs import AddDialog, HistoryDialog
from desktop.views.desk import Desk
from desktop.views.flow import Flow
from desktop.views.knowledge_rows import collections_view
from desktop.views.look import look
from desktop.views.pieces import Chip, text
from desktop.views.task_card import TaskCard
from desktop.views.terms_dialog import Question
from desktop.views.vector_work import VectorWork

LEAD = (
    "Guidelines, articles and vocabularies that this computer knows. Drop files here, or use Add: PDF, DOCX, HTML, "
    "Markdown, text, MedlinePlus, MedQuAD, PubMed, ICD-10-CM, MeSH, OBO, openFDA, MedRAG, tables, and packs of "
    "another Wardround (.wrpack). Nothing is downloaded."
)
APPROVABLE = ("draft", "expired", "withdrawn", "superseded")
SHIPPED = "starter"


class CollectionCard(QFrame):
    """One pack in full."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.pack: Collection | None = None
        self.title = text("", "title")
        self.state = Chip("", "good")
        self.remark = text("", tone="serious")
        self.facts = text("")
        self.licence = text("", "small")
        self.files = text("", "mono")
        self.acts = QWidget()
        parts = (self.title, self.state, self.remark, self.facts, self.acts, self.licence, self.files)
        pieces.column(self, *parts, None, margins=(20, 16, 20, 16), gap=12)

    def show_pack(self, pack: Collection) -> None:
        self.pack = pack
        self.setAccessibleName(f"{pack.title}, {knowledge_model.collection_line(pack)}")
        self.title.setText(pack.title)
        icon, tone, words = knowledge_model.state_words(pack.state)
        self.state.show_words(words, tone, icon)
        self.remark.setText(pack.remark)
        self.remark.setVisible(bool(pack.remark))
        self.facts.setText("\n".join(knowledge_model.collection_facts(pack)))
        self.licence.setText(pack.licence_text)
        self.licence.setVisible(bool(pack.licence_text))
        names = [f"{name}  {sha256[:12]}" for name, sha256 in pack.files[:8]]
        more = len(pack.files) - len(names)
        self.files.setText("\n".join((*names, tr("and {n} more files", n=more)) if more > 0 else names))


class CollectionsTab(QWidget):
    """All packs at the left, one of them at the right. `changed` is sent when any was written."""

    changed = Signal()

    def __init__(self, desk: Desk, vectors: VectorWork) -> None:
        super().__init__()
        self._desk, self._vectors = desk, vectors
        self.packs = CollectionList(self)
        self.card = CollectionCard()
        self.task = TaskCard(tr("Progress of the work on the knowledge"))
        self.task.settled.connect(self._on_settled)
        self.making = TaskCard(tr("Progress of the vectors"))
        self.list = collections_view(tr("Collections"))
        self.list.setModel(self.packs)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self._wanted = ""
        self._build()
        vectors.begun.connect(self._watch_vectors)
        vectors.rested.connect(self._on_vectors)
        self._watch_vectors()

    def _build(self) -> None:
        self.add_menu = QMenu(self)
        self.add_files_action = self.add_menu.addAction(tr("Files…"), self.ask_files)
        self.add_folder_action = self.add_menu.addAction(tr("A folder…"), self.ask_folder)
        self.add = pieces.button(tr("Add…"), self._open_menu, kind="primary", icon="import")
        self.approve = pieces.button(tr("Approve…"), self._ask_approve, icon="check")
        self.retire = pieces.button(tr("Retire…"), self._ask_retire, kind="stop", icon="stop")
        self.verify = pieces.button(tr("Verify"), self._verify, icon="shield")
        self.export = pieces.button(tr("Export…"), self._ask_export, icon="export")
        self.changes = pieces.button(tr("Show changes"), self._show_changes, icon="note")
        flow = Flow(self.card.acts)
        for button in (self.approve, self.verify, self.changes, self.export, self.retire):
            flow.addWidget(button)
        lead = text(tr(LEAD), "small")
        top = pieces.row(None, lead, self.add, margins=(0, 0, 0, 0), gap=16, stretch=lead)
        holder = QWidget()
        pieces.column(holder, self.card, None, margins=(0, 0, 8, 8))
        self.split = QSplitter()
        self.split.addWidget(self.list)
        self.split.addWidget(pieces.scrolled(holder, tr("The chosen collection")))
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setChildrenCollapsible(False)
        self.list.setMinimumWidth(look().px(240))
        head = pieces.column(None, top, self.task, self.making, margins=(16, 10, 16, 8), gap=8)
        pieces.column(self, head, self.split, gap=0, stretch=self.split)
        self.card.hide()

    # ---------------------------------------------------------------------------------------------------- showing

    def show_packs(self, packs: tuple[Collection, ...]) -> None:
        """List the packs; the chosen one, or the one just added, stays chosen."""
        chosen = self._wanted or (self.card.pack.id if self.card.pack else "")
        self._wanted = ""
        self.packs.show(packs)
        self.card.setVisible(bool(packs))
        index = self.packs.find(chosen)
        self.list.setCurrentIndex(index if index.isValid() else self.packs.index(0))

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        pack: Collection | None = current.data(COLLECTION)
        if pack is not None:
            self.card.show_pack(pack)
            self._allow()

    def _allow(self) -> None:
        """Which acts the chosen pack lets one do now."""
        pack = self.card.pack
        if pack is None:
            return
        self.approve.setVisible(pack.state in APPROVABLE)
        self.retire.setVisible(pack.state != "withdrawn" and pack.id != SHIPPED)
        self.export.setVisible(pack.state != "quarantined" and pack.id != SHIPPED)
        for button in (self.approve, self.retire, self.verify, self.export):
            button.setEnabled(not self.task.busy)

    def _on_settled(self) -> None:
        self._allow()
        self.changed.emit()

    # ------------------------------------------------------------------------------------------------------- acts

    def _begin(self, job: Job, words: str, done: Callable[..., object]) -> None:
        """Start long work; one at a time."""
        if self.task.busy:
            self._desk.told.emit("caution", tr("Something is under way on this page; wait for it or stop it."))
            return
        operation = self._desk.work(job, lambda value: None, lambda sentence: None)  # the card says how it went
        self.task.follow(operation, words)
        operation.done.connect(done)
        self._allow()

    def _ask_approve(self) -> None:
        pack = self.card.pack
        if pack is not None:
            old = tr(" It replaces {old}, which is then superseded.", old=pack.replaces) if pack.replaces else ""
            words = tr("From now on it is searched and may be cited. Your name is recorded with the approval.")
            question = Question(self, tr("Approve {title}?", title=pack.title), words + old, tr("Approve"))
            question.agreed.connect(lambda _reason: self._approve(pack))
            question.open()

    def _approve(self, pack: Collection) -> None:
        said = tr("{title} is in use.", title=pack.title)
        job = library_jobs.approve(self._desk.space.bench, pack.id)
        self._begin(job, tr("Approving {title}", title=pack.title), lambda _id: self.task.tell("good", said))

    def _ask_retire(self) -> None:
        pack = self.card.pack
        if pack is not None:
            words = tr("It is no longer searched. Reports that cite it are not changed. Say why:")
            title = tr("Retire {title}?", title=pack.title)
            question = Question(self, title, words, tr("Retire"), wanted=tr("Reason"))
            question.agreed.connect(partial(self._retire, pack))
            question.open()

    def _retire(self, pack: Collection, reason: str) -> None:
        said = tr("{title} is retired: {why}.", title=pack.title, why=reason.rstrip("."))
        job = library_jobs.retire(self._desk.space.bench, pack.id, reason)
        self._begin(job, tr("Retiring {title}", title=pack.title), lambda _id: self.task.tell("good", said))

    def _verify(self) -> None:
        pack = self.card.pack
        if pack is not None:
            job = library_jobs.verify(self._desk.space.bench, pack.id)
            self._begin(job, tr("Recomputing every hash of {title}", title=pack.title), self._on_checked)

    def _on_checked(self, found: Checked) -> None:
        if found.faults:
            said = tr("{id} is damaged and set aside. Import its files again.", id=found.pack)
            self.task.tell("critical", said, found.faults)
        else:
            self.task.tell("good", tr("{id} is intact: every hash agrees.", id=found.pack))

    def _ask_export(self) -> None:
        """A licence that keeps a pack within the site is asked about before the file is."""
        pack = self.card.pack
        if pack is None or pack.may_leave:
            self._export(pack, within_site=False)
            return
        words = tr("Its licence ({l}) does not let it go to another organisation. This is recorded.", l=pack.licence)
        title = tr("Does the file stay within this site?")
        question = Question(self, title, words, tr("It stays within this site"))
        question.agreed.connect(lambda _reason: self._export(pack, within_site=True))
        question.open()

    def _export(self, pack: Collection | None, *, within_site: bool) -> None:
        if pack is None:
            return
        title, name = tr("Export {title}", title=pack.title), f"{pack.id}{library_jobs.PACK_FILE}"
        target = ask.save(self, title, name, tr("Knowledge pack (*.wrpack)"))
        if target is not None:
            job = library_jobs.export(self._desk.space.bench, pack.id, target, within_site=within_site)
            self._begin(job, title, lambda path: self.task.tell("good", tr("Written: {file}", file=path)))

    def _show_changes(self) -> None:
        pack = self.card.pack
        if pack is not None:
            job = library_jobs.history(self._desk.space.bench, pack.id)
            self._desk.work(job, partial(self._on_history, pack.title))

    def _on_history(self, title: str, found: History) -> None:
        HistoryDialog(self, title, found).open()

    # ---------------------------------------------------------------------------------------------------- vectors

    def _watch_vectors(self) -> None:
        """Show the work that is under way beside everything else, if there is any."""
        if self._vectors.operation is not None and self._vectors.moved:
            stopped = tr("Stopped. What was made is kept; the rest is made at the next start.")
            self.making.follow(self._vectors.operation, tr("Preparing the search by meaning"), stopped=stopped)

    def _on_vectors(self, made: int) -> None:
        if made:
            self.making.tell("good", tr("{n} passages more can be found by meaning.", n=f"{made:,}"))

    # ----------------------------------------------------------------------------------------------------- adding

    def _open_menu(self) -> None:
        self.add_menu.popup(self.add.mapToGlobal(self.add.rect().bottomLeft()))

    def ask_files(self) -> None:
        """Ask for files."""
        self.take(ask.files(self, tr("Add to the knowledge")))

    def ask_folder(self) -> None:
        """Ask for a folder."""
        self.take(ask.folder(self, tr("Add a folder to the knowledge")))

    def take(self, places: Sequence[Path]) -> None:
        """Ask what must be said of the files, then import them as one pack."""
        if library_jobs.is_pack_file(places):
            self._add(tuple(places), Told())
        elif places:
            dialog = AddDialog(self, places, self.packs.rows)
            dialog.told.connect(partial(self._add, tuple(places)))
            dialog.open()

    def _add(self, places: tuple[Path, ...], told: Told) -> None:
        names = ", ".join(place.name for place in places[:2])
        job = library_jobs.add(self._desk.space.bench, places, told)
        self._begin(job, tr("Reading {names}", names=names), self._on_added)

    def _on_added(self, found: Imported) -> None:
        self._wanted = found.pack
        held = {"document": found.docs, "passage": found.passages, "concept": found.concepts}
        size = ", ".join(f"{n:,} {word if n == 1 else word + 's'}" for word, n in held.items() if n)
        said = tr("{id}: {size} ({form}).", id=found.pack, size=size, form=found.importer)
        if not found.writes:
            said = tr("{id} was there already; nothing was changed.", id=found.pack)
        elif found.state == "draft":
            said = f"{said} {tr('It is a draft: approve it before it is searched.')}"
        left = tr("{n} records were left out:", n=len(found.skipped)) if found.skipped else ""
        self.task.tell("good", f"{said} {left}".strip(), found.skipped)
