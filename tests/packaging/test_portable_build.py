"""The model engine that is installed runs on every processor with AVX2 (runtime.md acceptance 1, first half)."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_the_engine_has_no_instruction_of_avx512() -> None:
    """zmm are the registers of AVX-512; that ymm, those of AVX2, are found shows that the search can find any."""
    found = find_spec("llama_cpp")
    assert found is not None and found.origin is not None
    [library] = (Path(found.origin).parent / "lib").glob("libggml-cpu.so")
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(library)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert (listing.count("%zmm"), listing.count("%ymm") > 1000) == (0, True)
