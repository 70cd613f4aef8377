"""What tests of the window do again and again: cases put into its profile, a run brought to its end, a picture."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.domain.case import Case
from desktop.app import Session

PATIENCE = 30_000
AT = "2026-11-30T08:00:00+00:00"


def put_cases(session: Session, *cases: Case) -> None:
    """Save cases beside the window and list them."""
    with session.space.bench.open_stores() as stores:  # type: ignore[union-attr]
        for case in cases:
            stores.cases.save(case, "tester", AT)
    session.window.desk.refresh()  # type: ignore[union-attr]


def open_case(qtbot: QtBot, session: Session, case_id: str) -> None:
    """Open a case and wait until it is shown."""
    desk = session.window.desk
    assert desk is not None
    with qtbot.waitSignal(desk.opened, timeout=PATIENCE):
        desk.open_case(case_id)


def finish_run(qtbot: QtBot, session: Session, choice: int = 0, *, question: str = "") -> str:
    """A work-up of the open case without a model, its questions all answered the same; returns the run's id."""
    window, live = session.window, session.space.live  # type: ignore[union-attr]
    before = live.run_id
    window.page_case()
    window.case_page.composer.model.setChecked(False)
    window.case_page.composer.question.setText(question)
    window.case_page.composer.start.click()
    qtbot.waitUntil(lambda: live.run_id not in ("", before), timeout=PATIENCE)
    while live.status != "finished":
        qtbot.waitUntil(lambda: not live.active and live.status not in ("", "queued"), timeout=PATIENCE)
        assert live.status in ("waiting", "finished"), live.memory.error
        for row in window.run_page.question.rows:
            row.choice.choose(choice)
        if live.status == "waiting":
            window.run_page.question.send.click()
    return live.run_id


def picture(widget: QWidget, name: str) -> None:
    """For people who look: with WARDROUND_PICTURES set, what the widget shows goes into that folder."""
    if folder := os.environ.get("WARDROUND_PICTURES"):
        for _ in range(5):
            QApplication.processEvents()
        widget.grab().save(str(Path(folder) / f"{name}.png"))
