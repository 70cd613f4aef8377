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
SHARE, LEAST = 2 / 3, 0.5  # of a core beside two busy programs on two cores; of the one-thread rate


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


def rate(engine: Engine) -> tuple[float, float]:
    """Tokens for a second, and for a second of processor time of all threads: the best of two."""
    by_clock = by_processor = 0.0
    for _ in range(2):
        engine.set_prefix(engine.tokenize("The causes of a fever are"))
        begun, used = time.perf_counter(), time.process_time()
        [draft] = sample(engine, Sampling(seed=1, max_tokens=TOKENS), 1)
        tokens = len(draft.tokens)
        by_clock = max(by_clock, tokens / (time.perf_counter() - begun))
        by_processor = max(by_processor, tokens / (time.process_time() - used))
    return by_clock, by_processor


@pytest.mark.perf
@pytest.mark.weights
def test_two_busy_programs_leave_a_good_part_of_the_rate(
    engine: Engine, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the one-thread rate: three that work share two cores, so two thirds of one core is what it can have.

    Where these three had the machine, 55 to 84 % were measured. What else runs on the machine takes its share too, so
    the test looks at what processor time brings: three quarters of what it brings alone, times two thirds, is a half;
    the limit is half of that. Threads that spin at a barrier would get 3 %.
    """
    alone, per_second = rate(engine)
    request.getfixturevalue("busy")
    together, beside = rate(engine)
    with capsys.disabled():
        print(f"\n{together:.0f} of {alone:.0f} tokens a second beside two busy programs", end=", ")
        print(f"{beside:.0f} of {per_second:.0f} a second of processor time")
    assert beside * SHARE >= LEAST / 2 * per_second
    assert together >= 0.10 * alone
