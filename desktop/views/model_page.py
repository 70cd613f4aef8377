"""The model packs: what each is, whether it fits this computer, which one is used; bringing in, checking, taking away.

Everything slow is a job through the desk; the page paints what comes of it. Nothing is ever downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSize
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QMenu, QSplitter, QWidget

from core.domain.pack import PackState
from desktop.i18n import tr
from desktop.operation import Job
from desktop.state import model_list, pack_jobs
from desktop.state.model_list import PACK, PackList
from desktop.state.pack_jobs import Brought, Offer, Verified
from desktop.views import ask, pieces, rows
from desktop.views.desk import Desk
from desktop.views.dropping import dropped_paths
from desktop.views.fit_bar import FitBar
from desktop.views.flow import Flow
from desktop.views.full_page import FullPage
from desktop.views.look import look
from desktop.views.pieces import Chip, text
from desktop.views.rows import Row
from desktop.views.seal_dialog import SealDialog
from desktop.views.task_card import TaskCard
from desktop.views.terms_dialog import Question, TermsDialog

LEAD = (
    "Nothing is downloaded: a model comes from a file, a folder or a ZIP that you bring. Drop it here, or use Add. "
    "Every byte is checked when it is added and again before each load."
)
KEPT = "Stopped. What was copied is kept: adding the same pack again goes on from there."


class PackCard(QFrame):
    """One pack in full, with what can be done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.pack: PackState | None = None
        self.title = text("", "title")
        self.role, self.state = Chip("", "muted"), Chip("", "good")
        self.used, self.unlisted = (
            Chip(tr("in use"), "accent", "check"),
            Chip(tr("unlisted model"), "caution", "warning"),
        )
        self.fault = text("", tone="critical")
        self.fault.setAccessibleName(tr("What is wrong"))
        self.fit = text("", "lead")
        self.bar = FitBar()
        self.facts = text("", "small")
        self.acts = QWidget()
        chips = QWidget()
        flow = Flow(chips)
        for chip in (self.role, self.state, self.used, self.unlisted):
            flow.addWidget(chip)
        parts = (self.title, chips, self.fault, self.fit, self.bar, self.facts, self.acts)
        pieces.column(self, *parts, None, margins=(20, 16, 20, 16), gap=12)

    def show_pack(self, pack: PackState) -> None:
        self.pack = pack
        self.setAccessibleName(f"{pack.id}, {model_list.line(pack)}")
        self.title.setText(pack.id)
        icon, tone, words = model_list.state_words(pack)
        self.role.show_words(model_list.role_words(pack), "muted")
        self.state.show_words(words, tone, icon)
        self.used.setVisible(pack.used)
        self.unlisted.setVisible(pack.unlisted)
        fault = model_list.fault_words(pack)
        self.fault.setText(_breakable(fault))
        self.fault.setVisible(bool(fault))
        self.fit.setText(model_list.fit_words(pack.plan))
        self.fit.setVisible(pack.plan is not None)
        self.bar.setVisible(pack.plan is not None)
        if pack.plan is not None:
            self.bar.show_plan(pack.plan)
        self.facts.setText(_facts(pack))


def _breakable(words: str) -> str:
    """A hash of 64 digits may be broken into lines: a zero-width space after every eighth."""
    return re.sub(r"[0-9a-f]{64}", lambda found: "\u200b".join(re.findall(".{8}", found.group())), words)


def _facts(pack: PackState) -> str:
    facts = [
        tr("Version {v}", v=pack.version) if pack.version else "",
        tr("Size {s}", s=model_list.size_words(pack.size)) if pack.size else "",
        tr("Licence {l}", l=pack.licence) if pack.licence else "",
        tr("Hash of its contents {h}", h=_breakable(pack.contents_sha256)) if pack.contents_sha256 else "",
    ]
    return "\n".join(fact for fact in facts if fact)


