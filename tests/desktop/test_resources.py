"""The resource monitor: figures that agree with the system's own, words for what is not known, and what it costs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from desktop.state import processes, usage
from desktop.state.usage import Meter, Usage, Worker
from desktop.views.resources import ResourceLine, ResourcePanel

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
MIB = 1 << 20
BUSY_CHILD = "import sys; room = b'x' * (64 << 20); sys.stdin.read()"


class Engine(QObject):
    """What the monitor asks of an engine."""

    alive = Signal(object, float)
    card = Signal(object, object)
    pid = 0
    current = ""


class Space:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine


def test_figures_agree_with_the_systems_own() -> None:
    """Resident memory against the status file, processor seconds against getrusage: two other sources."""
    found = processes.look_at(os.getpid())
    assert found is not None
    rows = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    said = next(int(row.split()[1]) * 1024 for row in rows if row.startswith("VmRSS"))
    assert abs(found.resident - said) < 8 * MIB
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert abs(found.seconds - used.ru_utime - used.ru_stime) < 0.2
    assert processes.look_at(2**22 + 1) is None
    assert processes.family(0) == ()


def test_worker_and_reading_child_are_told_apart() -> None:
    """Two children with 64 MiB each: one is named as the worker, the other one reads."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY_CHILD], stdin=subprocess.PIPE) for _ in range(2)]
    try:
        meter, end = Meter(), time.monotonic() + 20
        seen = meter.read(started[0].pid)
        while min(seen.worker, seen.reading) < 64 * MIB and time.monotonic() < end:
            time.sleep(0.02)
            seen = meter.read(started[0].pid)
        assert 64 * MIB < seen.worker < 96 * MIB
        assert seen.reading > 64 * MIB
        assert seen.window > 40 * MIB
        assert seen.memory == seen.window + seen.worker + seen.reading
    finally:
        for child in started:
            child.communicate()


def test_processor_share_is_of_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.5 processor seconds in 1 s on two cores are a quarter of the machine; a first reading has no share."""
    now, spent = [100.0], [7.0]
    monkeypatch.setattr(usage.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        usage.processes, "family", lambda pid: (processes.Process(pid=1, resident=1, seconds=spent[0]),) if pid else ()
    )
    meter = Meter(1, cores=2)
    assert meter.read().cpu is None
    now[0], spent[0] = 101.0, 7.5
    assert meter.read().cpu == pytest.approx(0.25)
    assert usage.line(meter.read(), Worker()) == "Memory 1 B · CPU —"


def test_words_for_what_is_there_and_what_is_not() -> None:
    now = Usage(window=200 * MIB, worker=0, reading=0, cpu=0.034)
    assert usage.line(now, Worker(speed=12.5)) == "Memory 200.0 MB · CPU 3 % · 12.5 tokens/s"
    plain = dict(usage.figures(now, Worker(), cuda=False))
    assert plain["Analysis process"] == plain["Reading of files"] == "not running"
    assert (plain["Model speed"], plain["Graphics memory"]) == ("—", "none: no accelerator")
    assert usage.card(Worker(), cuda=True) == "not used so far"
    assert usage.card(Worker(card_used=3 << 30, card_total=24 << 30), cuda=True) == "3.0 GB of 24.0 GB"


def test_it_reads_only_while_it_is_seen_and_says_what_the_worker_says(qtbot: QtBot) -> None:
    panel, engine = ResourcePanel(), Engine()
    line = ResourceLine(panel, Meter(cuda=False))
    qtbot.addWidget(panel)
    qtbot.addWidget(line)
    assert not line.timer.isActive()
    line.show()
    assert line.timer.isActive()
    line.attach(Space(engine))  # type: ignore[arg-type]
    engine.pid, engine.current = os.getpid(), "r1"
    engine.alive.emit(1 << 30, 9.25)
    engine.card.emit(1 << 30, 8 << 30)
    line.click()
    assert panel.isVisible()
    assert panel.values()["Graphics memory"] == "1.0 GB of 8.0 GB"
    assert "9.2 tokens/s" in line.text()
    engine.current = ""
    line.read()
    assert panel.values()["Model speed"] == "—"
    line.click()
    assert not panel.isVisible()
    line.hide()
    assert not line.timer.isActive()


def test_it_costs_less_than_a_hundredth_of_a_core(qtbot: QtBot) -> None:
    """One reading a second: 10 ms of processor time would be 1 %."""
    line = ResourceLine(ResourcePanel())
    qtbot.addWidget(line)
    qtbot.addWidget(line.panel)
    line.show()
    line.click()
    begun = time.process_time()
    for _ in range(100):
        line.read()
    assert (time.process_time() - begun) / 100 < 0.01
