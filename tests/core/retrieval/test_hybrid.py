"""Words and vectors fused: weights and ranks by hand, synonyms, what a result says of itself, life without vectors."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.passage import Concept
from core.domain.ports import Found, Query
from core.errors import UserError
from core.retrieval.analysis import terms
from core.retrieval.dense import VectorIndex
from core.retrieval.guidelines import NAMED, TWO_STAGES, WIDENED, GuidelineRetriever
from core.retrieval.hybrid import HYBRID, PARTLY, WORDS, Dense, HybridSearch
from core.retrieval.index import PassageIndex
from core.retrieval.query import SYNONYM, Branch, Clause, Filters, Ranked, clauses, fuse
from core.retrieval.synonyms import MOST_NAMES, Synonyms, expand
from core.store.knowledge import KnowledgeStore
from models.scripted import HashEmbedder
from tests.core.retrieval.test_index import strange
from tests.helpers.shelf import doc, open_store, pack, random_docs

ROOT = Path(__file__).resolve().parents[3]
ANY_PACK = Filters(packs=("lib",))
CONCEPTS = (
    Concept(id="C:1", name="Hyperkalaemia", kind="disease", surfaces=("high potassium", "raised serum potassium")),
    Concept(id="C:2", name="Shingles", kind="disease", surfaces=("herpes zoster", "zona")),
    Concept(id="C:3", name="Zoster ophthalmicus", kind="disease", surfaces=("zona", "eye shingles")),
)


class Place:
    def __init__(self, folder: Path, *, embedder: HashEmbedder | None = None) -> None:
        self.folder = folder
        self.store: KnowledgeStore = open_store(folder)
        self.index = PassageIndex(folder / "index", self.store)
        self.embedder = embedder or HashEmbedder()

    def dense(self) -> Dense:
        vectors = VectorIndex(self.folder / "vectors", self.store, self.index, model=self.embedder.info)
        vectors.build(self.embedder)
        return Dense(self.embedder, vectors)

    def retriever(self, synonyms: Synonyms | None = None) -> GuidelineRetriever:
        return GuidelineRetriever(self.store, self.index, dense=self.dense, synonyms=synonyms)

    def search(self, text: str, filters: Filters = ANY_PACK) -> list[tuple[str, dict[str, int]]]:
        search = HybridSearch(self.index, dense=self.dense)
        hits, how = search.search(search.ask(Query(text=text)), filters)
        assert how == HYBRID
        passages = self.store.passages([hit.cid for hit in hits])
        return [(passage.key, hit.ranks) for passage, hit in zip(passages, hits, strict=True)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    opened = Place(tmp_path)
    yield opened
    opened.store.close()


# ---------------------------------------------------------------------------------------------------------- fusion


def test_vectors_count_twice() -> None:
    """S(7) = 1/61 + 2/62, S(3) = 1/62 + 2/61: the vectors' first wins; 9 and 5 each have one branch."""
    words = Branch("bm25", 1.0, [Ranked(7, 9.0), Ranked(3, 8.0), Ranked(9, 7.0)])
    vectors = Branch("dense", 2.0, [Ranked(3, 0.9), Ranked(7, 0.8), Ranked(5, 0.7)])
    hits = fuse([words, vectors])
    assert [hit.cid for hit in hits] == [3, 7, 5, 9]
    assert hits[0].score == pytest.approx(1 / 62 + 2 / 61)
    assert hits[2].score == pytest.approx(2 / 63)
    assert hits[0].ranks == {"bm25": 2, "dense": 1}
    assert hits[2].ranks == {"dense": 3}


def test_a_passage_is_found_by_either_branch(place: Place) -> None:
    """The stems agree with one passage ("coughing"), the whole words with the other ("zebra" is in a title only)."""
    docs = [doc("a", "Coughs at night."), doc("b", "Nothing of it.", title="zebra"), doc("c", "Rash.")]
    place.store.put_pack(pack(), docs, actor="me")
    found = dict(place.search("coughing zebra"))
    assert found["lib:a#1"]["bm25"] in (1, 2)
    assert found["lib:b#1"]["dense"] == 1
    assert "bm25" not in found["lib:c#1"]


def test_filters_hold_for_vectors_too(place: Place) -> None:
    place.store.put_pack(pack(), [doc("a", "Fever one.", "Fever two."), doc("b", "Fever three.")], actor="me")
    assert {key for key, _ in place.search("fever", Filters(packs=("lib",), classes=("tests",)))} == {"lib:a#2"}
    assert {key for key, _ in place.search("fever", Filters(packs=("lib",), docs=("lib:b",)))} == {"lib:b#1"}


def test_a_long_case_is_embedded_as_its_problem_list(tmp_path: Path) -> None:
    place = Place(tmp_path, embedder=HashEmbedder(window=10))
    place.store.put_pack(pack(), [doc("a", "Glaucoma."), doc("b", "Gout.")], actor="me")
    dense, search = place.dense(), HybridSearch(place.index)
    long = search.ask(Query(text="gout " * 11, problems=("glaucoma",)))
    assert dense.text(long) == "glaucoma"
    assert dense.text(search.ask(Query(text="gout " * 10, problems=("glaucoma",)))) == "gout " * 10
    assert dense.text(search.ask(Query(text="gout " * 11))) == "gout " * 11
    assert dense.text(search.ask(Query(text=" ", problems=("glaucoma", "gout")))) == "glaucoma\ngout"
    place.store.close()


# ------------------------------------------------------------------------------------------------- what it says


