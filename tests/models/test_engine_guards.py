"""A breach that would abort or corrupt the native library is refused before the native call (runtime.md 6)."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from core.domain.chat import Sampling
from core.errors import BugError, ModelError
from models.llama.engine import Engine, EngineSetting
from models.llama.guards import Row

pytestmark = pytest.mark.weights


def _helper(name: str) -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "helpers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"helpers_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def spied(gguf: str) -> Iterator[Engine]:
    """An engine on a library that writes down its calls, holding a prefix of 70 tokens and one fork."""
    engine = Engine(
        gguf,
        EngineSetting(n_ctx=512, n_batch=64, forks=4),
        threading.Event(),
        library=_helper("native_spy").NativeSpy(),
    )
    engine.set_prefix(range(1000, 1070))
    yield engine
    engine.close()


SAMPLING = Sampling(seed=1)
BREACHES: dict[str, tuple[str, Callable[[Engine], object]]] = {
    "fork above the last sequence": ("engine_sequence", lambda e: e.fork([5])),
    "fork below zero": ("engine_sequence", lambda e: e.fork([1, -1])),
    "drop above the last sequence": ("engine_sequence", lambda e: e.drop(5)),
    "drop of every sequence at once": ("engine_sequence", lambda e: e.drop(-1)),
    "more rows than the batch": ("engine_rows", lambda e: e.decode([Row(1, i, 1, False) for i in range(65)])),
    "no rows": ("engine_rows", lambda e: e.decode([])),
    "row of a foreign sequence": ("engine_sequence", lambda e: e.decode([Row(1, 70, 5, True)])),
    "token outside the vocabulary": ("engine_token", lambda e: e.decode([Row(49152, 70, 1, True)])),
    "negative token": ("engine_token", lambda e: e.decode([Row(-1, 70, 1, True)])),
    "position outside the context": ("engine_position", lambda e: e.decode([Row(1, 512, 1, True)])),
    "negative position": ("engine_position", lambda e: e.decode([Row(1, -1, 1, True)])),
    "logits of an unflagged row": ("engine_unflagged", lambda e: e.logits(1)),
    "logits of a negative row": ("engine_unflagged", lambda e: e.logits(-1)),
    "empty prefix": ("engine_prefix", lambda e: e.set_prefix([])),
    "prefix as long as the context": ("engine_prefix", lambda e: e.set_prefix([1] * 512)),
    "state inside a chunk": ("engine_state", lambda e: e.save()),
}


@pytest.mark.parametrize("name", BREACHES)
def test_breach_is_refused_before_any_native_call(spied: Engine, name: str) -> None:
    code, breach = BREACHES[name]
    before = len(spied._lib.calls)
    with pytest.raises(BugError) as caught:
        breach(spied)
    assert caught.value.code == code
    assert spied._lib.since(before) == []


@pytest.mark.parametrize("text", ["", "  \n", "x" * 16_385, "root ::= \0"])
def test_grammar_that_would_allow_all_or_crash_never_reaches_the_parser(spied: Engine, text: str) -> None:
    before = len(spied._lib.calls)
    with pytest.raises(BugError, match="grammar"):
        spied.sampler(SAMPLING, 1, text)
    assert "llama_sampler_init_grammar" not in spied._lib.since(before)
    assert spied._lib.since(before)[-1] == "llama_sampler_free"


def test_refused_grammar_is_not_used_for_sampling(spied: Engine) -> None:
    """The parser answers a malformed grammar with a null object that must not be passed on."""
    before = len(spied._lib.calls)
    with pytest.raises(BugError, match="refused by its parser"):
        spied.sampler(SAMPLING, 1, "root ::= undefined")
    assert spied._lib.since(before)[-2:] == ["llama_sampler_init_grammar", "llama_sampler_free"]


def test_second_thread_is_refused(spied: Engine) -> None:
    """Every way in, from a thread that did not make the engine."""
    before = len(spied._lib.calls)
    ways: list[Callable[[], object]] = [
        lambda: spied.set_prefix([1, 2]),
        lambda: spied.decode([Row(1, 70, 1, True)]),
        lambda: spied.tokenize("a"),
        lambda: spied.piece(1),
        lambda: spied.fork([1]),
        lambda: spied.logits(0),
        lambda: spied.sampler(SAMPLING, 1),
        lambda: spied.restore(b"x", [1]),
        spied.clear,
        spied.close,
    ]
    codes: list[str] = []

    def try_all() -> None:
        for way in ways:
            try:
                way()
            except BugError as error:
                codes.append(error.code)

    thread = threading.Thread(target=try_all)
    thread.start()
    thread.join()
    assert codes == ["engine_thread"] * len(ways)
    assert spied._lib.since(before) == []


def test_closed_engine_is_refused_and_closing_twice_frees_once(gguf: str) -> None:
    spy = _helper("native_spy").NativeSpy()
    engine = Engine(gguf, EngineSetting(n_ctx=256, forks=1), threading.Event(), library=spy)
    engine.set_prefix([1, 2, 3])
    engine.close()
    engine.close()
    assert spy.calls[-3:] == ["llama_batch_free", "llama_free", "llama_model_free"]
    before = len(spy.calls)
    for breach in (lambda: engine.set_prefix([1, 2]), lambda: engine.tokenize("a"), lambda: engine.logits(0)):
        with pytest.raises(BugError, match="closed"):
            breach()
    assert spy.since(before) == []


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model at all" * 100, b"GGUF\xff\xff\xff\xff" + b"\xff" * 64])
def test_file_that_is_no_model_is_a_model_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        Engine(str(path), EngineSetting(n_ctx=256), threading.Event())
    assert caught.value.code == "bad_model"
