"""Lookup by exact name, by the same words, by spelling; what is told; near names where nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.terminology import ConceptFound, Drug, DrugFound, NotFound, Related
from core.retrieval.lookup import Lookup
from core.retrieval.sources.material import surfaces
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Relation, VocabularyConcept
from tests.helpers.shelf import open_store, pack


def concept(identifier: str, *names: str, relations: tuple[Relation, ...] = (), **fields: str) -> VocabularyConcept:
    content = {"kind": "disease"} | fields
    return VocabularyConcept(  # type: ignore[arg-type]
        id=identifier, name=names[0], surfaces=surfaces((n, "exact") for n in names), relations=relations, **content
    )


NUMBER = Relation("xref", "UMLS:C1")
CONCEPTS = (
    concept(
        "HP:1", "Ringing of bones", "Bone ringing", relations=(NUMBER, Relation("is_a", "HP:2")),
        definition="From HPO.", def_source="HP",
    ),
    concept("HP:2", "Noise of bones"),
    concept("DOID:1", "ringing bone disease", relations=(NUMBER,), definition="From DOID.", def_source="DOID"),
    concept(
        "ICD10CM:M98", "Ringing of bones",
        relations=(
            Relation("excludes1", "ICD10CM:M99", "silent bones (M99)"), Relation("is_a", "ICD10CM:M9", "Bones"),
            *(Relation("codeFirst", "", f"note {n}") for n in range(5)),
        ),
        definition="From ICD.", def_source="ICD inclusion",
    ),
    concept("MSH:D9", "Glimmerol", kind="drug"),
    concept("FDA:1", "glimmerol", "Glimmer", kind="drug"),
    Drug(id="FDA:1", name="glimmerol", indication="ringing", source="openFDA", version="3"),
)  # fmt: skip


@pytest.fixture
def lookup(tmp_path: Path) -> Iterator[Lookup]:
    store: KnowledgeStore = open_store(tmp_path)
    store.put_pack(pack(title="Words", edition="7"), CONCEPTS, actor="me")

    def edition(identifier: str) -> tuple[str, str]:
        held = store.pack(identifier)
        return (held.title, held.edition) if held else ("", "")

    yield Lookup(store.vocabulary, edition)
    store.close()


def test_an_exact_name_tells_definition_relations_and_source(lookup: Lookup) -> None:
    found = lookup.concept("ringing OF bones")
    assert isinstance(found, ConceptFound)
    assert (found.id, found.how, found.source, found.version) == ("ICD10CM:M98", "exact name", "Words", "7")
    # Of three definitions of one thing HPO's is first (MSH, NCI, ICF, CSP, HPO, DOID, ICD inclusion).
    assert (found.definition, found.def_source) == ("From HPO.", "HP")
    assert found.others == ("DOID:1", "HP:1")
    assert found.relations == (
        Related("is_a", "ICD10CM:M9", "Bones"), Related("is_a", "HP:2", "Noise of bones"),
        Related("excludes1", "ICD10CM:M99", "silent bones (M99)"), Related("codeFirst", "", "note 0"),
        Related("codeFirst", "", "note 1"),
    )  # fmt: skip
    assert set(found.synonyms) == {"Bone ringing", "ringing bone disease"}


@pytest.mark.parametrize(
    ("asked", "identifier", "how"),
    [
        ("disease, ringing bone", "DOID:1", "same words"),
        ("the noise in bones", "HP:2", "same words"),
        ("ringing bone diseese", "DOID:1", "similar spelling"),
        ("Bone ringing", "HP:1", "exact name"),
    ],
)
def test_other_ways_to_write_it(lookup: Lookup, asked: str, identifier: str, how: str) -> None:
    found = lookup.concept(asked)
    assert isinstance(found, ConceptFound)
    assert (found.id, found.how) == (identifier, how)


def test_what_is_not_there_gives_at_most_three_near_names(lookup: Lookup) -> None:
    found = lookup.concept("ringing ears")
    assert isinstance(found, NotFound)
    assert 1 <= len(found.near) <= 3
    assert found.near[0] in ("ringing of bones", "bone ringing")
    assert lookup.concept("") == NotFound("")
    assert lookup.concept("\u4e2d") == NotFound("\u4e2d", ())


def test_a_drug_is_found_by_any_of_its_names(lookup: Lookup) -> None:
    for asked in ("glimmer", "GLIMMEROL", "glimmerolo"):
        found = lookup.drug(asked)
        assert isinstance(found, DrugFound)
        assert (found.drug.indication, found.source, found.version) == ("ringing", "openFDA", "3")
    assert isinstance(lookup.drug("ringing of bones"), NotFound)


def test_a_new_vocabulary_is_known_at_once(lookup: Lookup, tmp_path: Path) -> None:
    assert isinstance(lookup.concept("winter shin"), NotFound)
    other = open_store(tmp_path)
    other.put_pack(pack("more"), [concept("X:1", "shin of winter")], actor="me")
    other.close()
    found = lookup.concept("winter shin")
    assert isinstance(found, ConceptFound)
    assert found.id == "X:1"
