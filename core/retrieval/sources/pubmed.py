"""PubMed citations (`pubmedNNnNNNN.xml.gz`): title, abstract by its labelled parts, headings, date, language.

A later file holds the newer form of a citation and names deleted ones: files are read from the last to the first, and
of one citation the first met counts. It must not know a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from core.errors import UserError
from core.readers import xml
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, class_of, flowing, section, summary
from core.store.knowledge_values import Doc, Item, Section, SectionClass

NAME, VERSION = "pubmed", "1"
SUFFIXES: tuple[str, ...] = (".xml",)
CATEGORIES: dict[str, SectionClass] = {"BACKGROUND": "overview", "OBJECTIVE": "overview", "CONCLUSIONS": "overview"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: n for n, name in enumerate(_MONTHS, 1)}
LANGUAGES = {"eng": "en", "fre": "fr", "ger": "de", "spa": "es", "ita": "it", "por": "pt", "chi": "zh", "jpn": "ja"}
NO_ABSTRACT = "no abstract"
OTHER_TYPE = "not of the wanted publication types"
DELETED = "deleted by a later file"
RIGHTS = (
    "Citations of the National Library of Medicine (PubMed). Abstracts may be protected by the copyright of their "
    "publishers or authors: use within this site only."
)


def fits(name: str, head: bytes) -> bool:
    return b"<PubmedArticleSet" in head or b"<PubmedArticle>" in head


def read(files: Files, options: Options) -> Reading:
    """The citations with an abstract; of the wanted publication types only, where some are named."""
    about = About(
        slug="pubmed",
        title="PubMed citations",
        kind="literature",
        publisher="National Library of Medicine",
        licence_text=RIGHTS,
        source_url="https://pubmed.ncbi.nlm.nih.gov",
    )
    return Reading(about, _records(files, options))


def _records(files: Files, options: Options) -> Iterator[Item | Skipped]:
    """A deletion holds for its own file and all older ones."""
    gone: dict[str, int] = {}
    for age, file in enumerate(files.walk(newest_first=True)):
        for record in xml.records(file.stream, "DeleteCitation"):
            for element in record.iter("PMID"):
                gone.setdefault(flowing(element.text or ""), age)
    for age, file in enumerate(files.walk(newest_first=True)):
        for record in xml.records(file.stream, "PubmedArticle"):
            pmid = flowing(record.findtext("MedlineCitation/PMID") or "")
            where = f"{file.name}, PMID {pmid or '?'}"
            if gone.get(pmid, age + 1) <= age:
                yield Skipped(where, DELETED, failed=False)
            else:
                yield _one(record, pmid, where, options)


def _one(record: Element, pmid: str, where: str, options: Options) -> Item | Skipped:
    types = {flowing(element.text or "") for element in record.iter("PublicationType")}
    if options.publication_types and types.isdisjoint(options.publication_types):
        return Skipped(where, OTHER_TYPE, failed=False)
    try:
        return _doc(record, pmid, where)
    except UserError as error:
        return Skipped(where, error.text)


def _doc(record: Element, pmid: str, place: str) -> Item | Skipped:
    article = record.find("MedlineCitation/Article")
    if not pmid or article is None:
        raise UserError("A citation without a PMID or an article.", code="record")
    sections = tuple(_sections(article))
    if not sections:
        return Skipped(place, NO_ABSTRACT, failed=False)
    headings = list(record.iterfind("MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName"))
    language = flowing(article.findtext("Language") or "")
    return Doc(
        source_key=pmid,
        title=_text(article.find("ArticleTitle")).strip("[]"),
        sections=sections,
        group=flowing(article.findtext("Journal/Title") or ""),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        lang=LANGUAGES.get(language, language[:2] or "en"),
        published_on=_date(article),
        summary=summary(sections[0].text),
        concepts=tuple(f"MSH:{e.get('UI')}" for e in headings if e.get("UI")),
        names=tuple(flowing(e.text or "") for e in headings),
    )


def _text(element: Element | None) -> str:
    """The text with that of inline markup (i, sup, sub, b)."""
    return "" if element is None else flowing("".join(element.itertext()))


def _sections(article: Element) -> Iterator[Section]:
    for part in article.iterfind("Abstract/AbstractText"):
        text = _text(part)
        if not text:
            continue
        label, category = part.get("Label", ""), part.get("NlmCategory", "")
        known = class_of(label) if label else "overview"
        yield section(label.capitalize() or "Abstract", text, CATEGORIES.get(category, known))


def _date(article: Element) -> str:
    """ISO 8601 as far as it is given: year, month, day."""
    date = article.find("Journal/JournalIssue/PubDate")
    if date is None:
        return ""
    year = flowing(date.findtext("Year") or (date.findtext("MedlineDate") or "")[:4])
    if not year.isdecimal():
        return ""
    month = flowing(date.findtext("Month") or "").lower()
    number = int(month) if month.isdecimal() else MONTHS.get(month[:3], 0)
    day = flowing(date.findtext("Day") or "")
    parts = [year, f"{number:02}" if number else "", f"{int(day):02}" if number and day.isdecimal() else ""]
    return "-".join(part for part in parts if part)
