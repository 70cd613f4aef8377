"""When a step counts as a stall (runtime.md 4.7, rule 3), and that a loaded model says so once."""

from __future__ import annotations

import pytest

from models.llama.pace import Pace


@pytest.mark.parametrize(
    ("before", "step", "stalled"),
    [
        ([0.05] * 10, 1.2, True),
        ([0.05] * 10, 0.9, False),  # 18 times the median, but under a second
        ([0.2] * 10, 1.9, False),  # above a second, but under 10 times the median
        ([0.2] * 10, 2.1, True),
        ([], 9.0, False),  # nothing to compare with
        ([5.0] * 50 + [0.05] * 50, 1.2, True),  # only the last 50 count
        ([0.05] * 50 + [5.0] * 26, 12.0, False),  # their median is 5 s
    ],
)
def test_stall_is_ten_medians_and_a_second(before: list[float], step: float, stalled: bool) -> None:
    heard: list[str] = []
    pace = Pace()
    for seconds in before:
        pace.add(seconds)
    pace.stalled = False  # what led here is not the step under test
    pace.on_stall = lambda: heard.append("stalled")
    pace.add(step)
    assert (pace.stalled, len(heard)) == (stalled, int(stalled))
    pace.add(100.0)
    assert len(heard) <= 1, "it is said once"


def test_step_that_fails_is_not_counted() -> None:
    pace = Pace()
    with pytest.raises(ValueError, match="no"), pace.step():
        raise ValueError("no")
    assert not pace._steps
    with pace.step():
        pass
    assert len(pace._steps) == 1
