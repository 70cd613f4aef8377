"""Cells, protein and glucose of spinal fluid and ascites, and the protein ratio of urine, as notes write them.

Pure. Only the stretch of text behind the fluid's name is read, and it ends where blood tests begin. The limits are from
memory of the named sources and await review by a clinician. It must not know diseases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.domain.case import Note
from core.domain.evidence import Finding, Polarity
from core.domain.ports import Knowledge
from core.runtime.perception.drafts import NOTES, Draft, note_source
from core.runtime.perception.numbers import time_of, whose

_TAIL = 260  # characters behind the name of the fluid in which its numbers are looked for
_NUMBER = r"(?P<n>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\d,.]*\d|\s?\+)"  # "2+" is a grade
_IS = r"\s*(?:count)?\s*(?:was|is|are|were|of|:|=)?\s*"
_THOUSANDS = r"(?P<k>\s*(?:x|\u00d7)?\s*10\s*[\^*E]?\s*9\s*/\s*L)?"
_MILLIS = r"\s*(?P<u>mg/dL|mg/L|g/dL|g/L|mmol/L)"
_SPINAL = re.compile(r"\b(?:CSF|LP|[Cc]erebrospinal fluid|[Ll]umbar puncture|[Ss]pinal fluid)\b")
_ASCITIC = re.compile(r"\b(?:[Aa]scitic|[Aa]scites|[Pp]aracentesis|SAAG|[Ss]erum-ascites|[Dd]iagnostic tap)\b")
_END = re.compile(
    r"\n\s*\n|\b(?:FBC|CBC|[Bb]lood tests|[Bb]loods|[Bb]lood count|[Hh]aemoglobin|Hb|CRP|C-reactive|[Cc]reatinine|"
    r"[Ss]odium|[Uu]rine|[Uu]rinalysis|[Pp]latelets|ALT|[Bb]ilirubin)\b"
)
_BEHIND = re.compile(r"\b(?:in|from|on|at) (?:(?:the|his|her|an?|this) )*$", re.I)  # "white cells 450 in the ascites"
_BREAK = re.compile(r"[.;:]\s|\n")
_CELLS = re.compile(
    rf"\b(?:white (?:blood )?cell(?:s| count)?|WCC|WBC|leu[ck]ocytes|cell count|cells)\b{_IS}{_NUMBER}{_THOUSANDS}|"
    rf"{_NUMBER.replace('<n>', '<n2>')}\s*(?:white (?:blood )?cells|leu[ck]ocytes|WBC|cells)\b",
    re.I,
)
_SHARE = re.compile(
    r"\b(?P<n>\d{2,3})\s*%\s*(?:were |are )?(?P<what>neutrophils|polymorphs|polymorphonuclear|PMNs?|lymphocytes)|"
    r"\b(?P<what2>neutrophils|polymorphs|PMNs?|lymphocytes)\s*(?:of|:|=)?\s*(?P<n2>\d{2,3})\s*%",
    re.I,
)
_MOSTLY = re.compile(
    r"\b(?:predominantly|predominant|mostly|mainly|all) (?P<what>neutrophil|polymorph|PMN|lymphocyt)\w*|"
    r"\b(?P<what2>neutrophil|polymorph|lymphocyt)\w* (?:predominan\w+|pleocytosis)",
    re.I,
)
_GERMS = re.compile(
    r"\bgram[-\s](?:positive|negative) (?:diplococci|cocci|rods|bacilli)|\bgram stain(?: is| was)? positive|"
    r"\b(?:organisms|bacteria)\b|\b(?:pneumococc\w+|meningococc\w+|listeria)\b",
    re.I,
)
_NONE = re.compile(r"\b(?:no|without|negative for|pending)\s+(?:\w+\s+){0,2}$", re.I)
_PROTEIN = re.compile(rf"\bprotein\b{_IS}{_NUMBER}{_MILLIS}", re.I)
_GLUCOSE = re.compile(
    rf"(?P<blood>\b(?:blood|serum|plasma|paired)\s+(?:\w+\s+)?)?\b(?:glucose|sugar)\b{_IS}{_NUMBER}{_MILLIS}", re.I
)
_PAIRED = re.compile(
    rf"\b(?:blood|serum|plasma|paired)\s+(?:\w+\s+)?(?:glucose|sugar)\b{_IS}{_NUMBER}(?:{_MILLIS})?|"
    rf"\b(?:blood|serum|plasma)\s+{_NUMBER.replace('<n>', '<n2>')}",
    re.I,
)
_RATIO = re.compile(rf"\bglucose ratio\b{_IS}{_NUMBER}|\bratio\b{_IS}{_NUMBER.replace('<n>', '<n2>')}", re.I)
_POLYMORPHS = re.compile(
    rf"\b(?:neutrophils?|polymorphs|PMNs?|polymorphonuclear (?:cells|leu[ck]ocytes))\b(?: count)?{_IS}{_NUMBER}"
    rf"{_THOUSANDS}(?!\s*%)",
    re.I,
)
_GRADIENT = re.compile(
    rf"\b(?:SAAG|(?:serum[-\s]ascites )?albumin gradient)\b(?: \(SAAG\))?{_IS}{_NUMBER}\s*(?P<u>g/dL|g/L)?", re.I
)
_URINE_RATIO = re.compile(
    r"\bprotein(?:\s*(?:/|:|to|-)\s*|\s+)creatinine ratio\b(?: \(PCR\))?" + _IS + _NUMBER + r"\s*(?P<u>mg/mmol|mg/mg)?",
    re.I,
)
_MG_DL_OF_MMOL = 18.016  # glucose
CSF_WHITE_CELLS, CSF_PURULENT, MOSTLY = 5.0, 1000.0, 80.0  # /mm3, /mm3, per cent; Tunkel 2004
CSF_PROTEIN, CSF_GLUCOSE, CSF_GLUCOSE_RATIO = 0.45, 2.2, 0.4  # g/L, mmol/L, of blood; Tunkel 2004
ASCITIC_NEUTROPHILS, GRADIENT = 250.0, 11.0  # /mm3, g/L; Biggins 2021 (AASLD)
URINE_RATIO_SI, URINE_RATIO = 30.0, 0.3  # mg/mmol, mg/mg; ACOG 222


class _Said(NamedTuple):
    """A concept that a number makes present or absent, where it stands and why."""

    concept: str
    present: bool
    start: int
    end: int
    why: str


_Reader = Callable[[str, int, int], Iterator[_Said]]


def fluids(note: Note, knowledge: Knowledge) -> Iterator[Draft]:
    """What the fluids of a note show."""
    said = [*_within(note.text, _SPINAL, _spinal), *_within(note.text, _ASCITIC, _ascitic), *_urine(note.text)]
    told: set[tuple[str, int]] = set()
    for one in said:
        if (one.concept, one.start) not in told:
            told.add((one.concept, one.start))
            yield _draft(note, one, knowledge)


def _within(text: str, name: re.Pattern[str], read: _Reader) -> Iterator[_Said]:
    """The readings of every stretch behind a fluid's name, or before it where the numbers stand before it.

    A name within a stretch opens no other.
    """
    done = 0
    for match in name.finditer(text):
        if match.start() < done:
            continue
        before = _numbers_before(text, done, match.start())
        if before is not None:
            done = match.end()
            yield from read(text, before, match.start())
        else:
            stop = _END.search(text, match.end(), match.end() + _TAIL)
            done = stop.start() if stop else min(len(text), match.end() + _TAIL)
            yield from read(text, match.start(), done)


def _numbers_before(text: str, done: int, start: int) -> int | None:
    """Where the clause begins whose numbers are of the fluid named at its end; None where it holds none."""
    low = max(done, start - _TAIL)
    if _BEHIND.search(text, low, start) is None:
        return None
    breaks = [match.end() for pattern in (_BREAK, _END) for match in pattern.finditer(text, low, start)]
    begin = max(breaks, default=low)
    return begin if re.search(r"\d", text[begin:start]) else None


def _spinal(text: str, start: int, end: int) -> Iterator[_Said]:
    cells = _CELLS.search(text, start, end)
    count = _counted(cells)
    if cells is not None and count is not None:
        yield _over("WR:csf-pleocytosis", count, CSF_WHITE_CELLS, cells, f"{count:g} /mm3 in the fluid")
        if count > CSF_PURULENT:
            yield _over("WR:purulent-csf", count, CSF_PURULENT, cells, f"{count:g} /mm3 in the fluid")
    for share in _SHARE.finditer(text, start, end):
        kind = "WR:lymphocytic-csf" if (share["what"] or share["what2"]).lower()[0] == "l" else "WR:purulent-csf"
        percent = float(share["n"] or share["n2"])
        if percent >= MOSTLY and (count is None or count > CSF_WHITE_CELLS):
            yield _Said(kind, True, *share.span(), f"{percent:g} % of the cells, mostly means >= {MOSTLY:g} %")
    yield from _looks(text, start, end)
    protein = _PROTEIN.search(text, start, end)
    if protein is not None and (grams := _grams(protein)) is not None:
        yield _over("WR:raised-csf-protein", grams, CSF_PROTEIN, protein, f"protein {grams:g} g/L")
    yield from _sugar(text, start, end)


def _looks(text: str, start: int, end: int) -> Iterator[_Said]:
    """Which cells lead, and whether bacteria were seen or grown."""
    for match in _MOSTLY.finditer(text, start, end):
        is_lymphocytic = (match["what"] or match["what2"]).lower().startswith("lymph")
        yield _Said("WR:lymphocytic-csf" if is_lymphocytic else "WR:purulent-csf", True, *match.span(), "as written")
    germs = _GERMS.search(text, start, end)
    if germs is not None:
        seen = _NONE.search(text[max(start, germs.start() - 30) : germs.start()]) is None
        yield _Said("WR:bacteria-in-csf", seen, *germs.span(), "as written")


def _sugar(text: str, start: int, end: int) -> Iterator[_Said]:
    """Low against blood glucose where that is written, else by itself."""
    own = next((match for match in _GLUCOSE.finditer(text, start, end) if not match["blood"]), None)
    value = _millimoles(own)
    if own is None or value is None:
        return
    ratio = _RATIO.search(text, own.end(), end)
    blood = _PAIRED.search(text, start, min(len(text), end + 40))
    share = float(ratio["n"] or ratio["n2"]) if ratio else value / level if (level := _paired(blood, own)) else None
    if share is not None:
        why = f"{share:.2f} of blood glucose, threshold < {CSF_GLUCOSE_RATIO:g}"
        yield _Said("WR:low-csf-glucose", share < CSF_GLUCOSE_RATIO, *own.span(), why)
    elif value < CSF_GLUCOSE:
        why = f"glucose {value:.1f} mmol/L, threshold < {CSF_GLUCOSE:g}"
        yield _Said("WR:low-csf-glucose", True, *own.span(), why)


def _paired(blood: re.Match[str] | None, own: re.Match[str]) -> float | None:
    """Blood glucose in mmol/L; a number without a unit is in that of the fluid's."""
    if blood is None:
        return None
    value = _figure(blood["n"] or blood["n2"])
    unit = (blood["u"] or own["u"]).lower()
    return value / _MG_DL_OF_MMOL if unit == "mg/dl" else value if unit == "mmol/l" else None


