"""Who the patient is: age, sex, pregnancy (direct.md section 1.4).

Pure. What the file itself says (birth date, sex) goes before what notes say. It must not know diseases or drugs; those
are concepts (mentions.py). Where notes state different ages or sexes, none of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

import msgspec

from core import codec
from core.domain.case import Case, Note
from core.domain.evidence import Finding, Provenance, Quantity
from core.domain.ports import Knowledge
from core.runtime.ledger import Patient
from core.runtime.perception.drafts import BACKGROUND, Draft, note_source

AGE, MALE, FEMALE = "PT:age", "WR:male-sex", "WR:female-sex"
PREGNANCIES = ("WR:pregnancy", "WR:early-pregnancy", "WR:late-pregnancy")
OLDEST, YOUNGEST_PREGNANT = 122, 9
AGES_APART = 2.0  # years; more than rounding and a birthday between two notes explain
DISPUTED = "stated differently elsewhere"
_SEX_WORDS = {"male": MALE, "m": MALE, "man": MALE, "gentleman": MALE, "boy": MALE}
_SEX_WORDS |= {"mr": MALE, "mrs": FEMALE, "ms": FEMALE, "miss": FEMALE}
_SEX_WORDS |= {"female": FEMALE, "f": FEMALE, "woman": FEMALE, "lady": FEMALE, "girl": FEMALE}
_PERSON = r"man|woman|male|female|gentleman|lady|boy|girl|M|F"
_AGE = re.compile(
    rf"\b(?P<n>\d{{1,3}})\s*-?\s*(?:(?:year|yr)s?(?:\s*-?\s*|\s+)old|y/?o\b|y\.o\.|yrs?\b(?=\s+(?:old|{_PERSON}))|"
    rf"(?P<tight>(?:M|F|[Mm]ale|[Ff]emale)\b))(?:\s*,?\s*(?P<words>(?:[A-Za-z-]+\s+){{0,4}}?)(?P<sex>{_PERSON})\b)?"
)
_INFANT = re.compile(r"\b(?P<n>\d{1,3})\s*-?\s*(?P<u>month|week|day)s?\s*-?\s*old\b", re.I)
_YEARS = {"month": 1 / 12, "week": 7 / 365.25, "day": 1 / 365.25}
_AGED = re.compile(
    r"\b(?:aged|age|Age|AGE)\s*[:=]?\s*(?P<n>\d{1,3})(?!\s*(?:months?|weeks?|days?)|\d|\s*[-\u2013]\s*\d)"
)
_SALUTATION = re.compile(r"\b(?P<s>Mr|Mrs|Ms|Miss)\b\.?\s+(?:[A-Z][a-z]+)(?:,\s*(?P<n>\d{2,3})\b)?")
_SEX_FIELD = re.compile(r"\b(?:[Ss]ex|[Gg]ender)\s*[:=]\s*(?P<s>[Mm]ale|[Ff]emale|M|F)\b")
_PRONOUN = re.compile(r"\b(he|she|his|her|him|himself|herself)\b", re.I)
_KIN = r"(?:mother|father|wife|husband|son|daughter|sister|brother|aunt|uncle|partner)"
_ANOTHER = re.compile(rf"\b(?:{_KIN}|since|at|from|died|when|until)\b", re.I)
_OPENING = re.compile(r"(?:^|[.;!?\n])\s*(?:An?|This|The)?\s*(?:patient\s*[:,]?\s*)?$", re.I)
_HEADED = re.compile(
    r"(?:^|(?<=[.;\n]))\s*(?P<sex>[Mm]ale|[Ff]emale|[Mm]an|[Ww]oman)\s*[,:]\s*(?:aged?\s*:?\s*)?(?P<n>\d{1,3})\b"
    r"(?!\s*(?:months?|weeks?|days?|/|%|[.,]\d|[-\u2013]\s*\d))"
)
# "Man of 60", "a lady aged 71"; the number is no weight and no duration.
_SPOKEN = re.compile(
    r"\b(?P<sex>[Mm]ale|[Ff]emale|[Mm]an|[Ww]oman|[Gg]entleman|[Ll]ady|[Bb]oy|[Gg]irl)\s+(?:of|aged)\s+(?P<n>\d{1,3})\b"
    r"(?!\s*(?:months?|weeks?|days?|hours?|kg|kilos?|cm|stone|/|%|[.,]\d|[-\u2013]\s*\d))"
)
_OTHERS = re.compile(rf"(?:{_KIN}|caller)[^\w\n]+$", re.I)
_RELATIVE = re.compile(rf"\W{{0,3}}{_KIN}\b", re.I)


def background(case: Case, knowledge: Knowledge) -> Iterator[Draft]:
    """Age and sex, from the file or else from the notes; bands of age that the concept table has."""
    ages = [*_age_of_file(case)] or [draft for note in case.notes for draft in _ages(note)]
    sexes = [*_sex_of_file(case, knowledge)] or [draft for note in case.notes for draft in _sexes(note, knowledge)]
    sexes = sexes or [*_by_pronoun(case.notes, knowledge)]
    yield from ages if _ages_agree([draft.finding for draft in ages]) else map(_disputed, ages)
    yield from sexes if len({draft.finding.concept for draft in sexes}) < 2 else map(_disputed, sexes)


def _ages_agree(ages: Sequence[Finding]) -> bool:
    """Whether all are of one person: ages of dated notes by the time of birth that they mean, others as they are."""
    written = [_day(finding.collected_at or "") for finding in ages]
    years = [finding.value.value for finding in ages if finding.value is not None]
    if all(written):
        years = [age - day.toordinal() / 365.25 for age, day in zip(years, written, strict=True) if day is not None]
    return not years or max(years) - min(years) <= AGES_APART


def _disputed(draft: Draft) -> Draft:
    """Kept and shown, counted by nothing."""
    return Draft(finding=msgspec.structs.replace(draft.finding, polarity="possible", note=DISPUTED))


def person(drafts: Iterable[Finding]) -> Patient:
    """Age (the latest stated), sex and pregnancy as the findings say; contradictory ones count as unknown."""
    ages: list[tuple[str, float]] = []
    sexes: set[str] = set()
    pregnant: bool | None = None
    for finding in drafts:
        if finding.who != "patient" or finding.time != "current":
            continue
        if finding.concept == AGE and finding.value is not None and finding.holds:
            ages.append((finding.collected_at or "", finding.value.value))
        elif finding.concept in (MALE, FEMALE) and finding.holds:
            sexes.add("male" if finding.concept == MALE else "female")
        elif finding.concept in PREGNANCIES and finding.polarity != "possible":
            pregnant = bool(pregnant) or finding.polarity == "present"
    age = max(ages)[1] if ages else None
    sex = sexes.pop() if len(sexes) == 1 else ""
    cannot = sex == "male" or (age is not None and age < YOUNGEST_PREGNANT)
    return Patient(age=age, sex=sex, pregnant=False if cannot else pregnant)


# -------------------------------------------------------------------------------------------------- the file


def _age_of_file(case: Case) -> Iterator[Draft]:
    born, now = _day(case.patient.birth_date), _day(case.created_at)
    if born is None or now is None or born > now:
        return
    years = now.year - born.year - ((now.month, now.day) < (born.month, born.day))
    if years <= OLDEST:
        yield _age(years, _file_source(case, "birth date"), f"born {born.isoformat()}", None)


def _sex_of_file(case: Case, knowledge: Knowledge) -> Iterator[Draft]:
    concept = _SEX_WORDS.get(case.patient.sex.strip().lower())
    if concept:
        yield _sex(concept, _file_source(case, "sex"), case.patient.sex, knowledge)


def _file_source(case: Case, what: str) -> Provenance:
    label = f"{what} in the files' patient data"
    return Provenance(kind="document", reference=case.id, sha256=codec.digest(case.patient), label=label)


def _day(text: str) -> date | None:
    """A date from "1950-03-01", "19500301" or a timestamp that begins with one."""
    match = re.match(r"(\d{4})-?(\d{2})-?(\d{2})", text)
    try:
        return date(*(int(part) for part in match.groups())) if match else None
    except ValueError:
        return None


# -------------------------------------------------------------------------------------------------- the notes


def _stated(text: str) -> re.Match[str] | None:
    """Where the patient's age is stated; of several the highest, since lower ones are of onset or of events."""
    for pattern in (_AGE, _HEADED, _SPOKEN, _AGED, _SALUTATION):
        matches = [match for match in pattern.finditer(text) if match["n"] and int(match["n"]) <= OLDEST]
        matches = [match for match in matches if not _of_another(text, match)]
        if matches:
            return max(matches, key=lambda match: (int(match["n"]), match.group()))
    return None


