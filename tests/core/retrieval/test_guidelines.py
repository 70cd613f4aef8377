"""Two stages, the starter set as a pack, and that every passage found is the text that a citation will name."""

from __future__ import annotations

import shutil
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from core.domain.passage import Passage
from core.domain.ports import Found, Query, Retriever
from core.retrieval.catalogue import SECTIONS, install_starter, open_knowledge
from core.retrieval.guidelines import NAMED, TWO_STAGES, WIDENED, GuidelineRetriever
from core.retrieval.hybrid import WORDS
from core.retrieval.index import PassageIndex
from core.retrieval.sources.starter import StarterSet, packaged
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc
from tests.helpers.shelf import doc, open_store, pack


class Library(NamedTuple):
    store: KnowledgeStore
    index: PassageIndex
    retriever: GuidelineRetriever


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    store = open_store(tmp_path)
    index = PassageIndex(tmp_path / "index", store)
    yield Library(store, index, GuidelineRetriever(store, index))
    store.close()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, StarterSet]]:
    """The packaged starter set, installed once."""
    folder = tmp_path_factory.mktemp("knowledge")
    *parts, starter = open_knowledge(folder / "profile", folder / "cache", "me")
    opened = Library(*parts)
    yield opened, starter
    opened.store.close()


def fetched(found: Found) -> list[str]:
    assert [hit.cid for hit in found.hits] == [passage.cid for passage in found.passages]
    return [passage.key for passage in found.passages]


def big(key: str, word: str, count: int) -> Doc:
    return doc(key, *(f"{word.capitalize()} number {n}." for n in range(count)), title=f"{word} {key}")


# ------------------------------------------------------------------------------------------------------ two stages


def test_stage_two_searches_only_the_documents_of_stage_one(library: Library) -> None:
    """Sixty passages about fever in a document titled so; one elsewhere is better by itself but its document is not."""
    docs = [big("one", "fever", 60), doc("two", "Fever fever fever.", title="Rash")]
    library.store.put_pack(pack(), docs, actor="me")
    found = library.retriever.search(Query(text="fever", k=5))
    assert found.path == f"{TWO_STAGES}; {WORDS}"
    assert {passage.doc for passage in found.passages} == {"lib:one"}
    assert len(found.passages) == 3  # at most three of one document


def test_too_few_passages_after_stage_one_widen_the_search(library: Library) -> None:
    docs = [big("one", "fever", 49), doc("two", "Fever fever fever.", title="Rash")]
    library.store.put_pack(pack(), docs, actor="me")
    found = library.retriever.search(Query(text="fever", k=5))
    assert found.path == f"{WIDENED}; {WORDS}"
    assert "lib:two#1" in fetched(found)
    assert len(found.passages) == 4


def test_a_document_is_looked_into_for_what_it_says_too(library: Library) -> None:
    """What the text asks for stands in no title: forty documents named for its other words leave it in."""
    named = [big(f"d{n}", "pain", 3) for n in range(40)]
    library.store.put_pack(pack(), [*named, doc("last", "The navel hurts first.", title="Appendix")], actor="me")
    assert "lib:last" not in library.retriever.documents(Query(text="pain navel"))
    found = library.retriever.search(Query(text="pain navel"))
    assert (fetched(found)[0], found.path) == ("lib:last#1", f"{TWO_STAGES}; {WORDS}")


def test_named_documents_are_the_only_ones_searched(library: Library) -> None:
    library.store.put_pack(pack(), [big("one", "fever", 9), big("two", "fever", 9)], actor="me")
    by_key = library.retriever.search(Query(text="fever", docs=("two",), k=5))
    by_id = library.retriever.search(Query(text="fever", docs=("lib:two",), k=5))
    assert by_key == by_id
    assert by_key.path == f"{NAMED}; {WORDS}"
    assert [passage.doc for passage in by_key.passages] == ["lib:two"] * 5  # asked for by name: no limit of three
    assert library.retriever.search(Query(text="fever", docs=("none",))).passages == ()


def test_documents_far_behind_the_best_are_dropped(library: Library) -> None:
    titles = ["glaucoma", "fever", "rash"]
    docs = [doc(f"d{n}", "Text.", title=title) for n, title in enumerate(titles)]
    library.store.put_pack(pack(), [*docs, doc("d9", "Text about it.", title="x")], actor="me")
    assert library.retriever.documents(Query(text="glaucoma")) == ("lib:d0",)
    assert set(library.retriever.documents(Query(text="glaucoma fever"))) == {"lib:d0", "lib:d1"}


def test_an_exact_title_comes_first(library: Library) -> None:
    """The long title repeats the word and would win by score; the exact one is pinned."""
    docs = [doc("a", "Text.", title="fever fever fever rash"), doc("b", "Text.", title="Fever")]
    docs += [doc(f"c{n}", "Text.", title=f"cough {n}") for n in range(9)]
    library.store.put_pack(pack(), docs, actor="me")
    assert library.retriever.documents(Query(text="fever!"))[0] == "lib:b"
    assert library.retriever.documents(Query(text="", problems=("FEVER",)))[0] == "lib:b"