def _ascitic(text: str, start: int, end: int) -> Iterator[_Said]:
    cells = _POLYMORPHS.search(text, start, end)
    count = _counted(cells)
    if cells is not None and count is not None:
        present, why = count >= ASCITIC_NEUTROPHILS, f"{count:g} /mm3, threshold >= {ASCITIC_NEUTROPHILS:g}"
        yield _Said("WR:raised-ascitic-neutrophils", present, *cells.span(), why)
    gradient = _GRADIENT.search(text, start, end)
    if gradient is not None:
        value = _figure(gradient["n"])
        tenfold = (gradient["u"] or "").lower() == "g/dl" or (not gradient["u"] and value < 5)
        grams = value * 10 if tenfold else value
        why = f"albumin gradient {grams:g} g/L, threshold >= {GRADIENT:g}"
        yield _Said("WR:raised-saag", grams >= GRADIENT, *gradient.span(), why)


def _urine(text: str) -> Iterator[_Said]:
    for match in _URINE_RATIO.finditer(text):
        value = _figure(match["n"])
        limit = URINE_RATIO if match["u"] == "mg/mg" or (not match["u"] and value < 5) else URINE_RATIO_SI
        why = f"protein to creatinine ratio {value:g}, threshold >= {limit:g}"
        yield _Said("WR:protein-creatinine-raised", value >= limit, *match.span(), why)


