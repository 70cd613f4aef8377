"""Concepts that notes name, as findings: symptoms, signs, diseases, drugs taken, allergies (direct.md section 1).

Pure. Polarity, time and whose it is come from the knowledge's annotation; this module adds what a drug needs: dose and
route, and whether it is recorded as an allergy. It must not know numbers of vital signs or of the laboratory.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import cast

from core.domain import units
from core.domain.case import Note
from core.domain.evidence import Finding, Polarity, Quantity, Time, Who
from core.domain.passage import Concept
from core.domain.ports import Annotated, Knowledge
from core.runtime.perception.drafts import ALLERGY, MEDICATION, NOTES, Draft, note_source
from core.runtime.perception.known import KNOWN, is_known_before
from core.runtime.perception.susceptibility import is_tested

Span = tuple[int, int]
_DRUGS = ("drug", "drug-class")
_KINDS = ("finding", "disease", "procedure", *_DRUGS)
_REACTION = (
    r"(?:rash|itch\w*|hives|urticaria|angio-?o?edema|anaphyla\w*|wheez\w*|bronchospasm|swelling|blister\w*|"
    r"stevens|facial|lip|tongue|allerg\w*|hypersensitiv\w*)"
)
_CUE = re.compile(
    r"\b(?:allerg(?:y|ies)|allergic\s+to|(?:adverse|allergic)\s+reactions?|intolerances?|intolerant\s+(?:of|to)|"
    r"sensitiv(?:e|ity)\s+to|sensitivities|anaphyla\w+\s+(?:to|with|after)|reacts?\s+to|reacted\s+to)\b",
    re.I,
)
# A section of allergies that ends right before the sentence: its heading, and lines of a list below it.
_HEADING = re.compile(
    r"^[ \t]*(?:#+\s*)?\**(?:drug\s+|known\s+)?(?:allerg(?:y|ies)|adverse\s+reactions?|intolerances?)"
    r"(?:\s+and\s+(?:intolerances?|adverse\s+reactions?))?\**:?\**[ \t]*\n(?:[ \t]*\n)?(?:[ \t]*\S[^\n]*\n)*[^\n]*\Z",
    re.I | re.M,
)
# The treatment of a reaction, and what a germ is sensitive to.
_NO_CUE = re.compile(r"\b(?:treat\w*|manag\w*|for)\s+(?:(?:an?|the|his|her|severe|acute)\s+)*$", re.I)
_GERM = re.compile(
    r"\b(?:cultures?|isolat\w+|grew|organisms?|strains?|bacteri\w+|coli|aureus|\w+ella|\w+monas)\b", re.I
)
_CUE_ENDS = re.compile(r";|\b(?:takes|taking|uses|tolerates|tolerated|instead|given|started|on|meds|drugs|dh)\b", re.I)
_AFTER = re.compile(
    rf"\s*(?:-|:|\()?\s*(?:{_REACTION}\b|(?:has |had |have |previously |once )*"
    rf"(?:caused|causes|gave|gives|produced|brought)\b[^.;]{{0,40}}?\b{_REACTION}|"
    r"[^.;,]{0,30}\b(?:as|is|an)\s+an?\s*(?:known\s+)?(?:allergy|adverse reaction))",
    re.I,
)
_DOSE = re.compile(
    r"(?:\s+(?:tablets?|capsules?|inhaler|drops?|eye\s+drops?|injection|MR|XL|modified\s+release|gastro-resistant))?"
    r"\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>mg|mcg|micrograms?|milligrams?|[uµμ]g|grams?|g|mL|%|units?)(?![A-Za-z/])"
    r"(?P<rest>(?:\s*,?\s*(?:orally|oral|po|p\.o\.|iv|i\.v\.|im|sc|s\.c\.|inhaled|neb(?:ulised)?|topical(?:ly)?|sl|pr|"
    r"od|bd|b\.d\.|bid|tds|tid|qds|qid|daily|nocte|mane|prn|weekly|once|twice|a\s+day|at\s+night|in\s+the\s+morning|"
    r"each\s+eye|both\s+eyes)\b)*)",
    re.I,
)
_SPELLED = {"micrograms": "ug", "microgram": "ug", "mcg": "ug", "milligrams": "mg", "milligram": "mg"}
_SPELLED |= {"grams": "g", "gram": "g"}


def mentioned(note: Note, knowledge: Knowledge, claimed: Sequence[Span]) -> Iterator[Draft]:
    """The findings of a note. Spans in `claimed` were read as numbers already ("93% RA")."""
    allergies: list[Span] = []
    taken = _merged(claimed)
    for annotated in knowledge.annotate(note.text):
        concept = knowledge.concept(annotated.mention.concept)
        start, end = annotated.mention.start, annotated.mention.end
        if concept is None or concept.kind not in _KINDS or _overlaps(taken, start, end):
            continue
        if concept.kind not in _DRUGS:
            reaction = annotated.time == "current" and _is_reaction(note.text, annotated, allergies)
            yield _draft(note, annotated, concept, extractor=NOTES, time="past" if reaction else annotated.time)
        elif is_tested(note.text, start, end, annotated.sentence):
            continue  # what a germ resists is neither taken nor an allergy
        elif _is_allergy(note.text, annotated):
            allergies.append((start, end))
            yield _draft(note, annotated, concept, extractor=ALLERGY, time="current")
        else:
            yield _drug(note, annotated, concept)


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, overlapping ones as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _overlaps(merged: Sequence[Span], start: int, end: int) -> bool:
    index = bisect_left(merged, (end, -1)) - 1  # the last span that begins before `end`
    return index >= 0 and merged[index][1] > start


def _drug(note: Note, annotated: Annotated, concept: Concept) -> Draft:
    mention, sentence = annotated.mention, annotated.sentence
    dose = _DOSE.match(note.text, mention.end, sentence[1])
    end = dose.end() if dose else mention.end
    return _draft(note, annotated, concept, extractor=MEDICATION, end=end, value=_amount(dose))


def _draft(
    note: Note,
    annotated: Annotated,
    concept: Concept,
    *,
    extractor: str,
    time: str = "",
    end: int | None = None,
    value: Quantity | None = None,
) -> Draft:
    start, stop = annotated.mention.start, annotated.mention.end if end is None else end
    return Draft(
        finding=Finding(
            id="",
            concept=concept.id,
            name=concept.name,
            provenance=note_source(note, start, stop),
            extractor=extractor,
            text=note.text[start:stop],
            polarity=cast(Polarity, annotated.polarity),
            time=cast(Time, time or annotated.time),
            who=cast(Who, annotated.who),
            value=value,
            collected_at=note.written_on or None,
            note=KNOWN if _is_known(note.text, annotated, concept) else "",
        )
    )


def _is_known(text: str, annotated: Annotated, concept: Concept) -> bool:
    """Whether a disease or finding is the patient's from before today."""
    if concept.kind in _DRUGS or (annotated.polarity, annotated.time, annotated.who) != (
        "present",
        "current",
        "patient",
    ):
        return False
    mention = annotated.mention
    return is_known_before(text, mention.start, mention.end, disease=concept.kind == "disease")


