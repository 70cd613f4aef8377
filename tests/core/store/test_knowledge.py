"""The knowledge store: one transaction a pack, numbers that stay, hashes that find every change, a chained record."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.passage import Fact
from core.errors import StoreError, UserError
from core.store.knowledge import GENESIS, KnowledgeStore
from core.store.knowledge_values import Doc, PutReport
from tests.helpers.shelf import doc, open_store, pack

FACT = Fact(
    id="k", quantity="potassium", population="adults", comparator=">=", low=5.5, unit="mmol/L", kind="diagnostic",
    statement="Potassium of 5.5 mmol/L or more is high.", citation="x",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def tamper(tmp_path: Path, statement: str) -> None:
    """Change the file behind the store's back."""
    with sqlite3.connect(tmp_path / "knowledge.db") as connection:
        connection.execute(statement)
    connection.close()


def cids(store: KnowledgeStore) -> dict[str, int]:
    return {entry.key: entry.cid for entry in store.chunk_entries(store.doc_ids())}


def test_a_pack_comes_out_as_it_went_in(store: KnowledgeStore) -> None:
    report = store.put_pack(pack(), [doc("a", "One. Two.", "Three.", facts=(FACT,)), doc("b", "Four.")], actor="me")
    assert report == PutReport(added=2, changed=0, removed=0, unchanged=0, docs=2, chunks=3)
    passage = store.passage("lib:a#2")
    assert passage is not None
    assert (passage.text, passage.section, passage.section_class) == ("Three.", "Part 1", "tests")
    assert (passage.pack_title, passage.edition, passage.licence, passage.doc) == ("Library", "1", "own", "lib:a")
    assert passage.sha256 == hashlib.sha256(b"Three.").hexdigest()
    assert store.facts("lib:a") == (FACT,)
    held = store.pack("lib")
    assert held is not None
    assert (held.added_by, held.state, held.files) == ("me", "active", pack().files)
    assert store.passage("lib:a#9") is None
    assert store.pack("other") is None


def test_the_same_documents_twice_change_nothing(store: KnowledgeStore) -> None:
    docs = [doc("a", "One."), doc("b", "Two.")]
    store.put_pack(pack(), docs, actor="me")
    store.mark_done(store.pending())
    before = cids(store)
    report = store.put_pack(pack(edition="2"), docs, actor="me")
    assert (report.writes, report.unchanged) == (0, 2)
    assert cids(store) == before
    assert store.pending() == ()


def test_only_what_changed_gets_new_numbers_and_outbox_rows(store: KnowledgeStore) -> None:
    store.put_pack(pack(), [doc("a", "One."), doc("b", "Two."), doc("c", "Three.")], actor="me")
    store.mark_done(store.pending())
    before = cids(store)
    report = store.put_pack(pack(edition="2"), [doc("a", "One."), doc("b", "Other."), doc("d", "New.")], actor="me")
    assert report == PutReport(added=1, changed=1, removed=1, unchanged=1, docs=3, chunks=3)
    waiting = [(row.target, row.op) for row in store.pending()]
    assert waiting == [("lib:b", "add"), ("lib:d", "add"), ("lib:c", "delete")]
    after = cids(store)
    assert after["lib:a#1"] == before["lib:a#1"]
    # A number is never given again: an index that lags behind finds nothing, not another text.
    assert min(after["lib:b#1"], after["lib:d#1"]) > max(before.values())
    assert store.passages([before["lib:b#1"]]) == ()


def test_an_import_that_fails_half_way_leaves_nothing(store: KnowledgeStore) -> None:
    def broken() -> Iterator[Doc]:
        yield doc("a", "One.")
        raise EOFError("the source ends here")

    with pytest.raises(EOFError, match="the source ends here"):
        store.put_pack(pack(), broken(), actor="me")
    assert (store.packs(), store.doc_ids(), store.pending(), store.head()) == ((), (), (), GENESIS)


