"""The double: what tests and demonstrations rely on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import msgspec
import pytest

from core.domain.chat import ModelRequest, Sampling, message
from core.domain.ports import Backbone
from core.errors import BugError, Cancelled
from models.scripted import ScriptedBackbone, score_by_hash


class Answer(msgspec.Struct):
    value: int


def _request(name: str = "ask", text: str = "x", schema: str | None = None) -> ModelRequest:
    return ModelRequest(
        messages=(message("user", text),),
        sampling=Sampling(seed=1),
        prompt_name=name,
        prompt_sha256="0" * 64,
        schema=schema,
    )


def _quiet(_text: str) -> None:
    """Nobody listens."""


def test_answers_in_order_and_refuses_the_unexpected() -> None:
    double: Backbone = ScriptedBackbone({"ask": ["one", "two"], "always": "yes"})
    heard: list[str] = []
    assert [double.reply(_request(), heard.append).text for _ in range(2)] == ["one", "two"]
    assert heard == ["one", "two"]
    assert [reply.text for reply in double.sample(_request("always"), 3, _quiet)] == ["yes"] * 3
    with pytest.raises(BugError, match="call 3 of the prompt ask"):
        double.reply(_request(), _quiet)
    with pytest.raises(BugError, match="of the prompt other"):
        double.reply(_request("other"), _quiet)


def test_counts_and_keeps_requests() -> None:
    double = ScriptedBackbone({"ask": "yes"})
    double.reply(_request(), _quiet)
    double.score(_request("rank"), ("a", "b"), method="pmi", neutral=_request("rank", ""))
    assert double.calls == {"ask": 1, "rank": 1}
    assert double.total_calls == 2
    assert [request.prompt_name for request in double.requests] == ["ask", "rank"]


def test_scores_by_hash_depend_on_request_and_option_only() -> None:
    one = ScriptedBackbone().score(_request(), ("a", "b c"), method="mean", neutral=None)
    two = ScriptedBackbone().score(_request(), ("b c", "a"), method="mean", neutral=None)
    assert dict(zip(one.options, one.total_ll, strict=True)) == dict(zip(two.options, two.total_ll, strict=True))
    assert one.total_ll == (score_by_hash(_request(), "a"), score_by_hash(_request(), "b c"))
    assert one.pmi is None
    assert all(-10.0 <= value <= 0.0 for value in one.total_ll)
    assert sum(one.probs) == pytest.approx(1.0)
    assert score_by_hash(_request(text="y"), "a") != score_by_hash(_request(), "a")


def test_scripted_scores_and_strictness() -> None:
    double = ScriptedBackbone(scores={"rank": {"a": -1.0, "b": -3.0}}, strict=True)
    scores = double.score(_request("rank"), ("b", "a"), method="total", neutral=None)
    assert scores.total_ll == (-3.0, -1.0)
    assert scores.probs[1] == pytest.approx(0.8807970779778823)  # 1 / (1 + e**-2)
    for request, options in ((_request("rank"), ("c",)), (_request("other"), ("a",))):
        with pytest.raises(BugError):
            double.score(request, options, method="total", neutral=None)


def test_schema_is_checked() -> None:
    schema = msgspec.json.encode(msgspec.json.schema(Answer)).decode()
    double = ScriptedBackbone({"ask": ['{"value": 3}', '{"value": "x"}']})
    good, bad = (double.reply(_request(schema=schema), _quiet) for _ in range(2))
    assert (good.parsed, good.finish) == ('{"value":3}', "stop")
    assert (bad.parsed, bad.finish) == (None, "schema")


def test_slow_call_can_be_stopped() -> None:
    stop = threading.Event()
    double = ScriptedBackbone({"ask": "yes"}, seconds=20.0, stop=stop)
    timer = threading.Timer(0.05, stop.set)
    begun = time.monotonic()
    timer.start()
    with pytest.raises(Cancelled):
        double.reply(_request(), _quiet)
    timer.join()
    assert time.monotonic() - begun < 5
    stop.clear()
    assert ScriptedBackbone({"ask": "yes"}, seconds=0.05).reply(_request(), _quiet).text == "yes"


def test_closed_double_is_refused() -> None:
    double = ScriptedBackbone({"ask": "yes"})
    double.close()
    with pytest.raises(BugError, match="closed"):
        double.reply(_request(), _quiet)


def test_models_import_without_the_native_libraries() -> None:
    """Acceptance 2, for this package: every module imports with llama_cpp and onnxruntime made unimportable."""
    program = (
        "import sys, pkgutil, importlib\n"
        "sys.modules['llama_cpp'] = sys.modules['onnxruntime'] = None\n"
        "import models\n"
        "names = [m.name for m in pkgutil.walk_packages(models.__path__, 'models.')]\n"
        "[importlib.import_module(name) for name in names]\n"
        "print(len(names))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 15
