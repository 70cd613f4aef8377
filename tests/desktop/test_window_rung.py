"""Where the model runs, as the window shows it: the badge of a fall, and a processor that the engine cannot use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from core import settings as options
from core.domain import event as ev
from core.domain.memory import fold
from core.domain.notices import TEXTS
from core.errors import EXIT_DONE
from core.runtime import report
from core.settings import Models, Settings
from desktop import assembly
from desktop.app import Session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
PATIENCE = 30_000
NO_AVX2 = "This processor lacks AVX2, which the model engine needs."
OLD = "model name\t: Old CPU\nflags\t\t: fpu sse4_2 avx\nphysical id\t: 0\ncore id\t\t: 0\n"


def test_complaint_B4(
    qtbot: QtBot,
    open_window: Callable[..., Session],
    example: Path,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """abetlen/llama-cpp-python#839, JamePeng/llama-cpp-python#26, nomic-ai/gpt4all#82,
    lmstudio-ai/lmstudio-bug-tracker#1885 (illegal instruction).

    A processor without AVX2 gets the sentence, the run ends without a model, the window's exit code is 0.
    """
    described = tmp_path / "cpuinfo"
    described.write_text(OLD)
    monkeypatch.setenv("WARDROUND_TEST_CPUINFO", str(described))
    monkeypatch.delenv("WARDROUND_TEST_BACKBONE")
    options.save(place, Settings(models=Models(embedder="")))
    session = open_window()
    window = session.window
    window.arrivals.take([example / "01-gp-letter.txt"])
    qtbot.waitUntil(lambda: window.desk.case is not None, timeout=PATIENCE)
    told: list[str] = []
    window.desk.told.connect(lambda _tone, words: told.append(words))
    window.case_page.composer.start.click()
    live = session.space.live
    qtbot.waitUntil(lambda: not live.active and live.status not in ("", "queued"), timeout=PATIENCE)
    while live.status == "waiting":
        for row in window.run_page.question.rows:
            row.choice.choose(2)
        window.run_page.question.send.click()
        qtbot.waitUntil(lambda: not live.active, timeout=PATIENCE)
    assert live.status == "finished", live.memory.error
    sentence = TEXTS["N13"].format(rung="no model", reason=NO_AVX2)
    with assembly.Stores(place) as stores:
        rows = stores.journal.events(live.run_id)
    assert sum(isinstance(row.event, ev.RungChanged) for row in rows) == 1
    assert window.run_page.badge.text() == sentence
    assert told.count(sentence) == 1
    case = window.desk.case
    assert sentence in report.build(case, live.row, fold(rows)).banner
    QTimer.singleShot(200, window.close)
    assert session.run() == EXIT_DONE
