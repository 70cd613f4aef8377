"""The life of a pack: who may do what in which state, the record of it, and a changed byte that is always found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.passage import Fact
from core.domain.terminology import Drug
from core.errors import StoreError, UserError
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Item, Relation, Surface, VocabularyConcept
from core.store.lifecycle import may_leave_site
from tests.helpers.shelf import doc, open_store, pack

FACT = Fact(
    id="k", quantity="potassium", population="adults", comparator=">=", low=5.5, unit="mmol/L", kind="diagnostic",
    statement="Potassium of 5.5 mmol/L or more is high.", citation="x",
)  # fmt: skip
GOUT = VocabularyConcept(
    id="T:1", name="gout", kind="disease", surfaces=(Surface("Gout", "gout"),), definition="Crystals in a joint.",
    def_source="T", relations=(Relation("is_a", "T:2", "arthritis"),),
)  # fmt: skip
SALT = Drug(id="T:9", name="salt", indication="None known.", dosage=("one spoon",))
ITEMS: tuple[Item, ...] = (
    doc("a", "Give 5 mg daily.", "A second part of it.", title="Alpha", concepts=("T:1",), facts=(FACT,)),
    doc("b", "Another document."),
    GOUT,
    SALT,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def state(store: KnowledgeStore, identifier: str = "lib") -> str:
    held = store.pack(identifier)
    assert held is not None
    return held.state


def put(store: KnowledgeStore, identifier: str = "lib", **fields: str) -> None:
    store.put_pack(pack(identifier, **({"state": "draft"} | fields)), [doc("a", "One.")], actor="me")


# ----------------------------------------------------------------------------------------------------------- states


def test_a_draft_is_approved_by_somebody_and_retired_for_a_reason(store: KnowledgeStore) -> None:
    put(store)
    store.lifecycle.approve("lib", actor="dr who", reason="read in the meeting")
    held = store.pack("lib")
    assert held is not None
    assert (held.state, held.approved_by) == ("active", "dr who") and held.approved_at
    with pytest.raises(UserError, match="in use already"):
        store.lifecycle.approve("lib", actor="dr who")
    with pytest.raises(UserError, match="Say why"):
        store.lifecycle.retire("lib", actor="dr who", reason="  ")
    store.lifecycle.retire("lib", actor="dr who", reason="out of date")
    with pytest.raises(UserError, match="withdrawn already"):
        store.lifecycle.retire("lib", actor="dr who", reason="again")
    store.lifecycle.approve("lib", actor="dr who", reason="after all")
    told = [(c.user, c.what, c.from_state, c.to_state, c.reason) for c in store.lifecycle.changes("lib")]
    assert told == [
        ("me", "import", "", "draft", ""),
        ("dr who", "approve", "draft", "active", "read in the meeting"),
        ("dr who", "retire", "active", "withdrawn", "out of date"),
        ("dr who", "approve", "withdrawn", "active", "after all"),
    ]
    assert store.verify() == ()


def test_what_is_not_there_cannot_be_approved_or_retired(store: KnowledgeStore) -> None:
    for act in (
        lambda: store.lifecycle.approve("lib", actor="me"),
        lambda: store.lifecycle.retire("lib", actor="me", reason="x"),
    ):
        with pytest.raises(UserError, match="no knowledge pack lib"):
            act()


def test_approval_supersedes_the_old_edition_in_the_same_step(store: KnowledgeStore) -> None:
    put(store, "old")
    store.lifecycle.approve("old", actor="dr")
    put(store, "new", replaces="old")
    assert (state(store, "old"), state(store, "new")) == ("active", "draft")
    store.lifecycle.approve("new", actor="dr")
    assert (state(store, "old"), state(store, "new")) == ("superseded", "active")
    assert store.lifecycle.changes("old")[-1].reason == "replaced by new"
    with pytest.raises(UserError, match="superseded by new, which is in use"):
        store.lifecycle.approve("old", actor="dr")
    store.lifecycle.retire("new", actor="dr", reason="wrong dose")
    store.lifecycle.approve("old", actor="dr")
    assert (state(store, "old"), state(store, "new")) == ("active", "withdrawn")


def test_an_approval_that_fails_half_way_changes_nothing(store: KnowledgeStore, tmp_path: Path) -> None:
    put(store, "old")
    store.lifecycle.approve("old", actor="dr")
    put(store, "new", replaces="old")
    with sqlite3.connect(tmp_path / "knowledge.db") as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE UPDATE OF state ON knowledge_pack WHEN NEW.state = 'superseded' "
            "BEGIN SELECT raise(ABORT, 'database or disk is full'); END"
        )
    connection.close()
    with pytest.raises(StoreError):
        store.lifecycle.approve("new", actor="dr")
    assert (state(store, "old"), state(store, "new")) == ("active", "draft")
    assert store.verify() == ()


def test_a_pack_that_comes_in_active_supersedes_at_once(store: KnowledgeStore) -> None:
    put(store, "hp-1", state="active")
    put(store, "hp-2", state="active", replaces="hp-1")
    assert (state(store, "hp-1"), state(store, "hp-2")) == ("superseded", "active")


def test_only_active_packs_expire_and_each_act_is_recorded_once(store: KnowledgeStore) -> None:
    put(store, "one", state="active")
    put(store, "two")
    store.lifecycle.expire([("one", "2026-01-01"), ("two", "2026-01-01")], actor="wardround")
    store.lifecycle.expire([("one", "2026-01-01")], actor="wardround")
    assert (state(store, "one"), state(store, "two")) == ("expired", "draft")
    assert [change.what for change in store.lifecycle.changes("one")] == ["import", "expire"]
    assert store.lifecycle.changes("one")[-1].reason == "valid until 2026-01-01"
    store.lifecycle.quarantine("two", actor="wardround", reason="damaged")
    store.lifecycle.quarantine("two", actor="wardround", reason="damaged")
    assert [change.what for change in store.lifecycle.changes("two")] == ["import", "quarantine"]
    with pytest.raises(UserError, match="damaged and cannot be approved"):
        store.lifecycle.approve("two", actor="dr")


def test_what_was_active_at_a_moment(store: KnowledgeStore) -> None:
    put(store, "one")
    put(store, "two", state="active")
    before = store.lifecycle.changes("two")[-1].at
    store.lifecycle.approve("one", actor="dr")
    store.lifecycle.retire("two", actor="dr", reason="x")
    assert store.lifecycle.active_at("2000-01-01") == ()
    assert set(store.lifecycle.active_at(before)) <= {"one", "two"} and "two" in store.lifecycle.active_at(before)
    assert store.lifecycle.active_at("9999") == ("one",)


def test_what_may_be_given_to_others() -> None:
    free = [name for name in ("public-domain", "CC0", "CC0-1.0", "CC-BY", "CC-BY-4.0", "own") if may_leave_site(name)]
    assert len(free) == 6
    for name in ("CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-ND", "site-licensed", "unknown", "", "owned", "CC-BY-9.9"):
        assert not may_leave_site(name)


# ----------------------------------------------------------------------------------------------------------- hashes

PLACES = {
    "the words of a section": "UPDATE knowledge_section SET text = replace(text, '5 mg', '7 mg') WHERE n = 0",
    "the heading of a section": "UPDATE knowledge_section SET path = 'Part 9' WHERE path = 'Part 1'",
    "the class of a section": "UPDATE knowledge_section SET class = 'other' WHERE path = 'Part 1'",
    "the hash of a section": "UPDATE knowledge_section SET text_sha256 = 'x' || substr(text_sha256, 2) WHERE n = 1",
    "where a passage begins": "UPDATE knowledge_chunk SET start = 1 WHERE key = 'lib:a#1'",
    "where a passage ends": "UPDATE knowledge_chunk SET end = end - 1 WHERE key = 'lib:a#2'",
    "the length of a passage": "UPDATE knowledge_chunk SET tokens = tokens + 1 WHERE key = 'lib:a#2'",
    "the key of a passage": "UPDATE knowledge_chunk SET key = 'lib:c#1' WHERE key = 'lib:a#1'",
    "the title of a document": "UPDATE knowledge_doc SET title = 'Alphb' WHERE title = 'Alpha'",
    "the concepts of a document": """UPDATE knowledge_doc SET concepts = CAST('["T:2"]' AS BLOB) WHERE n = 1""",
    "a list that is none": "UPDATE knowledge_doc SET aliases = CAST('{]' AS BLOB) WHERE n = 1",
    "the hash of a document": "UPDATE knowledge_doc SET text_sha256 = 'x' || substr(text_sha256, 2) WHERE n = 2",
    "a number": "UPDATE knowledge_fact SET payload = CAST(replace(CAST(payload AS TEXT), '5.5', '6.5') AS BLOB)",
    "the name of a concept": "UPDATE knowledge_concept SET name = 'gouu'",
    "a definition": "UPDATE knowledge_concept SET definition = replace(definition, 'joint', 'jount')",
    "a surface": "UPDATE knowledge_surface SET norm = 'gouu'",
    "a relation": "UPDATE knowledge_relation SET b = 'T:3'",
    "a dose": """UPDATE knowledge_drug SET dosage = CAST('["two spoon"]' AS BLOB)""",
    "the licence": "UPDATE knowledge_pack SET licence_id = 'CC0'",
    "the day it expires": "UPDATE knowledge_pack SET expires_on = '2099-01-01'",
    "the state": "UPDATE knowledge_pack SET state = 'active' WHERE state = 'draft'",
    "the reason of a change": "UPDATE knowledge_change SET reason = 'y'",
    "bytes that are no text": "UPDATE knowledge_section SET text = CAST(x'ff00fe' AS TEXT) WHERE n = 1",
}


@pytest.mark.parametrize("statement", PLACES.values(), ids=PLACES.keys())
def test_a_change_in_any_place_is_found(statement: str, tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.put_pack(pack(state="draft"), ITEMS, actor="me", reason="x")
    assert store.verify() == ()
    with sqlite3.connect(tmp_path / "knowledge.db") as connection:
        assert connection.execute(statement).rowcount >= 1
    connection.close()
    assert len(store.verify()) >= 1
    store.close()


def test_one_flipped_byte_in_twenty_places_of_the_file_is_found_twenty_times(tmp_path: Path) -> None:
    """The file itself is changed, as a bad disk does it: one bit of one letter of a text."""
    words = [f"letter{n:02}x is written once." for n in range(20)]
    (tmp_path / "one").mkdir()
    store = open_store(tmp_path / "one")
    store.put_pack(pack(), [doc(f"d{n}", word) for n, word in enumerate(words)], actor="me")
    store._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    whole = (tmp_path / "one" / "knowledge.db").read_bytes()
    found = 0
    for word in words:
        at = whole.index(word.encode())
        (tmp_path / "knowledge.db").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        opened = open_store(tmp_path)
        found += len(opened.verify()) == 2  # the section and its passage
        opened.close()
    assert found == 20


def test_a_quarantined_pack_is_mended_by_the_same_files(store: KnowledgeStore, tmp_path: Path) -> None:
    store.put_pack(pack(), ITEMS, actor="me")
    for statement in (PLACES["the words of a section"], PLACES["a surface"]):
        with sqlite3.connect(tmp_path / "knowledge.db") as connection:
            connection.execute(statement)
        connection.close()
    assert store.put_pack(pack(), ITEMS, actor="me").writes == 0  # the recorded hashes say that nothing is to be done
    assert store.verify()
    store.lifecycle.quarantine("lib", actor="me", reason="damaged")
    assert store.put_pack(pack(), ITEMS, actor="me").changed == 4
    assert store.verify() == ()
    assert state(store) == "active"


def test_a_damaged_passage_is_left_out_and_its_pack_named(store: KnowledgeStore, tmp_path: Path) -> None:
    store.put_pack(pack(), ITEMS, actor="me")
    store.put_pack(pack("other"), [doc("a", "Sound.")], actor="me")
    cids = [entry.cid for entry in store.chunk_entries(store.doc_ids())]
    assert len(store.sound_passages(cids)[0]) == 4
    for name, left in (("the words of a section", 3), ("bytes that are no text", 2)):
        with sqlite3.connect(tmp_path / "knowledge.db") as connection:
            connection.execute(PLACES[name])
        connection.close()
        passages, broken = store.sound_passages(cids)
        assert (len(passages), broken) == (left, ("lib",))
