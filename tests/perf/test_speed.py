"""`bench speed`: the arithmetic of its ratios on a model that only waits, and the real ratios with a factor of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bench import speed
from desktop import assembly
from desktop.cli.bench import first_paint
from models.scripted import ScriptedBackbone

CALL_S = 0.03


class Waiting(ScriptedBackbone):
    """Takes the same time for every call, however much is asked; counts how often it had to forget."""

    def __init__(self) -> None:
        super().__init__({"bench-speed": "word"}, seconds=CALL_S)
        self.forgotten = 0

    def forget_cases(self) -> None:
        self.forgotten += 1


def test_shared_calls_are_set_against_separate_ones_from_cold() -> None:
    backbone, said = Waiting(), []
    scored, forked = speed.measure_model(backbone, said.append)
    # One call against five, one call against eight, each waiting as long.
    assert scored.ratio == pytest.approx(1 / 5, rel=0.25)
    assert forked.ratio == pytest.approx(1 / 8, rel=0.25)
    assert scored.met
    assert forked.met
    assert scored.ours_s >= CALL_S
    assert backbone.forgotten == 1 + 5 + 1 + 8  # every measured call begins without the prefix
    assert len(said) == 4


def test_a_ratio_knows_whether_it_meets_its_target() -> None:
    slow = speed.compare("x", ours_s=2.0, other_s=4.0, target=0.35, detail="")
    assert (slow.ratio, slow.met) == (0.5, False)
    assert speed.compare("x", ours_s=1.0, other_s=4.0, target=0.35, detail="").met
    assert not speed.compare("x", ours_s=1.0, other_s=0.0, target=0.35, detail="").met


@pytest.mark.perf
def test_the_search_against_fts5(tmp_path: Path) -> None:
    texts = [text for condition in assembly.starter_conditions() for text in condition.sections.values()]
    found = speed.measure_search(texts, tmp_path, lambda text: None)
    assert found.ratio <= 2 * speed.SEARCH_TARGET, found


@pytest.mark.perf
def test_the_first_paint_is_early_and_light() -> None:
    paints = [first_paint() for _ in range(2)]
    assert min(paint.seconds for paint in paints) <= 2 * speed.PAINT_TARGET_S
    assert {paint.heavy for paint in paints} == {()}
