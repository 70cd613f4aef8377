"""A loaded SmolLM2 for the tests of the model runtime: one engine and one backbone a module, closed at its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import packs
import pytest

import models
from models.llama.backbone import LlamaBackbone
from models.llama.engine import Engine, EngineSetting

PACK = "smollm2-135m-instruct-q4_1"


@pytest.fixture(scope="session")
def gguf(smollm2: Path) -> str:
    """The model file of the default pack."""
    return str(smollm2 / "model.gguf")


@pytest.fixture(scope="session")
def gemma(smollm2: Path) -> Path:
    """The folder of the Gemma pack, which a person fetches after reading its terms; else a skip."""
    folder = smollm2.parent.parent / packs.GEMMA3.folder
    if not packs.is_installed(packs.GEMMA3, smollm2.parent.parent):
        pytest.skip("Gemma 3 270M pack not found: packaging/packs.py gemma3-270m")
    return folder


@pytest.fixture(scope="module")
def stop() -> threading.Event:
    """The stop flag of the module's engine."""
    return threading.Event()


@pytest.fixture(scope="module")
def engine(gguf: str, stop: threading.Event) -> Iterator[Engine]:
    """An engine with flash attention off, as on the processor rung."""
    made = Engine(gguf, EngineSetting(n_ctx=1024), stop)
    yield made
    made.close()


@pytest.fixture(scope="module")
def backbone(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaBackbone]:
    """The default pack, opened as the worker opens it, with a cache folder of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARDROUND_HOME", str(tmp_path_factory.mktemp("home")))
        made = models.open_backbone(PACK, packs=smollm2.parent.parent, n_ctx=1024)
    yield made
    made.close()
