"""The evaluation of the search: sets by rule on a small archive, gains by hand, and a part of the real answers."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path

import packs
import pytest

from core.bench import retrieval
from core.bench.retrieval import Answer, Question, choose, judge, read_answers, read_questions, rename
from core.errors import UserError
from core.retrieval.sources.starter import packaged
from models.embed import open_embedder
from models.scripted import HashEmbedder

ROOT = Path(__file__).resolve().parents[3]
CONSUMER = ROOT / "tests" / "data" / "consumer_questions.toml"
TOPICS = {
    "Glaucoma": (("raised eye pressure disease",), "The pressure in the eye harms the nerve."),
    "Gout": (("crystal arthritis", "podagra"), "Crystals of uric acid swell a joint."),
    "Zona": (("shingles",), "A rash in a band, with burning pain."),
}


def archive_of(topics: dict[str, tuple[tuple[str, ...], str]]) -> io.BytesIO:
    """A MedQuAD in small: for each topic a file with a question of each kind, and one without an answer."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for n, (focus, (synonyms, text)) in enumerate(topics.items()):
            pairs = "".join(
                f'<QAPair><Question qid="{n}-{m}" qtype="{kind}">What of {kind} in {focus}?</Question>'
                f"<Answer>{text}   Of   {kind}.</Answer></QAPair>"
                for m, kind in enumerate(retrieval.KINDS)
            )
            empty = '<QAPair><Question qid="9-9" qtype="causes">What?</Question><Answer> </Answer></QAPair>'
            names = "".join(f"<Synonym>{name}</Synonym>" for name in synonyms)
            archive.writestr(
                f"MedQuAD/F/{n}.xml",
                f'<Document id="{n}"><Focus>{focus}</Focus><FocusAnnotations><Synonyms>{names}</Synonyms>'
                f"</FocusAnnotations><QAPairs>{pairs}{empty}</QAPairs></Document>",
            )
    data.seek(0)
    return data


def answer(focus: str, question: str, *synonyms: str) -> Answer:
    return Answer("F/1/0", "1", "causes", focus, synonyms, question, "Text.")


def test_answers_are_read_with_their_places() -> None:
    found = read_answers(archive_of(TOPICS))
    assert len(found) == 15
    assert found[0] == Answer(
        "F/0-0/0", "0-0", "information", "Glaucoma", ("raised eye pressure disease",),
        "What of information in Glaucoma?", "The pressure in the eye harms the nerve. Of information.",
    )  # fmt: skip
    assert len({one.key for one in found}) == 15


@pytest.mark.parametrize("data", [b"no archive", b""])
def test_what_is_no_archive_is_said(data: bytes) -> None:
    with pytest.raises(UserError):
        read_answers(io.BytesIO(data))


def test_a_renamed_question_shares_no_stem_with_the_focus() -> None:
    assert rename(answer("Gout", "What causes GOUT ?", "gouty joints", "acute gout", "podagra")) == (
        "What causes gouty joints ?"
    )
    assert rename(answer("Joint pain", "Causes of joint pain?", "painful joints", "arthralgia")) == (
        "Causes of arthralgia?"
    )
    assert rename(answer("Gout", "What causes it?", "podagra")) == ""  # the focus is not in the question
    assert rename(answer("Gout", "What causes gout?", "acute gout")) == ""
    assert rename(answer("C++", "What is C++ ?", r"\g<0> plus")) == r"What is \g<0> plus ?"


def test_the_sets_hold_every_kind_and_all_gold() -> None:
    answers = read_answers(archive_of(TOPICS))
    sets = choose(answers, corpus=7, questions=5)
    assert len(sets.asked) == len(sets.renamed) == 5
    gold = {question.doc for question in (*sets.asked, *sets.renamed)}
    corpus = [one.key for one in sets.corpus]
    assert gold <= set(corpus) and len(corpus) == max(7, len(gold))
    assert len({one.kind for one in answers if one.key in {q.doc for q in sets.asked}}) == 5
    assert choose(answers, corpus=7, questions=5) == sets
    assert choose(tuple(reversed(answers)), corpus=7, questions=5) == sets  # by rule, not by order


def test_gains_by_hand() -> None:
    questions = [Question(id=str(n), question=f"q{n}", doc="gold") for n in range(4)]
    found = {"q0": ["gold"], "q1": ["a", "gold"], "q2": [*"abcdefghi", "gold"], "q3": [*"abcdefghij", "gold"]}
    outcome = judge("A", "x", questions, found.__getitem__)
    assert outcome.ndcg == pytest.approx((1 + 1 / math.log2(3) + 1 / math.log2(11)) / 4, abs=1e-4)
    assert (outcome.recall, outcome.n) == (0.5, 4)
    assert judge("A", "x", [], found.__getitem__).ndcg == 0.0


