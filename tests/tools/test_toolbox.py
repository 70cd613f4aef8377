"""The tools of knowledge and documents: golden calls, every refusal, limits, hostile arguments beside benign ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources

import msgspec
import pytest

from core import codec
from core.domain.action import CallTool, ToolResult
from core.domain.case import Case, Note
from core.domain.passage import Concept
from core.domain.task import AnswerSpec
from core.domain.terminology import Drug
from core.errors import ToolError
from core.retrieval.case_passages import CasePassages
from core.retrieval.dictionary import WordLists
from core.retrieval.guidelines import GuidelineRetriever
from core.retrieval.index import PassageIndex
from core.retrieval.sentences import split
from core.retrieval.sources.material import surfaces
from core.retrieval.terminology import InstalledTerminology
from core.runtime.registry import LONGEST_REFUSAL, Taken, ToolContext
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Relation, VocabularyConcept
from tests.helpers.shelf import doc, open_store, pack
from tools import TOOLS, knowledge
from tools.excerpt import excerpt, shares

NAMED = {tool.name: tool for tool in TOOLS}
LONG = " ".join(f"Sentence {n} tells of quarrin levels and of other things that follow it." for n in range(60))
LETTER = "Seen in clinic. The left knee is swollen.\fPage two. Brelomycin was stopped because of a rash on day four."
NOTES = (
    Note(id="n1", title="letter", text=LETTER, sha256="1" * 64, pages=(0, LETTER.index("Page"))),
    Note(id="n2", title="long", text=LONG, sha256="2" * 64),
)
CASE = Case(id="c1", title="Knee", revision=1, created_at="2026-01-02", items=NOTES)
EMPTY = msgspec.structs.replace(CASE, items=())


def concept(identifier: str, *names: str, **fields: object) -> VocabularyConcept:
    made = {"kind": "disease", "surfaces": surfaces((name, "exact") for name in names)} | fields
    return VocabularyConcept(id=identifier, name=names[0], **made)  # type: ignore[arg-type]


CONCEPTS = (
    concept("HP:1", "Ringing bone", relations=(Relation("is_a", "HP:2"),), definition="Bones ring.", def_source="HP"),
    concept("HP:2", "Noise of bones"),
    concept("F:1", "Brelomycin", "Brelox", kind="drug"),
    concept("F:2", "Soluval chloride", kind="drug"),
    concept("F:3", "Soluval acetate", kind="drug"),
    Drug(
        id="F:1", name="Brelomycin", indication="Ringing.", contraindication=LONG, dosage=("One a day.",), source="us"
    ),
    Drug(id="F:2", name="Soluval chloride"),
    Drug(id="F:3", name="Soluval acetate"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path_factory.mktemp("toolbox"))
    guides = [doc(f"g{n}", f"Topic {n} on the knee. {LONG}", title=f"Knee guide {n}") for n in range(6)]
    opened.put_pack(pack("guides", title="Guides", edition="2025"), guides, actor="me")
    articles = [doc(f"a{n}", f"Trial {n} of brelomycin. {LONG}", title=f"Trial {n}") for n in range(6)]
    opened.put_pack(pack("articles", kind="literature"), articles, actor="me")
    opened.put_pack(pack("words", kind="vocabulary", title="Words", edition="7"), CONCEPTS, actor="me")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def full(store: KnowledgeStore) -> ToolContext:
    folder = resources.files("core.retrieval").joinpath("resources")
    lists = WordLists(*((folder / f"{name}.toml").read_text("utf-8") for name in ("stopwords", "abbreviations")))
    starter = (Concept(id="WR:knee-swelling", name="swollen knee", kind="finding"),)
    index = PassageIndex(store._database.path.parent / "index", store)
    return ToolContext(
        case=CASE,
        shelves=GuidelineRetriever(store, index),
        terminology=InstalledTerminology(store, lists, starter=starter),
        documents=CasePassages(NOTES),
        answer=AnswerSpec(form="option", options=("gout", "septic arthritis")),
        steps=lambda: (Taken("Think", "OK"), Taken("Think", "OK")),
    )


def call(name: str, context: ToolContext, **arguments: object) -> ToolResult:
    return NAMED[name].bind(context).call(CallTool(tool=name, arguments=json.dumps(arguments)))


GOLDEN = [
    ("Plan", {"response": "look it up"}, "OK"),
    ("Think", {"response": "a knee"}, "OK. Use a tool or finish."),
    ("Finish", {"answer": "Septic  Arthritis", "evidence": [1, 2]}, "septic arthritis"),
    ("Finish", {"answer": "(A)"}, "gout"),
    ("Finish", {"response": "b"}, "septic arthritis"),
    ("GuidelineSearch", {"query": "knee topic 3", "k": 1}, "[1] Knee guide"),
    ("GuidelineSearch", {"query": "knee guide 3"}, "edition 2025)\nTopic 3 on the knee. "),
    ("GuidelineSearch", {"query": "sentence 41"}, "Sentence 41 tells"),
    ("GuidelineSearch", {"query": "knee", "k": 5}, "[5] "),
    ("GuidelineSearch", {"query": 'knee: 120/80 "a" *'}, "Knee guide"),
    ("Medrag", {"query": "brelomycin trial 4"}, "Document [0] (Title: Trial 4) "),
    ("Medrag", {"query": "brelomycin"}, "Document [4] (Title: "),
    ("Medrag", {"query": "quarrin"}, "quarrin levels"),
    ("Medrag", {"query": "trial 2"}, "Trial 2 of brelomycin."),
    ("Medrag", {"query": "brelomycins"}, "brelomycin"),
    ("DrugLookup", {"drug_name": "brelomycin"}, "Brelomycin (matched as Brelomycin, exact; us 7)"),
    ("DrugLookup", {"drug_name": "Brelox"}, "(matched as Brelox, synonym;"),
    ("DrugLookup", {"drug_name": "Brelomy"}, "prefix; check that this is the drug"),
    ("DrugLookup", {"drug_name": "brelomicin"}, "fuzzy; check that this is the drug"),
    ("DrugLookup", {"drug_name": "soluval chlor"}, "Soluval chloride (matched as Soluval chloride, prefix"),
    ("ConceptLookup", {"medical_terminology": "ringing bone"}, "Ringing bone [HP:1]\nDefinition: Bones ring. (HP)"),
    ("ConceptLookup", {"medical_terminology": "Ringing Bone"}, "Relations:\n(Ringing bone, is_a, Noise of bones)"),
    ("ConceptLookup", {"medical_terminology": "bones, noise"}, "[HP:2]\nDefinition: none\nRelations: none"),
    ("ConceptLookup", {"medical_terminology": "ringing bonne"}, "[HP:1]"),
    ("ConceptLookup", {"medical_terminology": "brelox"}, "Name: Brelomycin [F:1]"),
    ("EntityRecognizer", {"sentence": "A swollen knee, no ringing bones."}, "List: swollen knee, ringing bones"),
    ("EntityRecognizer", {"sentence": "Brelox, then brelox"}, "List: Brelox, brelox"),
    ("EntityRecognizer", {"sentence": "Brelox; Brelox"}, "Biomedical Entity List: Brelox"),
    ("EntityRecognizer", {"sentence": "nothing here"}, "Biomedical Entity List: none"),
    ("EntityRecognizer", {"sentence": "Ringing bone " * 1_500}, "Biomedical Entity List: Ringing bone"),
    ("LongDocRAG", {"path": "all", "query": "rash"}, "[1] letter, page 1"),
    ("LongDocRAG", {"path": "n1", "query": "why was brelomycin stopped"}, "because of a rash on day four."),
    ("LongDocRAG", {"path": "n2", "query": "sentence 33"}, "Sentence 33 tells"),
    ("LongDocRAG", {"path": "all", "query": "quarrin"}, "(n2)"),
    ("LongDocRAG", {"path": "n1", "query": "knees"}, "The left knee is swollen."),
]  # fmt: skip
LIMITS = {"Medrag": 2_048, "DrugLookup": 1_800}


@pytest.mark.parametrize(("name", "arguments", "words"), GOLDEN)
def test_golden_calls(full: ToolContext, name: str, arguments: dict[str, object], words: str) -> None:
    result = call(name, full, **arguments)
    assert words in result.text
    assert len(result.text) <= LIMITS.get(name, 2_400)
    assert call(name, full, **arguments) == result  # the same twice


@pytest.mark.parametrize(("query", "k"), [("knee", 5), ("sentence 50", 3)])
def test_passages_end_with_a_sentence_and_resolve(full: ToolContext, store: KnowledgeStore, query: str, k: int) -> None:
    result = call("GuidelineSearch", full, query=query, k=k)
    shown = json.loads(result.data)
    assert len(shown) == len(result.evidence) == k
    for part in result.text.split("\n\n"):
        head, text = part.split("\n", 1)
        assert text.endswith(".") and len(text) <= knowledge.PASSAGE
    for item in result.evidence:
        source = item.provenance
        passage = store.passage(source.reference)
        assert passage is not None and passage.text == item.text
        assert (passage.sha256, passage.start, passage.end) == (source.sha256, source.start, source.end)
        assert codec.sha256(item.text.encode()) == source.sha256
        assert "Guides, edition 2025" in source.label


def test_entries_resolve_to_pack_edition_and_recorded_hash(full: ToolContext, store: KnowledgeStore) -> None:
    recorded = {item.id: digest for digest, item in store.vocabulary.of_pack("words") if not isinstance(item, Drug)}
    drugs = {item.id: digest for digest, item in store.vocabulary.of_pack("words") if isinstance(item, Drug)}
    (told,) = call("ConceptLookup", full, medical_terminology="ringing bone").evidence
    assert (told.provenance.reference, told.provenance.sha256) == ("words:HP:1", recorded["HP:1"])
    assert told.provenance.label == "HP:1 (Words, edition 7)"
    (drug,) = call("DrugLookup", full, drug_name="brelox").evidence
    assert (drug.provenance.reference, drug.provenance.sha256) == ("words:F:1", drugs["F:1"])


def test_a_passage_of_the_case_resolves_to_its_span_and_page(full: ToolContext) -> None:
    result = call("LongDocRAG", full, path="n2", query="sentence 59")
    for item, part in zip(result.evidence, json.loads(result.data), strict=True):
        assert item.text == part["text"] == LONG[part["start"] : part["end"]]
        assert (item.provenance.reference, item.provenance.sha256) == ("n2", "2" * 64)
    assert len(result.evidence) >= 2 and result.evidence[0].text.endswith(
        "Sentence 59" + LONG.partition("Sentence 59")[2]
    )


def test_an_edition_that_is_over_is_marked(full: ToolContext) -> None:
    class Old:
        def __getattr__(self, name: str) -> object:
            return getattr(full.shelves, name)

        def remark(self, pack: str) -> str:
            return "This guideline edition (2025) expired on 2025-12-31."

    context = msgspec.structs.replace(full, shelves=Old())
    assert "(edition 2025; This guideline edition (2025) expired" in call("GuidelineSearch", context, query="knee").text


BARE = ToolContext(case=CASE)
HUGE = Note(id="n9", title="t", text="word " * 4_000_001, sha256="9" * 64)
REFUSED = [
    ("Plan", "full", {"response": " "}, "bad_args", "empty"),
    ("Think", "full", {"response": "a" * 2_001}, "bad_args", "longer than 2000"),
    ("Finish", "full", {"answer": "lupus"}, "bad_args", "none of the options: gout"),
    ("Finish", "full", {"answer": "gout", "evidence": [3]}, "bad_args", "no step 3; 2 steps"),
    ("Finish", "full", {}, "bad_args", "give the answer, once"),
    ("GuidelineSearch", "bare", {"query": "knee"}, "not_installed", "no guideline is installed"),
    ("GuidelineSearch", "full", {"query": "zzzz"}, "not_found", "other words"),
    ("GuidelineSearch", "full", {"query": "knee", "k": 6}, "bad_args", "<= 5"),
    ("Medrag", "bare", {"query": "knee"}, "not_installed", "no literature is installed"),
    ("Medrag", "full", {"query": "zzzz"}, "not_found", "other words"),
    ("DrugLookup", "bare", {"drug_name": "brelox"}, "not_installed", "no label"),
    ("DrugLookup", "full", {"drug_name": "soluval"}, "not_found", "near names: soluval acetate, soluval chloride"),
    ("DrugLookup", "full", {"drug_name": "paracetamol"}, "not_found", "near names"),
    ("ConceptLookup", "bare", {"medical_terminology": "bone"}, "not_installed", "no vocabulary"),
    ("ConceptLookup", "full", {"medical_terminology": "gravity"}, "not_found", "no vocabulary has this term"),
    ("EntityRecognizer", "bare", {"sentence": "a"}, "not_installed", "no vocabulary"),
    ("EntityRecognizer", "full", {"sentence": "a" * 20_001}, "too_large", "20000"),
    ("LongDocRAG", "empty", {"path": "all", "query": "knee"}, "no_input", "no documents"),
    ("LongDocRAG", "bare", {"path": "all", "query": "knee"}, "no_input", "cannot be searched"),
    ("LongDocRAG", "full", {"path": "all", "query": "zzzz"}, "not_found", "no word"),
    ("LongDocRAG", "huge", {"path": "all", "query": "word"}, "too_large", "20 million"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "where", "arguments", "code", "words"), REFUSED)
def test_every_refusal(
    full: ToolContext, name: str, where: str, arguments: dict[str, object], code: str, words: str
) -> None:
    contexts = {
        "full": full,
        "bare": BARE,
        "empty": msgspec.structs.replace(full, case=EMPTY),
        "huge": msgspec.structs.replace(full, case=msgspec.structs.replace(CASE, items=(HUGE,))),
    }
    assert _refused(name, contexts[where], arguments) == code
    with pytest.raises(ToolError, match=words):
        call(name, contexts[where], **arguments)


def _refused(name: str, context: ToolContext, arguments: dict[str, object]) -> str:
    try:
        call(name, context, **arguments)
    except ToolError as error:
        assert error.text.startswith(f"{name}: ") and len(error.text) <= LONGEST_REFUSAL
        return error.code
    return ""


BENIGN = [("path", "n1"), ("path", "all"), ("query", "rash?"), ("query", "a\tb\nrash"), ("query", "rash" + " x" * 126)]
HOSTILE = [
    ("path", "n7"), ("path", "../n1"), ("path", "/etc/passwd"), ("path", "file:///etc/passwd"), ("path", "n1\x00"),
    ("path", "C:\\notes"), ("path", "N1"), ("path", ""), ("query", "rash\x00"), ("query", "\x1b[2J"), ("query", " \n"),
    ("query", "x" * 10_000_000),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "code"), [(*b, "") for b in BENIGN] + [(*h, "bad_args") for h in HOSTILE])
def test_hostile_arguments(full: ToolContext, field: str, value: str, code: str) -> None:
    assert _refused("LongDocRAG", full, {"path": "n1", "query": "rash"} | {field: value}) == code


def test_no_tool_takes_a_field_that_it_does_not_know(full: ToolContext) -> None:
    for tool in ("Plan", "GuidelineSearch", "Medrag", "DrugLookup", "ConceptLookup", "EntityRecognizer", "LongDocRAG"):
        assert _refused(tool, full, {"url": "http://example.org"}) == "bad_args"


def test_the_index_of_a_case_holds_no_other_case() -> None:
    other = Note(id="x1", title="other", text="Quarrin is absent here.", sha256="3" * 64)
    assert [part.document for part in CasePassages((other,)).search("quarrin", (), 5)] == ["x1"]
    assert CasePassages(NOTES).search("absent", (), 5) == () == CasePassages(NOTES).search("quarrin", ("x1",), 5)


def test_excerpts_are_whole_sentences_with_the_words_asked_for() -> None:
    text = "One is first. Two is second. Three is third and the longest of them all."
    assert excerpt(text, "second", 20) == "… Two is second."
    assert excerpt(text, "", 30) == "One is first. Two is second."
    assert excerpt(text, "third", 20) == "One is first."  # the third does not fit
    assert excerpt("word " * 50, "word", 100).startswith("(no sentence")
    assert shares(("a b.", text), "", each=60, room=44) == ("a b.", "One is first. Two is second.")
    assert len(split(text)) == 3


def test_the_list_has_names_of_one_meaning_and_a_fixed_order() -> None:
    assert [tool.name for tool in TOOLS][:3] == ["Plan", "Think", "Finish"]
    names = [name for tool in TOOLS for name in {n.casefold() for n in (tool.name, tool.paper_name, *tool.aliases)}]
    assert len(names) == len(set(names))
    assert {t.paper_name for t in TOOLS} >= {"GoogleSearch", "Medrag", "DrugBank", "UMLS", "EntityRecognizor"}