def _over(concept: str, value: float, limit: float, match: re.Match[str], what: str) -> _Said:
    return _Said(concept, value > limit, *match.span(), f"{what}, threshold > {limit:g}")


def _figure(text: str) -> float:
    return float(text.replace(",", ""))


def _counted(match: re.Match[str] | None) -> float | None:
    """Cells in one cubic millimetre; "0.6 x 10^9/L" is 600."""
    if match is None:
        return None
    groups = match.groupdict()
    return _figure(match["n"] or groups["n2"]) * (1000 if groups.get("k") else 1)


def _grams(match: re.Match[str]) -> float | None:
    factor = {"g/l": 1.0, "g/dl": 10.0, "mg/dl": 0.01, "mg/l": 0.001}.get(match["u"].lower())
    return None if factor is None else round(_figure(match["n"]) * factor, 3)


def _millimoles(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    factor = {"mmol/l": 1.0, "mg/dl": 1 / _MG_DL_OF_MMOL}.get(match["u"].lower())
    return None if factor is None else _figure(match["n"]) * factor


def _draft(note: Note, said: _Said, knowledge: Knowledge) -> Draft:
    entry = knowledge.concept(said.concept)
    polarity: Polarity = "present" if said.present else "absent"
    return Draft(
        finding=Finding(
            id="",
            concept=said.concept,
            name=entry.name if entry else said.concept,
            provenance=note_source(note, said.start, said.end),
            extractor=NOTES,
            text=note.text[said.start : said.end],
            polarity=polarity,
            time=time_of(note.text, said.start, said.end),
            who=whose(note.text, said.start),
            collected_at=note.written_on or None,
            note=said.why,
        )
    )
