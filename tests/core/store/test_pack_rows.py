"""States and measurements of packs: the last state counts, the highest peak and the last speed are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.pack import Calibration
from core.store import migrations
from core.store.database import Database, open_database
from core.store.packs import Packs


@pytest.fixture
def database(profile: Path) -> Iterator[Database]:
    opened = open_database(profile / "workbench.db", migrations.workbench)
    yield opened
    opened.close()


def measured(peak: int, tok_s: float, tokens: int, *, rung: str = "cpu") -> Calibration:
    return Calibration(pack="p", n_ctx=4096, rung=rung, peak=peak, tok_s=tok_s, tokens=tokens)


def test_last_state_counts(database: Database) -> None:
    packs = Packs(database)
    packs.set_state("p", "1", state="quarantined", detail="hash differs", actor="tester")
    assert packs.detail("p", "1", state="quarantined") == "hash differs"
    packs.set_state("p", "1", state="ready", detail="marks", actor="tester")
    assert (packs.detail("p", "1", state="quarantined"), packs.detail("p", "1", state="ready")) == ("", "marks")


def test_highest_peak_and_last_speed_are_kept_for_each_context_and_rung(database: Database) -> None:
    packs = Packs(database)
    assert packs.calibration("p", n_ctx=4096, rung="cpu") is None
    for row in (measured(100, 10.0, 500), measured(300, 20.0, 800), measured(200, 30.0, 700), measured(1, 0.0, 0)):
        packs.calibrate(row, actor="tester")
    packs.calibrate(measured(7, 90.0, 900, rung="gpu_full"), actor="tester")
    assert packs.calibration("p", n_ctx=4096, rung="cpu") == measured(300, 30.0, 700)
    assert packs.calibration("p", n_ctx=4096, rung="gpu_full") == measured(7, 90.0, 900, rung="gpu_full")
    assert packs.calibration("p", n_ctx=2048, rung="cpu") is None


def test_removed_pack_leaves_nothing(database: Database) -> None:
    packs = Packs(database)
    packs.set_state("p", "1", state="ready", detail="marks", actor="tester")
    packs.calibrate(measured(1, 1.0, 1), actor="tester")
    packs.forget("p", "1", actor="tester")
    assert packs.detail("p", "1", state="ready") == ""
    assert packs.calibration("p", n_ctx=4096, rung="cpu") is None
