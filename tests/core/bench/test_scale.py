"""The measure of growth: what it builds and asks, on a size that costs little; and what counts as met."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bench import scale
from core.bench.scale import Scaled, Times
from models.scripted import HashEmbedder
from tests.helpers.shelf import WORDS

SENTENCES = tuple(
    f"{first} with {second} and {n}." for n, (first, second) in enumerate(zip(WORDS[:-1], WORDS[1:], strict=True))
)


def test_a_size_is_built_and_asked(tmp_path: Path) -> None:
    said: list[str] = []
    found = scale.measure(SENTENCES, 250, tmp_path, embedder=HashEmbedder(), say=said.append)
    assert [times.name for times in found.times] == ["short", "case", "short hybrid", "case hybrid"]
    assert all(0 < times.p50 <= times.p95 <= times.most and times.n == scale.QUERIES for times in found.times)
    assert found.passages == 250
    assert found.index_bytes > 1_000
    assert found.met  # a size without targets
    assert said[0] == "writing 250 passages"


@pytest.mark.parametrize(("p95", "met"), [(19.9, True), (20.1, False)])
def test_targets_belong_to_sizes(p95: float, met: bool) -> None:
    times = (Times(name="short", n=1, p50=1.0, p95=5.0, most=9.0), Times(name="case", n=1, p50=1.0, p95=p95, most=99.0))
    assert Scaled(passages=100_000, rows_s=1.0, index_s=1.0, index_bytes=1, times=times).met is met


def test_sentences_are_cut_at_their_ends() -> None:
    assert scale.sentences_of(["One. Two? Three", ""]) == ("One.", "Two?", "Three")
