"""The machine, read from the system's texts; nothing is loaded (runtime.md sections 4.1 and 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UserError
from models.device import Device, has_avx2, memory_of, physical_cores, probe_device, quota_cores, require_avx2

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


def _device(*, cores: int = 2, avx2: bool = True) -> Device:
    return Device(name="test", avx2=avx2, cores=cores, ram_total=1, ram_free=1, cuda=False)


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


def test_this_machine_can_be_probed() -> None:
    found = probe_device()
    assert found.cores >= 1
    assert 0 < found.ram_free <= found.ram_total


def test_described_processor_counts_only_under_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text(CPUINFO.replace(" avx2", ""), encoding="utf-8")
    monkeypatch.setenv("WARDROUND_TEST_CPUINFO", str(described))
    monkeypatch.delenv("WARDROUND_TESTING", raising=False)
    assert probe_device().name != "Example CPU"
    monkeypatch.setenv("WARDROUND_TESTING", "1")
    assert (probe_device().name, probe_device().avx2) == ("Example CPU", False)