def _ages(note: Note) -> Iterator[Draft]:
    """The patient's ages as a note states them; months, weeks and days of an infant in years."""
    stated = _patients(note.text)
    if stated:
        yield from (_age(int(match["n"]), note_source(note, *match.span()), match.group(), note) for match in stated)
        return
    for match in _INFANT.finditer(note.text):
        if not _of_another(note.text, match):
            years = round(int(match["n"]) * _YEARS[match["u"].lower()], 2)
            yield _age(years, note_source(note, *match.span()), match.group(), note)
            return


def _patients(text: str) -> list[re.Match[str]]:
    """Where the patient's age is stated, and any other statement that opens a sentence like it: "30M. Cough. 80F."."""
    best = _stated(text)
    if best is None or not _sex_word(best):
        return [best] if best else []
    others: dict[str, re.Match[str]] = {}
    for match in (*_AGE.finditer(text), *_HEADED.finditer(text), *_SPOKEN.finditer(text)):
        apart = abs(int(match["n"]) - int(best["n"])) > AGES_APART and int(match["n"]) <= OLDEST
        if apart and _sex_word(match) and _opens(text, match) and not _of_another(text, match):
            others.setdefault(f"{match['n']} {_sex_word(match)}", match)
    return [best, *(others[key] for key in sorted(others))]


