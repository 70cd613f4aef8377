"""Every mark of every demo report leads to the place that says what is cited (product.md 7.4, D1).

The three example cases are worked up; each mark is followed as the window follows it (`desktop.state.source`), and what
is found there is compared with the words of the line and of the evidence. The control cites the neighbour instead.
"""

from __future__ import annotations

import re

import msgspec
import pytest

from core import codec
from core.domain.case import Case, LabTable, Note
from core.domain.condition import Condition
from core.domain.evidence import Evidence
from core.domain.memory import WorkingMemory
from core.domain.passage import Passage
from core.domain.report import Line, Report
from core.runtime import report as reports
from desktop.state.source import resolve
from tests.helpers import workup
from tests.helpers.workup import work_up

QUOTE = re.compile("“(.+?)”", re.DOTALL)


class Read(msgspec.Struct, frozen=True):
    """A worked-up example: the case, what the run remembers, its report."""

    case: Case
    memory: WorkingMemory
    report: Report


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Read]:
    found = {}
    for letter in "abc":
        case = workup.example(letter)
        worked = work_up(tmp_path_factory.mktemp("profile"), case)
        memory = msgspec.structs.replace(worked.memory, assessment=worked.assessment)
        found[letter] = Read(case, memory, worked.report(case))
    return found


def plain(text: str) -> str:
    return " ".join(text.split())


def marks(report: Report) -> list[tuple[Line, str]]:
    """Every mark of the report, with the line that it stands behind."""
    return [(line, mark) for line in reports.all_lines(report) for mark in line.evidence]


# ------------------------------------------------------------------------------------------------ one place each


def in_note(item: Evidence, note: Note, memory: WorkingMemory) -> bool:
    """The span is there, holds the words that were read, and lies on the line that the label names."""
    place = item.provenance
    if place.start is None or place.end is None or not 0 <= place.start < place.end <= len(note.text):
        return False
    finding = next((f for f in memory.findings if f.id == item.finding), None)
    if finding is None:
        return False
    line = note.text.count("\n", 0, place.start) + 1
    return (
        plain(finding.text) == plain(note.text[place.start : place.end])
        and place.sha256 == note.sha256
        and f"{place.label},".startswith(f"{note.title}, line {line},")
    )


def in_table(item: Evidence, table: LabTable) -> bool:
    """The row is there, and its test and number are those of the evidence."""
    place = item.provenance
    row = next((row for row in table.rows if row.row == place.row), None)
    if row is None or row.number is None or place.sha256 != table.sha256:
        return False
    return f" {row.number:g} " in item.text and place.label == f"{table.title}, row {row.row}"


def in_passage(item: Evidence, passage: Passage) -> bool:
    """The passage is the very one: its words, its hash, its title."""
    place = item.provenance
    return (
        item.text == passage.text
        and place.sha256 == passage.sha256 == codec.sha256(passage.text.encode())
        and place.label.startswith(f"{passage.title}, {passage.section} (")
    )


def in_condition(item: Evidence, condition: Condition) -> bool:
    """A row of the condition's file with its own hash, and the source that this row names; or a rule without one."""
    said = {codec.digest(clue): (f"{condition.title} {_name(clue.concept)}", clue.citation) for clue in condition.clues}
    said |= {codec.digest(fact): (fact.statement, fact.citation) for fact in condition.facts}
    words, citation = said.get(item.provenance.sha256, ("", ""))
    source = condition.source(citation)
    if source is None:  # a rule of the program, for which nobody's publication stands
        ours = item.provenance.label == f"starter set, edition {condition.edition}" and citation == ""
        return ours and condition.title.lower() in item.text.lower()
    if source.title not in item.provenance.label:
        return False
    return all(word in item.text.lower() for word in words.lower().split())


def _name(concept: str) -> str:
    known = workup.known().concept(concept)
    return known.name if known else concept


def in_case(item: Evidence, case: Case) -> bool:
    """How much there was to read: the case as a whole, by its hash."""
    return item.provenance.sha256 == codec.digest(case) and item.text.startswith(f"Case {case.title}, revision ")


def leads_to_it(item: Evidence, read: Read) -> bool:
    """Does the mark's source say what is cited?"""
    found = resolve(item, read.case, read.memory)
    kind, _, name = item.provenance.reference.partition(":")
    knowledge = workup.known()
    if found.inputs:
        return reports.inputs(item) == tuple(one.id for one in found.inputs)
    if found.note:
        return in_note(item, found.note, read.memory)
    if found.table:
        return in_table(item, found.table)
    if found.passage:
        return in_passage(item, found.passage)
    if kind == read.case.id:
        return in_case(item, read.case)
    if kind == "condition":
        return in_condition(item, next(one for one in knowledge.conditions if one.slug == name))
    if kind == "rule":
        rule = next(one for one in knowledge.rules if one.id == name)
        return item.text.startswith(rule.flag) and item.provenance.sha256 == codec.digest(rule)
    return False


def wrong(read: Read, *, by: int = 0) -> list[str]:
    """The marks that lead elsewhere; `by` shifts what each mark opens, as a peer's numbering did."""
    items = read.report.evidence
    number = {item.id: n for n, item in enumerate(items)}
    missed = []
    for line, mark in marks(read.report):
        cited = items[number[mark]]
        opened = items[(number[mark] + by) % len(items)]
        place = msgspec.structs.replace(cited, provenance=opened.provenance)
        if not leads_to_it(place, read):
            missed.append(f"{mark}: {line.text[:60]}")
    return missed


# ------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_complaint_D1_every_mark_opens_the_place_that_says_it(read: dict[str, Read], letter: str) -> None:
    """open-webui/open-webui#10979, #11204: the right text under the wrong number, or always number 0."""
    assert len(marks(read[letter].report)) >= 100
    assert len({mark for _, mark in marks(read[letter].report)}) > 40
    assert wrong(read[letter]) == []


def test_complaint_D1_quoted_words_stand_in_the_passage_cited(read: dict[str, Read]) -> None:
    """open-webui/open-webui#10979: what a line puts in quotation marks is in one of the passages that it cites."""
    quotes = 0
    for one in read.values():
        for line in reports.all_lines(one.report):
            for quote in QUOTE.findall(line.text):
                cited = [plain(item.text) for mark in line.evidence if (item := one.report.find(mark))]
                assert any(plain(quote).rstrip("…").strip() in text for text in cited), line.text
                quotes += 1
    assert quotes >= 3


@pytest.mark.parametrize("by", [1, -1])
def test_control_a_numbering_that_is_off_by_one_is_found(read: dict[str, Read], by: int) -> None:
    for one in read.values():
        assert len(wrong(one, by=by)) > 0.9 * len(marks(one.report))
