"""kill -9 while packs are imported: after the restart SQLite is whole, nothing acknowledged is lost, the index agrees.

The control is in the same kills: some of them must leave an index that does not agree before the start mends it, or the
killer would come too late to show anything (trust.md section 5).
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from core.retrieval.index import PassageIndex
from core.store.knowledge import KnowledgeStore
from tests.helpers.forked import Forks
from tests.helpers.shelf import WORDS, edition_docs, open_store, pack

KILLS = 30
PROBES = 50


def acknowledged(said: list[str], first: int) -> dict[str, int]:
    """The last edition that the killed writer acknowledged of each kind."""
    assert said[0] == "ready\n"
    found = {"rows": first - 1, "done": first - 1}
    for kind, edition in (line.split() for line in said[1:]):
        found[kind] = int(edition)
    return found


def answers(index: PassageIndex) -> list[list[tuple[int, float]]]:
    rng = random.Random(7)
    probes = [" ".join(rng.sample(WORDS, 3)) for _ in range(PROBES)]
    return [[(hit.cid, hit.score) for hit in index.search_terms(probe, 10)] for probe in probes]


def held_edition(store: KnowledgeStore) -> int:
    held = store.pack("lib")
    return int(held.edition) if held else 0


def check_content(store: KnowledgeStore, edition: int) -> None:
    """SQLite holds exactly one edition, whole and unharmed."""
    expected = edition_docs(edition) if edition else []
    assert set(store.doc_ids()) == {f"lib:{doc.source_key}" for doc in expected}
    chunks = sum(len(section.spans) for doc in expected for section in doc.sections)
    assert sum(count.chunks for count in store.counts()) == chunks
    assert store.verify() == ()


def check_after_kill(folder: Path, fresh: Path, told: dict[str, int]) -> tuple[int, bool]:
    """What knowledge.md acceptance 1 asks after a kill; the edition that is there, and whether there was to mend."""
    store = open_store(folder)
    edition = held_edition(store)
    assert edition in (told["rows"], told["rows"] + 1)
    check_content(store, edition)
    assert told["done"] <= edition
    index = PassageIndex(folder / "index", store)
    mended = index.reconcile() != ""
    assert answers(index) == answers(PassageIndex(fresh, store))
    assert store.pending() == ()
    store.close()
    shutil.rmtree(fresh)
    return edition, mended


def test_a_killed_import_loses_nothing_and_the_index_agrees(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    rng = random.Random(20)
    mended, first = 0, 1
    with Forks("tests.helpers.shelf", "import_for_ever") as forks:
        for _ in range(KILLS):
            said = forks.killed(folder, first, lines=rng.randint(1, 4), seconds=rng.uniform(0.0, 0.15))
            edition, to_mend = check_after_kill(folder, tmp_path / "fresh", acknowledged(said, first))
            mended += to_mend
            first = edition + 1
    assert first > KILLS / 2, "the writer hardly came to write"
    assert mended > 0, "no kill left anything to mend: the killer comes too late"


def test_a_deleted_index_is_built_again_with_the_same_answers(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    index = PassageIndex(tmp_path / "index", store)
    for edition in (1, 2, 3):
        store.put_pack(pack(edition=str(edition)), edition_docs(edition), actor="writer")
        index.reconcile()
    before = answers(index)
    assert any(before)
    shutil.rmtree(tmp_path / "index")
    again = PassageIndex(tmp_path / "index", store)
    assert again.reconcile() == "rebuilt"
    assert answers(again) == before
    store.close()