def _opens(text: str, match: re.Match[str]) -> bool:
    """Whether a match stands at the beginning of its sentence."""
    return _OPENING.search(text[max(0, match.start() - 40) : match.start()]) is not None


def _of_another(text: str, match: re.Match[str]) -> bool:
    """Whether an age is a relative's, or the age at some event: "father died aged 49", "asthma since age 6"."""
    before = text[max(0, match.start() - 40) : match.start()]
    if _RELATIVE.match(text, match.end()):
        return True
    return _ANOTHER.search(re.split(r"[.;\n]", before)[-1]) is not None


def _sexes(note: Note, knowledge: Knowledge) -> Iterator[Draft]:
    """The sex stated with the age, else each that the note states of the patient, once."""
    matches = [match for match in _patients(note.text) if _sex_word(match)]
    everywhere = (
        *_AGE.finditer(note.text),
        *_HEADED.finditer(note.text),
        *_SPOKEN.finditer(note.text),
        *_SEX_FIELD.finditer(note.text),
        *_SALUTATION.finditer(note.text),
    )
    found: dict[str, re.Match[str]] = {}
    for match in matches or everywhere:
        concept = _SEX_WORDS.get(_sex_word(match))
        if concept and not _of_another(note.text, match):
            found[concept] = min(match, found.get(concept, match), key=lambda one: one.group())
    for concept in sorted(found):
        match = found[concept]
        yield _sex(concept, note_source(note, *match.span()), match.group(), knowledge)


def _sex_word(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return (groups.get("sex") or groups.get("tight") or groups.get("s") or "").lower()


def _by_pronoun(notes: Sequence[Note], knowledge: Knowledge) -> Iterator[Draft]:
    """Sex from pronouns, when every one of them says the same and none follows the naming of a relative."""
    found: list[tuple[Note, re.Match[str]]] = []
    for note in notes:
        for match in _PRONOUN.finditer(note.text):
            if not _OTHERS.search(note.text[max(0, match.start() - 30) : match.start()]):
                found.append((note, match))
    masculine = {match.group().lower().startswith("hi") or match.group().lower() == "he" for _, match in found}
    if len(found) >= 2 and len(masculine) == 1:
        note, match = min(found, key=lambda pair: (pair[0].sha256, pair[1].start()))
        concept = MALE if masculine.pop() else FEMALE
        yield _sex(concept, note_source(note, *match.span()), "by pronouns throughout", knowledge)


def _age(years: float, source: Provenance, text: str, note: Note | None) -> Draft:
    return Draft(
        finding=Finding(
            id="",
            concept=AGE,
            name="Age",
            provenance=source,
            extractor=BACKGROUND,
            text=text,
            quantity="age",
            value=Quantity(float(years), "a"),
            collected_at=(note.written_on or None) if note else None,
        )
    )


def _sex(concept: str, source: Provenance, text: str, knowledge: Knowledge) -> Draft:
    entry = knowledge.concept(concept)
    name = entry.name if entry else ("Male sex" if concept == MALE else "Female sex")
    return Draft(finding=Finding(id="", concept=concept, name=name, provenance=source, extractor=BACKGROUND, text=text))
