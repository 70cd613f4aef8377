"""Questions with options: the sets of MIRAGE (MedQA, MMLU, BioASQ, PubMedQA), and PubMedQA with its abstracts.

Xiong et al., MIRAGE (2024); Jin et al., PubMedQA (2019); forms: data.md 4.2 and 4.3. The conclusion of an abstract
(LONG_ANSWER) is the answer in words: it is not even read. It must not know which rows may be learnt from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from core.bench.loaders import upstream

MIRAGE = "bench/mirage/benchmark.json"
PUBMEDQA = "bench/pubmedqa/ori_pqal.json"
MirageSet = Literal["medqa", "mmlu", "bioasq", "pubmedqa"]
Decision = Literal["yes", "no", "maybe"]
DECISIONS: tuple[Decision, ...] = ("yes", "no", "maybe")
LETTERS = "ABC"  # of the decisions, in the form of MIRAGE


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """A letter and the text behind it."""

    letter: str
    text: str


class ChoiceRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its options in their order; `answer`, the right letter, is gold."""

    id: str
    question: str
    options: tuple[Option, ...]
    answer: str


class PubMedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question that is the title of an article, and the parts of its abstract but for the conclusion.

    `labels` name the parts; `year` is "" where it is not stated. Gold is `decision`; `reasoning_required` and
    `reasoning_free` are what two annotators decided, one without and one with the conclusion before them.
    """

    id: str
    question: str
    contexts: tuple[str, ...]
    labels: tuple[str, ...]
    meshes: tuple[str, ...]
    year: str
    reasoning_required: Decision
    reasoning_free: Decision
    decision: Decision


class _Question(msgspec.Struct):
    question: str
    options: dict[str, str]
    answer: str


class _Article(msgspec.Struct):
    question: str = msgspec.field(name="QUESTION")
    contexts: tuple[str, ...] = msgspec.field(name="CONTEXTS")
    labels: tuple[str, ...] = msgspec.field(name="LABELS")
    meshes: tuple[str, ...] = msgspec.field(name="MESHES")
    reasoning_required_pred: Decision
    reasoning_free_pred: Decision
    final_decision: Decision
    year: str | None = msgspec.field(name="YEAR", default=None)


def load_mirage(folder: Path, name: MirageSet) -> tuple[ChoiceRow, ...]:
    """Every row of one set of MIRAGE, in the order of the file.

    Raises:
        UserError: the file is missing or not of its form, or has no such set.
    """
    sets: dict[str, msgspec.Raw] = upstream.json(upstream.read(folder, MIRAGE), dict[str, msgspec.Raw], file=MIRAGE)
    if name not in sets:
        raise upstream.broken(MIRAGE, f"it has no set {name}")
    found: dict[str, _Question] = upstream.json(bytes(sets[name]), dict[str, _Question], file=MIRAGE)
    return tuple(_choice(key, question) for key, question in found.items())


def _choice(key: str, found: _Question) -> ChoiceRow:
    if found.answer not in found.options:
        raise upstream.broken(MIRAGE, f"the answer of {key} is none of its options")
    options = tuple(Option(letter=letter, text=text) for letter, text in found.options.items())
    return ChoiceRow(id=key, question=found.question, options=options, answer=found.answer)


def load_pubmedqa(folder: Path) -> tuple[PubMedRow, ...]:
    """Every labelled question of PubMedQA, in the order of the file. Raises as `load_mirage`."""
    found: dict[str, _Article] = upstream.json(upstream.read(folder, PUBMEDQA), dict[str, _Article], file=PUBMEDQA)
    return tuple(
        PubMedRow(
            id=key,
            question=one.question,
            contexts=one.contexts,
            labels=one.labels,
            meshes=one.meshes,
            year=one.year or "",
            reasoning_required=one.reasoning_required_pred,
            reasoning_free=one.reasoning_free_pred,
            decision=one.final_decision,
        )
        for key, one in found.items()
    )


def as_choice(row: PubMedRow) -> ChoiceRow:
    """The form that MIRAGE gives to PubMedQA: the question alone, A yes, B no, C maybe."""
    options = tuple(Option(letter=letter, text=text) for letter, text in zip(LETTERS, DECISIONS, strict=True))
    return ChoiceRow(id=row.id, question=row.question, options=options, answer=LETTERS[DECISIONS.index(row.decision)])


def asked(row: ChoiceRow) -> str:
    """What is asked: the stem, then a line an option, `A. text`."""
    return "\n".join((row.question, *(f"{option.letter}. {option.text}" for option in row.options)))


def asked_with_contexts(row: PubMedRow) -> str:
    """The task `pubmedqa_ctx`: the parts of the abstract parted by blank lines, without labels, then what is asked."""
    return "\n\n".join((*row.contexts, asked(as_choice(row))))