def test_the_path_says_by_what_passages_were_found(place: Place) -> None:
    place.store.put_pack(pack(), [doc("one", *(f"Fever {n}." for n in range(60)))], actor="me")
    bare = GuidelineRetriever(place.store, place.index)
    assert bare.search(Query(text="fever")).path == f"{WIDENED}; {WORDS}"
    assert bare.search(Query(text="one")).path == f"{TWO_STAGES}; {WORDS}"
    both = place.retriever()
    assert both.search(Query(text="one")).path == f"{TWO_STAGES}; {HYBRID}"
    assert both.search(Query(text="fever", docs=("one",))).path == f"{NAMED}; {HYBRID}"
    assert both.search(Query(text="fever", docs=("none",))).path == f"{NAMED}; {WORDS}"
    found = both.search(Query(text="one"))
    assert all({"bm25", "dense"} >= set(hit.ranks) for hit in found.hits)
    assert any("dense" in hit.ranks for hit in found.hits)
    assert len(found.hits) == 3  # of one document


def test_a_pack_without_vectors_is_said(place: Place) -> None:
    place.store.put_pack(pack(), [doc("one", "Fever.")], actor="me")
    retriever = place.retriever()
    assert retriever.search(Query(text="fever")).path.endswith(HYBRID)
    place.store.put_pack(pack("new"), [doc("two", "Fever.")], actor="me")
    found = retriever.search(Query(text="fever"))
    assert found.path.endswith(PARTLY)
    assert {passage.pack for passage in found.passages} == {"lib", "new"}


def test_an_embedder_that_fails_to_open_is_done_without(place: Place) -> None:
    place.store.put_pack(pack(), [doc("one", "Fever.")], actor="me")
    tries = []

    def broken() -> Dense:
        tries.append(1)
        raise UserError("The model pack is not installed.", code="pack_missing")

    retriever = GuidelineRetriever(place.store, place.index, dense=broken)
    for _ in range(2):
        found = retriever.search(Query(text="fever"))
        assert found.path.endswith(WORDS)
        assert [passage.key for passage in found.passages] == ["lib:one#1"]
    assert len(tries) == 1


def test_damaged_vectors_are_done_without(place: Place) -> None:
    place.store.put_pack(pack(), [doc("one", "Fever.")], actor="me")
    retriever = place.retriever()
    assert retriever.search(Query(text="fever")).path.endswith(HYBRID)
    for path in (place.folder / "vectors").glob("vectors*"):
        path.write_bytes(b"\x00" * 7)
    assert retriever.search(Query(text="fever")).path.endswith(WORDS)


def answers(retriever: GuidelineRetriever) -> str:
    texts = ["fever cough", "potassium 6.8", "swollen calf, breathless", "headache and rash " * 30, ""]
    found: list[Found] = [retriever.search(Query(text=text, problems=("goitre", "tremor"))) for text in texts]
    return repr([(one.path, one.hits) for one in found])


CHILD = """
import sys
from pathlib import Path
from tests.core.retrieval.test_hybrid import Place, answers
print(answers(Place(Path(sys.argv[1])).retriever()))
"""


def test_two_processes_give_identical_lists(place: Place, tmp_path: Path) -> None:
    place.store.put_pack(pack(), random_docs(8, 40), actor="me")
    mine = answers(place.retriever())
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == mine
    assert HYBRID in mine


def test_no_string_makes_it_fail(place: Place) -> None:
    """2,000 strings, each through both stages, words and vectors."""
    place.store.put_pack(pack(), random_docs(5, 20), actor="me")
    retriever = place.retriever(Synonyms(CONCEPTS))
    rng = random.Random(2000)
    found = 0
    for _ in range(2000):
        result = retriever.search(Query(text=strange(rng, 2_000), k=5))
        assert len(result.hits) == len(result.passages) <= 5
        found += bool(result.hits)
    assert found > 1000


# -------------------------------------------------------------------------------------------------------- synonyms


def test_other_names_of_what_is_named() -> None:
    synonyms = Synonyms(CONCEPTS)
    assert synonyms.names("Causes of hyperkalaemia?") == ("high potassium", "raised serum potassium")
    assert synonyms.names("zona") == ("Shingles", "herpes zoster", "Zoster ophthalmicus", "eye shingles")
    assert synonyms.names("fever") == ()
    many = Concept(id="C:4", name="gout", kind="disease", surfaces=tuple(f"gout name {n}" for n in range(20)))
    assert len(Synonyms([many]).names("gout")) == MOST_NAMES


def test_only_new_words_enter_and_with_a_small_weight() -> None:
    wanted = expand(terms("potassium in hyperkalaemia"), ("high potassium", "raised serum potassium"))
    assert wanted.synonyms == tuple(term for term, _ in terms("high raised serum").stem)
    found = clauses(wanted, lambda *_: 1, 10, fields={"body": 1.0})
    assert Clause("body", "serum", SYNONYM) in found
    assert Clause("body", terms("potassium").stem[0][0], 1.0) in found
    assert expand(terms("fever"), ()) == terms("fever")


def test_a_renamed_disease_is_found_and_a_long_query_stays_as_it_is(place: Place) -> None:
    place.store.put_pack(pack(), [doc("a", "Herpes zoster hurts."), doc("b", "Gout hurts.")], actor="me")
    search = HybridSearch(place.index, synonyms=Synonyms(CONCEPTS))
    plain = HybridSearch(place.index)
    assert plain.search(plain.ask(Query(text="shingles")), ANY_PACK) == ((), WORDS)
    hits, _ = search.search(search.ask(Query(text="shingles")), ANY_PACK)
    assert [passage.key for passage in place.store.passages([hit.cid for hit in hits])] == ["lib:a#1"]
    long = "shingles " + " ".join(f"word{n}" for n in range(31))
    assert search.ask(Query(text=long)).names == ()
    dense = place.dense()
    assert dense.text(search.ask(Query(text="shingles"))) == "shingles (herpes zoster, zona)"
