"""How long decode steps take, and whether other programs have brought them to a halt (runtime.md 4.7, rule 3).

The barriers of the native threads spin: where another program holds a core, each step waits for it. Knows no engine.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REMEMBERED = 50  # steps
FACTOR, LEAST_S = 10.0, 1.0


class Pace:
    """Times decode steps; `on_stall` hears of the first one that took far too long."""

    def __init__(self) -> None:
        self._steps: deque[float] = deque(maxlen=REMEMBERED)
        self.on_stall: Callable[[], None] | None = None
        self.stalled = False

    @contextmanager
    def step(self) -> Iterator[None]:
        """One decode step; one that fails is not counted."""
        begun = time.perf_counter()
        yield
        self.add(time.perf_counter() - begun)

    def add(self, seconds: float) -> None:
        """A step took so long: a stall where that is above 1 s and above 10 times the median of the last 50."""
        slow = seconds > LEAST_S and bool(self._steps) and seconds > FACTOR * statistics.median(self._steps)
        self._steps.append(seconds)
        if slow and not self.stalled:
            self.stalled = True
            if self.on_stall is not None:
                self.on_stall()
