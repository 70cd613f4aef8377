"""How well the search finds: question sets built by rule from MedQuAD, and people's questions (knowledge.md section 7).

Set A: questions as asked, gold = own answer. A2: the name of the disease replaced by a synonym that shares no stem with
it. B: questions of our own, gold = the right starter document. Neither the question nor the focus of an answer is
indexed: it must be found by what it says. Everything is handed in; must not know profiles or packs.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.etree.ElementTree import Element

import msgspec

from core import codec
from core.domain.passage import Concept, Hit
from core.domain.ports import Embedder, Found, Query
from core.errors import UserError
from core.readers import archive, xml
from core.retrieval import catalogue
from core.retrieval.analysis import Terms, for_stem, stem_analyzer, terms
from core.retrieval.chunk import cut
from core.retrieval.dense import OnTexts, VectorIndex
from core.retrieval.hybrid import Dense, HybridSearch
from core.retrieval.index import BRANCH, PassageIndex
from core.retrieval.query import ANY, Filters
from core.retrieval.sources.medquad import ROOTS
from core.retrieval.synonyms import Synonyms, expand
from core.store.database import open_database
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Pack, Section
from core.store.migrations import knowledge

MEDQUAD = Path("knowledge") / "medquad.zip"
CORPUS, QUESTIONS = 5_000, 250
KINDS = ("information", "symptoms", "causes", "treatment", "exams and tests")
BEST, FIRST = 10, 5
LIMITS = archive.Limits(member_bytes=8 << 20)
PACK = "answers"
System = Callable[[str], Sequence[str]]  # a question -> keys of documents, best first


class Answer(NamedTuple):
    """One answer of MedQuAD; `key` is its place in the files, because question numbers repeat between folders."""

    key: str
    qid: str
    kind: str
    focus: str
    synonyms: tuple[str, ...]
    question: str
    text: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question with the key of the document that answers it."""

    id: str
    question: str
    doc: str


