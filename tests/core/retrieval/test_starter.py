"""Starter files become values; a file of another form is refused with a sentence that names it."""

from __future__ import annotations

import pytest

from core.errors import UserError
from core.retrieval.knowledge import packaged as packaged_knowledge
from core.retrieval.sources import starter

CONCEPTS = """
[[concept]]
id = "WR:a"
name = "Raised potassium"
kind = "finding"
surfaces = ["high K"]
parents = ["WR:b"]
lab = ["potassium:high", "other:high"]

[[concept]]
id = "WR:b"
name = "Electrolyte disorder"
kind = "finding"
"""
CONDITION = """
slug = "x"
title = "X"
concept = "WR:b"
edition = 2026-11-30
[sections]
overview = '''
Text.
'''
[[clue]]
concept = "WR:a"
strength = "typical"
obtain = "laboratory"
citation = "s"
applies = {age_min = 18}
[[source]]
key = "s"
authors = "Doe J"
title = "T"
year = 2020
"""
SAFETY = """
[[rule]]
id = "r"
when = 'potassium >= 6.5'
flag = "f"
severity = "critical"
action = "a"
citation = "s"
"""


def test_files_become_values() -> None:
    content = starter.load({"x.toml": CONDITION, "concepts/c.toml": CONCEPTS, "safety.toml": SAFETY})
    (condition,) = content.conditions
    assert (condition.edition, condition.sections["overview"]) == ("2026-11-30", "Text.")
    assert condition.clues[0].applies.age_min == 18
    assert condition.sources[0].short == "Doe J 2020"
    assert [concept.id for concept in content.concepts] == ["WR:a", "WR:b"]
    assert content.rules[0].when == "potassium >= 6.5"


@pytest.mark.parametrize(
    "text",
    [
        "slug = ",  # not TOML
        CONDITION.replace("strength", "strenght"),  # a misspelt key must not lose a clue
        CONDITION.replace('"typical"', '"sometimes"'),
        CONCEPTS.replace('"finding"', '"finding"\ncolour = "red"'),
        "[[rules]]\nid = 'r'",
        SAFETY.replace("severity", "gravity"),
    ],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="bad.toml"):
        starter.load({"bad.toml": text})


def test_the_port_answers_from_the_shipped_files() -> None:
    knowledge = packaged_knowledge()
    assert len(knowledge.conditions) >= 12
    assert knowledge.concept("WR:nothing") is None
    assert knowledge.ancestors("WR:nothing") == {"WR:nothing"}
    assert {"WR:ibuprofen", "WR:nsaid"} <= knowledge.ancestors("WR:ibuprofen")
    assert "WR:raised-potassium" in knowledge.lab_concepts("potassium", "high")
    assert knowledge.lab_concepts("potassium", "critical") == ()
    rule = knowledge.rules[0]
    assert knowledge.source(rule.citation) is not None
    assert knowledge.source("no such key") is None


def test_annotate_gives_spans_in_order_inside_their_sentences() -> None:
    text = "Short of breath. No chest pain.\nMother had asthma."
    found = packaged_knowledge().annotate(text)
    assert [(text[a.mention.start : a.mention.end], a.polarity, a.who) for a in found] == [
        ("Short of breath", "present", "patient"),
        ("chest pain", "absent", "patient"),
        ("asthma", "present", "family"),
    ]
    assert all(a.sentence[0] <= a.mention.start < a.mention.end <= a.sentence[1] for a in found)
