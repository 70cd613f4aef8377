"""Two runs beside each other: equal ones differ in nothing; a changed value or setting is named, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.domain.comparison import NOTHING, Comparison, Difference
from core.domain.memory import WorkingMemory
from core.runtime import comparison
from core.store.journal import RunRow
from tests.helpers import workup

NOTE = "Pleuritic chest pain and sudden breathlessness after a long flight. Swollen left calf. HR 118, SpO2 90%."
TABLE = "test,value,unit,low,high\nD-dimer,2400,ug/L,0,500\nPotassium,{potassium},mmol/L,3.5,5.1\n"


def ran(folder: Path, potassium: float) -> tuple[RunRow, WorkingMemory]:
    worked = workup.work_up(folder, workup.case_of(workup.note(NOTE), workup.table(TABLE.format(potassium=potassium))))
    return worked.row, replace(worked.memory, assessment=worked.done)


@pytest.fixture(scope="module")
def low(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRow, WorkingMemory]:
    return ran(tmp_path_factory.mktemp("low"), 4.2)


@pytest.fixture(scope="module")
def high(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRow, WorkingMemory]:
    return ran(tmp_path_factory.mktemp("high"), 6.9)


def part(found: Comparison, title: str) -> tuple[Difference, ...]:
    return next(part.differences for part in found.parts if part.title == title)


def test_a_run_is_equal_to_itself(low: tuple[RunRow, WorkingMemory]) -> None:
    found = comparison.compare(low, low)
    assert found.same
    assert sum(part.equal for part in found.parts) > 60
    assert "Equal: Task and settings" in comparison.text(found)


def test_what_a_changed_value_changes_is_named(
    low: tuple[RunRow, WorkingMemory], high: tuple[RunRow, WorkingMemory]
) -> None:
    found = comparison.compare(low, high)
    assert not found.same
    assert part(found, "Task and settings") == ()
    differing = [row.what for row in part(found, "Findings")]
    assert any("Potassium 6.9 mmol/L" in text for text in differing)
    assert all("D-dimer" not in text for text in differing)
    [flag] = part(found, "Safety flags")
    assert (flag.one, flag.other) == (NOTHING, "critical")
    hyperkalaemia = next(row for row in part(found, "Ranking") if "yperkal" in row.what)
    assert hyperkalaemia.one == NOTHING or float(_clues(hyperkalaemia.one)) < float(_clues(hyperkalaemia.other))
    assert comparison.text(found).count("  |  ") == sum(len(part.differences) for part in found.parts)


def _clues(standing: str) -> str:
    return standing.split("clues ")[1].split(",", maxsplit=1)[0]


def test_a_changed_setting_is_named_alone(low: tuple[RunRow, WorkingMemory]) -> None:
    row, memory = low
    weighing = replace(row.settings.weighing, tau=1.5)
    changed = replace(row, settings=replace(row.settings, weighing=weighing))
    [difference] = [d for part in comparison.compare(low, (changed, memory)).parts for d in part.differences]
    assert (difference.what, difference.one, difference.other) == ("setting weighing.tau", "0.8", "1.5")