def _amount(dose: re.Match[str] | None) -> Quantity | None:
    """The dose as a quantity; units of activity ("10 units") stay text."""
    if dose is None:
        return None
    unit = units.find_unit(_SPELLED.get(dose["unit"].lower(), dose["unit"]))
    return None if unit is None else Quantity(float(dose["number"].replace(",", ".")), str(unit))


def _is_allergy(text: str, annotated: Annotated) -> bool:
    """Whether a drug is named as an allergy: a cue before it in the sentence, or its reaction right behind it."""
    start, end = annotated.sentence
    mention = annotated.mention
    before = text[start : mention.end]  # "allergic to penicillin" may be one mention
    cues = [cue.end() for cue in _CUE.finditer(before) if _is_cue(before, cue)]
    if cues and not _CUE_ENDS.search(before, cues[-1]):
        return True
    heading = _HEADING.search(text, 0, start)
    if heading is not None and not _CUE_ENDS.search(text, heading.end(), mention.start):
        return True
    return _AFTER.match(text, mention.end, end) is not None


def _is_cue(before: str, cue: re.Match[str]) -> bool:
    """Whether a cue speaks of the patient's allergy."""
    if _NO_CUE.search(before, 0, cue.start()):
        return False
    return not (cue.group().lower().startswith("sensitiv") and _GERM.search(before, 0, cue.start()))


def _is_reaction(text: str, annotated: Annotated, allergies: Sequence[Span]) -> bool:
    """Whether a finding tells what a recorded allergy did: "penicillin (rash)", "codeine caused itching"."""
    start = annotated.mention.start
    return any(
        annotated.sentence[0] <= first and last <= start and not _CUE_ENDS.search(text[last:start])
        for first, last in allergies
    )
