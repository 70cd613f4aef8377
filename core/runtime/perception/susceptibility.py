"""Whether a note names a drug only as what a germ was tested against: "R trimethoprim", "gentamicin S", "resistant to".

Pure. Such a drug is neither taken nor an allergy. A germ or a culture must be named near it: an illness may be
resistant to what the patient takes, and a patient sensitive to what must not be given. It must not know drugs.
"""

from __future__ import annotations

import re

_LOOK = 240  # characters before a drug in which the culture is named
_GERM = re.compile(
    r"\b(?:cultures?|isolat\w+|grew|grown|growth|organisms?|strains?|bacteri\w+|coli|aureus|\w+ella|\w+monas|proteus|"
    r"enterococc\w+|staph\w*|strep\w*|pneumococc\w+|gonococc\w+|tubercul\w+|(?-i:TB|MRSA|ESBL|MSU|CSU|MC&S|VRE))\b",
    re.I,
)
_PERSON = re.compile(r"\b(?:he|she|patient|pt|allerg\w+|rash|anaphyla\w+|intoleran\w+|family)\b", re.I)
# The items of a list between the mark and the drug: one or two words each.
_LIST = r"(?:[\w-]+(?:\s[\w-]+)?(?:\s*\([RSI]\))?\s*(?:,(?:\s*(?:and|or)\b)?|/|\+|&|\band\b|\bor\b)\s*){0,8}"
_MARKED = re.compile(rf"(?:^|[\s,;:(])(?:[RS]\b\s*(?:to\b|[:=-])?|I\s*[:=])\s*{_LIST}$")
_WORDED = re.compile(
    rf"\b(?:resistan(?:t|ce)|susceptib\w+|sensitiv\w+|non-?susceptible|intermediate)\b\s*(?:to\b|[:=-])?\s*{_LIST}$",
    re.I,
)
# "Trimethoprim R", "gentamicin (S)", "amoxicillin-resistant"; not "chloramphenicol R eye".
_LETTER_BEHIND = re.compile(r"\s*(?:[-:=(\u2013]\s*)?[RSI]\b\s*(?:[,;.)/\n]|$)")
_WORD_BEHIND = re.compile(r"\s*(?:[-:=(\u2013]\s*)?(?:non-?)?(?:resistant|sensitive|susceptible|intermediate)\b", re.I)
_GIVEN = re.compile(
    r"\s*(?:\d|drops?\b|eye\b|ointment\b|tablets?\b|(?:iv|po|im|od|bd|tds|qds|MR)\b|(?:was|is) (?:given|started))", re.I
)
_TAKEN = re.compile(
    r"\b(?:takes?|taking|given|start\w*|on|treat\w*|switch\w*|chang\w*|contin\w*|commenc\w*|with)\b", re.I
)


def is_tested(text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
    """Whether a drug named at `start` to `end` within a sentence is one that a germ was tested against."""
    if _GIVEN.match(text, end):
        return False
    return _by_letter(text, start, end) or _by_word(text, start, end, sentence)


def _by_letter(text: str, start: int, end: int) -> bool:
    """Marked "R", "S" or "I", under a culture named earlier in the paragraph."""
    before = text[max(0, start - _LOOK) : start].rsplit("\n\n", 1)[-1]
    marked = _MARKED.search(before)
    listed = marked is not None and not _TAKEN.search(before, marked.start())
    if not listed and not _LETTER_BEHIND.match(text, end):
        return False
    return _GERM.search(before) is not None or re.search(r"\bsensitivities\b", before, re.I) is not None


def _by_word(text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
    """Called resistant or sensitive in a sentence that names the germ, and nobody between."""
    before, behind = text[sentence[0] : start], text[end : sentence[1]]
    worded = _WORDED.search(before)
    if worded is not None and not _TAKEN.search(before, worded.start()):
        germs = [germ.end() for germ in _GERM.finditer(before, 0, worded.start())]
        return bool(germs) and not _PERSON.search(before, germs[-1], worded.start())
    if not _WORD_BEHIND.match(behind) or _PERSON.search(behind):
        return False
    return _GERM.search(before) is not None or _GERM.search(behind) is not None