def test_concepts_of_the_query_choose_the_documents(library: Library) -> None:
    docs = [
        doc("a", "Fever.", title="fever", concepts=("WR:a",)),
        doc("b", "Fever.", title="fever too", concepts=("WR:b",)),
    ]
    library.store.put_pack(pack(), docs, actor="me")
    assert library.retriever.documents(Query(text="fever too", concepts=("WR:b",))) == ("lib:b",)
    assert len(library.retriever.documents(Query(text="fever too", concepts=("WR:nothing",)))) == 2


def test_only_active_packs_are_searched(library: Library) -> None:
    library.store.put_pack(pack(), [doc("a", "Fever.", title="fever")], actor="me")
    library.store.put_pack(pack("old", edition="7"), [doc("a", "Fever.", title="fever")], actor="me")
    before = library.retriever.search(Query(text="fever"))
    assert {passage.pack for passage in before.passages} == {"lib", "old"}
    assert before.fingerprint.startswith("lib@1 old@7 sha256:")
    library.store.set_state("old", "withdrawn", actor="me", reason="wrong")
    after = library.retriever.search(Query(text="fever"))
    assert fetched(after) == ["lib:a#1"]
    assert library.retriever.documents(Query(text="fever")) == ("lib:a",)
    assert after.fingerprint.startswith("lib@1 sha256:")
    assert after.fingerprint != before.fingerprint


def test_classes_filter_the_passages(library: Library) -> None:
    library.store.put_pack(pack(), [doc("a", "Fever.", "Fever test.", "Fever treatment.")], actor="me")
    found = library.retriever.search(Query(text="fever", classes=("treatment", "tests")))
    assert sorted(fetched(found)) == ["lib:a#2", "lib:a#3"]


# ------------------------------------------------------------------------------------------------------- provenance


def check_citation(library: Library, passage: Passage, starter: StarterSet) -> None:
    """The passage is the span of its section; without blanks it stands in the condition file itself."""
    rows = library.store._database.query(
        "SELECT s.text FROM knowledge_section s JOIN knowledge_doc d ON d.id = s.doc WHERE d.id = ? AND s.path = ?",
        passage.doc,
        passage.section,
    )
    assert rows[0]["text"][passage.start : passage.end] == passage.text
    condition = next(c for c in starter.conditions if f"starter:{c.slug}" == passage.doc)
    key = next(key for key, (path, _) in SECTIONS.items() if path == passage.section)
    assert "".join(passage.text.split()) in "".join(condition.sections[key].split())
    assert library.store.passage(passage.key) == passage


def test_every_hit_resolves_to_the_text_that_was_imported(installed: tuple[Library, StarterSet]) -> None:
    library, starter = installed
    checked = 0
    words = [word for condition in starter.conditions for word in condition.sections["overview"].split()]
    for first in range(0, 400, 2):
        for passage in library.retriever.search_text(" ".join(words[first : first + 4]), 10).passages:
            check_citation(library, passage, starter)
            checked += 1
    assert checked >= 1000


