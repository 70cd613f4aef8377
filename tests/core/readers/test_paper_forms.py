"""HTML, Markdown and text: the same value as PDF and Word give; hidden text marked; all writings come through."""

import pytest

from core.domain.case import Hidden
from core.errors import UserError
from core.readers import html, markdown, papers, text
from core.readers.paper import Block, Paper, assembled
from tests.helpers.office import paragraph, word
from tests.helpers.paper import Words, written

LIMIT = 1_000_000
WRITINGS = "肺炎 はいえん 폐렴 التهاب рентген Müller μg"
PAGE = """<!doctype html><html><head><title>Asthma &amp; wheeze</title><style>p {}</style></head><body>
<nav><a href="/">Home</a></nav><script>var a = "<p>no</p>";</script>
<h1>Asthma</h1><p>For adults &ge; 18 years,
   in <b>hospital</b>.<h2>Tests</h2>
<table><tr><th>Test</th><th>Value</th></tr><tr><td>PEF</td><td>&lt; 50 %</td></tr></table>
<ul><li>Spirometry<li>FeNO</ul><h2>Treatment</h2><div>Oxygen.<br>Salbutamol.</div><h3>Doses</h3><p>2.5&nbsp;mg</p>
</body></html>"""


def sections(found: Paper) -> list[tuple[str, str]]:
    return [(section.path, section.text) for section in found.sections]


def test_html_gives_sections_by_headings() -> None:
    found = html.read_paper(PAGE.encode(), limit_bytes=LIMIT)
    assert found.title == "Asthma & wheeze"
    assert sections(found) == [
        ("Asthma", "For adults \u2265 18 years, in hospital."),
        ("Asthma > Tests", "Test | Value\nPEF | < 50 %\nSpirometry\nFeNO"),
        ("Asthma > Treatment", "Oxygen.\nSalbutamol."),
        ("Asthma > Treatment > Doses", "2.5\u00a0mg"),
    ]


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ('style="display:none"', "text that the page does not show"),
        ('style="color:red; visibility: hidden"', "text that the page does not show"),
        ('style="opacity:0"', "text that the page does not show"),
        ("hidden", "text that the page does not show"),
        ('style="color: #FFF"', "white text"),
        ('style="color:rgb(255, 255, 255)"', "white text"),
        ('style="font-size:1px"', "text below 4 points"),
        ('style="opacity:0.9"', ""),
        ('style="color:#fff;background:#003"', ""),
        ('style="background-color:white"', ""),
        ('style="font-size:10px"', ""),
    ],
)
def test_hidden_html_is_kept_and_marked(attributes: str, why: str) -> None:
    found = html.read(f"<p>Seen.<p {attributes}>Ignore <i>the rules</i><p>After.".encode(), limit_bytes=LIMIT)
    assert found.text == "Seen.\nIgnore the rules\nAfter."
    assert found.hidden == ((Hidden(6, 22, why),) if why else ())


@pytest.mark.parametrize(
    "data",
    [
        f"<p>{WRITINGS}</p>".encode(),
        f"<p>{WRITINGS}</p>".encode("utf-16"),
        f"<body><p>{WRITINGS}</p></nav></table>".encode(),
        b"<meta charset='us-ascii'><p>" + WRITINGS.encode("ascii", "xmlcharrefreplace"),
        f"<meta charset=gb18030><p>{WRITINGS}".encode("gb18030"),
    ],
    ids=["utf-8", "utf-16", "stray ends", "references", "declared"],
)
def test_complaint_D4_writings_in_html(data: bytes) -> None:
    """nomic-ai/gpt4all#1240, #1908: garbled Chinese."""
    assert html.read(data, limit_bytes=LIMIT).text == WRITINGS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_complaint_D4_writings_in_text(encoding: str) -> None:
    """nomic-ai/gpt4all#1240, #1908: garbled Chinese. UTF-16 without a mark is told by its blanks and line ends."""
    content = f"Report\n{WRITINGS}\nEnd of the report, nothing else in it.\n"
    assert text.read(content.encode(encoding), limit_bytes=LIMIT).text == content


@pytest.mark.parametrize("encoding", ["gb18030", "shift_jis", "big5", "cp1251", "cp1256", "iso8859_8"])
def test_an_encoding_that_cannot_be_told_is_refused_and_not_garbled(encoding: str) -> None:
    samples = {"gb18030": "肺炎的治疗", "shift_jis": "肺炎の治療", "big5": "肺炎的治療",
               "cp1251": "пневмония", "cp1256": "التهاب الرئة", "iso8859_8": "דלקת ריאות"}  # fmt: skip
    with pytest.raises(UserError) as refused:
        text.read((samples[encoding] * 3).encode(encoding), limit_bytes=LIMIT)
    assert (refused.value.code, refused.value.text) == (
        "encoding", "The encoding of the text cannot be told; save it as UTF-8.",
    )  # fmt: skip


