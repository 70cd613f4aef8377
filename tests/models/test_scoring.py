"""Option scores: the arithmetic by hand, the layout, and the acceptance lines on SmolLM2 (runtime.md 4.5)."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.chat import Message, Method, ModelRequest, Sampling, message
from core.errors import BugError, ModelError
from models.llama.backbone import LlamaBackbone
from models.llama.engine import Engine
from models.llama.guards import Row
from models.llama.scoring import lay_out, log_likelihoods, log_probability, softmax

PROBE = Path(__file__).resolve().parents[1] / "golden" / "probe.jsonl"
OPTIONS = ("sepsis", "asthma", "heart failure", "a cold", "gout")


def _request(*messages: Message) -> ModelRequest:
    return ModelRequest(messages=messages, sampling=Sampling(seed=1), prompt_name="probe", prompt_sha256="0" * 64)


def _question(text: str) -> ModelRequest:
    return _request(message("user", text))


def test_log_probability_by_hand() -> None:
    """softmax of (0, ln 2, ln 5) is (1/8, 2/8, 5/8)."""
    logits = np.array([0.0, math.log(2), math.log(5)], dtype=np.float32)
    for token, expected in enumerate((1 / 8, 2 / 8, 5 / 8)):
        assert log_probability(logits, token) == pytest.approx(math.log(expected), abs=1e-6)


def test_log_probability_does_not_overflow() -> None:
    assert log_probability(np.array([1000.0, 0.0], dtype=np.float32), 1) == pytest.approx(-1000.0)


def test_softmax_by_hand() -> None:
    assert softmax((math.log(3), 0.0)) == pytest.approx((0.75, 0.25))
    assert softmax((-5000.0, -5000.0)) == (0.5, 0.5)


def test_layout_sorts_and_splits_by_rows_and_forks() -> None:
    options = [(5, 1, 1), (2,), (3, 9), (2,), (1, 1, 1, 1)]
    assert list(lay_out(options, rows=100, forks=2)) == [[(1, 1, 1, 1), (2,)], [(3, 9), (5, 1, 1)]]
    assert list(lay_out(options, rows=3, forks=9)) == [[(1, 1, 1, 1), (2,)], [(3, 9), (5, 1, 1)]]
    with pytest.raises(ModelError, match="too long"):
        list(lay_out([(1, 2, 3)], rows=1, forks=2))


@pytest.mark.weights
def test_scores_equal_plain_sequential_evaluation(engine: Engine) -> None:
    """Each option by teacher forcing, token by token in the prefix sequence's own fork, against the batched layout.

    The batch has another row count, which moves logits by up to half a unit (runtime.md section 7), so the
    comparison is close, not exact.
    """
    engine.set_prefix(engine.tokenize("The patient has a fever, a cough and"))
    options = [engine.tokenize(f" {text}") for text in ("chest pain", "a rash", "diarrhoea")]
    found = log_likelihoods(engine, options)
    for option, total in zip(options, found, strict=True):
        engine.fork([1])
        expected, logits = 0.0, engine.prefix_logits
        for place, token in enumerate(option):
            wide = logits.astype(np.float64)
            expected += float(wide[token] - np.logaddexp.reduce(wide))
            engine.decode([Row(token, engine.prefix_length + place, 1, True)])
            logits = engine.logits(0)
        engine.drop(1)
        assert total == pytest.approx(expected, abs=0.5)


@pytest.mark.weights
def test_options_without_tokens_are_refused(engine: Engine) -> None:
    engine.set_prefix([1, 2, 3])
    with pytest.raises(BugError, match="without tokens"):
        log_likelihoods(engine, [(1,), ()])


@pytest.mark.weights
def test_more_options_than_forks_and_equal_options_are_scored(engine: Engine) -> None:
    """40 options on 32 forks take two batches; equal texts get equal numbers."""
    engine.set_prefix(engine.tokenize("The answer is"))
    options = [engine.tokenize(f" number {i % 35}") for i in range(40)]
    before = engine.decodes
    found = log_likelihoods(engine, options)
    assert engine.decodes - before == 2
    assert found[:5] == found[35:]
    assert len(set(found)) == 35


@pytest.mark.weights
def test_permuting_options_changes_no_bit(backbone: LlamaBackbone) -> None:
    """Acceptance 4: 50 random permutations of 5 options, every float compared bitwise."""
    request, neutral = _question("Fever, cough and low blood pressure: which illness?"), _question("")
    expected = backbone.score(request, OPTIONS, method="pmi", neutral=neutral)
    assert expected.pmi is not None
    rows = dict(zip(OPTIONS, zip(expected.total_ll, expected.mean_ll, expected.pmi, strict=True), strict=True))
    rng = random.Random(50)
    for _ in range(50):
        order = tuple(rng.sample(OPTIONS, len(OPTIONS)))
        found = backbone.score(request, order, method="pmi", neutral=neutral)
        assert found.options == order
        assert found.pmi is not None
        got = dict(zip(order, zip(found.total_ll, found.mean_ll, found.pmi, strict=True), strict=True))
        assert got == rows


@pytest.mark.weights
def test_methods_pick_their_own_score(backbone: LlamaBackbone) -> None:
    request = _question("Name an illness.")
    methods: tuple[Method, ...] = ("total", "mean", "pmi")
    for method in methods:
        scores = backbone.score(request, OPTIONS, method=method, neutral=_question("") if method == "pmi" else None)
        chosen: Any = {"total": scores.total_ll, "mean": scores.mean_ll, "pmi": scores.pmi}[method]
        assert scores.probs == softmax(chosen)
        assert sum(scores.probs) == pytest.approx(1.0)
        assert (scores.pmi is None) == (method != "pmi")
        lengths = [total / mean for total, mean in zip(scores.total_ll, scores.mean_ll, strict=True)]
        assert lengths == pytest.approx([round(length) for length in lengths]), "mean = total / number of tokens"


@pytest.mark.weights
def test_pmi_without_a_neutral_prompt_is_a_bug(backbone: LlamaBackbone) -> None:
    with pytest.raises(BugError):
        backbone.score(_question("x"), OPTIONS, method="pmi", neutral=None)


@pytest.mark.weights
def test_pmi_finds_at_least_sixty_percent_of_the_probe(
    backbone: LlamaBackbone, capsys: pytest.CaptureFixture[str]
) -> None:
    """Acceptance 4: 40 own four-option items, chance 25 %; letters are never asked for."""
    items = [item for item in map(json.loads, PROBE.read_text("utf-8").splitlines()) if "question" in item]
    assert len(items) == 40
    assert sorted(item["answer"] for item in items) == sorted([0, 1, 2, 3] * 10)
    right = 0
    for item in items:
        scores = backbone.score(
            _question(item["question"]), tuple(item["options"]), method="pmi", neutral=_question("")
        )
        assert scores.pmi is not None
        right += scores.pmi.index(max(scores.pmi)) == item["answer"]
    with capsys.disabled():
        print(f"\nPMI on the probe: {right} of 40")
    assert right >= 24
