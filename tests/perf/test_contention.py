"""Decoding while other programs keep every core busy (runtime.md acceptance 14, second half)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.chat import Sampling
from models.device import probe_device
from models.llama.decoding import sample
from models.llama.engine import Engine, EngineSetting

TOKENS = 24


@pytest.fixture
def busy() -> Iterator[None]:
    """Two processes that do nothing but work."""
    made = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    time.sleep(0.2)
    yield
    for process in made:
        process.kill()
        process.wait()


@pytest.fixture
def engine(smollm2: Path) -> Iterator[Engine]:
    """With the threads that the rule gives on two cores: one."""
    setting = EngineSetting(n_ctx=256, forks=1, n_threads=min(probe_device().threads, 1))
    made = Engine(str(smollm2 / "model.gguf"), setting, threading.Event())
    yield made
    made.close()


def rate(engine: Engine) -> float:
    """Tokens a second, the best of two."""
    best = 0.0
    for _ in range(2):
        engine.set_prefix(engine.tokenize("The causes of a fever are"))
        begun = time.perf_counter()
        [draft] = sample(engine, Sampling(seed=1, max_tokens=TOKENS), 1)
        best = max(best, len(draft.tokens) / (time.perf_counter() - begun))
    return best


@pytest.mark.perf
@pytest.mark.weights
def test_two_busy_programs_leave_a_good_part_of_the_rate(
    engine: Engine, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """On an idle machine of two cores half of the one-thread rate (runtime.md); spinning threads would leave 3 %.

    What else runs on the machine takes its share too: the limit only tells the two apart.
    """
    alone = rate(engine)
    request.getfixturevalue("busy")
    together = rate(engine)
    with capsys.disabled():
        print(f"\n{together:.0f} of {alone:.0f} tokens a second beside two busy programs")
    assert together >= 0.10 * alone
