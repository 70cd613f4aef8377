"""Unsupported sentences are struck, supported ones stay: on material written by another person than the checker's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from core.domain.evidence import Evidence, Provenance
from core.retrieval.knowledge import StarterKnowledge, packaged
from core.runtime import citation

SUMMARIES = tomllib.loads((Path(__file__).parents[2] / "data" / "summaries.toml").read_text("utf-8"))
PLACE = Provenance(kind="document", reference="n1", sha256="0" * 64, label="note")
EVIDENCE = {row["id"]: Evidence(id=row["id"], text=row["text"], provenance=PLACE) for row in SUMMARIES["evidence"]}


@pytest.fixture(scope="module")
def knowledge() -> StarterKnowledge:
    return packaged()


@pytest.mark.parametrize("row", SUMMARIES["supported"], ids=lambda row: row["sentence"][:40])
def test_a_supported_sentence_stays(row: dict[str, object], knowledge: StarterKnowledge) -> None:
    checked = citation.check(str(row["sentence"]), row["cites"], EVIDENCE, knowledge)  # type: ignore[arg-type]
    assert not checked.struck, checked.reason


@pytest.mark.parametrize("row", SUMMARIES["unsupported"], ids=lambda row: row["sentence"][:40])
def test_an_unsupported_sentence_is_struck(row: dict[str, object], knowledge: StarterKnowledge) -> None:
    checked = citation.check(str(row["sentence"]), row["cites"], EVIDENCE, knowledge)  # type: ignore[arg-type]
    assert checked.struck, row["reason"]
    assert checked.reason.startswith("No evidence found for this statement: ")


@pytest.mark.parametrize(
    ("sentence", "cites", "word"),
    [
        ("The potassium is 6.8 mmol/L.", ("e1",), "6.8"),
        ("Creatinine has risen to 214 mg/dL.", ("e2",), "mg/dL"),
        ("There is peripheral oedema.", ("e4",), "otherwise"),
        ("The potassium is 6.2 mmol/L.", ("e9",), "e9"),
        ("The potassium is 6.2 mmol/L.", (), "cites nothing"),
    ],
)
def test_the_reason_names_what_is_wrong(
    sentence: str, cites: tuple[str, ...], word: str, knowledge: StarterKnowledge
) -> None:
    assert word in citation.check(sentence, cites, EVIDENCE, knowledge).reason


def test_ids_are_taken_out_of_the_text() -> None:
    assert citation.split_cites("Potassium is 6.2 mmol/L [e1] [e2, e3].") == (
        "Potassium is 6.2 mmol/L.",
        ("e1", "e2", "e3"),
    )
