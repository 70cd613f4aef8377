"""A report as PDF, read again with another library: what stands on every page, that nothing is lost, cut or linked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pypdfium2
import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from core.domain.hypothesis import Differential, Hypothesis
from core.domain.notices import TEXTS, notice
from core.domain.report import Block, Line, Report, Table
from core.errors import UserError
from desktop.state.report_files import Entry, Figure, Paper, form_of, keep
from desktop.views.report_pdf import draw

PATIENT = "Müller-Lüdenscheid, Änne, born 1950-01-02, A-17, 76 years, female"
CASE = "Atemnot nach Kniegelenksendoprothesenoperation"
LONG = "Herzinsuffizienzdekompensationswahrscheinlichkeitseinschätzungsverfahrensbeschreibung" * 2
LONG_NOTICE = notice("N3", list=", ".join(f"value {n} of the ward's own table" for n in range(12)))
MM = 72 / 25.4
A4 = (210 * MM, 297 * MM)


def png() -> bytes:
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("#336699"))
    store = QBuffer()
    store.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(store, "PNG")
    return bytes(store.data().data())


def a_report(*blocks: Block, notices: tuple[str, ...] = ()) -> Report:
    banner = (*(notice(name) for name in ("N1", "N2", "N6", "N7")), notice("N3", list="none"), *notices)
    return Report(
        title=CASE, patient=PATIENT, run_id="r1", created_at="", banner=banner, blocks=blocks, evidence=(),
        footer=(TEXTS["N8"], "Run r1 of 2026-11-30 08:00 UTC, workflow direct 1, case revision 1."),
    )  # fmt: skip


SHORT = Paper(report=a_report(Block(id="conclusion", title="Conclusion", lines=(Line(text="Evidence is scarce."),))))


def long_paper() -> Paper:
    cells = tuple((Line(text=f"Clue {n} {LONG}", evidence=(f"e{n}", "e7")),) for n in range(3))
    rows = tuple(((Line(text=f"Condition {row}: possible"),), *cells) for row in range(24))
    table = Table(title="", columns=("Condition", "For", "Against", "Missing"), rows=rows)
    flags = tuple(Line(text=f"Flag of {tone}.", tone=tone) for tone in ("critical", "serious", "caution"))  # type: ignore[arg-type]
    struck = Line(text="Potassium is 9.", struck=True, reason=TEXTS["N17"])
    blocks = (
        Block(id="flags", title="Safety flags", lines=flags),
        Block(id="conclusion", title="Conclusion", lines=(Line(text=f"First: <b>{LONG}</b> & more."),)),
        Block(id="columns", title="For, against, missing", tables=(table,)),
        *(
            Block(
                id=f"b{n}", title=f"Heading {n}", lines=(Line(text=f"Below {n}. " + "Long text goes on. " * 30), struck)
            )
            for n in range(9)
        ),
    )
    ranked = Differential(
        hypotheses=(
            Hypothesis(slug="a", title="Ranked asthma", concept="a", band="leading", structural=1.0, share=1.0),
        ),
        sufficient=True,
    )
    entries = tuple(
        Entry(
            id=f"e{n}", text=f"Evidence {n}", source=f"letter, line {n}", remark="Superseded." if n == 3 else "",
            quote="<blockquote>was <mark>seen</mark></blockquote>", published=n > 40,
        )
        for n in range(60)
    )  # fmt: skip
    return Paper(
        report=a_report(*blocks, notices=(LONG_NOTICE,)), ranked=ranked, entries=entries,
        figures=(Figure(title="Chest film", png=png()),),
    )  # fmt: skip


class Read:
    """A PDF as pypdfium2 reads it: the text of its pages, where its letters stand, what else is in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        document = pypdfium2.PdfDocument(data)
        self.title = document.get_metadata_dict()["Title"]
        self.sizes = [page.get_size() for page in document]
        self.active = pypdfium2.raw.FPDFDoc_GetJavaScriptActionCount(document) + document.count_attachments()
        self.pages, self.lefts, self.rights, self.images = [], [], [], 0
        for page in document:
            text = page.get_textpage()
            self.active += pypdfium2.raw.FPDFPage_GetAnnotCount(page)
            self.pages.append(text.get_text_bounded())
            printed = [n for n in range(text.count_chars()) if text.get_text_range(n, 1).strip()]
            boxes = [text.get_charbox(n) for n in printed]
            self.lefts.append(min(box[0] for box in boxes))
            self.rights.append(max(box[2] for box in boxes))
            self.images += sum(1 for thing in page.get_objects() if thing.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE)
        document.close()

    def words(self, report: Report) -> str:
        """All pages without blanks; between two of them neither head nor foot."""
        whole = "".join(map(squeezed, self.pages))
        foot = "".join(map(squeezed, report.footer))
        for number in range(1, len(self.pages)):
            end = foot + squeezed(f"Page {number} of {len(self.pages)}")
            before, after = whole.split(end, 1)
            head = after[: after.index(squeezed("page 1")) + len(squeezed("page 1"))]
            whole = before + after.removeprefix(head)
        return whole


def squeezed(text: str) -> str:
    """Without blanks and signs of a broken line: where a line ends is the page's affair."""
    return re.sub(r"[\s\ufffe\u00ad]+", "", text)


@pytest.fixture(scope="module")
def short(qapp: QApplication) -> Read:
    return Read(draw(SHORT))


@pytest.fixture(scope="module")
def long(qapp: QApplication) -> Read:
    return Read(draw(long_paper()))


def said(paper: Paper) -> Iterator[str]:
    """Every text that the report and its evidence hold."""
    report = paper.report
    yield from (*report.banner, *report.footer, report.title, report.patient)
    for block in report.blocks:
        yield block.title
        for line in (*block.lines, *(line for t in block.tables for row in t.rows for cell in row for line in cell)):
            yield from (line.text, line.reason, *line.evidence)
    for entry in paper.entries:
        yield from (entry.id, entry.text, entry.source, entry.remark)