class Sets(NamedTuple):
    """The corpus with its two sets of questions."""

    corpus: tuple[Answer, ...]
    asked: tuple[Question, ...]
    renamed: tuple[Question, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How one system did on one set: n questions, nDCG@10 and recall at 5 of their one right document."""

    set: str
    system: str
    n: int
    ndcg: float
    recall: float


class _File(msgspec.Struct, frozen=True):
    question: tuple[Question, ...]


# ------------------------------------------------------------------------------------------------ reading the sets


def read_answers(stream: BinaryIO) -> tuple[Answer, ...]:
    """Every answer with a text, in the order of the archive.

    Raises:
        UserError: it is no archive of MedQuAD.
    """
    found: list[Answer] = []
    wanted = archive.contents(stream, name=MEDQUAD.name, limits=LIMITS, wanted=lambda name: name.endswith(".xml"))
    for content in wanted:
        if isinstance(content, archive.Refusal):
            raise UserError(f"{MEDQUAD.name} cannot be read: {content.name}.", code="bench_data")
        folder = content.name.split("/")[-2] if "/" in content.name else ""
        for root in xml.records(io.BytesIO(content.data), *ROOTS):
            found += _answers(root, folder, len(found))
    if not found:
        raise UserError(f"{MEDQUAD.name} holds no answer.", code="bench_data")
    return tuple(found)


def _answers(root: Element, folder: str, before: int) -> Iterator[Answer]:
    focus = _flat(root.findtext("Focus"))
    synonyms = tuple(_flat(element.text) for element in root.iterfind("FocusAnnotations/Synonyms/Synonym"))
    number = before
    for pair in root.iterfind("QAPairs/QAPair"):
        question, text = pair.find("Question"), _flat(pair.findtext("Answer"))
        if question is not None and text:
            qid, kind = question.get("qid", ""), question.get("qtype", "")
            yield Answer(f"{folder}/{qid}/{number}", qid, kind, focus, synonyms, _flat(question.text), text)
            number += 1


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


def read_questions(text: str) -> tuple[Question, ...]:
    """Set B from TOML: `[[question]]` with id, question, doc (the slug of a starter document).

    Raises:
        UserError: it is not of that form, or an id occurs twice.
    """
    try:
        found = msgspec.convert(tomllib.loads(text), _File).question
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"The file of questions is not usable: {error}", code="bench_questions") from error
    if len({question.id for question in found}) != len(found):
        raise UserError("The file of questions gives one id to two questions.", code="bench_questions")
    return found


def choose(answers: Sequence[Answer], *, corpus: int = CORPUS, questions: int = QUESTIONS) -> Sets:
    """The sets by rule: of each kind of question those of the lowest sha256 of "A" + qid; the corpus is filled up with
    the answers of the lowest sha256 of qid, the gold ones always in."""
    each = questions // len(KINDS)
    asked, renamed = [], []
    for kind in KINDS:
        own = sorted((a for a in answers if a.kind == kind), key=lambda a: (_sha256("A" + a.qid), a.key))
        asked += [Question(id=a.qid, question=a.question, doc=a.key) for a in own[:each]]
        others = (Question(id=a.qid, question=text, doc=a.key) for a in own if (text := rename(a)))
        renamed += [question for question, _ in zip(others, range(each), strict=False)]
    gold = {question.doc for question in (*asked, *renamed)}
    order = sorted(answers, key=lambda a: (a.key not in gold, _sha256(a.qid), a.key))
    return Sets(tuple(order[: max(corpus, len(gold))]), tuple(asked), tuple(renamed))


def rename(answer: Answer) -> str:
    """The question with the focus replaced by its first synonym that shares no stem with it; "" if there is none."""
    stems = _stems(answer.focus)
    other = next((name for name in answer.synonyms if (own := _stems(name)) and not own & stems), "")
    if not other or not answer.focus or answer.focus.casefold() not in answer.question.casefold():
        return ""
    return re.sub(re.escape(answer.focus), lambda _: other, answer.question, flags=re.IGNORECASE)


def _stems(text: str) -> set[str]:
    return set(stem_analyzer().analyze(for_stem(text)))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def concepts_of(answers: Iterable[Answer]) -> tuple[Concept, ...]:
    """The dictionary: every focus with its synonyms."""
    names: dict[str, dict[str, None]] = {}
    for answer in answers:
        if answer.focus:
            names.setdefault(answer.focus, {}).update(dict.fromkeys(answer.synonyms))
    return tuple(Concept(id=focus, name=focus, kind="disease", surfaces=tuple(own)) for focus, own in names.items())


# --------------------------------------------------------------------------------------------------- judging


def judge(name: str, system: str, questions: Sequence[Question], find: System) -> Outcome:
    """nDCG@10 and R@5 of one system: with one right document, 1 / log2(rank + 1)."""
    ranks = [_rank(find(question.question), question.doc) for question in questions]
    gains = [1 / math.log2(rank + 1) if 0 < rank <= BEST else 0.0 for rank in ranks]
    hits = sum(1 for rank in ranks if 0 < rank <= FIRST)
    n = max(len(questions), 1)
    return Outcome(
        set=name, system=system, n=len(questions), ndcg=round(math.fsum(gains) / n, 4), recall=round(hits / n, 4)
    )


def _rank(found: Sequence[str], wanted: str) -> int:
    """From 1; 0 = not found."""
    return found.index(wanted) + 1 if wanted in found else 0


class Library:
    """The corpus in a store with its index and vectors, and the systems that search it. Close it in its thread."""

    def __init__(self, folder: Path, sets: Sets, embedder: Embedder | None, on_texts: OnTexts) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = KnowledgeStore(open_database(folder / "knowledge.db", knowledge))
        self.store.put_pack(_pack(sets.corpus), (_doc(answer) for answer in sets.corpus), actor="bench")
        self.index = PassageIndex(folder / "index", self.store)
        self.index.reconcile()
        self._dense: Dense | None = None
        if embedder is not None:
            vectors = VectorIndex(folder / "vectors", self.store, self.index, model=embedder.info, windows="first")
            vectors.build(embedder, on_texts=on_texts)
            self._dense = Dense(embedder, vectors)
        entries = self.store.chunk_entries(self.store.doc_ids())
        self._docs = {entry.cid: entry.doc.removeprefix(f"{PACK}:") for entry in entries}

    def close(self) -> None:
        self.store.close()

    def systems(self, synonyms: Synonyms) -> dict[str, System]:
        """Every way to search, by name."""
        found: dict[str, System] = {
            "BM25, no query weight": partial(self._words, weigh=_once),
            "BM25": partial(self._words, weigh=terms),
            "BM25 with synonyms": partial(self._words, weigh=lambda text: expand(terms(text), synonyms.names(text))),
        }
        if self._dense is not None:
            dense = self._dense
            plain = HybridSearch(self.index, dense=lambda: dense)
            full = HybridSearch(self.index, dense=lambda: dense, synonyms=synonyms)
            found["vectors"] = partial(self._vectors, dense)
            found["hybrid"] = partial(self._hybrid, plain)
            found["hybrid with synonyms"] = partial(self._hybrid, full)
        return found

    def _words(self, text: str, *, weigh: Callable[[str], Terms]) -> list[str]:
        return self._keys(self.index.search(weigh(text), ANY))

    def _vectors(self, dense: Dense, text: str) -> list[str]:
        ranked = dense.vectors.search(dense.embedder.embed(text), (PACK,), k=BRANCH)
        return list(dict.fromkeys(self._docs[entry.number] for entry in ranked))

    def _hybrid(self, search: HybridSearch, text: str) -> list[str]:
        hits, _ = search.search(search.ask(Query(text=text)), Filters(packs=(PACK,)))
        return self._keys(hits)

    def _keys(self, hits: Iterable[Hit]) -> list[str]:
        return list(dict.fromkeys(self._docs[hit.cid] for hit in hits))


def _once(text: str) -> Terms:
    """The terms of a text, each as if it occurred once: no weight on the query's side."""
    found = terms(text)
    return Terms(tuple((term, 1) for term, _ in found.stem), tuple((term, 1) for term, _ in found.exact))


def _doc(answer: Answer) -> Doc:
    section = Section(path="", section_class="other", text=answer.text, spans=cut(answer.text))
    return Doc(source_key=answer.key, title="", sections=(section,))


def _pack(corpus: Sequence[Answer]) -> Pack:
    return Pack(
        id=PACK,
        title="Answers of MedQuAD",
        kind="literature",
        edition=codec.digest([answer.key for answer in corpus])[:16],
        publisher="National Institutes of Health",
        licence_id="CC-BY-4.0",
        importer="bench",
        importer_version="1",
        files=(),
        state="active",
    )


# ------------------------------------------------------------------------------------------------ the evaluation


def evaluate_answers(
    answers: Sequence[Answer], sets: Sets, folder: Path, *, embedder: Embedder | None, on_texts: OnTexts
) -> tuple[Outcome, ...]:
    """Every system on A and A2. `folder` keeps corpus, index and vectors between two evaluations."""
    library = Library(folder, sets, embedder, on_texts)
    try:
        systems = library.systems(Synonyms(concepts_of(answers)))
        return tuple(
            judge(name, system, questions, find)
            for name, questions in (("A", sets.asked), ("A2", sets.renamed))
            for system, find in systems.items()
        )
    finally:
        library.close()


def evaluate_starter(
    questions: Sequence[Question], folder: Path, *, embedder: Embedder | None, on_texts: OnTexts
) -> tuple[Outcome, ...]:
    """Set B through the very search of a run: by words alone, and with vectors."""
    opened: list[tuple[str, catalogue.OpenDense | None]] = [("two stages, words alone", None)]
    if embedder is not None:
        opened.append(("two stages, hybrid", partial(_starter_dense, folder / "vectors", embedder, on_texts)))
    outcomes = []
    for system, dense in opened:
        store, _, retriever, _ = catalogue.open_knowledge(folder / "profile", folder / "cache", "bench", dense=dense)
        try:
            outcomes.append(judge("B", system, questions, partial(_slugs, retriever.search)))
        finally:
            store.close()
    return tuple(outcomes)


def _starter_dense(
    folder: Path, embedder: Embedder, on_texts: OnTexts, store: KnowledgeStore, index: PassageIndex
) -> Dense:
    vectors = VectorIndex(folder, store, index, model=embedder.info)
    vectors.build(embedder, on_texts=on_texts)
    return Dense(embedder, vectors)


def _slugs(search: Callable[[Query], Found], text: str) -> list[str]:
    found = search(Query(text=text, k=3 * BEST))
    return list(dict.fromkeys(passage.doc.partition(":")[2] for passage in found.passages))
