"""Vectors of a profile: what a search waits for, what command and worker make, the sentences when they cannot."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from core import paths
from core import settings as options
from core.domain.ports import Embedder, Query
from core.errors import Cancelled, UserError
from core.retrieval import catalogue
from core.retrieval.hybrid import HYBRID, WORDS
from core.runtime import protocol
from core.settings import Models, Settings
from desktop import assembly
from desktop.cli import arguments, boundary, commands
from desktop.vectors import KnowledgeVectors, packed_embedder
from models.scripted import HashEmbedder
from tests.helpers.desk import Bench, Desk
from tests.helpers.runs import Shelf


def cli(*given: object) -> int:
    return boundary.guard(lambda: commands.execute(arguments.parse(list(map(str, given)))))


class Made:
    """An embedder that remembers how it fared."""

    def __init__(self) -> None:
        self.embedder = HashEmbedder()
        self.opened = 0

    def __call__(self) -> Embedder:
        self.opened += 1
        return self.embedder


def path_of(vectors: KnowledgeVectors, profile: Path) -> str:
    with assembly.open_knowledge(profile, vectors=vectors) as (_, retriever):
        return retriever.search(Query(text="chest pain")).path


def test_a_search_waits_for_few_missing_vectors_and_only_once(profile: Path) -> None:
    made, heard = Made(), []
    vectors = KnowledgeVectors(profile, Settings(), open_embedder=made, on_texts=lambda *at: heard.append(at))
    assert path_of(vectors, profile).endswith(HYBRID)
    assert made.embedder.closed and made.opened == 1
    assert heard and heard[-1][0] == heard[-1][1] > 100
    again = KnowledgeVectors(profile, Settings(), open_embedder=Made(), on_texts=lambda *at: heard.append(at))
    before = len(heard)
    assert path_of(again, profile).endswith(HYBRID)
    assert len(heard) == before


def test_a_search_does_not_wait_for_many(profile: Path) -> None:
    vectors = KnowledgeVectors(profile, Settings(), open_embedder=Made(), few=10)
    assert path_of(vectors, profile).endswith(WORDS)
    assert vectors.build(on_texts=lambda *_: None, stop=threading.Event()) > 100
    vectors.close()
    assert path_of(vectors, profile).endswith(HYBRID)


def test_without_a_name_there_is_no_embedder(profile: Path) -> None:
    made = Made()
    vectors = KnowledgeVectors(profile, Settings(models=Models(embedder="")), open_embedder=made)
    assert path_of(vectors, profile).endswith(WORDS)
    assert made.opened == 0
    with pytest.raises(UserError, match=r"models\.embedder"):
        vectors.build(on_texts=lambda *_: None, stop=threading.Event())


def test_a_pack_that_is_not_installed_leaves_the_search_to_words(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARDROUND_MODELS", str(tmp_path / "none"))
    assert path_of(KnowledgeVectors(profile, Settings()), profile).endswith(WORDS)
    with pytest.raises(UserError, match="not installed"):
        packed_embedder(Settings())


def test_a_stop_ends_the_making(profile: Path) -> None:
    stop = threading.Event()
    stop.set()
    vectors = KnowledgeVectors(profile, Settings(), open_embedder=Made())
    with pytest.raises(Cancelled):
        vectors.build(on_texts=lambda *_: None, stop=stop)


def test_commands_say_what_is_missing(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARDROUND_MODELS", str(tmp_path / "none"))
    assert cli("knowledge", "reindex", "--vectors") == 1
    assert "not installed" in capsys.readouterr().err
    assert cli("knowledge", "eval", "--data", tmp_path) == 1
    assert "medquad.zip" in capsys.readouterr().err
    options.save(profile, Settings(models=Models(embedder="")))
    assert cli("knowledge", "reindex", "--vectors") == 1
    assert "models.embedder" in capsys.readouterr().err


@pytest.mark.data
def test_the_search_is_judged_by_command(
    profile: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARDROUND_MODELS", str(tmp_path / "none"))
    questions = tmp_path / "q.toml"
    questions.write_text('[[question]]\nid = "1"\nquestion = "asthma"\ndoc = "asthma"\n', encoding="utf-8")
    assert cli("--json", "knowledge", "eval", "--data", data, "--corpus", 1, "--questions", questions) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["set"], row["n"]) for row in found] == [("A", 250)] * 3 + [("A2", 250)] * 3 + [("B", 1)]
    assert found[-1]["recall"] == 1.0


def test_the_worker_makes_vectors_when_told(profile: Path) -> None:
    bench = Bench(Shelf(profile))
    told: list[threading.Event] = []

    def embed(on_texts: object, stop: threading.Event) -> int:
        told.append(stop)
        on_texts(1, 2)  # type: ignore[operator]
        return 2

    bench.embed = embed  # type: ignore[attr-defined]
    desk = Desk(bench)
    desk.service._arrange(protocol.Embed())
    assert desk.told(protocol.Embedded) == [protocol.Embedded(done=1, total=2)]
    assert len(told) == 1


def test_the_index_of_the_profile_is_the_one_that_is_used(profile: Path) -> None:
    """Vectors lie in the profile, beside the database whose numbers they hold."""
    vectors = KnowledgeVectors(profile, Settings(), open_embedder=Made())
    vectors.build(on_texts=lambda *_: None, stop=threading.Event())
    assert {path.name for path in (profile / "vectors").iterdir()} >= {"vectors-starter.f16", "vectors-starter.ids"}
    assert (profile / catalogue.DATABASE).is_file()
    assert not list(paths.cache_folder().rglob("*.f16"))