def test_a_short_report_is_one_page(short: Read) -> None:
    assert len(short.pages) == 1
    assert "Page 1 of 1" in short.pages[0]
    assert "Evidence is scarce." in short.pages[0]


@pytest.mark.parametrize("which", ["short", "long"])
def test_every_page_says_whose_it_is_and_what_it_is(which: str, request: pytest.FixtureRequest) -> None:
    """Patient, case, N1, N2, N6, N7, N8, the notices of ordinary length and the number of the page."""
    read: Read = request.getfixturevalue(which)
    for number, page in enumerate(read.pages, 1):
        lines = squeezed(page)
        for words in (PATIENT, CASE, *(TEXTS[n] for n in ("N1", "N2", "N6", "N7", "N8")), notice("N3", list="none")):
            assert squeezed(words) in lines, (number, words)
        assert f"Page {number} of {len(read.pages)}" in page
    assert PATIENT in read.title
    assert CASE in read.title


def test_a_long_report_loses_no_sentence(long: Read) -> None:
    assert len(long.pages) >= 6
    whole = long.words(long_paper().report)
    for words in said(long_paper()):
        assert squeezed(words) in whole, words
    for tone in ("Critical", "Serious", "Caution"):
        assert squeezed(f"{tone}. Flag of {tone.lower()}.") in whole
    assert squeezed("Ranked asthma") in whole
    assert whole.count(squeezed("was seen")) == 60
    assert long.images == 1


def test_a_long_notice_stands_whole_on_the_first_page_and_is_named_on_the_others(long: Read) -> None:
    assert squeezed(LONG_NOTICE) in squeezed(long.pages[0])
    for page in long.pages:
        assert "1 longer notice on page 1" in " ".join(page.split())


@pytest.mark.parametrize("which", ["short", "long"])
def test_pages_are_a4_and_no_letter_leaves_the_margins(which: str, request: pytest.FixtureRequest) -> None:
    read: Read = request.getfixturevalue(which)
    for size, left, right in zip(read.sizes, read.lefts, read.rights, strict=True):
        assert size == pytest.approx(A4, abs=1.0)
        assert left >= 18 * MM - 1
        assert right <= A4[0] - 16 * MM + 1


def test_rows_are_kept_whole_and_no_heading_ends_a_page(long: Read) -> None:
    for row in range(24):
        [page] = [page for page in long.pages if f"Condition {row}: possible" in page]
        after = squeezed(page.split(f"Condition {row}: possible")[1])
        assert all(squeezed(f"Clue {n} {LONG}") in after for n in range(3)), row
    for number in range(9):
        [page] = [page for page in long.pages if f"Heading {number}" in page]
        assert f"Below {number}." in page


def test_text_over_the_end_of_a_page_is_in_the_file_once(qapp: QApplication) -> None:
    """In a paragraph, and in a row higher than a page: nothing hidden is repeated where the next page begins."""
    many = [" ".join(f"{kind}{n:04}" for n in range(1500)) for kind in ("word", "cell")]
    block = Block(id="b", title="Long", lines=(Line(text=many[0]),))
    found = Read(draw(Paper(report=a_report(block), entries=(Entry(id="e1", text=many[1], source="s"),))))
    assert len(found.pages) >= 4
    for words in many:
        parts = re.findall(rf"{words[:4]}\d{{4}}", " ".join(found.pages))
        assert parts == words.split()


def test_the_file_leads_nowhere(long: Read) -> None:
    """No link, field or note on any page, no script, no attached file."""
    assert long.active == 0


def test_text_of_documents_never_becomes_mark_up(qapp: QApplication) -> None:
    line = Line(text="<img src='file:///etc/passwd'> <h1>x</h1> &amp;")
    block = Block(id="b", title="<i>Title</i>", lines=(line,))
    found = Read(draw(msgspec.structs.replace(SHORT, report=a_report(block))))
    [page] = map(squeezed, found.pages)
    assert squeezed(line.text) in page
    assert squeezed("<i>Title</i>") in page
    assert found.images == 0


def test_notices_that_leave_no_room_are_refused_with_a_sentence(qapp: QApplication) -> None:
    crowd = tuple(f"Notice {n} of more than a page can hold beside the text of a report." for n in range(120))
    with pytest.raises(UserError, match="leave no room"):
        draw(Paper(report=a_report(notices=crowd)))


# ---------------------------------------------------------------------------------------------------- the file


def test_a_file_is_written_whole_and_another_one_stays(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "Ж ü 你.pdf"
    assert keep(target, b"first", replace=False) == target
    with pytest.raises(UserError, match="is there already; nothing was written") as refused:
        keep(target, b"second", replace=False)
    assert refused.value.code == "exists"
    assert target.read_bytes() == b"first"
    keep(target, b"third", replace=True)
    assert target.read_bytes() == b"third"
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"could not be written: No such file or directory\."):
        keep(tmp_path / "absent" / "report.pdf", b"x", replace=True)
    folder = tmp_path / "out" / "report.pdf"
    folder.mkdir(parents=True)
    with pytest.raises(UserError, match="is there already"):
        keep(folder, b"x", replace=True)
    assert list(folder.parent.iterdir()) == [folder]
    assert list(folder.iterdir()) == []


def test_the_name_says_the_form() -> None:
    assert [form_of(Path(name)) for name in ("a.PDF", "b.html", "c.htm")] == [".pdf", ".html", ".html"]
    with pytest.raises(UserError, match=r"\.pdf or \.html"):
        form_of(Path("d.docx"))