def test_a_passage_changed_on_disk_is_not_shown(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    """Its pack is quarantined, and the search goes on in the others."""
    library.store.put_pack(pack(), [doc("a", "Give 5 mg for fever.", title="fever")], actor="me")
    library.store.put_pack(pack("sound"), [doc("a", "Fever is heat.", title="heat")], actor="me")
    assert len(library.retriever.search_text("fever").passages) == 2
    with library.store._database.transaction("me", "change", "section") as connection:
        connection.execute("UPDATE knowledge_section SET text = replace(text, '5 mg', '50 mg')")
    found = library.retriever.search_text("fever")
    assert fetched(found) == ["sound:a#1"]
    held = library.store.pack("lib")
    assert held is not None and held.state == "quarantined"
    assert library.store.lifecycle.changes("lib")[-1].user == "wardround"
    assert "lib@" not in found.fingerprint
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_no_case_text_stays_behind(tmp_path: Path) -> None:
    store, _, retriever, _ = open_knowledge(tmp_path / "profile", tmp_path / "cache", "me")
    secret = "Quixbrandt Vellomor"
    assert retriever.search(Query(text=f"{secret} has fever", problems=(secret,))).passages
    assert retriever.search_text(secret).passages == ()
    store.close()
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        content = file.read_bytes().lower()
        assert b"quixbrandt" not in content and b"vellomor" not in content, file.name


# ----------------------------------------------------------------------------------------------------- starter set


def test_the_starter_set_is_one_active_pack(installed: tuple[Library, StarterSet]) -> None:
    library, starter = installed
    (held,) = library.store.packs()
    assert (held.id, held.state, held.licence_id) == ("starter", "active", "CC-BY-4.0")
    (count,) = library.store.counts()
    assert count.docs == len(starter.conditions)
    assert count.chunks >= 8 * count.docs
    for condition in starter.conditions:
        assert set(library.store.facts(f"starter:{condition.slug}")) == set(condition.facts)
    assert starter == packaged()
    assert library.store.verify() == ()


def test_a_condition_is_found_by_its_name_and_each_alias(installed: tuple[Library, StarterSet]) -> None:
    library, starter = installed
    for condition in starter.conditions:
        for name in (condition.title, *condition.aliases):
            assert library.retriever.documents(Query(text=name))[0] == f"starter:{condition.slug}", name


@pytest.mark.parametrize(
    ("story", "slug"),
    [
        ("sudden breathlessness, pleuritic chest pain and a swollen calf", "pulmonary-embolism"),
        ("painful red eye with a mid-dilated pupil and haloes", "acute-angle-closure"),
        ("wheeze that varies, worse at night, with reversible airflow obstruction", "asthma"),
        ("potassium 6.8 mmol/L with tented T waves", "hyperkalaemia"),
        ("orthopnoea, ankle edema and raised natriuretic peptide", "heart-failure"),
    ],
)
def test_a_plain_story_finds_its_condition(installed: tuple[Library, StarterSet], story: str, slug: str) -> None:
    library, _ = installed
    retriever: Retriever = library.retriever
    found = retriever.search(Query(text=story))
    assert f"starter:{slug}" in [passage.doc for passage in found.passages]


def test_installing_twice_writes_once_and_a_change_replaces(library: Library) -> None:
    starter = packaged()
    assert install_starter(library.store, library.index, starter, "me") is True
    head, print_before = library.store.head(), library.retriever.fingerprint
    assert install_starter(library.store, library.index, starter, "me") is False
    assert library.store.head() == head
    first = starter.conditions[0]
    text = "Entirely quixotic wording."
    changed = msgspec.structs.replace(first, sections={**first.sections, "overview": text})
    edited = msgspec.structs.replace(starter, conditions=(changed, *starter.conditions[2:]))
    assert install_starter(library.store, library.index, edited, "me") is True
    assert [p.text for p in library.retriever.search_text("quixotic").passages] == [text]
    assert library.retriever.fingerprint != print_before
    assert library.store.counts()[0].docs == len(starter.conditions) - 1


def test_line_breaks_of_the_file_are_no_part_of_a_passage(installed: tuple[Library, StarterSet]) -> None:
    library, _ = installed
    passages = library.retriever.search_text("patient", 50).passages
    assert passages
    assert all("\n" not in passage.text for passage in passages if "\n\n" not in passage.text)


def test_opening_again_writes_nothing_and_is_fast(tmp_path: Path) -> None:
    places = (tmp_path / "profile", tmp_path / "cache", "me")
    store, _, retriever, starter = open_knowledge(*places)
    expected, head = retriever.search_text("chest pain"), store.head()
    store.close()
    times = []
    for _ in range(5):
        before = time.process_time()
        store, index, retriever, again = open_knowledge(*places)
        times.append(time.process_time() - before)
        assert (store.head(), again, retriever.search_text("chest pain")) == (head, starter, expected)
        assert index.reconcile() == ""
        store.close()
    assert min(times) < 0.15


def test_a_second_profile_holds_the_same_as_the_first(tmp_path: Path) -> None:
    """The starter set comes from the cache then: same passages, same summaries, same answers."""
    held = []
    for name in ("one", "two"):
        store, _, retriever, _ = open_knowledge(tmp_path / name, tmp_path / "cache", "me")
        held.append(([doc for _, doc in store.documents("starter")], retriever.search_text("swollen calf")))
        store.close()
    assert held[0] == held[1]
    assert held[0][0][0].sections[0].path == "Overview"


@pytest.mark.parametrize("damage", ["gone", "cut", "changed", "not json"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str) -> None:
    store, _, _, starter = open_knowledge(tmp_path / "profile", tmp_path / "cache", "me")
    store.close()
    kept = tmp_path / "cache" / "starter.json"
    data = kept.read_bytes()
    if damage == "gone":
        shutil.rmtree(tmp_path / "cache")
    else:
        changed = {"cut": data[:1000], "changed": data.replace(b"asthma", b"gout__"), "not json": b"\xff"}[damage]
        kept.write_bytes(changed)
    store, _, _, again = open_knowledge(tmp_path / "profile", tmp_path / "cache", "me")
    store.close()
    assert again == starter
    assert kept.read_bytes() == data


def test_any_string_may_be_searched(installed: tuple[Library, StarterSet]) -> None:
    library, _ = installed
    for text in ("", " ", "\x00", "\ud800", "id:secret OR *", '"', "(((((", "\u9ad8\u8840\u538b", "fever " * 20_000):
        found = library.retriever.search_text(text)
        assert len(found.hits) == len(found.passages) <= 10
    assert library.retriever.search_text("fever", 0).passages == ()
    composed, apart = (unicodedata.normalize(form, "na\u00efve caf\u00e9 fever") for form in ("NFC", "NFD"))
    assert library.retriever.search_text(composed) == library.retriever.search_text(apart)