@pytest.mark.parametrize(
    ("licence", "text", "accepted"),
    [
        ("CC-BY-4.0", "", True), ("CC0", "", True), ("CC-BY-NC-SA-4.0", "", True), ("public-domain", "", True),
        ("site-licensed", "", True), ("unknown", "Used with permission.", True), ("unknown", "", False),
        ("", "", False), ("MIT", "", False), ("CC-BY-4.0 or so", "", False),
    ],
)  # fmt: skip
def test_a_licence_is_required(store: KnowledgeStore, licence: str, text: str, accepted: bool) -> None:
    wanted = pack(licence_id=licence, licence_text=text)
    if accepted:
        assert store.put_pack(wanted, [doc("a", "One.")], actor="me").added == 1
        passage = store.passage("lib:a#1")
        assert passage is not None
        assert passage.licence == licence
    else:
        with pytest.raises(UserError, match="licence"):
            store.put_pack(wanted, [doc("a", "One.")], actor="me")
        assert store.packs() == ()


def test_passages_come_in_the_order_asked(store: KnowledgeStore) -> None:
    store.put_pack(pack(), [doc("a", "One.", "Two.", "Three.")], actor="me")
    first, second, third = cids(store).values()
    found = store.passages([third, 999, first, second])
    assert [passage.text for passage in found] == ["Three.", "One.", "Two."]


def test_a_changed_section_is_refused_and_found(store: KnowledgeStore, tmp_path: Path) -> None:
    store.put_pack(pack(), [doc("a", "Give 5 mg daily.", "Sound.")], actor="me")
    assert store.verify() == ()
    tamper(tmp_path, "UPDATE knowledge_section SET text = replace(text, '5 mg', '50 mg') WHERE n = 0")
    with pytest.raises(StoreError, match="changed on disk"):
        store.passage("lib:a#1")
    with pytest.raises(StoreError, match="changed on disk"):
        store.passages(list(cids(store).values()))
    sound = store.passage("lib:a#2")
    assert sound is not None
    assert len(store.verify()) == 2  # the section and its passage


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE knowledge_chunk SET start = start + 1 WHERE id = 1",
        "UPDATE knowledge_chunk SET end = end - 1 WHERE id = 1",
        "UPDATE knowledge_section SET text = text || ' Not.' WHERE id = 1",
    ],
)
def test_a_moved_span_or_a_longer_section_is_refused(store: KnowledgeStore, tmp_path: Path, statement: str) -> None:
    store.put_pack(pack(), [doc("a", "Give 5 mg daily.")], actor="me")
    tamper(tmp_path, statement)
    with pytest.raises(StoreError, match="changed on disk"):
        store.passage("lib:a#1")


def test_changes_form_a_chain(store: KnowledgeStore, tmp_path: Path) -> None:
    store.put_pack(pack(), [doc("a", "One.")], actor="me", reason="first")
    store.set_state("lib", "withdrawn", actor="you", reason="out of date")
    rows = sqlite3.connect(tmp_path / "knowledge.db").execute("SELECT * FROM knowledge_change ORDER BY seq").fetchall()
    previous = "0" * 64
    for row in rows:  # recomputed with the standard library alone
        fields = [previous, *row[1:8]]
        text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
        assert row[8:] == (previous, hashlib.sha256(text.encode()).hexdigest())
        previous = row[9]
    assert [row[2:8] for row in rows] == [
        ("me", "lib", "import", "", "active", "first"),
        ("you", "lib", "state", "active", "withdrawn", "out of date"),
    ]
    assert store.head() == previous
    assert store.has_been(rows[0][9])
    assert not store.has_been("f" * 64)
    tamper(tmp_path, "UPDATE knowledge_change SET reason = 'none' WHERE seq = 1")
    assert len(store.verify()) == 1


def test_the_state_of_no_pack_cannot_be_set(store: KnowledgeStore) -> None:
    with pytest.raises(UserError, match="no knowledge pack"):
        store.set_state("lib", "active", actor="me", reason="")


def test_counts_and_names(store: KnowledgeStore) -> None:
    store.put_pack(pack(), [doc("a", "One.", "Two."), doc("b", "Three.")], actor="me")
    store.put_pack(pack("more"), [doc("a", "Four.")], actor="me")
    assert [(count.pack, count.docs, count.chunks) for count in store.counts()] == [("lib", 2, 3), ("more", 1, 1)]
    assert store.docs_of(["a", "lib:b", "nothing"]) == ("lib:a", "lib:b", "more:a")
    entries = store.doc_entries(["lib:b"])
    assert [(entry.id, entry.n) for entry in entries] == [("lib:b", 2)]
