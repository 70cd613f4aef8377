"""Concepts, names, relations and drugs of packs: in as they came, changed alone, gone with their pack's content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.terminology import Drug
from core.errors import UserError
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Item, Relation, Surface, VocabularyConcept
from tests.helpers.shelf import doc, open_store, pack


def concept(identifier: str, *names: str, numbers: tuple[str, ...] = (), obsolete: bool = False) -> VocabularyConcept:
    return VocabularyConcept(
        id=identifier,
        name=names[0],
        kind="disease",
        surfaces=tuple(Surface(name, name.lower()) for name in names),
        relations=tuple(Relation("xref", number) for number in numbers),
        obsolete=obsolete,
    )


DRUG = Drug(id="FDA:1", name="glimmerol", dosage=("one drop", "two drops"), indication="ringing", version="3")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def put(store: KnowledgeStore, *items: Item, identifier: str = "voc", **fields: str) -> tuple[int, int, int, int]:
    report = store.put_pack(pack(identifier, **fields), items, actor="me")
    return report.added, report.changed, report.removed, report.unchanged


def test_what_goes_in_comes_out(store: KnowledgeStore) -> None:
    ringing = VocabularyConcept(
        id="MSH:D1", name="Ringing", kind="finding", definition="It rings.", def_source="MSH",
        surfaces=(Surface("Ringing", "ringing"), Surface("RI", "ri", "abbreviation")),
        relations=(Relation("is_a", "MSH:D0"), Relation("excludes1", "", "choirs")),
    )  # fmt: skip
    report = store.put_pack(pack(), [doc("a", "One."), ringing, DRUG], actor="me")
    assert (report.added, report.docs, report.concepts) == (3, 1, 1)
    assert store.vocabulary.concept("MSH:D1") == ringing
    assert store.vocabulary.drug("FDA:1") == DRUG
    assert store.vocabulary.pack_of("FDA:1") == store.vocabulary.pack_of("MSH:D1") == "lib"
    assert [(n.concept, n.type) for n in store.vocabulary.named("ri")] == [("MSH:D1", "abbreviation")]
    assert store.vocabulary.concept("MSH:D2") is store.vocabulary.drug("MSH:D1") is None


def test_only_what_changed_is_written_and_what_is_left_out_goes(store: KnowledgeStore) -> None:
    one, two, three = concept("A:1", "One"), concept("A:2", "Two"), concept("A:3", "Three")
    assert put(store, one, two, DRUG) == (3, 0, 0, 0)
    assert put(store, one, two, DRUG) == (0, 0, 0, 3)
    assert put(store, one, concept("A:2", "Two", "Second"), three) == (1, 1, 1, 1)
    assert [name.text for name in store.vocabulary.names()] == ["One", "Two", "Second", "Three"]
    assert store.vocabulary.drug("FDA:1") is None
    assert put(store) == (0, 0, 3, 0)
    assert list(store.vocabulary.names()) == []


def test_of_one_id_twice_in_a_pack_the_first_counts(store: KnowledgeStore) -> None:
    report = store.put_pack(
        pack(), [concept("A:1", "One"), concept("A:1", "Other"), doc("d", "x"), doc("d", "y")], actor="me"
    )
    assert (report.added, report.repeated, report.docs, report.concepts) == (2, 2, 1, 1)
    assert [name.text for name in store.vocabulary.names()] == ["One"]


def test_only_active_packs_are_read_and_two_may_hold_one_concept(store: KnowledgeStore) -> None:
    put(store, concept("A:1", "One"), identifier="a")
    put(store, concept("A:1", "One", "Uno"), concept("A:9", "Gone", obsolete=True), identifier="b")
    assert [name.text for name in store.vocabulary.names()] == ["One", "One", "Uno"]
    assert len(store.vocabulary.named("one")) == 1
    before = store.vocabulary.fingerprint()
    store.set_state("a", "withdrawn", actor="me", reason="old")
    assert store.vocabulary.pack_of("A:1") == "b"
    assert store.vocabulary.fingerprint() != before
    store.set_state("b", "withdrawn", actor="me", reason="old")
    assert store.vocabulary.concept("A:1") is None
    assert store.vocabulary.named("one") == ()


def test_concepts_of_one_number_are_one(store: KnowledgeStore) -> None:
    put(
        store,
        concept("HP:1", "Ringing", numbers=("UMLS:C1",)),
        concept("DOID:1", "Ringing disease", numbers=("UMLS:C1", "ICD9:2")),
        concept("UMLS:C1", "Rings"),
        concept("X:1", "Silence", numbers=("ICD9:2",)),
    )
    assert store.vocabulary.one_with(["HP:1"]) == ("DOID:1", "HP:1", "UMLS:C1")
    assert store.vocabulary.one_with(["X:1"]) == ("X:1",)
    assert list(store.vocabulary.links("xref", "UMLS")) == [("HP:1", "UMLS:C1"), ("DOID:1", "UMLS:C1")]


def test_an_import_that_fails_half_way_leaves_no_concept(store: KnowledgeStore) -> None:
    def broken() -> Iterator[Item]:
        yield concept("A:1", "One")
        raise UserError("the source ends here")

    with pytest.raises(UserError, match="ends here"):
        store.put_pack(pack(), broken(), actor="me")
    assert store.pack("lib") is None
    assert list(store.vocabulary.names()) == []
