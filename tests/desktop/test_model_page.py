"""The model page through real widgets: packs by menu and by drag; fit, faults, terms, use, removal, Stop."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from core import settings
from core.domain.notices import notice
from core.domain.pack import MemoryPlan, PackState
from core.errors import Cancelled, UserError
from desktop.app import Session
from desktop.assembly import Workbench
from desktop.state import model_list, pack_jobs
from desktop.views import ask
from desktop.views.model_page import KEPT, ModelPage
from desktop.views.seal_dialog import SealDialog
from desktop.views.terms_dialog import Question, TermsDialog
from desktop.views.window import Window
from tests.helpers.ggufs import model

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
GIB = 1 << 30
PATIENCE = 20_000


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packs."""
    folder = tmp_path / "shelf"
    monkeypatch.setenv("WARDROUND_MODELS", str(folder))
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ours.gguf"
    path.write_bytes(model())
    return path


@pytest.fixture
def page(qtbot: QtBot, shelf: Path, open_window: Opener) -> ModelPage:
    """The page of an open window, its list read."""
    window = open_window().window
    QTest.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    shown = window.room.currentWidget()
    assert isinstance(shown, ModelPage)
    qtbot.waitUntil(lambda: shown.packs.rowCount() > 0, timeout=PATIENCE)
    return shown


def dialog_of(page: ModelPage, kind: type[QDialog], qtbot: QtBot) -> QDialog:
    def open_ones() -> list[QDialog]:
        return [dialog for dialog in page.findChildren(kind) if dialog.isVisible()]

    qtbot.waitUntil(lambda: bool(open_ones()), timeout=PATIENCE)
    return open_ones()[-1]


def seal_in_the_form(page: ModelPage, qtbot: QtBot, *, licence: str = "MIT") -> None:
    """Answer the form and accept the terms."""
    form = dialog_of(page, SealDialog, qtbot)
    assert isinstance(form, SealDialog)
    form.family.setText("llama3")
    form.template.setCurrentIndex(form.template.findData("chatml"))
    form.licence.setText(licence)
    form.go.click()
    terms = dialog_of(page, TermsDialog, qtbot)
    assert isinstance(terms, TermsDialog)
    terms.accept_button.click()


def wait_installed(page: ModelPage, qtbot: QtBot, pack: str = "ours") -> PackState:
    qtbot.waitUntil(lambda: not page.task.busy and page.packs.find(pack).isValid(), timeout=PATIENCE)
    return next(found for found in page.packs.packs if found.id == pack)


def drop(page: ModelPage, *places: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(place)) for place in places])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPointF(40, 40), copy, data, left, none))


