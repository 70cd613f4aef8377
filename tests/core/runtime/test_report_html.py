"""The HTML report: well-formed, closed to the outside, every link lands, hostile text stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from core.domain.case import Case, ImageRef
from core.domain.notices import TEXTS
from core.domain.report import Line, Report
from core.runtime import report, report_html
from tests.helpers import workup
from tests.helpers.workup import work_up

VOID = {"meta", "br", "img", "link", "input", "hr"}
EVIL = "<script>alert('x')</script><img src=http://x.example/a onerror=alert(1)> \"quoted\" & 'single'"
NOTE = f"""\
74-year-old man. Fever and productive cough. Focal crackles. {EVIL} No chest pain.
BP 96/58, HR 112, RR 26, SpO2 91% on air, T 38.9 °C.
"""
LABS = f"""\
test,value,unit,reference_low,reference_high,flag,collected_at
CRP,182,mg/L,,5,H,2026-11-23T14:50
"Urea {EVIL.replace('"', "")}",12,mmol/L,2.5,7.8,H,2026-11-23T14:50
Urea,12,mmol/L,2.5,7.8,H,2026-11-23T14:50
"""
PNG = b"\x89PNG\r\n\x1a\nnot a real picture"


class Reader(HTMLParser):
    """Reads the page as a browser would, and remembers tags, attributes and visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.struck: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if "s" in self.open:
            self.struck.append(data)

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]


@pytest.fixture(scope="module")
def case() -> Case:
    picture = ImageRef(id="p1", title=f"film {EVIL}", sha256="1" * 64, preview_sha256="2" * 64, width=4, height=4)
    made = workup.case_of(workup.note(NOTE, title=EVIL), workup.table(LABS, title=EVIL), identifier="c1")
    return msgspec.structs.replace(made, title=f"Case {EVIL}", items=(*made.items, picture))


@pytest.fixture(scope="module")
def made(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Report:
    return work_up(tmp_path_factory.mktemp("profile"), case).report(case)


@pytest.fixture(scope="module")
def page(made: Report, case: Case) -> str:
    return report_html.html(made, case, {"2" * 64: PNG})


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def test_every_tag_is_closed_in_order(read: Reader) -> None:
    assert read.open == [] and read.faults == []


def test_ids_are_unique_and_every_link_lands(read: Reader) -> None:
    identifiers = read.values("id")
    assert len(identifiers) == len(set(identifiers))
    links = read.values("href")
    assert len(links) > 40
    for link in links:
        assert link.startswith("#e") and link[1:] in identifiers


def test_every_cited_id_of_the_report_is_a_link(made: Report, read: Reader) -> None:
    links = {link[1:] for link in read.values("href")}
    assert {identifier for line in report.all_lines(made) for identifier in line.evidence} <= links


def test_nothing_is_fetched_and_nothing_runs(page: str, read: Reader) -> None:
    names = {tag for tag, _ in read.tags}
    assert not names & {"script", "iframe", "object", "embed", "link", "form", "base", "audio", "video"}
    assert all(source.startswith("data:image/png;base64,") for source in read.values("src"))
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import", page)
    policy = next(attributes for tag, attributes in read.tags if attributes.get("http-equiv"))
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_hostile_text_of_notes_titles_and_tables_stays_text(page: str, read: Reader) -> None:
    assert "<script" not in page and "<img src=http" not in page
    visible = "".join(read.words)
    assert f"Case {EVIL}" in visible
    assert sum(1 for tag, _ in read.tags if tag == "img") == 1


def test_the_page_says_what_the_value_says(made: Report, read: Reader) -> None:
    """Line by line; the strength of a clue stands without brackets."""
    visible = " ".join("".join(read.words).split())
    for line in report.all_lines(made):
        words = re.sub(r" \((hallmark|typical|occasional|against|excludes)\)$", r" \1", line.text)
        assert " ".join(words.split()) in visible
    for item in report.cited(made):
        assert " ".join(item.text.split()) in visible
    for words in (*made.banner, *made.footer, made.patient):
        assert words in visible


def test_the_fixed_texts_are_on_the_page(read: Reader) -> None:
    visible = "".join(read.words)
    assert all(TEXTS[identifier] in visible for identifier in ("N1", "N2", "N7", "N8"))


def test_evidence_shows_the_words_it_was_read_from(page: str) -> None:
    assert "<mark>Focal crackles</mark>" in page
    assert "CRP · 182 mg/L · ≤ 5 · H · 2026-11-23T14:50" in page
    assert "computed from <a class='cite'" in page


def test_a_struck_sentence_stays_visible_with_its_reason(made: Report, case: Case) -> None:
    line = Line(text="She will recover.", struck=True, reason="No evidence found for this statement: cites nothing")
    first = msgspec.structs.replace(made.blocks[0], lines=(line,))
    reader = Reader()
    reader.feed(report_html.html(msgspec.structs.replace(made, blocks=(first,)), case, {}))
    assert "".join(reader.struck) == line.text and line.reason in "".join(reader.words)


def test_an_id_without_evidence_is_no_link(made: Report, case: Case) -> None:
    first = msgspec.structs.replace(made.blocks[0], lines=(Line(text="x", evidence=("e9999",)),))
    reader = Reader()
    reader.feed(report_html.html(msgspec.structs.replace(made, blocks=(first,)), case, {}))
    assert "#e9999" not in reader.values("href") and "e9999" in "".join(reader.words)


def test_a_report_without_findings_is_a_page_too(tmp_path: Path) -> None:
    empty = workup.case_of()
    reader = Reader()
    reader.feed(report_html.html(work_up(tmp_path, empty).report(empty), empty, {}))
    assert reader.open == [] and reader.faults == []