class ModelPage(FullPage):
    """All packs at the left, one of them at the right."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(tr("Models"))
        self._desk = desk
        self.packs = PackList(self)
        self.setAcceptDrops(True)
        self.card = PackCard()
        self.task = TaskCard(tr("Progress of the work on a model"))
        self.task.settled.connect(self._on_settled)
        self.list = rows.listed(tr("Model packs"), PACK, pack_row)
        self.list.setModel(self.packs)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self._build()
        self._desk.settings_changed.connect(self.refresh)

    def _build(self) -> None:
        self.add_menu = QMenu(self)
        self.add_files_action = self.add_menu.addAction(tr("Model files or a ZIP…"), self.ask_files)
        self.add_folder_action = self.add_menu.addAction(tr("A pack folder…"), self.ask_folder)
        self.add = pieces.button(tr("Add…"), self._open_menu, kind="primary", icon="import")
        self.acts.addWidget(self.add)
        self.use_model = pieces.button(tr("Use as language model"), partial(self._use, "models.backbone"), icon="model")
        self.use_embedder = pieces.button(tr("Use as embedder"), partial(self._use, "models.embedder"), icon="search")
        self.verify = pieces.button(tr("Verify"), self._verify, icon="shield")
        self.remove = pieces.button(tr("Remove…"), self._ask_remove, kind="stop", icon="close")
        flow = Flow(self.card.acts)
        for button in (self.use_model, self.use_embedder, self.verify, self.remove):
            flow.addWidget(button)
        self.none = text(
            tr("No model pack is installed. Add one: a .gguf file, a pack folder or a ZIP of one."), "lead"
        )
        self.none.setContentsMargins(12, 12, 12, 0)
        left = QWidget()
        pieces.column(left, self.none, self.list, margins=(0, 0, 0, 0), gap=8, stretch=self.list)
        holder = QWidget()
        pieces.column(holder, self.card, None, margins=(0, 0, 8, 8))
        self.split = QSplitter()
        self.split.addWidget(left)
        self.split.addWidget(pieces.scrolled(holder, tr("The chosen pack")))
        self.split.setStretchFactor(1, 1)
        self.split.setChildrenCollapsible(False)
        top = pieces.column(None, text(tr(LEAD), "small"), self.task, margins=(16, 10, 16, 8), gap=8)
        self.body.addLayout(top)
        self.body.addWidget(self.split, 1)
        self.card.hide()
        self.none.hide()

    def sizeHint(self) -> QSize:
        return QSize(look().px(800), look().px(500))

    # ---------------------------------------------------------------------------------------------------- showing

    def enter(self) -> None:
        if self.card.pack is None:
            self.split.setSizes([self.split.width() * 3 // 8, self.split.width() * 5 // 8])
        self.refresh()
        self.list.setFocus()

    def refresh(self) -> None:
        """Look at the packs anew."""
        self._desk.work(pack_jobs.list_packs(self._desk.space.bench), self._on_packs)

    def _on_packs(self, packs: tuple[PackState, ...]) -> None:
        model = self._desk.space.bench.settings.models.backbone
        chosen = self.card.pack.id if self.card.pack else model
        self.packs.show(packs)
        self.none.setVisible(not packs)
        self.card.setVisible(bool(packs))
        index = self.packs.find(chosen)
        self.list.setCurrentIndex(index if index.isValid() else self.packs.index(0))

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        pack: PackState | None = current.data(PACK)
        if pack is not None:
            self.card.show_pack(pack)
            self._allow()

    def _allow(self) -> None:
        """Which acts the chosen pack lets one do now."""
        pack, models = self.card.pack, self._desk.space.bench.settings.models
        if pack is None:
            return
        self.use_model.setVisible(model_list.usable(pack, "models.backbone") and pack.id != models.backbone)
        self.use_embedder.setVisible(model_list.usable(pack, "models.embedder") and pack.id != models.embedder)
        for button in (self.verify, self.remove):
            button.setVisible(bool(pack.version))
            button.setEnabled(not self.task.busy)

    def _on_settled(self) -> None:
        self._allow()
        self.refresh()

    # ------------------------------------------------------------------------------------------------------- acts

    def _use(self, key: str) -> None:
        pack = self.card.pack
        if pack is not None:
            said = tr("{id} is used from the next run on.", id=pack.id)
            tell = partial(self.task.tell, "good", said)
            self._desk.save_settings({key: pack.id}, done=tell, failed=partial(self.task.tell, "critical"))

    def _verify(self) -> None:
        if self.card.pack is not None:
            job = pack_jobs.verify_pack(self._desk.space.bench, self.card.pack)
            self._begin(job, tr("Checking every byte of {id}", id=self.card.pack.id), self._on_verified)

    def _on_verified(self, found: Verified) -> None:
        if found.detail:
            self.task.tell("critical", f"{found.pack}: {_breakable(found.detail)}")
        else:
            self.task.tell("good", tr("{id} is intact: every hash agrees.", id=found.pack))

    def _ask_remove(self) -> None:
        pack = self.card.pack
        if pack is not None:
            size = model_list.size_words(pack.size)
            words = tr("{id} ({s}) is deleted from this computer. Its files elsewhere stay.", id=pack.id, s=size)
            question = Question(self, tr("Remove {id}?", id=pack.id), words, tr("Remove"))
            question.agreed.connect(lambda _reason: self._remove(pack.id))
            question.open()

    def _remove(self, pack_id: str) -> None:
        def removed(freed: int) -> None:
            free = model_list.size_words(freed)
            self.task.tell("good", tr("{id} is removed: {s} are free again.", id=pack_id, s=free))

        self._begin(pack_jobs.remove(self._desk.space.bench, pack_id), tr("Removing {id}", id=pack_id), removed)

    def _begin(self, job: Job, words: str, done: Callable[..., object], *, stopped: str = "") -> None:
        """Start long work; one at a time."""
        if self.task.busy:
            self._desk.told.emit("caution", tr("Something is under way on this page; wait for it or stop it."))
            return
        operation = self._desk.work(job, lambda value: None, self._hush)
        self.task.follow(operation, words, stopped=stopped)
        operation.done.connect(done)
        self._allow()

    def _hush(self, _sentence: str) -> None:
        """The card says what went wrong; the top of the window need not."""

    # ----------------------------------------------------------------------------------------------------- adding

    def _open_menu(self) -> None:
        self.add_menu.popup(self.add.mapToGlobal(self.add.rect().bottomLeft()))

    def ask_files(self) -> None:
        """Ask for model files or a ZIP."""
        self.take(ask.files(self, tr("Add a model")))

    def ask_folder(self) -> None:
        """Ask for a pack folder."""
        self.take(ask.folder(self, tr("Add a pack folder")))

    def take(self, places: Sequence[Path]) -> None:
        """Look at what was brought; then ask what must be asked, then copy."""
        if places:
            job = pack_jobs.look_at(self._desk.space.bench, tuple(places))
            names = ", ".join(place.name for place in places[:2])
            self._begin(job, tr("Looking at {names}", names=names), self._on_offer)

    def _on_offer(self, offer: Offer) -> None:
        if offer.manifest is None:
            self._describe(offer)
        elif offer.needs_consent:
            self._ask_terms(offer)
        else:
            self._bring(offer)

    def _describe(self, offer: Offer) -> None:
        dialog = SealDialog(self, offer)

        def described(choice: object) -> None:
            job = pack_jobs.describe(self._desk.space.bench, offer, choice)  # type: ignore[arg-type]
            self._desk.work(job, manifested, dialog.complain)

        def manifested(done: Offer) -> None:
            dialog.accept()
            self._on_offer(done)

        dialog.described.connect(described)
        dialog.open()

    def _ask_terms(self, offer: Offer) -> None:
        assert offer.manifest is not None  # noqa: S101 - an offer with terms has one
        dialog = TermsDialog(self, offer.manifest.id, offer.manifest.licence.spdx, offer.terms)
        dialog.accepted.connect(lambda: self._bring(offer))
        declined = tr("The terms were not accepted: nothing was added.")
        dialog.rejected.connect(lambda: self.task.tell("caution", declined))
        dialog.open()

    def _bring(self, offer: Offer) -> None:
        assert offer.manifest is not None  # noqa: S101 - only what has a manifest is brought
        job = pack_jobs.bring(self._desk.space.bench, offer)
        self._begin(job, tr("Adding {id}", id=offer.manifest.id), self._on_brought, stopped=tr(KEPT))

    def _on_brought(self, brought: Brought) -> None:
        name = f"{brought.pack} {brought.version}"
        size = model_list.size_words(brought.copied)
        said = tr("{name} is installed: {s} copied, every hash agrees.", name=name, s=size)
        if not brought.copied:
            said = tr("{name} was installed already, intact.", name=name)
        if brought.unlisted:
            said = f"{said} {tr('It is in no list of known models: every result made with it says “unlisted model”.')}"
        self.task.tell("good", said)
        self.card.pack = PackState(
            id=brought.pack, version=brought.version, role="", state="", size=0, licence=""
        )  # chosen when the list is read anew

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if places := dropped_paths(event):
            event.acceptProposedAction()
            self.take(places)


def pack_row(pack: PackState) -> Row:
    """A pack as a row of the list."""
    icon, tone, _ = model_list.state_words(pack)
    fit = "" if pack.plan is None or pack.plan.fits else tr("does not fit")
    return Row(
        title=pack.id,
        icon=icon,
        tone=tone,
        detail=model_list.line(pack),
        detail_tone="muted" if pack.state == "ready" else tone,
        right=fit,
        bold=pack.used,
    )