def test_complaint_A8_by_menu_and_by_drag(
    qtbot: QtBot, page: ModelPage, shelf: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nomic-ai/gpt4all#3513 (how to add a local file): a model file by menu; its folder and its ZIP by drag."""
    monkeypatch.setattr(ask, "files", lambda parent, title: [file])
    page.add_files_action.trigger()
    seal_in_the_form(page, qtbot)
    assert wait_installed(page, qtbot).unlisted
    assert (shelf / "ours" / "1" / "model.gguf").read_bytes() == model()
    assert "ours 1 is installed" in page.task.words.text() and "unlisted model" in page.task.words.text()
    assert not page.card.unlisted.isHidden() and page.card.pack is not None and page.card.pack.id == "ours"
    kit = shutil.copytree(shelf / "ours" / "1", tmp_path / "kit")
    for source in (kit, Path(shutil.make_archive(str(tmp_path / "kit"), "zip", kit))):
        shutil.rmtree(shelf / "ours")
        drop(page, source)
        wait_installed(page, qtbot)
        qtbot.waitUntil(lambda: "is installed" in page.task.words.text(), timeout=PATIENCE)
        assert (shelf / "ours" / "1" / "model.gguf").read_bytes() == model()
    drop(page, kit)
    qtbot.waitUntil(lambda: "installed already, intact" in page.task.words.text(), timeout=PATIENCE)


def test_what_is_refused_installs_nothing_and_says_why(
    qtbot: QtBot, page: ModelPage, shelf: Path, file: Path, tmp_path: Path
) -> None:
    """No model, no family, terms declined, work stopped: each its sentence; packs that are only named are listed so."""
    web, note = tmp_path / "model.gguf", tmp_path / "note.txt"
    web.write_bytes(b"<!doctype html><html>Sign in</html>")
    note.write_text("hello")
    for place, why in ((web, "this is a web page, not a model"), (note, "neither a pack folder nor a ZIP")):
        drop(page, place)
        qtbot.waitUntil(lambda wanted=why: wanted in page.task.words.text(), timeout=PATIENCE)
    drop(page, file)
    form = dialog_of(page, SealDialog, qtbot)
    assert isinstance(form, SealDialog)
    form.go.click()
    qtbot.waitUntil(lambda: not form.complaint.isHidden(), timeout=PATIENCE)
    assert "Say what this model is" in form.complaint.text() and form.isVisible()
    form.family.setText("llama3")
    form.licence.setText("LicenseRef-House")
    form.go.click()
    terms = dialog_of(page, TermsDialog, qtbot)
    assert isinstance(terms, TermsDialog)
    terms.decline_button.click()
    assert "not accepted: nothing was added" in page.task.words.text()
    page._begin(waits_for_stop, "Adding", lambda value: None, stopped=KEPT)
    drop(page, file)  # a second piece of work is not begun
    page.task.stop.click()
    qtbot.waitUntil(lambda: page.task.words.text() == KEPT, timeout=PATIENCE)
    assert not shelf.exists() or not list(shelf.rglob("*.gguf"))
    chosen = settings.Settings().models
    assert [pack.id for pack in page.packs.packs] == [chosen.backbone, chosen.embedder]
    assert "not installed" in model_list.line(page.packs.packs[0])
    assert page.card.fault.text() == "The settings name this pack and it is not installed."
    assert page.verify.isHidden() and page.remove.isHidden()
    window = page.window()
    assert isinstance(window, Window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=PATIENCE)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.room.currentWidget() is not page


def waits_for_stop(progress: object, stop: threading.Event) -> None:
    assert stop.wait(10)
    raise Cancelled("test")


def test_changed_byte_is_found_by_verify_then_the_pack_is_used_and_removed(
    qtbot: QtBot, page: ModelPage, shelf: Path, file: Path, place: Path
) -> None:
    drop(page, file)
    seal_in_the_form(page, qtbot)
    wait_installed(page, qtbot)
    page.use_model.click()
    qtbot.waitUntil(page.card.used.isVisible, timeout=PATIENCE)
    assert settings.load(place).models.backbone == "ours"
    data = bytearray(model())
    data[-1] ^= 1
    for content, state in ((model(), "ready"), (bytes(data), "quarantined")):
        (shelf / "ours" / "1" / "model.gguf").write_bytes(content)
        page.verify.click()
        qtbot.waitUntil(lambda: not page.task.busy and bool(page.task.words.text()), timeout=PATIENCE)
        qtbot.waitUntil(
            lambda wanted=state: page.card.pack is not None and page.card.pack.state == wanted, timeout=PATIENCE
        )
        assert ("is intact" in page.task.words.text()) == (state == "ready")
    said = page.card.fault.text().replace("\u200b", "")
    assert said.startswith(notice("N16"))
    assert len([word for word in re.split(r"[ ,.]+", said) if re.fullmatch("[0-9a-f]{64}", word)]) == 2
    assert page.use_model.isHidden(), "a damaged pack cannot be chosen"
    remove(page, qtbot)
    qtbot.waitUntil(lambda: "is in use: the settings" in page.task.words.text(), timeout=PATIENCE)
    assert (shelf / "ours").is_dir()
    page._desk.save_settings({"models.backbone": ""}, done=lambda: None, failed=pytest.fail)
    qtbot.waitUntil(page.card.used.isHidden, timeout=PATIENCE)
    remove(page, qtbot)
    qtbot.waitUntil(lambda: not (shelf / "ours").exists() and not page.task.busy, timeout=PATIENCE)
    assert "are free again" in page.task.words.text()


def remove(page: ModelPage, qtbot: QtBot) -> None:
    page.remove.click()
    question = dialog_of(page, Question, qtbot)
    assert isinstance(question, Question)
    question.act.click()


def test_stopped_copy_is_kept_and_only_shown_terms_count(profile: Path, shelf: Path, file: Path) -> None:
    """The job behind the page: what was copied stays as a part; terms that were not on the screen are not accepted."""
    bench = Workbench(profile, settings.Settings(), "tester")
    stop = threading.Event()
    offer = pack_jobs.look_at(bench, [file])(lambda *_: None, stop)
    assert set(offer.lacking) == {"licence", "family", "template"}
    words = {"id": "ours", "family": "llama3", "template": "chatml", "licence": "MIT"}
    choice = pack_jobs.sealed_choice(offer, role="text", words=words, lengths=(0, 0))
    offer = pack_jobs.describe(bench, offer, choice)(lambda *_: None, stop)
    assert offer.needs_consent
    with pytest.raises(UserError, match="was not accepted"):
        pack_jobs.bring(bench, msgspec.structs.replace(offer, shown="other terms"))(lambda *_: None, stop)
    stop.set()
    with pytest.raises(Cancelled):
        pack_jobs.bring(bench, offer)(lambda *_: None, stop)
    assert [path.name for path in shelf.rglob("*.part")] and not list(shelf.glob("ours/1"))
    stop.clear()
    assert pack_jobs.bring(bench, offer)(lambda *_: None, stop).pack == "ours"
    assert not pack_jobs.describe(bench, offer, choice)(lambda *_: None, stop).needs_consent, "accepted once"


PLAN = MemoryPlan(
    weights=GIB // 2, kv=GIB // 10, compute=GIB // 5, reserve=2 * GIB, total=int(2.8 * GIB), free=12 * GIB, fits=True,
    expected_tok_s=45.2,
)  # fmt: skip


def test_fit_is_said_in_plain_words() -> None:
    assert model_list.fit_words(PLAN) == (
        "Fits: needs 2.8 of 12.0 GiB that are free, about 45 tokens/s (estimated), runs on the processor."
    )
    small = MemoryPlan(weights=1, kv=1, compute=1, reserve=1, total=9 * GIB, free=4 * GIB, fits=False)
    assert model_list.fit_words(small) == "Does not fit: needs 9.0 GiB and 4.0 GiB are free."
    assert [part.name for part in model_list.parts(PLAN)] == ["weights", "context", "scratch", "left for the system"]


def test_bar_names_its_pieces_and_their_sum_is_the_need(qtbot: QtBot) -> None:
    from desktop.views.fit_bar import FitBar

    bar = FitBar()
    qtbot.addWidget(bar)
    bar.show_plan(PLAN)
    assert bar.legend() == (
        "weights 0.5 GiB", "context 0.1 GiB", "scratch 0.2 GiB", "left for the system 2.0 GiB", "free 12.0 GiB"
    )  # fmt: skip
    assert sum(part.size for part in model_list.parts(PLAN)) == pytest.approx(PLAN.total, abs=4)
    assert bar.accessibleName().startswith("weights")
