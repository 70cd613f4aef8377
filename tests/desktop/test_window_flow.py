"""The window's main job through real widgets and the real worker: first start, import, run, answer, read, export."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from core.domain.notices import INTENDED_USE, TEXTS
from core.runtime import supervision
from desktop import assembly
from desktop.app import Session
from desktop.views.viewers import LabView, NoteView, PictureCard
from desktop.views.window import CASE, REPORT, RUN

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
PATIENCE = 30_000
Opener = Callable[..., Session]


def with_case(qtbot: QtBot, open_window: Opener, source: Path, *names: str, fault: str = "") -> Session:
    """A window with a case of example (a) open, imported through the window from real files."""
    session = open_window(fault=fault)
    window = session.window
    window.arrivals.take([source / name for name in names] if names else [source])
    qtbot.waitUntil(lambda: window.desk.case is not None, timeout=PATIENCE)
    return session


def start(qtbot: QtBot, session: Session, *, model: bool = True) -> None:
    session.window.turn_to(CASE)
    session.window.case_page.composer.model.setChecked(model)
    session.window.case_page.composer.start.click()
    qtbot.waitUntil(lambda: session.space.live.row is not None, timeout=PATIENCE)


def rest(qtbot: QtBot, session: Session, *states: str) -> None:
    """Wait until the run has come to rest, in one of these states."""
    live = session.space.live
    qtbot.waitUntil(lambda: not live.active and live.status not in ("", "queued"), timeout=PATIENCE)
    assert live.status in states, live.memory.error


def answer_all(qtbot: QtBot, session: Session, choice: int) -> None:
    while session.space.live.status == "waiting":
        for row in session.window.run_page.question.rows:
            row.choice.choose(choice)
        session.window.run_page.question.send.click()
        rest(qtbot, session, "waiting", "finished", "failed")


def test_first_start_shows_the_intended_use_and_records_that_it_was_read(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window(consent=False)
    page = session.window.consent_page
    assert page is not None
    shown = " ".join(label.text() for label in page.findChildren(type(session.window.network)))
    for paragraph in INTENDED_USE.split("\n\n"):
        assert paragraph in shown
    assert not session.space.consented(INTENDED_USE)
    session.window.arrivals.take([Path("anything")])
    assert session.window.pane.card.isHidden()
    page.read.setFocus()
    QTest.keyClick(page.read, Qt.Key.Key_Space)
    assert session.space.consented(INTENDED_USE)
    assert session.window.consent_page is None
    session.close()
    assert open_window(consent=False).window.consent_page is None


def test_import_shows_every_item_and_every_file_that_was_not_read(
    qtbot: QtBot, open_window: Opener, example: Path, tmp_path: Path
) -> None:
    source = tmp_path / "case"
    shutil.copytree(example, source)
    (source / "empty.txt").write_bytes(b"")
    (source / "scan.xyz").write_bytes(bytes(range(256)))
    window = open_window().window
    window.arrivals.take([source])
    qtbot.waitUntil(lambda: window.desk.case is not None, timeout=PATIENCE)
    page, case = window.case_page, window.desk.case
    kinds = []
    for item in case.items:
        page.open_item(item.id)
        kinds.append(type(page.shown))
    assert {NoteView, LabView, PictureCard} == set(kinds)
    page.open_item(case.pictures[0].id)
    qtbot.waitUntil(lambda: not page.shown.view.shown.isEmpty(), timeout=PATIENCE)
    assert {entry.name for entry in case.unread} == {"empty.txt", "scan.xyz"}
    window.pane.card.more.click()
    said = [label.text() for label in page.shown.findChildren(type(window.network))]
    for entry in case.unread:
        assert entry.name in said
        assert entry.reason in said
    assert window.head.name.whole == case.patient.name
    assert case.patient.birth_date in window.head.facts.whole


def test_cancelled_import_adds_nothing(qtbot: QtBot, open_window: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(400):
        (folder / f"note-{number:03}.txt").write_text(f"Note {number}: the patient is breathless.")
    window = open_window().window
    window.arrivals.take([folder])
    qtbot.waitUntil(lambda: window.pane.card.bar.value() > 0, timeout=PATIENCE)
    window.pane.card.cancel.click()
    qtbot.waitUntil(lambda: not window.pane.card.cancel.isVisible(), timeout=PATIENCE)
    assert window.desk.case is None
    assert window.cases.rowCount() == 0


def test_run_asks_is_answered_and_its_report_leads_to_the_sources(
    qtbot: QtBot, open_window: Opener, example: Path
) -> None:
    session = with_case(qtbot, open_window, example)
    window = session.window
    start(qtbot, session)
    rest(qtbot, session, "waiting")
    assert window.pages.currentIndex() == RUN
    card = window.run_page.question
    assert card.isVisible()
    assert not card.send.isEnabled()
    assert 1 <= len(card.rows) <= 3
    answer_all(qtbot, session, 2)
    live = session.space.live
    assert live.status == "finished"
    assert {answer.state for answer in live.memory.answers} == {"not obtainable"}
    qtbot.waitUntil(lambda: window.desk.shown is not None, timeout=PATIENCE)
    assert window.pages.currentIndex() == REPORT
    banner = window.report_page.banner.accessibleName()
    assert window.research.isVisible()
    for name in ("N1", "N2", "N6", "N7"):
        assert TEXTS[name] in banner
    assert TEXTS["N3"].split("{")[0] in banner
    evidence = window.desk.shown.report.evidence
    spans = [item for item in evidence if item.provenance.start is not None and item.provenance.kind == "document"]
    for item in spans[:20]:
        window.show_evidence(item.id)
        note = window.desk.case.item(item.provenance.reference)
        assert window.panel.view.marked == note.text[item.provenance.start : item.provenance.end]
    cell = next(item for item in evidence if item.provenance.kind == "cell")
    window.show_evidence(cell.id)
    table = window.panel.view
    chosen = table.selectionModel().selectedRows()[0].row()
    assert table.results.table.rows[chosen].row == cell.provenance.row


def test_link_in_the_report_opens_by_keyboard(qtbot: QtBot, open_window: Opener, example: Path) -> None:
    session = with_case(qtbot, open_window, example, "01-gp-letter.txt")
    window = session.window
    start(qtbot, session, model=False)
    rest(qtbot, session, "waiting", "finished")
    answer_all(qtbot, session, 1)
    window.turn_to(REPORT)
    qtbot.waitUntil(lambda: window.desk.shown is not None, timeout=PATIENCE)
    body = window.report_page.body
    body.setFocus()
    QTest.keyClick(body, Qt.Key.Key_Tab)
    wanted = body.textCursor().charFormat().anchorHref()
    assert wanted.startswith("evidence:")
    QTest.keyClick(body, Qt.Key.Key_Return)
    assert window.panel.isVisible()
    window.panel.close_button.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.panel.isVisible()


def test_stop_says_so_at_once_and_resume_finishes(
    qtbot: QtBot, open_window: Opener, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARDROUND_TEST_SECONDS", "1.5")
    session = with_case(qtbot, open_window, example, "01-gp-letter.txt", "labs-1-admission.csv")
    window, live = session.window, session.space.live
    start(qtbot, session)
    qtbot.waitUntil(lambda: any(step.kind == "model" for step in live.memory.steps), timeout=PATIENCE)
    QTest.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert window.run_page.head.stop.text() == "Stopping…"
    assert not window.run_page.head.stop.isEnabled()
    rest(qtbot, session, "stopped")
    assert live.memory.status == "stopped"
    before = live.memory.last_n
    assert window.run_page.head.resume.isVisible()
    window.run_page.head.resume.click()
    rest(qtbot, session, "waiting", "finished")
    assert live.memory.last_n > before
    answer_all(qtbot, session, 2)
    assert live.status == "finished"


@pytest.mark.parametrize(("kind", "why"), [("segv", "signal 11"), ("abort", "signal 6"), ("hang", "no sign of life")])
def test_faulty_worker_leaves_the_window_alive_and_the_run_finished(
    qtbot: QtBot, open_window: Opener, example: Path, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    """The worker fails inside its fifth effect: the window says how, a new one goes on, the run ends."""
    if kind == "hang":  # the rows of a fault may be silent as long as the product allows
        monkeypatch.setattr(supervision, "BUSY_SILENCE_S", 4.0)
    session = with_case(qtbot, open_window, example, "01-gp-letter.txt", fault=f"{kind}:5")
    window, live = session.window, session.space.live
    told: list[str] = []
    window.desk.crashed.connect(lambda crash: told.append(crash.happened))
    start(qtbot, session)
    rest(qtbot, session, "waiting", "finished")
    answer_all(qtbot, session, 2)
    assert live.status == "finished"
    assert told
    assert all(why in words and "started again" in words for words in told)
    assert window.isVisible()
    assert live.memory.assessment is not None


def test_export_names_the_case_and_writes_one_file(
    qtbot: QtBot, open_window: Opener, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = with_case(qtbot, open_window, example)
    window = session.window
    start(qtbot, session, model=False)
    rest(qtbot, session, "waiting", "finished")
    answer_all(qtbot, session, 1)
    window.turn_to(REPORT)
    target, asked = tmp_path / "report.html", []

    def choose(_parent: object, title: str, *_more: object) -> tuple[str, str]:
        asked.append(title)
        return str(target), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    with qtbot.waitSignal(window.desk.exported, timeout=PATIENCE):
        window.report_page.banner.export.click()
    assert window.desk.case.patient.name in asked[0]
    html = target.read_text(encoding="utf-8")
    assert window.desk.case.patient.name in html
    assert TEXTS["N8"] in html
    assert "http://" not in html
    assert "https://" not in html
    assert "data:image/png;base64," in html


def test_interrupted_run_is_offered_at_the_next_start(qtbot: QtBot, open_window: Opener, example: Path) -> None:
    session = with_case(qtbot, open_window, example, "01-gp-letter.txt")
    bench = session.space.bench
    assert isinstance(bench, assembly.Workbench)
    row = bench.queue(session.window.desk.case, on_question="wait")
    session.close()
    again = open_window()
    qtbot.waitUntil(lambda: bool(again.window.strips.shown()), timeout=PATIENCE)
    strip = again.window.strips.shown()[0]
    resume = next(made for made in strip.findChildren(type(again.window.head.tabs[0])) if made.text() == "Resume")
    resume.click()
    qtbot.waitUntil(lambda: again.space.live.run_id == row.id, timeout=PATIENCE)
    rest(qtbot, again, "waiting", "finished")
    assert again.space.live.memory.steps
