"""Whether a result in a note is of another fluid than blood: urine, spinal fluid, a tap, a drain, dialysate.

Pure. A specimen's name holds to the end of its sentence or line, as a heading to the end of its list; blood named in
between ends it, in brackets only inside them. A tap that is only planned names no specimen, and what is never measured
in a fluid (platelets in spinal fluid) stays blood: a dangerous number is rather shown than lost. It must not know
numbers; results.py reads them.
"""

from __future__ import annotations

import re

_LOOK = 600  # characters before a result in which its specimen may be named
_SALTS = "sodium|na|potassium|k|chloride|cl|creatinine|urea|osmolality|ph|protein|albumin|glucose|calcium|phosphate"
_RESULT = (
    r"(?:white|red|cells?|WCC|WBC|RBC|neutrophils?|polymorphs|polys|PMNs?|lymphocytes|total|protein|albumin|glucose|"
    r"sugar|LDH|lactate|pH|amylase|lipase|cholesterol|triglycerides?|bilirubin|creatinine|urea|h(?:a?e)matocrit)\b"
)
_MATTER = rf"(?:\s+(?:fluid|taps?|aspirat\w+|effluent|analysis|samples?|{_RESULT})|\s*[:=])"
_SPECIMEN = re.compile(
    rf"\b(?:urin(?:e|ary) (?:\w+ ){{0,2}}?(?:analysis|stud(?:y|ies)|electrolytes|chemistr(?:y|ies)|indices|{_SALTS})\b|"
    r"(?P<dip>urinalysis\b|(?:urine )?dip-?stick\b|urine dip\b|dip(?=\s*[:=])|(?-i:UA)(?=\s*:))|"
    r"(?P<spinal>(?-i:CSF|LP)\b|cerebrospinal\b|lumbar punctures?\b|"
    r"(?:(?-i:OP)|opening pressure)(?= (?:(?:was|is|of) )?\d)|spinal (?:fluid|tap)\b)|"
    rf"(?P<cavity>(?:pleural|ascitic|peritoneal|pericardial|synovial|joint|knee|hip|ankle|elbow|shoulder|drain){_MATTER}|"
    rf"ascites{_MATTER}|(?:para|thoraco?|arthro|pericardio)centesis\b|taps?\b(?! water)|aspirates?\b)|"
    r"dialysate\b|(?-i:PD) (?:fluid|effluent)\b)",
    re.I,
)
# The fluid named behind its numbers: "white cells 450 in the ascitic fluid", "cells 900, protein 2 g/L on LP".
_UNIT = (
    r"(?:\s*(?:/\s?|x\s?10\s?\^?\d\s?/\s?)?(?:cells?\s?/\s?)?"
    r"(?:mm3|cumm|[um\u00b5]L|L|[mu]?g/d?L|[mu]mol/L|U/L|cells?|%))?"
)
_ALSO = rf"(?:\s*,|\s+and|\s+with)\s+(?:{_RESULT}(?: count)?[\s:=]*(?:of |was |is )?\d[\d.,]*|\d+\s*%\s*\w+){_UNIT}"
_BEHIND = re.compile(
    rf"{_UNIT}(?P<also>(?:{_ALSO})*)\s+(?:in|from|on|at) (?:(?:the|his|her|an?|this|diagnostic) )*"
    r"(?:(?P<spinal>(?-i:CSF|LP)|cerebrospinal fluid|spinal (?:fluid|tap)|lumbar puncture)|"
    r"(?P<cavity>(?:pleural|ascitic|peritoneal|pericardial|synovial|joint|drain) (?:fluid|tap|aspirate|effluent)|"
    r"ascites|(?:para|thoraco?|arthro|pericardio)centesis|tap|aspirate)|(?P<dip>dip(?:stick)?|urinalysis)|urine|dialysate)\b",
    re.I,
)
_PLANNED_BEFORE = re.compile(
    r"(?:\?|\b(?:no|for|before|needs?|consider(?:ing|ed)?|await\w*|plan(?:s|ned)?|pending|if|after|post|without|"
    r"defer(?:red)?|declin\w+|refus\w+|until|since|may)\b)[\s-]*"
    r"(?:(?:an?|the|his|her|urgen\w|diagnostic|repeat|result of)\s+)*$",
    re.I,
)
_PLANNED_BEHIND = re.compile(
    r"\s*(?:(?:was|is|has been|to be|will be|results?|tomorrow|today|tonight)\s+){0,2}(?:planned|deferred|postponed|"
    r"declined|refused|not|contraindicated|pending|awaited|when|if|once|later|requested|booked|unsuccessful|failed|"
    r"attempted|dry|abandoned|delayed|considered|unsafe|sent|to follow)\b",
    re.I,
)
_HAD_AFTER_ALL = re.compile(r"\b(?:then|eventually|finally|subsequently)\b[^;]*:\s", re.I)  # "not until noon, then: "
_BLOOD = re.compile(
    r"\b(?:serum(?![\s-]ascit)|plasma|bloods|venous|arterial|capillary|paired|finger-?prick|VBG|ABG|gas|FBC|CBC|LFTs?|"
    r"(?<!no )(?<!frank )blood(?!-|\s*(?:cells?|stain\w*|neg\w*|nil|none|trace|pos\w*|present|large|small|moderate|"
    r"\+|\d\s?\+|[,;)])))\b|\bU&Es?\b|\b(?-i:BMs?|CBG)\b",
    re.I,
)
# Tests of blood alone: behind one of them the talk is of blood.
_BLOOD_TESTS = re.compile(r"\b(?:CRP|Hb|ha?emoglobin|platelets|plts?|INR|troponin|ESR)\b", re.I)
_BRACKETS = re.compile(r"\([^()]*\)(?!\s*:)")
_SENTENCE = re.compile(r"\.\s|(?<!:)\n")
_PART = re.compile(r";\s")
_NOT_DIPPED = frozenset(
    [
        "creatinine",
        "urea",
        "urea_nitrogen",
        "potassium",
        "haemoglobin",
        "crp",
        "platelets",
        "lactate",
        "troponin_t",
        "troponin_i",
        "inr",
        "d_dimer",
    ]
)
_IN_SPINAL = frozenset(
    [
        "glucose",
        "total_protein",
        "albumin",
        "lactate",
        "ldh",
        "white_cells",
        "neutrophils",
        "lymphocytes",
        "monocytes",
        "eosinophils",
    ]
)
_IN_CAVITIES = _IN_SPINAL | frozenset(
    [
        "ph",
        "amylase",
        "lipase",
        "cholesterol",
        "triglycerides",
        "bilirubin",
        "creatinine",
        "urea",
        "urea_nitrogen",
        "haematocrit",
    ]
)
_HEADING_WORDS = 5
_BESIDE = re.compile(
    r"(?:fluid|analysis|results?|samples?|taps?|aspirat\w+|diagnostic|biochemistry|microscopy|stud(?:y|ies)|left|right|"
    r"of|the|from|in|\W)*",
    re.I,
)