THREE = """
[[question]]
id = "t1"
question = "My big toe is red and hurts at night"
doc = "gout"
[[question]]
id = "t2"
question = "What are haloes around lights?"
doc = "acute-angle-closure"
"""


def test_questions_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(THREE, encoding="utf-8")
    found = read_questions((tmp_path / "q.toml").read_text("utf-8"))
    assert [question.doc for question in found] == ["gout", "acute-angle-closure"]
    assert found[0] == Question(id="t1", question="My big toe is red and hurts at night", doc="gout")


@pytest.mark.parametrize("text", ["[[question]", '[[question]]\nid = "a"', THREE + THREE, "question = 3"])
def test_a_file_of_another_form_is_said(text: str) -> None:
    with pytest.raises(UserError):
        read_questions(text)


def test_every_way_to_search_is_judged_on_the_small_archive(tmp_path: Path) -> None:
    answers = read_answers(archive_of(TOPICS))
    sets = choose(answers, corpus=15, questions=15)
    heard: list[tuple[int, int]] = []

    def evaluate() -> tuple[retrieval.Outcome, ...]:
        return retrieval.evaluate_answers(
            answers, sets, tmp_path, embedder=HashEmbedder(), on_texts=lambda *at: heard.append(at)
        )

    outcomes = evaluate()
    assert {outcome.set for outcome in outcomes} == {"A", "A2"}
    by_name = {(outcome.set, outcome.system): outcome for outcome in outcomes}
    assert {outcome.n for outcome in outcomes} == {15}
    assert len(by_name) == 12
    words, named = by_name["A2", "BM25"], by_name["A2", "BM25 with synonyms"]
    assert named.ndcg >= words.ndcg
    assert heard[-1] == (15, 15)
    assert evaluate() == outcomes  # the folder is used again
    assert heard.count((15, 15)) == 1


def test_without_an_embedder_the_ways_by_words_are_judged(tmp_path: Path) -> None:
    answers = read_answers(archive_of(TOPICS))
    sets = choose(answers, corpus=15, questions=5)
    outcomes = retrieval.evaluate_answers(answers, sets, tmp_path, embedder=None, on_texts=lambda *_: None)
    assert {outcome.system for outcome in outcomes} == {"BM25, no query weight", "BM25", "BM25 with synonyms"}


@pytest.mark.data
def test_words_and_synonyms_on_a_part_of_the_real_answers(data: Path, tmp_path: Path) -> None:
    """1,500 of the 5,000 answers, 250 questions a set; the full figures come from `wardround knowledge eval`."""
    with (data / retrieval.MEDQUAD).open("rb") as stream:
        answers = read_answers(stream)
    assert len(answers) == 16_407
    sets = choose(answers, corpus=1_500)
    assert (len(sets.asked), len(sets.renamed), len(sets.corpus)) == (250, 250, 1_500)
    outcomes = retrieval.evaluate_answers(answers, sets, tmp_path, embedder=None, on_texts=lambda *_: None)
    found = {(outcome.set, outcome.system): outcome.ndcg for outcome in outcomes}
    assert found["A", "BM25"] >= 0.75
    assert found["A2", "BM25 with synonyms"] >= 0.40
    assert found["A2", "BM25"] <= 0.35
    assert found["A", "BM25, no query weight"] <= found["A", "BM25"] + 0.005


def test_peoples_questions_are_sixty() -> None:
    questions = read_questions(CONSUMER.read_text("utf-8"))
    assert len(questions) == 60
    assert len({question.question for question in questions}) == 60


@pytest.mark.data
@pytest.mark.slow
def test_peoples_questions_find_their_document(data: Path, tmp_path: Path) -> None:
    """Through both stages, words and vectors, among all conditions of the starter set."""
    packs.install(packs.MINILM, tmp_path, given=[data / "embedder" / packs.MINILM.archives[0].path])
    known = {condition.slug for condition in packaged().conditions}
    questions = [q for q in read_questions(CONSUMER.read_text("utf-8")) if q.doc in known]
    embedder = open_embedder("all-MiniLM-L6-v2-int8", packs=tmp_path)
    words, hybrid = retrieval.evaluate_starter(questions, tmp_path / "set", embedder=embedder, on_texts=lambda *_: None)
    embedder.close()
    assert len(questions) == 60
    assert hybrid.recall >= 0.80
    assert hybrid.ndcg >= words.ndcg
