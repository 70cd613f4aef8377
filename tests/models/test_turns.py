"""Stops at every stage of a model's work, and turns that do not read the case again (product.md 7.5, E1 and E2)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import models
from core.domain.chat import ModelRequest, Sampling, message
from core.domain.pack import FEWER_THREADS
from core.errors import Cancelled
from models.llama import loader
from models.llama.backbone import LlamaBackbone
from models.llama.engine import Engine, EngineSetting

pytestmark = pytest.mark.weights
PACK = "smollm2-135m-instruct-q4_1"
CASE = "The patient, 67, has had a cough, fever of 38.9 degrees and pain on the left side for three days. " * 21


def quiet(_text: str) -> None:
    """Nobody listens."""


def first_turn(max_tokens: int = 12) -> ModelRequest:
    return ModelRequest(
        messages=(message("system", "You help physicians."), message("user", CASE)),
        sampling=Sampling(seed=5, max_tokens=max_tokens),
        prompt_name="test",
        prompt_sha256="ab" * 32,
        static_parts=1,
    )


def test_complaint_E2_second_turn_reads_at_most_a_fifth(backbone: LlamaBackbone) -> None:
    """oobabooga/textgen#866, koboldcpp#391, ggml-org/llama.cpp#22746: the whole chat was read again at each turn.

    P11, by tokens evaluated: the case, the answer and a new question against the case alone.
    """
    engine = backbone._engine
    backbone.forget_cases()
    before = engine.evaluated
    reply = backbone.reply(first_turn(), quiet)
    first = engine.evaluated - before
    assert first >= reply.usage.tokens_in > 480
    more = (*first_turn().messages, message("assistant", reply.text), message("user", "What should be done first?"))
    before = engine.evaluated
    second = backbone.reply(msgspec.structs.replace(first_turn(), messages=more), quiet)
    assert second.record.prefix_source == "reuse"
    assert engine.evaluated - before <= 0.20 * first
    before = engine.evaluated
    backbone.reply(_other_case(), quiet)
    again = backbone.reply(msgspec.structs.replace(first_turn(), messages=more), quiet)
    assert again.record.prefix_source == "state", "another prompt between the turns changes nothing"
    assert again.text == second.text
    assert engine.evaluated - before <= 0.20 * first + 200


def _other_case() -> ModelRequest:
    return msgspec.structs.replace(first_turn(), messages=(message("system", "Be brief."), message("user", "Gout?")))


class _Looked(threading.Event):
    """Set once it has been looked at so many times: a stop in the midst of work that polls it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def is_set(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def _open(pack: Path, stop: threading.Event) -> None:
    models.open_backbone(PACK, packs=pack.parent.parent, n_ctx=256, stop=stop).close()


def _load(pack: Path, stop: threading.Event) -> None:
    Engine(str(pack / "model.gguf"), EngineSetting(n_ctx=256), stop).close()


@pytest.mark.parametrize(("work", "looks", "step"), [(_open, 20, "verify"), (_open, 97, "load"), (_load, 3, "load")])
def test_complaint_E1_stop_while_a_model_is_checked_or_loaded(
    smollm2: Path, work: Callable[[Path, threading.Event], None], looks: int, step: str
) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#573: no way to stop a load. In its midst, and the next load is whole."""
    stop = _Looked(looks)
    with pytest.raises(Cancelled) as caught:
        work(smollm2, stop)
    assert caught.value.step == step
    assert stop.looks >= -3, "it ended at once, not after the rest"
    _load(smollm2, threading.Event())


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.3], ids=["at once", "in prefill", "later"])
def test_complaint_E1_stop_while_the_model_works(smollm2: Path, delay: float) -> None:
    """nomic-ai/gpt4all#2376, open-webui/open-webui#1166: Stop did not stop. 300 ms, with a factor of 2."""
    stop = threading.Event()
    backbone = models.open_backbone(PACK, packs=smollm2.parent.parent, n_ctx=2048, stop=stop)
    at: list[float] = []
    timer = threading.Timer(delay, lambda: (at.append(time.perf_counter()), stop.set()))
    try:
        timer.start()
        with pytest.raises(Cancelled):
            backbone.reply(first_turn(max_tokens=900), quiet)
        assert time.perf_counter() - at[0] <= 0.6
        stop.clear()
        after = backbone.reply(_other_case(), quiet).text
        backbone.forget_cases()
        assert backbone.reply(_other_case(), quiet).text == after
    finally:
        timer.join()
        backbone.close()


def test_worker_started_after_a_stall_takes_one_thread_fewer_and_says_so(
    smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """runtime.md 4.7, rule 3: the reason is the badge of every result; at least one thread stays."""
    found = msgspec.structs.replace(loader.machine.probe_device(), cores=4)
    threads = {}
    for calm in ("", "1"):
        monkeypatch.setenv(FEWER_THREADS, calm)
        placed = loader._place(PACK, smollm2.parent.parent, models.Site(), n_ctx=256, found=found, calibrations=None)
        threads[calm] = loader._setting(placed, found).n_threads
        assert (loader.CALMER in placed.rung.reason) == bool(calm)
        assert loader._setting(placed, msgspec.structs.replace(found, cores=1)).n_threads == 1
    assert threads[""] == 3
    assert threads["1"] == 2
    made = models.open_backbone(PACK, packs=smollm2.parent.parent, n_ctx=256)
    try:
        assert loader.CALMER in made.info.reason
    finally:
        made.close()


def test_stall_of_a_loaded_model_is_told(smollm2: Path) -> None:
    heard: list[str] = []
    made = models.open_backbone(PACK, packs=smollm2.parent.parent, n_ctx=256, on_stall=lambda: heard.append("x"))
    try:
        made.reply(_other_case(), quiet)
        assert heard == []
        made._engine.pace.add(60.0)
        assert heard == ["x"]
    finally:
        made.close()


def test_compressed_cache_is_compressed(smollm2: Path) -> None:
    """34 bytes for 32 values instead of 64: the state of the same prefix is about half as large."""
    sizes = {}
    for kind in ("f16", "q8_0"):
        setting = EngineSetting(n_ctx=256, forks=1, flash=True, type_k=kind, type_v=kind)
        engine = Engine(str(smollm2 / "model.gguf"), setting, threading.Event())
        engine.advance(range(1000, 1070), 64)
        sizes[kind] = len(engine.save())
        engine.close()
    assert sizes["q8_0"] / sizes["f16"] == pytest.approx(34 / 64, rel=0.02)