def is_of_other_fluid(text: str, start: int, analyte: str) -> bool:
    """Whether the result of an analyte (its id) that begins at `start` is of a named fluid other than blood."""
    if _BLOOD.match(text, start):
        return False
    before = text[max(0, start - _LOOK) : start]
    ends = [match.end() for match in _SENTENCE.finditer(before)]
    sentence = _BRACKETS.sub(" ", before[ends[-1] if ends else 0 :])
    specimen = _named(sentence)
    if specimen is not None:
        return not _is_blood_again(sentence, specimen) and _is_measured(specimen, analyte)
    if _BLOOD.search(sentence) or _BLOOD_TESTS.search(sentence):
        return False
    heading = _heading(before)
    return heading is not None and _is_measured(heading, analyte)


def is_named_behind(text: str, end: int, analyte: str) -> bool:
    """Whether a fluid other than blood is named behind a result that ends at `end`, or behind the list it stands in.

    A list of urine's is not looked through: "potassium 6.9, glucose 20 in the urine" may be of two.
    """
    fluid = _BEHIND.match(text, end)
    if fluid is None or (fluid["also"] and not (fluid["spinal"] or fluid["cavity"])):
        return False
    return _is_measured(fluid, analyte)


def _named(sentence: str) -> re.Match[str] | None:
    """The last specimen of a sentence that was taken."""
    taken = [match for match in _SPECIMEN.finditer(sentence) if not _is_planned(sentence, match)]
    return taken[-1] if taken else None


def _is_planned(text: str, match: re.Match[str]) -> bool:
    """Whether a fluid is yet to be had, or never was; urine's tests are named by what was found."""
    if not (match["spinal"] or match["cavity"]) or _HAD_AFTER_ALL.search(text, match.end()):
        return False
    behind = _PLANNED_BEHIND.match(text, match.end()) is not None
    heads = match.group().endswith((":", "=")) or text[match.end() :].lstrip()[:1] in (":", "=")
    return behind or (not heads and _PLANNED_BEFORE.search(text[: match.start()]) is not None)


def _is_blood_again(sentence: str, specimen: re.Match[str]) -> bool:
    """Whether blood is named behind a specimen, or a part begins that the specimen does not head."""
    behind = sentence[specimen.end() :]
    heads = specimen.group().endswith((":", "=")) or behind.lstrip()[:1] in (":", "=")
    parted = not heads and _PART.search(behind) is not None
    return parted or _BLOOD.search(behind) is not None or _BLOOD_TESTS.search(behind) is not None


def _is_measured(specimen: re.Match[str], analyte: str) -> bool:
    if specimen["dip"]:
        return analyte not in _NOT_DIPPED
    if specimen["spinal"]:
        return analyte in _IN_SPINAL
    return analyte in _IN_CAVITIES if specimen["cavity"] else True


def _heading(before: str) -> re.Match[str] | None:
    """The specimen that heads the list of lines a result stands in; None under another heading, or under none."""
    for line in reversed(before.split("\n")[:-1]):
        bare = line.strip().strip("#*-").strip()
        if not bare or bare.endswith("."):
            return None
        specimen = _SPECIMEN.search(bare)
        if _is_heading(bare, specimen):
            return None if specimen is None or _BLOOD.search(bare) or _is_planned(bare, specimen) else specimen
    return None


def _is_heading(line: str, specimen: re.Match[str] | None) -> bool:
    """Whether a line heads those below it: short and with a colon, or a specimen or blood and no more."""
    if line.endswith(":") and len(line.split()) <= _HEADING_WORDS:
        return True
    named = specimen or _BLOOD.search(line)
    rest = line if named is None else line[: named.start()] + " " + line[named.end() :]
    return named is not None and _BESIDE.fullmatch(rest) is not None
