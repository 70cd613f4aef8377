"""Machine, memory plan and rung, from texts and figures; nothing is loaded (runtime.md sections 4.1 and 10)."""

from __future__ import annotations

import pytest

from core.domain.pack import Architecture, Licence, PackFile, PackManifest
from core.errors import UserError
from models.device import (
    Device,
    choose_rung,
    has_avx2,
    kv_bytes,
    memory_of,
    physical_cores,
    plan_memory,
    probe_device,
    quota_cores,
    require_avx2,
    require_memory,
)

SMOL = Architecture(n_layer=30, n_kv_head=3, head_dim=64, n_ctx_train=8192)
QWEN8 = Architecture(n_layer=36, n_kv_head=8, head_dim=128, n_ctx_train=40960)
CPUINFO = """processor\t: 0
model name\t: Example CPU
flags\t\t: fpu sse avx avx2 fma
physical id\t: 0
core id\t\t: 0

processor\t: 1
physical id\t: 0
core id\t\t: 0

processor\t: 2
physical id\t: 0
core id\t\t: 1
"""


def _device(*, cores: int = 2, avx2: bool = True, cuda: bool = False) -> Device:
    return Device(name="test", avx2=avx2, cores=cores, ram_total=1, ram_free=1, cuda=cuda)


def _manifest(size: int) -> PackManifest:
    return PackManifest(
        id="p",
        version="1",
        role="text",
        family="f",
        template="chatml",
        params_b=0.1,
        quant="Q4",
        files=(PackFile(path="model.gguf", size=size, sha256="0"),),
        licence=Licence(spdx="MIT"),
        arch=SMOL,
    )


def test_cache_bytes_a_token() -> None:
    """Measured 22.5 kB for SmolLM2 (runtime.md section 10); Qwen3-8B 147,456 B, 1.2 GB at 8k."""
    assert kv_bytes(SMOL, 1) == 23_040
    assert kv_bytes(SMOL, 1) == pytest.approx(22.5 * 1024, rel=0.02)
    assert kv_bytes(QWEN8, 1) == 147_456
    assert kv_bytes(QWEN8, 8192) == pytest.approx(1.2e9, rel=0.02)
    assert kv_bytes(QWEN8, 8192, "q8_0") == pytest.approx(kv_bytes(QWEN8, 8192) * 17 / 32)


def test_plan_adds_up_and_tells_whether_it_fits() -> None:
    plan = plan_memory(_manifest(98_362_432), n_ctx=4096, free=3 << 30)
    assert plan.kv == 94_371_840
    assert plan.total == 98_362_432 + 94_371_840 + (300 << 20) + (2 << 30)
    assert plan.fits
    require_memory(plan)
    with pytest.raises(UserError, match=r"needs 2\.5 GiB of free memory and 1\.0 GiB are free"):
        require_memory(plan_memory(_manifest(98_362_432), n_ctx=4096, free=1 << 30))


def test_cores_memory_and_features_are_read_from_the_systems_texts() -> None:
    assert physical_cores(CPUINFO) == 2
    assert has_avx2(CPUINFO)
    assert not has_avx2(CPUINFO.replace(" avx2", ""))
    assert memory_of("MemTotal:       1024 kB\nMemAvailable:    512 kB\n", "MemAvailable") == 512 * 1024
    assert quota_cores("150000 100000") == 1
    assert quota_cores("400000 100000\n") == 4
    assert quota_cores("max 100000") > 1000


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (4, 3), (16, 15)])
def test_threads_leave_one_core_free(cores: int, threads: int) -> None:
    assert _device(cores=cores).threads == threads


def test_processor_without_avx2_is_refused_by_its_sentence() -> None:
    with pytest.raises(UserError, match=r"This processor lacks AVX2, which the model engine needs\."):
        require_avx2(_device(avx2=False))
    require_avx2(_device())


@pytest.mark.parametrize(("cuda", "why"), [(False, "no CUDA device was found"), (True, "built without CUDA")])
def test_graphics_card_that_is_not_used_is_announced_never_silent(cuda: bool, why: str) -> None:
    """Acceptance 13."""
    rung = choose_rung("gpu", _device(cuda=cuda), "announce")
    assert rung.name == "cpu"
    assert why in rung.reason
    with pytest.raises(UserError, match="forbid"):
        choose_rung("gpu", _device(cuda=cuda), "forbid")


@pytest.mark.parametrize("wanted", ["auto", "cpu"])
def test_processor_as_wanted_needs_no_reason(wanted: str) -> None:
    assert choose_rung(wanted, _device(), "forbid").reason == ""  # type: ignore[arg-type]


def test_this_machine_can_be_probed() -> None:
    found = probe_device()
    assert found.cores >= 1
    assert 0 < found.ram_free <= found.ram_total
