"""The embedder in a process of its own: the same vectors, its refusals as sentences, its death no one else's."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.domain.ports import Query
from core.errors import ModelError, UserError
from core.retrieval.dense import VectorIndex
from core.retrieval.hybrid import HYBRID, WORDS, Dense, HybridSearch
from core.retrieval.index import PassageIndex
from core.retrieval.query import Filters
from core.settings import Settings
from desktop.embedding import ChildEmbedder
from models.scripted import HashEmbedder
from tests.helpers.shelf import doc, open_store, pack

TEXTS = ("Fever and cough.", " ".join(f"word{n}" for n in range(300)), "half \ud800 of one", "肺炎", "")


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChildEmbedder]:
    monkeypatch.setenv("WARDROUND_TESTING", "1")
    monkeypatch.setenv("WARDROUND_TEST_EMBEDDER", "hashed")
    opened = ChildEmbedder(Settings(), calm=True)
    yield opened
    opened.close()


def test_it_says_what_an_embedder_here_would_say_until_it_dies(child: ChildEmbedder, tmp_path: Path) -> None:
    here = HashEmbedder()
    assert child.info == here.info
    for text in TEXTS:
        for most in (0, 1):
            theirs, ours = (
                child.embed_windows(text, most=most),
                here.embed_windows(text.replace("\ud800", ""), most=most),
            )
            assert len(theirs) == len(ours) and all(map(np.array_equal, theirs, ours))
        assert child.count(text) == here.count(text.replace("\ud800", ""))
    store = open_store(tmp_path)
    store.put_pack(pack(), [doc("a", "Fever and cough.")], actor="me")
    index = PassageIndex(tmp_path / "index", store)
    vectors = VectorIndex(tmp_path / "vectors", store, index, model=child.info)
    vectors.build(child)
    search = HybridSearch(index, dense=lambda: Dense(child, vectors))

    def how() -> str:
        return search.search(search.ask(Query(text="fever")), Filters(packs=("lib",)))[1]

    assert how() == HYBRID
    os.kill(child._child._process.pid, signal.SIGKILL)  # type: ignore[union-attr]
    assert how() == WORDS
    with pytest.raises(ModelError, match="ended before it answered"):
        child.embed("fever")
    store.close()


def test_what_cannot_be_opened_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARDROUND_MODELS", str(tmp_path / "none"))
    with pytest.raises(UserError, match="not installed"):
        ChildEmbedder(Settings())


def test_a_child_that_says_something_else_is_no_embedder() -> None:
    with pytest.raises(ModelError, match="ended before it answered"):
        ChildEmbedder(Settings(), command=[sys.executable, "-c", "print('hello')"])
