"""The search box: words, signs, phrases, the word still typed, refusals; spans are where the words stand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date

import pytest

from core.domain.passage import Concept
from core.retrieval.box import EVERYTHING, SearchBox, Wanted
from core.retrieval.editions import Calendar
from core.retrieval.hybrid import HybridSearch
from core.retrieval.index import PassageIndex
from core.retrieval.synonyms import Synonyms
from core.store.knowledge import KnowledgeStore
from tests.helpers.shelf import doc, open_store, pack

DOCS = (
    doc("shock", "Septic shock needs fluid and a vasopressor. Lactate is measured.", title="Sepsis"),
    doc("cardiac", "Cardiac shock after infarction. The septic tank is elsewhere.", title="Cardiogenic shock"),
    doc("potassium", "Hyperkalaemia: a potassium of 6.5 mmol/L, code E87.5, changes the ECG.", title="Potassium"),
    doc("lung", "肺炎是肺部感染。需要抗生素治疗。", title="肺炎"),
    doc("fever", "الحمى هي ارتفاع درجة حرارة الجسم.", title="الحمى"),
    doc("gland", "Die Schilddrüse ist vergrößert; TNF-α und IL-6 steigen.", title="Schilddrüse"),
)
CONCEPTS = (Concept(id="W:mi", name="myocardial infarction", kind="disease", surfaces=("heart attack",)),)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeStore]:
    held = open_store(tmp_path_factory.mktemp("box"))
    held.put_pack(pack("new"), DOCS, actor="t")
    held.put_pack(pack("old", edition="0", state="superseded"), [doc("x", "Dopamine for shock.")], actor="t")
    held.put_pack(pack("draft", state="draft"), [doc("y", "A draft on shock.")], actor="t")
    yield held
    held.close()


@pytest.fixture(scope="module")
def box(store: KnowledgeStore, tmp_path_factory: pytest.TempPathFactory) -> SearchBox:
    index = PassageIndex(tmp_path_factory.mktemp("index"), store)
    calendar = Calendar(lambda: date(2026, 1, 1))
    search = HybridSearch(index, synonyms=Synonyms(CONCEPTS))
    return SearchBox(store, index, documents=lambda text: (), hybrid=search, calendar=calendar)


def titles(box: SearchBox, text: str, **more: object) -> list[str]:
    return [hit.passage.title for hit in box.search(Wanted(text=text, **more)).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shock", {"Sepsis", "Cardiogenic shock"}),
        ('"septic shock"', {"Sepsis"}),
        ("shock -infarction", {"Sepsis"}),
        ("shock NOT infarction", {"Sepsis"}),
        ('shock -"septic tank"', {"Sepsis"}),
        ('NOT "septic tank" +shock', {"Sepsis"}),
        ("septic AND lactate", {"Sepsis"}),
        ("lactate OR potassium", {"Sepsis", "Potassium"}),
        ("+septic +tank", {"Cardiogenic shock"}),
        ("lacta", {"Sepsis"}),
        ("hyperkal", {"Potassium"}),
        ("Hyperkalemia", {"Potassium"}),
        ("E87.5", {"Potassium"}),
        ("heart attack", {"Cardiogenic shock"}),
        ("肺炎", {"肺炎"}),
        ("الحمى", {"الحمى"}),
        ("Schilddrüse", {"Schilddrüse"}),
        ("schilddruse", {"Schilddrüse"}),
        ("TNF-α", {"Schilddrüse"}),
        ("BP: 120/80", set()),
        ('"', set()),
        ("", set()),
    ],
)
def test_what_is_typed_is_found(box: SearchBox, text: str, found: set[str]) -> None:
    """nomic-ai/gpt4all#1240 among them: Chinese, Arabic and umlauts are found as written."""
    answer = box.search(Wanted(text=text))
    assert answer.refused == ""
    assert {hit.passage.title for hit in answer.hits} == found


@pytest.mark.parametrize("text", ["pack:new", "class:tests shock", "cid:3", "exact:E87.5"])
def test_a_field_of_the_index_is_refused_with_its_name(box: SearchBox, text: str) -> None:
    answer = box.search(Wanted(text=text))
    assert answer.hits == () and answer.refused.startswith(f"“{text.split(':', maxsplit=1)[0]}:” names a field")
    assert box.search(Wanted(text=f'"{text}"')).refused == ""


@pytest.mark.parametrize("text", ["*", "NOT shock", "-shock", "- -shock NOT fever"])
def test_everything_is_no_question(box: SearchBox, text: str) -> None:
    assert box.search(Wanted(text=text)).refused == EVERYTHING


def test_marks_stand_on_the_words(box: SearchBox) -> None:
    cases = {
        "fluids lactate": ["fluid", "Lactate"],
        "lacta": ["Lactate"],
        "E87.5": ["E87.5"],
        "heart attack": ["infarction"],
        "肺炎": ["肺", "炎", "肺"],
        "الحمى": ["الحمى"],
        "TNF-α": ["TNF-α"],
        "shock -infarction": ["shock"],
    }
    for text, marked in cases.items():
        hit = box.search(Wanted(text=text)).hits[0]
        assert [hit.passage.text[a:b] for a, b in hit.spans] == marked, text


def test_old_editions_only_where_asked_and_marked(box: SearchBox) -> None:
    assert "x" not in titles(box, "dopamine shock")
    hits = box.search(Wanted(text="dopamine", old=True)).hits
    assert [(hit.passage.title, hit.state) for hit in hits] == [("x", "superseded")]
    assert hits[0].remark.startswith("This guideline edition (0) is superseded")
    assert "y" not in titles(box, "draft shock", old=True)
    assert titles(box, "shock", packs=("old",)) == []
    assert titles(box, "shock", classes=("treatment",)) == []


def test_branches_are_told(box: SearchBox) -> None:
    assert box.search(Wanted(text="septic")).hits[0].ranks == {"words": 1}
    assert box.search(Wanted(text="+septic")).hits[0].ranks == {"as typed": 1}
    assert box.search(Wanted(text="hyperkal")).hits[0].ranks == {"beginning of a word": 1}
    assert box.search(Wanted(text="heart attack")).names == ("myocardial infarction",)


def test_no_text_raises(box: SearchBox) -> None:
    rng = random.Random(7)
    letters = "abshock \":*+-()[]^~\\/AND OR NOT\x00{}<>|&!?肺ü\ud800'."
    for _ in range(1_500):
        text = "".join(rng.choices(letters, k=rng.randint(1, 40)))
        answer = box.search(Wanted(text=text))
        for hit in answer.hits:
            assert all(0 <= a < b <= len(hit.passage.text) for a, b in hit.spans)
