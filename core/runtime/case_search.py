"""Search over the text of all cases, in memory: title, patient, notes, results, file names, questions, assessments.

Every word typed must stand somewhere in the case, as any part of a word; places that hold more of them come first. The
texts live in a `Finder` as long as somebody searches; nothing of them is written anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from core.domain.assessment import Assessment
from core.domain.case import Case, Item, LabTable, Note
from core.domain.case_find import Found, Hit, Kind
from core.domain.task import WORK_UP
from core.store.case_texts import CaseTexts, RunText

MOST_PLACES = 3  # shown of one case
MOST_WORDS = 12
CONTEXT = 16  # characters of text shown before a hit, whole words; the found words must not leave a narrow row
BEHIND = 120


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a case that has a text of its own. `item` is an item's id, `run` a run's; `lower` is searched."""

    kind: Kind
    title: str
    text: str
    lower: str
    item: str = ""
    run: str = ""


class Finder:
    """The texts of the cases, read anew where a case has changed. For one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, tuple[Place, ...]]] = {}

    def forget(self) -> None:
        """Let the texts go."""
        self._known = {}

    def search(self, texts: CaseTexts, wanted: str, stopped: Callable[[], bool]) -> tuple[Found, ...]:
        """The cases that hold every word of `wanted`, newest first; what was found so far where it is stopped."""
        words = tuple(wanted.lower().split())[:MOST_WORDS]
        versions = texts.versions()
        found: list[Found] = []
        fresh: dict[str, tuple[str, tuple[Place, ...]]] = {}
        for case_id, version in versions:
            if stopped():
                self._known |= fresh
                return tuple(found)
            known = self._known.get(case_id)
            if known is None or known[0] != version:
                known = (version, tuple(places(*texts.read(case_id))))
            fresh[case_id] = known
            if (hits := _hits(case_id, known[1], words)) is not None:
                found.append(Found(case_id=case_id, hits=hits))
        self._known = fresh
        return tuple(found)


# ------------------------------------------------------------------------------------------------ places


def places(case: Case, runs: Sequence[RunText] = ()) -> Iterator[Place]:
    """Everything of a case that can be found."""
    yield _place("patient", "", case.title)
    person = case.patient
    yield _place("patient", "Patient", ", ".join(filter(None, (person.name, person.birth_date, person.patient_id))))
    for item in case.items:
        yield _place(_kind(item), item.title, _text(item), item=item.id)
    for entry in case.unread:
        yield _place("unread", entry.name, f"{entry.name}\n{entry.reason}")
    for run in runs:
        if run.question != WORK_UP:
            yield _place("question", "Question", run.question, run=run.run_id)
        if run.assessment is not None:
            yield _place("report", "Report", _assessed(run.assessment), run=run.run_id)


def _place(kind: Kind, title: str, text: str, *, item: str = "", run: str = "") -> Place:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two: offsets must stay those of the text
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return Place(kind=kind, title=title, text=text, lower=lower, item=item, run=run)


def _kind(item: Item) -> Kind:
    return "note" if isinstance(item, Note) else "labs" if isinstance(item, LabTable) else "item"


def _text(item: Item) -> str:
    """A note as it is; a table line by line; of anything else its name and what is said of it."""
    if isinstance(item, Note):
        return item.text
    if isinstance(item, LabTable):
        rows = ((row.test, row.value, row.unit, row.flag, row.collected_at) for row in item.rows)
        return "\n".join(" ".join(filter(None, row)) for row in rows)
    facts = (item.title, getattr(item, "modality", ""), getattr(item, "body_part", ""), getattr(item, "view", ""))
    names = tuple(table.name for table in getattr(item, "tables", ()))
    return " ".join(filter(None, (*facts, *names)))


def _assessed(assessment: Assessment) -> str:
    """What an assessment says, a sentence a line."""
    lines = [assessment.headline.text, *(flag.text for flag in assessment.flags)]
    lines += [sentence.text for section in assessment.sections for sentence in section.sentences]
    lines += [hypothesis.title for hypothesis in assessment.differential.hypotheses]
    lines += [f"{test.name}: {test.why}" for test in assessment.next_tests]
    return "\n".join(" ".join(line.split()) for line in lines)


# ------------------------------------------------------------------------------------------------ hits


def _hits(case_id: str, parts: Sequence[Place], words: Sequence[str]) -> tuple[Hit, ...] | None:
    """The best places of a case; None where it lacks a word."""
    if not all(any(word in part.lower or word in part.title.lower() for part in parts) for word in words):
        return None
    scored = [(sum(word in part.lower or word in part.title.lower() for word in words), part) for part in parts]
    ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    shown = [part for _, part in ranked if part.title or part.kind != "patient"]  # the title is the row above
    more = max(0, len(shown) - MOST_PLACES)
    hits = [_hit(case_id, part, words) for part in shown[:MOST_PLACES]]
    if more:
        hits[-1] = msgspec.structs.replace(hits[-1], more=more)
    return tuple(hits)


def _hit(case_id: str, part: Place, words: Sequence[str]) -> Hit:
    """The first spot of a place; its beginning where only its name was found."""
    at = _spot(part.lower, words)
    start, end = at or (0, 0)
    first = max(0, start - CONTEXT)
    before, found, after = part.text[first:start], part.text[start:end], part.text[end : end + BEHIND]
    before = before.partition(" ")[2] if first and " " in before.strip() else before
    lead = "…" if first else ""
    head = lead + " ".join(before.split()) + (" " if before[-1:].isspace() else "")
    tail = (" " if after[:1].isspace() else "") + " ".join(after.split())
    return Hit(
        case_id=case_id,
        kind=part.kind,
        title=part.title,
        snippet=head + " ".join(found.split()) + tail,
        mark=len(head),
        start=start,
        end=end,
        line=part.text.count("\n", 0, start),
        line_words=part.text[part.text.rfind("\n", 0, start) + 1 :].partition("\n")[0],
        words=found,
        item=part.item,
        run=part.run,
    )


def _spot(lower: str, words: Sequence[str]) -> tuple[int, int] | None:
    """The whole phrase where it stands, else the longest of the words."""
    phrase = " ".join(words)
    if (at := lower.find(phrase)) >= 0:
        return at, at + len(phrase)
    for word in sorted(words, key=len, reverse=True):
        if (at := lower.find(word)) >= 0:
            return at, at + len(word)
    return None
