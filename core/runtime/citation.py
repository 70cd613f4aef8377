"""Does the cited evidence carry a sentence? Checked by code, never by the model that wrote it (direct.md section 5).

Every number with its unit and name, every direction, every concept and every content word of the sentence, each with
its polarity, time and subject, must be found in the evidence it cites; else it is struck, and shown struck. A number
or direction must be found with its surroundings within one cited item. When in doubt, it is struck. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from core.domain.assessment import Sentence
from core.domain.evidence import Evidence
from core.domain.notices import notice
from core.domain.passage import Mention
from core.domain.ports import Annotated, Knowledge
from core.runtime import claims
from core.runtime.claim_words import QUALIFYING
from core.runtime.claims import Claim, Context

_QUALIFYING = frozenset(map(claims.stem, QUALIFYING))
_ID = re.compile(r"\s*\[(e\d+(?:\s*,\s*e\d+)*)\]")


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
    text = claims.prose(text)
    mentions = knowledge.annotate(text)
    said = claims.read(text, mentions)
    if not said:
        return "the sentence says nothing"
    cited = [claims.prose(evidence[identifier].text) for identifier in cites]
    known = [knowledge.annotate(item) for item in cited]
    items = [claims.read(item, found) for item, found in zip(cited, known, strict=True)]
    return (
        _first(_foreign_value(claim, items) for claim in said if claim.token.kind == "number")
        or _foreign_concept(mentions, [one for found in known for one in found], said, knowledge)
        or _first(_foreign_word(claim, items) for claim in said if claim.token.kind == "word")
        or _first(_foreign_direction(claim, items) for claim in said if claim.token.kind == "direction")
    )


def _first(faults: Iterable[str]) -> str:
    return next(filter(None, faults), "")


def _foreign_value(claim: Claim, items: Sequence[Sequence[Claim]]) -> str:
    """A number must stand in one item with the same unit, name and context, among the same words."""
    same = [(other, item) for item in items for other in item if _same_number(claim, other)]
    shown = f"{claim.token.raw} {claim.token.unit}".rstrip()
    if not same:
        return f"the number {claim.token.raw} is not in the evidence"
    same = [(other, item) for other, item in same if claim.token.unit in ("", other.token.unit)]
    if not same:
        return f"{shown} is not in the evidence"
    same = [(other, item) for other, item in same if _same_name(claim, other) and _holds(item, claim.segment)]
    if not same:
        return f"the evidence does not say {shown} of “{' '.join(claim.name) or 'this'}”"
    return _otherwise(shown, claim, [other for other, _ in same])


def _same_number(claim: Claim, other: Claim) -> bool:
    return other.token.kind == "number" and other.token.key == claim.token.key


def _same_name(claim: Claim, other: Claim) -> bool:
    """The sentence names nothing that the evidence does not, and the evidence's nearest name is in the sentence.

    A word that makes another quantity of the name ("mean cell haemoglobin") may not be left out either.
    """
    if not claim.name or not other.name:
        return claim.name == other.name
    said = claim.segment | set(claim.name)
    return set(claim.name) <= other.stretch and other.name[-1] in said and _QUALIFYING & set(other.name) <= said


def _holds(item: Sequence[Claim], words: frozenset[str]) -> bool:
    return words <= {claim.token.key for claim in item if claim.token.kind == "word"}


def _foreign_direction(claim: Claim, items: Sequence[Sequence[Claim]]) -> str:
    """ "Raised", "has fallen": said of the same name, in the same sense, in one item."""
    same = [
        other
        for item in items
        for other in item
        if other.token.kind == "direction"
        and set(other.token.key) & set(claim.token.key)
        and set(claim.name) <= {*other.stretch, *other.name}
        and _holds(item, claim.segment)
    ]
    if not same:
        return f"the evidence does not say “{claim.token.raw}” of “{' '.join(claim.name) or 'this'}”"
    return _otherwise(f"“{claim.token.raw}”", claim, same)


def _foreign_word(claim: Claim, items: Sequence[Sequence[Claim]]) -> str:
    """Content words by their stems; wording of our own ("patient", "shows") needs no evidence."""
    shown = f"“{claim.token.raw}”"
    same = [other for item in items for other in item if other.token[:2] == ("word", claim.token.key)]
    return _otherwise(shown, claim, same) if same else f"{shown} is not in the evidence"


def _otherwise(shown: str, claim: Claim, same: Sequence[Claim]) -> str:
    """Why none of the places in the evidence means it as the sentence does; empty where one does."""
    return _differs(shown, claim.context, [other.context for other in same])


def _differs(shown: str, context: Context, known: Sequence[Context]) -> str:
    if context in known:
        return ""
    if context.polarity not in {other.polarity for other in known}:
        return f"the evidence says otherwise about {shown} ({known[0].polarity}, not {context.polarity})"
    if context.who not in {other.who for other in known}:
        return f"the evidence says {shown} of another subject ({known[0].who}, not {context.who})"
    return f"the evidence says {shown} of another time ({known[0].time}, not {context.time})"


def _foreign_concept(
    mentions: Sequence[Annotated], known: Sequence[Annotated], said: Sequence[Claim], knowledge: Knowledge
) -> str:
    """Every concept of the sentence must be in the evidence (itself or something more specific), meant alike.

    A concept that contains a direction ("creatinine has risen") is left to the check of directions.
    """
    for mentioned in mentions:
        concept = mentioned.mention.concept
        if _directed(mentioned.mention, said):
            continue
        entry = knowledge.concept(concept)
        name = entry.name if entry else concept
        same = [_context(other) for other in known if concept in knowledge.ancestors(other.mention.concept)]
        if fault := _differs(name, _context(mentioned), same) if same else f"{name} is not in the evidence":
            return fault
    return ""


def _context(mentioned: Annotated) -> Context:
    return Context(mentioned.polarity, mentioned.time, mentioned.who)


def _directed(mention: Mention, said: Sequence[Claim]) -> bool:
    return any(claim.token.kind == "direction" and mention.start <= claim.token.start < mention.end for claim in said)
