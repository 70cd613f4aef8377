"""The memory plan, by hand and against what the library reports (runtime.md section 10)."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import packs
import pytest

from core.domain.pack import Architecture, Calibration, Licence, PackFile, PackManifest
from core.errors import UserError
from models.llama import accelerators
from models.llama.engine import Engine, EngineSetting
from models.llama.library import load_library
from models.packs import read_manifest
from models.plan import kv_bytes, plan_memory, require_memory, sizes_of

GIB, MIB = 1 << 30, 1 << 20
SMOL = Architecture(n_layer=30, n_kv_head=3, head_dim=64, n_ctx_train=8192)
GEMMA = Architecture(n_layer=18, n_kv_head=1, head_dim=256, n_ctx_train=32768)
QWEN8 = Architecture(n_layer=36, n_kv_head=8, head_dim=128, n_ctx_train=40960)


def manifest(size: int, *, projector: int = 0, arch: Architecture | None = SMOL) -> PackManifest:
    files = [PackFile(path="model.gguf", size=size, sha256="0")]
    files += [PackFile(path="mmproj.gguf", size=projector, sha256="0")] if projector else []
    return PackManifest(
        id="p",
        version="1",
        role="text",
        family="f",
        template="chatml",
        params_b=0.1,
        quant="Q4",
        files=tuple(files),
        licence=Licence(spdx="MIT"),
        arch=arch,
    )


def test_cache_bytes_a_token() -> None:
    """Measured 22.5 kB for SmolLM2 (runtime.md section 10); Qwen3-8B 147,456 B, 1.2 GB at 8k."""
    assert kv_bytes(SMOL, 1) == 23_040
    assert kv_bytes(SMOL, 1) == pytest.approx(22.5 * 1024, rel=0.02)
    assert kv_bytes(QWEN8, 1) == 147_456
    assert kv_bytes(QWEN8, 8192) == pytest.approx(1.2e9, rel=0.02)
    assert kv_bytes(QWEN8, 8192, "q8_0") == pytest.approx(kv_bytes(QWEN8, 8192) * 17 / 32)


def test_values_may_be_narrower_than_keys() -> None:
    narrow = Architecture(n_layer=10, n_kv_head=2, head_dim=192, head_dim_v=128, n_ctx_train=4096)
    assert kv_bytes(narrow, 1) == 10 * 2 * (192 + 128) * 2


def test_plan_adds_up_and_tells_whether_it_fits() -> None:
    plan = plan_memory(manifest(98_362_432), n_ctx=4096, free=3 << 30)
    assert plan.kv == 94_371_840
    assert plan.total == 98_362_432 + 94_371_840 + (300 << 20) + (2 << 30)
    assert plan.fits and not plan.measured
    require_memory(plan)
    with pytest.raises(UserError, match=r"needs 2\.5 GiB of free memory and 1\.0 GiB are free"):
        require_memory(plan_memory(manifest(98_362_432), n_ctx=4096, free=1 << 30))


def test_a_card_keeps_a_tenth_and_at_least_a_display() -> None:
    large = plan_memory(manifest(GIB), n_ctx=256, free=24 * GIB, rung="gpu_full", vram=24 * GIB)
    small = plan_memory(manifest(GIB), n_ctx=256, free=4 * GIB, rung="gpu_full", vram=4 * GIB)
    assert large.reserve == int(2.4 * GIB)
    assert small.reserve == 768 * MIB


def test_a_context_is_rounded_up_to_256_tokens() -> None:
    assert sizes_of(manifest(1), 1000).kv == kv_bytes(SMOL, 1024)


def test_a_measured_peak_and_speed_replace_the_estimates() -> None:
    peak = 98_362_432 + 94_371_840 + 70 * MIB
    known = Calibration(pack="p", n_ctx=4096, rung="cpu", peak=peak, tok_s=200.0, tokens=3000)
    plan = plan_memory(manifest(98_362_432), n_ctx=4096, free=GIB, calibration=known)
    assert (plan.compute, plan.expected_tok_s, plan.expected_s, plan.measured) == (70 * MIB, 200.0, 15.0, True)
    below = Calibration(pack="p", n_ctx=4096, rung="cpu", peak=1)
    assert plan_memory(manifest(98_362_432), n_ctx=4096, free=GIB, calibration=below).compute == 0


def test_expected_time_of_a_small_model_is_of_the_measured_order() -> None:
    """SmolLM2 wrote 62 to 92 and read 267 to 358 tokens a second (runtime.md 4.1, 4.4): 3,840 read, 256 written."""
    plan = plan_memory(manifest(98_362_432), n_ctx=4096, free=GIB)
    fastest, slowest = 3840 / 358 + 256 / 92, 3840 / 267 + 256 / 62
    assert fastest <= plan.expected_s <= slowest
    assert plan.expected_tok_s == pytest.approx(4096 / plan.expected_s, rel=0.01)
    assert plan_memory(manifest(5 * GIB), n_ctx=4096, free=GIB).expected_s > 50 * plan.expected_s


@contextmanager
def told(library: object) -> Iterator[list[str]]:
    """What the library logs meanwhile; afterwards nothing is kept of it again."""
    from models.llama.library import LOG

    lines: list[str] = []

    def keep(_level: int, text: bytes, _data: object) -> None:
        lines.append(text.decode("utf-8", "replace"))

    callback = library.llama_log_callback(keep)  # type: ignore[attr-defined]
    library.llama_log_set(callback, None)  # type: ignore[attr-defined]
    try:
        yield lines
    finally:
        library.llama_log_set(LOG.callback, ctypes.c_void_p(None))  # type: ignore[attr-defined]


def cache_bytes(model_file: Path, n_ctx: int) -> float:
    """Bytes of keys and values that the library reports for a context."""
    with told(load_library()) as lines:
        Engine(str(model_file), EngineSetting(n_ctx=n_ctx), threading.Event()).close()
    found = re.findall(r"KV buffer size =\s*([0-9.]+) MiB", "".join(lines))
    assert found, "the library said nothing of its cache"
    return sum(map(float, found)) * MIB


@pytest.mark.weights
def test_complaint_B2(smollm2: Path) -> None:
    """ollama/ollama#1952, #7440, #2950: the estimate ignored cache and vision.

    Both are in the plan, and the predicted cache is within 2 % of what the library reports.
    """
    plan = plan_memory(manifest(GIB, projector=GIB // 2, arch=QWEN8), n_ctx=8192, free=8 * GIB)
    assert (plan.weights, plan.kv) == (GIB, 147_456 * 8192)
    assert plan.vision == GIB // 2 + 147_456 * 4096, "the projector, and the cache of its own context"
    assert plan.total == plan.weights + plan.vision + plan.kv + plan.compute + plan.reserve
    arch = read_manifest(smollm2).arch
    assert arch is not None
    assert kv_bytes(arch, 1024) == pytest.approx(cache_bytes(smollm2 / "model.gguf", 1024), rel=0.02)


@pytest.mark.weights
def test_cache_of_the_sliding_window_model_is_predicted_too(smollm2: Path) -> None:
    """Acceptance 12, Gemma: swa_full makes the whole formula apply."""
    folder = smollm2.parent.parent / packs.GEMMA3.folder
    if not packs.is_installed(packs.GEMMA3, folder.parent.parent):
        pytest.skip("Gemma 3 270M pack not found: packaging/packs.py gemma3-270m")
    assert read_manifest(folder).arch == GEMMA
    assert kv_bytes(GEMMA, 1024) == pytest.approx(cache_bytes(folder / "model.gguf", 1024), rel=0.02)


def test_memory_of_the_librarys_own_devices_is_that_of_the_system() -> None:
    """ggml tells of the processor what /proc/meminfo tells; a card is there only where one can be used."""
    [processor] = accelerators.devices(accelerators.CPU)
    total = int(re.findall(r"MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text())[0]) * 1024
    assert processor.total == pytest.approx(total, rel=0.01)
    assert 0 < processor.free <= processor.total
