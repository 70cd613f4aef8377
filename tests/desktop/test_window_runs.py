"""Every work-up of a case in the window: list, keys, an earlier one opened and said to be so, two beside each other,
a report exported as PDF. The runs were left by an earlier window; no worker is started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pypdfium2
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from core.domain.case import Patient
from core.domain.notices import TEXTS
from desktop.app import Session
from desktop.assembly import Stores
from desktop.cli import arguments, boundary, commands
from desktop.views.comparison_page import ComparisonPage
from desktop.views.window import REPORT, RUN, RUNS
from tests.helpers.kept_runs import keep_three
from tests.helpers.runs import AT, CASE
from tests.helpers.sitting import PATIENCE, open_case, picture, put_cases

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
PATIENT = Patient(name="Doe, Jane", birth_date="1950-01-02", patient_id="A-17")
MINE = msgspec.structs.replace(CASE, patient=PATIENT)


@pytest.fixture
def session(qtbot: QtBot, open_window: Opener) -> Iterator[Session]:
    """The case open, its three runs in the list; the latest one waits and is on the screen. "c2" has no run."""
    opened = open_window()
    window = opened.window
    put_cases(opened, MINE, msgspec.structs.replace(MINE, id="c2", title="Another case"))
    with opened.space.bench.open_stores() as stores:  # type: ignore[union-attr]
        keep_three(stores.journal, MINE.id)
        stores.cases.save(msgspec.structs.replace(MINE, revision=2), "tester", AT)
    open_case(qtbot, opened, MINE.id)
    qtbot.waitUntil(lambda: window.history.page.rows.rowCount() == 3, timeout=PATIENCE)
    yield opened


def say(widget: object) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())  # type: ignore[attr-defined]


def test_an_earlier_one_is_opened_by_keys_says_that_it_is_not_the_latest_and_is_exported(
    qtbot: QtBot, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = session.window
    live, page = session.space.live, window.history.page
    assert live.run_id == "run-2"
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert page.list.hasFocus()
    assert page.list.currentIndex().row() == 0, "the one on the screen is the current row"
    picture(window, "runs")
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: live.run_id == "run-1" and window.desk.shown is not None, timeout=PATIENCE)
    assert window.pages.currentIndex() == REPORT
    assert "Best supported by the findings: Embolism." in window.report_page.body.toPlainText()
    notice = window.history.notice
    assert notice.isVisible()
    assert "This is an earlier work-up, of 2026-11-30 09:15. A later one is there." in notice.said.text()
    assert "made from revision 1 of the case; the case now has revision 2." in notice.said.text()
    check_export(qtbot, session, tmp_path, monkeypatch)
    window.page_case()
    assert not notice.isVisible()
    window.page_report()
    notice.latest.click()
    qtbot.waitUntil(lambda: live.run_id == "run-2", timeout=PATIENCE)
    assert window.pages.currentIndex() == RUN
    assert window.report_page.body.toPlainText() == "", "nothing of the other run is left on the report page"
    assert "earlier" not in notice.said.text()
    assert not notice.latest.isVisible()


def test_two_are_marked_by_space_or_click_and_compared(qtbot: QtBot, session: Session) -> None:
    window = session.window
    page = window.history.page
    window.turn_to(RUNS)
    check_names_and_room(session)
    assert not page.compare.isEnabled()
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    QTest.keyClick(page.list, Qt.Key.Key_Space)
    box = page.list.visualRect(page.rows.index(2)).topLeft() + QPoint(18, 16)
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=box)
    assert [run.id for run in page.rows.marked] == ["run-0", "run-1"]
    assert session.space.live.run_id == "run-2", "a click on a box opens nothing"
    page.compare.click()
    qtbot.waitUntil(lambda: isinstance(window.room.currentWidget(), ComparisonPage), timeout=PATIENCE)
    beside = window.room.currentWidget()
    shown = beside.list.toPlainText()
    picture(window, "comparison")
    assert "Doe, Jane" in beside.who.whole
    for name in ("N1", "N2", "N7"):
        assert TEXTS[name] in beside.notices.text()
    for words in ("+ only later", "− only earlier", "→ changed", "Potassium is 6.9.", "2. possible, clues 1.00"):
        assert words in shown
    assert shown.index("Safety flags") < shown.index("Ranking") < shown.index("Findings")
    assert "Task and settings" in shown[shown.index("Equal") :]
    for _ in range(2):  # the link to the later one
        QTest.keyClick(beside.list, Qt.Key.Key_Tab)
    QTest.keyClick(beside.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.space.live.run_id == "run-1", timeout=PATIENCE)
    assert window.pages.currentIndex() == REPORT
    assert window.room.currentIndex() == 1
    open_case(qtbot, session, "c2")
    window.page_runs()
    qtbot.waitUntil(lambda: page.rows.rowCount() == 0, timeout=PATIENCE)
    assert "No work-up of this case yet." in say(page)
    assert not page.compare.isVisible()


def check_names_and_room(session: Session) -> None:
    """Every control has its name, a row says all of itself, and nothing is clipped in a small window."""
    window, page = session.window, session.window.history.page
    window.resize(960, 540)
    QApplication.processEvents()
    assert page.list.accessibleName() == "Work-ups of this case"
    assert page.compare.accessibleName() == "Compare the two"
    assert page.compare.width() >= page.compare.sizeHint().width()
    spoken = page.rows.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("What is it?, ready to read, Best supported by the findings: Embolism., 2026-11-30  09:15")
    assert page.list.sizeHintForRow(0) >= 24


def check_export(qtbot: QtBot, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF is written whole, over another file only when that was asked, and never of a case that is not shown."""
    window = session.window
    taken, asked = tmp_path / "taken.pdf", []
    taken.write_text("somebody else's file")
    given = iter([(str(tmp_path / "taken"), "PDF file (*.pdf)"), (str(tmp_path / "report.pdf"), "")])

    def choose(_parent: object, title: str, *_more: object) -> tuple[str, str]:
        asked.append(title)
        return next(given)

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    with qtbot.waitSignal(window.desk.told, timeout=PATIENCE) as told:
        window.report_page.banner.export.click()
    assert told.args[1] == "taken.pdf is there already; nothing was written. Choose another name."
    assert taken.read_text() == "somebody else's file"
    with qtbot.waitSignal(window.desk.exported, timeout=PATIENCE):
        window.report_page.banner.export.click()
    assert all("Doe, Jane" in title for title in asked)
    document = pypdfium2.PdfDocument(tmp_path / "report.pdf")
    text = " ".join(document[0].get_textpage().get_text_bounded().split())
    for words in ("Doe, Jane", TEXTS["N1"], TEXTS["N2"], "Inputs not available: none", TEXTS["N8"], "Embolism"):
        assert words in text
    document.close()
    # The screen shows another case meanwhile: nothing is written, and that is said.
    mine, window.desk.case = window.desk.case, msgspec.structs.replace(MINE, id="c2")
    with qtbot.waitSignal(window.desk.told, timeout=PATIENCE) as told:
        window.desk.export(tmp_path / "wrong.pdf", replace=True)
    assert told.args[1] == "This report belongs to another case; nothing was written."
    assert not (tmp_path / "wrong.pdf").exists()
    window.desk.case = mine


def test_the_command_draws_the_same_pages_without_a_window(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`report RUN --pdf FILE`; where a file is already nothing is drawn."""
    with Stores(profile) as stores:
        stores.cases.save(MINE, "tester", AT)
        keep_three(stores.journal, MINE.id)
    target = tmp_path / "ward ü" / "report.pdf"
    target.parent.mkdir()

    def cli(*given: str) -> int:
        return boundary.guard(lambda: commands.execute(arguments.parse(list(given))))

    assert cli("report", "run-1", "--pdf", str(target)) == 0
    assert capsys.readouterr().out == f"{target}\n"
    document = pypdfium2.PdfDocument(target)
    text = document[0].get_textpage().get_text_bounded()
    assert "Doe, Jane" in text
    assert f"Page 1 of {len(document)}" in text
    document.close()
    before = target.read_bytes()
    assert cli("report", "run-1", "--pdf", str(target)) == 1
    assert capsys.readouterr().err == f"{target} is there already; nothing was written. Choose another name.\n"
    assert target.read_bytes() == before
    assert cli("report", "run-1", "--pdf", str(target), "--out", "x.pdf") == 1
    assert "--pdf names the file already" in capsys.readouterr().err
