"""Evidence ids: handed out once, in order, each with a place that exists; computed statements name their inputs."""

from __future__ import annotations

import pytest

from core.domain.condition import Rule
from core.domain.passage import Fact, Source
from core.domain.ports import Query
from core.runtime.evidence_book import EvidenceBook, cite
from tests.helpers.clues import clue, condition, finding
from tests.helpers.runs import CASE, OneHit
from tests.helpers.workup import known

HEAT = finding("WR:fever", id="f2", inputs=("f1",), formula="temperature 39 >= 38")
FINDINGS = (finding("VS:temperature", id="f1"), HEAT)


def test_the_same_source_asked_twice_has_one_id() -> None:
    book, file = EvidenceBook(FINDINGS), condition("a", clue("WR:fever", "typical"))
    first = book.clue(file, file.clues[0], "Fever")
    assert book.clue(file, file.clues[0], "Fever") == first == "e3"
    assert [item.id for item in book.items] == ["e1", "e2", "e3"]
    assert book.finding("f2") == "e2"
    with pytest.raises(KeyError):
        book.finding("f9")


def test_a_computed_finding_names_the_evidence_it_rests_on() -> None:
    """Also where the input comes later in the list."""
    assert EvidenceBook(FINDINGS).items[1].provenance.label == "computed from e1"
    assert EvidenceBook(FINDINGS[::-1]).items[0].provenance.label == "computed from e2"


def test_facts_of_two_conditions_with_one_id_stay_apart() -> None:
    fact = Fact(
        id="k", quantity="potassium", population="adults", comparator=">=", unit="mmol/L", kind="diagnostic",
        statement="Potassium of 5.5 or more.", citation="x", low=5.5,
    )  # fmt: skip
    book = EvidenceBook(())
    assert book.fact(condition("a"), fact) != book.fact(condition("b"), fact)
    assert book.items[0].text == "Potassium of 5.5 or more. (unreviewed)"


def test_every_kind_of_evidence_says_where_it_comes_from() -> None:
    book, (passage,) = EvidenceBook(()), OneHit().search(Query(text="")).passages
    rule = Rule(id="r", when="potassium >= 6.5", flag="High.", severity="critical", action="Look.", citation="x")
    book.case(CASE), book.passage(passage), book.rule(rule, None, "potassium of 6.5 or more")
    case, quoted, ruled = book.items
    assert case.text == ("Case Breathlessness, revision 1: 1 note, 0 laboratory tables, 0 pictures, 0 files not read.")
    assert (quoted.provenance.sha256, quoted.provenance.start) == (passage.sha256, passage.start)
    assert "edition 2026" in quoted.provenance.label
    assert ruled.text == "High. Rule: potassium of 6.5 or more." and ruled.provenance.label == "Safety rule r"


@pytest.mark.parametrize(
    ("strength", "text"),
    [
        ("hallmark", "A hallmark of a: fever."),
        ("typical", "Typical of a: fever."),
        ("occasional", "Seen at times in a: fever."),
        ("against", "Speaks against a: fever."),
        ("excludes", "Excludes a: fever."),
    ],
)
def test_what_a_clue_says(strength: str, text: str) -> None:
    file = condition("a", clue("WR:fever", strength), title="a")
    book = EvidenceBook(())
    book.clue(file, file.clues[0], "Fever")
    assert book.items[0].text == text


@pytest.mark.parametrize(
    ("authors", "title", "line"),
    [
        ("Lim WS, Baudouin SV", "Is it severe?", "Lim WS et al. 2009. Is it severe? Thorax. doi:10.1/x"),
        ("van Vugt SF, Broekhuizen BD", "CRP", "van Vugt SF et al. 2009. CRP. Thorax. doi:10.1/x"),
        (
            "National Institute for Health and Care Excellence, British Thoracic Society",
            "Asthma",
            "National Institute for Health and Care Excellence 2009. Asthma. Thorax. doi:10.1/x",
        ),
        (
            "Kidney Disease: Improving Global Outcomes (KDIGO) Work Group",
            "AKI",
            "Kidney Disease: Improving Global Outcomes 2009. AKI. Thorax. doi:10.1/x",
        ),
    ],
)
def test_a_source_in_one_line(authors: str, title: str, line: str) -> None:
    assert cite(Source(key="x", authors=authors, title=title, journal="Thorax", year=2009, doi="10.1/x")) == line


def test_every_shipped_source_reads_as_a_citation() -> None:
    for file in known().conditions:
        for source in file.sources:
            line = cite(source)
            assert str(source.year) in line and "  " not in line and ".." not in line and "?." not in line
