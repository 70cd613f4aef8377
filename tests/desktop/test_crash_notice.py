"""After a crash: the window lives or comes back, says what happened and what was kept; a report holds no case text."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.domain.case import Case, Note, Patient
from desktop import crash
from desktop.app import Session
from desktop.views.crash_notice import BY_HAND, CLOSED_BADLY, ProblemReport
from desktop.views.viewers import NoteView
from tests.helpers.sitting import AT, PATIENCE, finish_run, open_case, put_cases

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
PLANTED = ("Zacharias", "quixotic", "zz-4711")
ROOT = Path(__file__).resolve().parents[2]
FAULT = "import sys\nsys.path[:0] = sys.argv[1:]\nfrom desktop import crash\nimport ctypes\n" + (
    "with crash.native_faults():\n    ctypes.memset(0, 0, 1)\n"
)


def a_case(number: int) -> Case:
    """Fever and cough, under a name that must not leave the case."""
    note = Note(id="N1", title="note.txt", text=f"{PLANTED[1]} cough and fever for {number} days.", sha256="0" * 64)
    patient = Patient(name=f"{PLANTED[0]} Example", patient_id=PLANTED[2])
    title = f"{PLANTED[0]} {number}"
    return Case(id=f"{PLANTED[2]}-{number}", title=title, revision=1, created_at=AT, items=(note,), patient=patient)


def test_complaint_B3(qtbot: QtBot, open_window: Opener, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SciSharp/LLamaSharp#337; Project-MONAI/MONAILabel#373, #1351: no memory left ends the host, or the next sample.

    The worker is ended as the system does it. The window lives and says so, the run goes on, the next case runs.
    """
    monkeypatch.setenv("WARDROUND_TEST_SECONDS", "0.6")
    session = open_window()
    window, live = session.window, session.space.live
    put_cases(session, a_case(1), a_case(2))
    open_case(qtbot, session, a_case(1).id)
    window.case_page.composer.start.click()
    qtbot.waitUntil(lambda: any(step.kind == "model" for step in live.memory.steps), timeout=PATIENCE)
    monkeypatch.setenv("WARDROUND_TEST_SECONDS", "0")  # the next worker is not slowed
    os.kill(session.space.engine.pid, signal.SIGKILL)
    qtbot.waitUntil(window.crash.isVisible, timeout=PATIENCE)
    said = window.crash.accessibleName()
    assert "ended by the system, as happens when memory runs out. It was started again" in said
    assert f"the work-up of “{PLANTED[0]} 1” with " in said
    assert " saved steps." in said
    assert not window.crash.resume.isVisible()
    qtbot.waitUntil(lambda: not live.active and live.status in ("waiting", "finished"), timeout=PATIENCE)
    first = live.run_id
    open_case(qtbot, session, a_case(2).id)
    assert finish_run(qtbot, session) != first
    assert window.isVisible()
    report = read_report(qtbot, session, window.crash.report.click)
    assert f"What happened: {window.crash._happened.text()}" in report
    assert "Runs: 1 finished" in report
    assert "Cases: 2" in report
    assert [word for word in PLANTED if word.casefold() in report.casefold()] == []
    window.crash.dismiss.click()
    assert window.crash.isHidden()


def read_report(qtbot: QtBot, session: Session, ask: Callable[[], object]) -> str:
    """Ask for a report, read it in its dialog, compare it with its file."""
    with qtbot.waitSignal(session.window.desk.problem_written, timeout=PATIENCE) as written:
        ask()
    dialog = next(found for found in session.window.findChildren(ProblemReport) if found.isVisible())
    shown = dialog.findChild(NoteView).toPlainText()
    assert Path(written.args[0]).read_text(encoding="utf-8") == shown
    assert written.args[0] in {label.text() for label in dialog.findChildren(QLabel)}
    dialog.accept()
    return str(shown)


def test_window_that_was_not_closed_says_so_at_the_next_start(qtbot: QtBot, open_window: Opener, place: Path) -> None:
    """As after a power cut: the mark of the window is still there, and a run is at rest without an end."""
    session = open_window()
    assert session.window.crash.isHidden()
    put_cases(session, a_case(1))
    open_case(qtbot, session, a_case(1).id)
    row = session.space.bench.queue(session.window.desk.case, on_question="wait")
    session.close()
    assert not (place / crash.MARK).exists()
    crash.note_open(place)
    again = open_window()
    notice = again.window.crash
    qtbot.waitUntil(notice.isVisible, timeout=PATIENCE)
    assert notice.accessibleName() == (
        f"{CLOSED_BADLY} Kept: every case, and the work-up of “{PLANTED[0]} 1” with 0 saved steps."
    )
    assert again.window.strips.shown() == []
    report = read_report(qtbot, again, again.window.report_problem)
    assert f"What happened: {BY_HAND}" in report
    notice.resume.click()
    qtbot.waitUntil(lambda: again.space.live.run_id == row.id and bool(again.space.live.memory.steps), timeout=PATIENCE)
    assert notice.isHidden()


def test_mark_of_an_open_window(profile: Path) -> None:
    assert not crash.note_open(profile)
    assert crash.note_open(profile)
    crash.note_closed(profile)
    crash.note_closed(profile)
    assert not crash.note_open(profile)
    assert not crash.note_open(profile / "absent")


def test_fault_in_a_native_library_leaves_its_places_and_the_report_has_them(home: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FAULT, str(ROOT)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGSEGV
    path = Path(crash.report("It ended.", ("Cases: 3",)))
    said = path.read_text(encoding="utf-8")
    assert "Fatal Python error: Segmentation fault" in said
    assert "Cases: 3" in said
    assert 'File "<string>", line 6 in <module>' in said
    with crash.native_faults():
        pass
    assert len(list((home / "logs").glob("fault-*.txt"))) == 1


def test_report_shortens_the_paths_of_a_native_fault_and_says_where_none_can_be_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "logs"
    folder.mkdir()
    (folder / "fault-1.txt").write_text('  File "/home/jane/secret/place/desktop/app.py", line 3 in run\n')
    (folder / "fault-2.txt").write_text("")
    said = Path(crash.report("It ended.", ())).read_text(encoding="utf-8")
    assert '  File "place/desktop/app.py", line 3 in run' in said
    assert "jane" not in said
    assert "fault-2" not in said
    monkeypatch.setenv("WARDROUND_HOME", str(folder / "fault-1.txt"))
    assert crash.report("It ended.", ()) == crash.NOT_WRITTEN
