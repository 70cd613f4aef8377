"""Does the cited evidence carry a sentence? Checked by code, never by the model that wrote it (direct.md section 5).

All numbers with their units, all concepts with their polarity, and all content words of the sentence must be found in
the evidence it cites; else it is struck, and shown struck. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.domain import units
from core.domain.assessment import Sentence
from core.domain.evidence import Evidence
from core.domain.notices import notice
from core.domain.passage import Mention
from core.domain.ports import Knowledge

_ID = re.compile(r"\s*\[(e\d+(?:\s*,\s*e\d+)*)\]")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)?(?![\w.]*\d)")
_UNIT = re.compile(r"\s?([^\s,;()]{1,14})")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")
_NEGATION = re.compile(r"\b(no|not|without|denies|denied|absent|neither|nor|never|negative)\b", re.I)
_CHANGE = re.compile(
    r"\b(rise|rises|risen|rising|rose|fell|falls?|fallen|falling)\b.*?\bfrom (\d+(?:\.\d+)?)\D.*?\bto (\d+(?:\.\d+)?)"
)
_STEM = 5
_GLUE = frozenset(
    """
    about absent above after also another appears because been before being below both clearly current currently denies
    down during each fell finding findings from given gives have having higher into known level levels lower lowered
    measured neither negative nothing noted only other over patient patients present raised recorded remains reported
    rise risen rising said same seen shown shows since some still such suggests taken takes taking than that their there
    these they this those today under value values were when where which while with without
    """.split()  # noqa: SIM905 - a word list reads better as words
)


def split_cites(text: str) -> tuple[str, tuple[str, ...]]:
    """A written sentence without its bracketed ids, and the ids."""
    ids = [part.strip() for match in _ID.finditer(text) for part in match.group(1).split(",")]
    return " ".join(_ID.sub("", text).split()), tuple(dict.fromkeys(ids))


def check(text: str, cites: Sequence[str], evidence: Mapping[str, Evidence], knowledge: Knowledge) -> Sentence:
    """The sentence, struck with its reason when the cited evidence does not carry it."""
    reason = _fault(text, cites, evidence, knowledge)
    if reason:
        return Sentence(text=text, evidence=tuple(cites), struck=True, reason=f"{notice('N17')}: {reason}")
    return Sentence(text=text, evidence=tuple(cites))


def resolve(sentence: Sentence, evidence: Mapping[str, Evidence]) -> Sentence:
    """A sentence of our own templates: struck if an id is unknown or there is none."""
    unknown = [cited for cited in sentence.evidence if cited not in evidence]
    if sentence.evidence and not unknown:
        return sentence
    reason = f"{notice('N17')}: " + (f"unknown evidence {unknown[0]}" if unknown else "cites nothing")
    return Sentence(text=sentence.text, evidence=sentence.evidence, struck=True, reason=reason)


def _fault(text: str, cites: Sequence[str], evidence: Mapping[str, Evidence], knowledge: Knowledge) -> str:
    unknown = [cited for cited in cites if cited not in evidence]
    if not cites or unknown:
        return f"unknown evidence {unknown[0]}" if unknown else "cites nothing"
    carried = " ".join(evidence[cited].text for cited in cites)
    return (
        _foreign_number(text, carried)
        or _foreign_concept(text, carried, knowledge)
        or _flipped_negation(text, carried)
        or _foreign_word(text, carried)
    )


def _foreign_number(text: str, carried: str) -> str:
    known = _numbers(carried)
    for value, unit in sorted(_numbers(text)):
        matching = {other for number, other in known if number == value}
        if not matching:
            return f"the number {value:g} is not in the evidence"
        if unit and unit not in matching:
            return f"{value:g} {unit} is not in the evidence"
    return ""


def _numbers(text: str) -> set[tuple[float, str]]:
    """Numbers with the unit that follows, by its canonical name; empty where none follows."""
    found = set()
    for match in _NUMBER.finditer(text):
        after = _UNIT.match(text, match.end())
        unit = units.find_unit(after.group(1).rstrip(".")) if after else None
        found.add((float(match.group().replace(",", ".")), str(unit) if unit else ""))
    return found


def _foreign_concept(text: str, carried: str, knowledge: Knowledge) -> str:
    """Every concept of the sentence must be in the evidence (itself or something more specific), equally denied."""
    known = [
        (knowledge.ancestors(annotated.mention.concept), annotated.polarity)
        for annotated in knowledge.annotate(carried)
    ]
    for annotated in knowledge.annotate(text):
        concept = annotated.mention.concept
        polarities = {polarity for ancestors, polarity in known if concept in ancestors}
        if annotated.polarity not in polarities and not _change_shown(text, annotated.mention):
            entry = knowledge.concept(concept)
            name = entry.name if entry else concept
            return f"the evidence says otherwise about {name}" if polarities else f"{name} is not in the evidence"
    return ""


def _change_shown(text: str, mention: Mention) -> bool:
    """Is the concept a rise or fall ("creatinine has risen from 96 to 214") that the sentence's own numbers show?"""
    change = _CHANGE.search(text)
    if change is None or not mention.start <= change.start(1) < mention.end:
        return False
    before, after = float(change.group(2)), float(change.group(3))
    return after > before if change.group(1).startswith(("ris", "rose")) else after < before


def _flipped_negation(text: str, carried: str) -> str:
    if _NEGATION.search(text) and not _NEGATION.search(carried):
        return "the evidence denies nothing"
    return ""


def _foreign_word(text: str, carried: str) -> str:
    """Content words by their first letters; wording of our own ("patient", "shows") needs no evidence."""
    stems = {word[:_STEM] for word in map(str.lower, _WORD.findall(carried))}
    for word in _WORD.findall(text):
        if word.lower() not in _GLUE and word.lower()[:_STEM] not in stems:
            return f"“{word}” is not in the evidence"
    return ""
