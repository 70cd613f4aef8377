"""The import job: whole or not at all, stopped, killed; what is known of the pack; every passage resolves."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Cancelled, StoreError, UserError
from core.retrieval.importing import Progress, import_knowledge
from core.retrieval.index import PassageIndex
from core.retrieval.sources.material import Options
from core.store.knowledge import KnowledgeStore
from tests.helpers.forked import Forks
from tests.helpers.shelf import WORDS, open_store, sentences

OWN = Options(licence="own")
KILLS = 8


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def corpus(path: Path, count: int, *, seed: int = 0, broken: int = 0) -> Path:
    """A corpus of one passage a line, `broken` of the lines without content."""
    rng = random.Random(seed)
    lines = [f'{{"id": "d{n}", "title": "t{n // 3}", "content": "{sentences(rng, 4)}"}}' for n in range(count)]
    lines += ['{"id": "x", "title": "t"}'] * broken
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_fifth_may_be_broken_and_no_more(store: KnowledgeStore, tmp_path: Path) -> None:
    report = import_knowledge(store, None, [corpus(tmp_path / "a.jsonl", 24, broken=2)], OWN, actor="me")
    assert (report.docs, report.chunks, len(report.skipped)) == (8, 24, 2)
    before = store.counts()
    with pytest.raises(UserError, match=r"Nothing was imported: 3 of 7 could not be read\. b\.jsonl, line 13: Not a"):
        import_knowledge(store, None, [corpus(tmp_path / "b.jsonl", 12, broken=3)], OWN, actor="me", pack_id="b")
    assert store.counts() == before
    assert store.pack("b") is None


def test_progress_is_told_and_a_stop_leaves_nothing(store: KnowledgeStore, tmp_path: Path) -> None:
    path = corpus(tmp_path / "a.jsonl", 1500)
    told: list[Progress] = []
    stop = threading.Event()

    def stop_at(progress: Progress) -> None:
        told.append(progress)
        if progress.records >= 300:
            stop.set()

    with pytest.raises(Cancelled):
        import_knowledge(store, None, [path], OWN, actor="me", on_progress=stop_at, stop=stop)
    assert [p.records for p in told] == [100, 200, 300]
    assert 0 < told[0].bytes_done <= told[-1].bytes_done <= told[-1].bytes_total == path.stat().st_size
    assert store.packs() == ()
    assert store.pending() == ()


def test_the_same_files_again_keep_state_and_approval(store: KnowledgeStore, tmp_path: Path) -> None:
    path = corpus(tmp_path / "a.jsonl", 6)
    options = Options(licence="own", title="Corpus", edition="3", review_by="2030-01-01")
    report = import_knowledge(store, None, [path], options, actor="me", pack_id="mine")
    assert (report.pack, report.state) == ("mine", "draft")
    store.set_state("mine", "active", actor="boss", reason="read")
    assert import_knowledge(store, None, [path], options, actor="me", pack_id="mine").state == "active"
    corpus(path, 6, seed=1)
    assert import_knowledge(store, None, [path], options, actor="me", pack_id="mine").state == "draft"
    held = store.pack("mine")
    assert held is not None
    assert (held.title, held.edition, held.review_by, held.importer) == ("Corpus", "3", "2030-01-01", "medrag")


def test_every_hit_resolves_to_pack_document_section_and_its_own_text(store: KnowledgeStore, tmp_path: Path) -> None:
    index = PassageIndex(tmp_path / "index", store)
    import_knowledge(
        store, index, [corpus(tmp_path / "a.jsonl", 1200)], Options(licence="own", edition="7"), actor="me"
    )
    rng = random.Random(5)
    seen = 0
    while seen < 1000:
        hits = index.search_terms(" ".join(rng.choices(WORDS, k=3)), 20)
        for passage in store.passages([hit.cid for hit in hits]):
            assert store.passage(passage.key) == passage
            assert (passage.pack, passage.edition, passage.section) == ("medrag-7", "7", "Text")
            assert len(passage.text) == passage.end - passage.start > 0
            seen += 1
    key = next(iter(store.passages([1]))).key
    with store._database.transaction("test", "tamper", "section") as connection:
        connection.execute("UPDATE knowledge_section SET text = replace(text, 'a', 'e') WHERE id = 1")
    with pytest.raises(StoreError, match="changed on disk"):
        store.passage(key)


def test_killed_anywhere_store_and_index_agree_again(tmp_path: Path) -> None:
    """A writer imports two corpora in turn and is killed; then every probe finds what a new index finds."""
    for n in (0, 1):
        corpus(tmp_path / f"{n}.jsonl", 240, seed=n)
    rng = random.Random(11)
    queries = [" ".join(rng.choices(WORDS, k=4)) for _ in range(20)]
    with Forks("tests.helpers.shelf", "import_files_for_ever") as forks:
        for turn in range(KILLS):
            assert forks.killed(tmp_path, lines=1, seconds=rng.uniform(0.0, 0.4)) == ["ready\n"]
            store = open_store(tmp_path)
            index = PassageIndex(tmp_path / "index", store)
            index.reconcile()
            assert store.pending() == ()
            assert {c.chunks for c in store.counts()} <= {240}
            found = [[hit.cid for hit in index.search_terms(query, 10)] for query in queries]
            if turn == KILLS - 1:
                fresh = PassageIndex(tmp_path / "fresh", store)
                assert [[hit.cid for hit in fresh.search_terms(query, 10)] for query in queries] == found
            assert store.verify() == ()
            store.close()