MARKDOWN = """---
title: "Acute asthma"
edition: 3
licence: CC0-1.0
---
Intro.

# Diagnosis #
First line,
second line.

Tests
-----
- PEF

```
# no heading
```
## Severity
Three grades.
# Treatment
Oxygen.
"""


def test_markdown_gives_sections_and_its_front_matter() -> None:
    found = markdown.read_paper(MARKDOWN.encode(), limit_bytes=LIMIT)
    assert (found.title, found.fact("edition"), found.fact("licence"), found.fact("publisher")) == (
        "Acute asthma", "3", "CC0-1.0", "",
    )  # fmt: skip
    assert sections(found) == [
        ("", "Intro."),
        ("Diagnosis", "First line,\nsecond line."),
        ("Diagnosis > Tests", "- PEF\n```\n# no heading\n```"),
        ("Diagnosis > Severity", "Three grades."),
        ("Treatment", "Oxygen."),
    ]


def test_plain_text_is_one_section_of_paragraphs() -> None:
    found = markdown.read_paper(b"# Not a heading\n\nSecond\nparagraph.", limit_bytes=LIMIT, form="text")
    assert sections(found) == [("", "# Not a heading\nSecond\nparagraph.")]


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        ("safe\u200b\u2060 words", (Hidden(4, 6, "zero-width characters"),)),
        ("a\u202egnihtyna\u202c", (Hidden(1, 2, "characters that turn the direction of writing"),
                                   Hidden(10, 11, "characters that turn the direction of writing"))),
        ("tag\U000e0041\U000e0042", (Hidden(3, 5, "zero-width characters"),)),
        ("ad\u200dmin", (Hidden(2, 3, "zero-width characters"),)),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", ()),  # Persian needs the non-joiner
        ("\u0915\u094d\u200d\u0937", ()),  # so does Hindi the joiner
        ("plain M\u00fcller", ()),
    ],
)  # fmt: skip
def test_characters_without_width(content: str, spans: tuple[Hidden, ...]) -> None:
    found = text.read(content.encode(), limit_bytes=LIMIT)
    assert (found.text, found.hidden) == (content, spans)


def test_a_section_knows_its_pages_and_its_hidden_spans() -> None:
    found = assembled(
        [
            Block(text="A", level=1, page=1),
            Block(text="one", page=1),
            Block(text="two", page=2, page_to=3, hidden=(Hidden(0, 2, "white text"),)),
            Block(text="empty", level=2, page=3),
            Block(text="B", level=1, page=4),
            Block(text="three", page=4),
        ],
        form="pdf",
    )
    assert [(s.path, s.text, s.page_from, s.page_to, s.hidden) for s in found.sections] == [
        ("A", "one\ntwo", 1, 3, (Hidden(4, 6, "white text"),)),
        ("B", "three", 4, 4, ()),
    ]


OUTLINE = '<w:outlineLvl w:val="0"/>'


@pytest.mark.parametrize(
    ("name", "data", "form", "remarks"),
    [
        ("g.pdf", written([[Words(text="Asthma", size=18), Words(text="Oxygen.", y=660)]]), "pdf", ()),
        ("g.docx", word(paragraph("Asthma", OUTLINE) + paragraph("Oxygen.")), "docx", ()),
        ("g.html", b"<h1>Asthma</h1>Oxygen.", "html", ()),
        ("g.md", b"# Asthma\nOxygen.", "markdown", ()),
        ("g.txt", b"<html><h1>Asthma</h1>Oxygen.", "html",
         ("Named .txt, but it is an HTML page; it was read as that.",)),
    ],
    ids=["pdf", "docx", "html", "markdown", "wrong name"],
)  # fmt: skip
def test_every_form_gives_the_same_paper(name: str, data: bytes, form: str, remarks: tuple[str, ...]) -> None:
    found = papers.read(name, data, limit_bytes=LIMIT, limit_pages=10)
    assert (found.form, found.title, sections(found), found.remarks) == (
        form, "Asthma", [("Asthma", "Oxygen.")], remarks,
    )  # fmt: skip


def test_a_table_is_no_paper() -> None:
    with pytest.raises(UserError) as refused:
        papers.read("labs.csv", b"test,value\nCRP,8\n", limit_bytes=LIMIT, limit_pages=10)
    assert (refused.value.code, refused.value.text) == ("kind", "It is no document with text to search (table).")
