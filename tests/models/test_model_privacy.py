"""A patient's name said to the models turns up nowhere: not on the terminal, in logs, crash files or the cache.

Acceptance 9 of runtime.md: text and pictures, the libraries talkative or not, a grammar accepted and one refused.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import models
from core.domain.chat import ModelRequest, Sampling, message

pytestmark = pytest.mark.weights
ROOT = Path(__file__).resolve().parents[2]
NAME = "Zephyrine Quillfeather"
PACK = "smollm2-135m-instruct-q4_1"


def test_planted_name_is_in_no_byte_that_is_written(smollm2: Path, home: Path, tmp_path: Path) -> None:
    script = ROOT / "tests" / "helpers" / "whisper.py"
    command = [sys.executable, str(script), NAME, str(tmp_path), str(smollm2.parent.parent), PACK]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, cwd=ROOT, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert int(done.stdout) > 300, "the libraries did write lines, into the callback that drops them"
    said = done.stderr.replace(b"undefined", b"")
    assert said.count(b"\n") <= 6, "only the parser's remark on the refused grammar, which holds no case text"
    written = [file for file in home.rglob("*") if file.is_file()]
    states = [file for file in written if file.suffix == ".wrkv"]
    assert len(states) == 1
    assert len([file for file in written if "crash" in file.name]) >= 2
    everything = [done.stdout, done.stderr, *(file.read_bytes() for file in written)]
    for part in NAME.split():
        assert not any(part.encode() in data or part.encode("utf-16-le") in data for data in everything)


def test_kept_state_ends_where_the_static_part_ends(smollm2: Path, home: Path) -> None:
    """A state holds its text in recoverable form, so it must not reach into the case: the file counts them."""
    backbone = models.open_backbone(PACK, packs=smollm2.parent.parent, n_ctx=512)
    try:
        system = message("system", "You help physicians to read cases with care. " * 12)
        request = ModelRequest(
            messages=(system, message("user", f"{NAME} has had a fever for three days. " * 12)),
            sampling=Sampling(seed=1, max_tokens=2),
            prompt_name="p",
            prompt_sha256="0" * 64,
            static_parts=1,
        )
        reply = backbone.reply(request, lambda _text: None)
        static = backbone._prompt(request).static
    finally:
        backbone.close()
    [file] = home.rglob("*.wrkv")
    kept = int.from_bytes(file.read_bytes()[37:41], "little")
    assert 64 <= kept <= static < reply.record.prefix_len
    assert kept % 64 == 0
