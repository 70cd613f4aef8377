"""MedlinePlus health topics (`mplus_topics_YYYY-MM-DD.xml`): a document a topic, of the chosen language only.

The summary is HTML inside XML; its headings (h1-h6, or a paragraph that is a question) make the sections. It must not
know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree.ElementTree import Element

from core.readers import xml
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, flowing, section, summary, surfaces
from core.store.knowledge_values import Doc, Item, Relation, Section, VocabularyConcept

NAME, VERSION = "medlineplus", "1"
SUFFIXES: tuple[str, ...] = (".xml",)
LANGUAGES = {"en": "English", "es": "Spanish"}
FIRST = "Overview"
MOST_QUESTION = 14  # words of a paragraph that stands as a heading
NO_SUMMARY = "no summary"
OTHER_LANGUAGE = "another language"
_DATE = re.compile(r"(\d{2})/(\d{2})/(\d{4})|(\d{4})-(\d{2})-(\d{2})")


class _Block(NamedTuple):
    kind: str  # heading, item, paragraph
    text: str


def fits(name: str, head: bytes) -> bool:
    return b"<health-topics" in head


def read(files: Files, options: Options) -> Reading:
    """The topics of all files; the relation between topics is kept on their concepts."""
    about = About(
        slug="medlineplus",
        title="MedlinePlus health topics",
        kind="literature",
        edition=_generated(files),
        publisher="National Library of Medicine",
        licence="public-domain",
        source_url="https://medlineplus.gov",
    )
    return Reading(about, _records(files, LANGUAGES.get(options.lang, options.lang), options.lang))


def _generated(files: Files) -> str:
    for file in files:
        reading = xml.records(file.stream, "health-topic")
        next(reading, None)
        if reading.root is not None:
            return _iso(reading.root.get("date-generated", ""))
    return ""


def _iso(date: str) -> str:
    """Of "07/21/2012 02:32:56" or an ISO date."""
    match = _DATE.search(date)
    if match is None:
        return ""
    month, day, year, *iso = match.groups()
    return f"{year}-{month}-{day}" if year else "-".join(iso)


def _records(files: Files, language: str, lang: str) -> Iterator[Item | Skipped]:
    for file in files:
        for topic in xml.records(file.stream, "health-topic"):
            where = f"{file.name}, {topic.get('title', '?')}"
            if topic.get("language") != language:
                yield Skipped(where, OTHER_LANGUAGE, failed=False)
            elif not topic.get("id") or not topic.get("title"):
                yield Skipped(where, "A topic without a number or a title.")
            else:
                yield from _topic(topic, where, lang)


def _topic(topic: Element, where: str, lang: str) -> Iterator[Item | Skipped]:
    title = flowing(topic.get("title", ""))
    names = tuple(dict.fromkeys(_texts(topic, "also-called", "see-reference")))
    mesh = tuple(f"MSH:{e.get('id')}" for e in topic.iterfind("mesh-heading/descriptor") if e.get("id"))
    yield VocabularyConcept(
        id=f"MEDLINEPLUS:{topic.get('id')}",
        name=title,
        kind="other",
        surfaces=surfaces([(title, "exact"), *((name, "exact") for name in names)], lang=lang),
        relations=(
            *(Relation("xref", identifier) for identifier in mesh),
            *(
                Relation("related", f"MEDLINEPLUS:{other.get('id', '')}", flowing(other.text or ""))
                for other in topic.iterfind("related-topic")
            ),
        ),
    )
    sections = tuple(_sections(topic.findtext("full-summary") or topic.get("meta-desc") or ""))
    if not sections:
        yield Skipped(where, NO_SUMMARY, failed=False)
        return
    yield Doc(
        source_key=topic.get("id", ""),
        title=title,
        sections=sections,
        aliases=names,
        group="; ".join(_texts(topic, "group")),
        url=topic.get("url", ""),
        lang=lang,
        published_on=_iso(topic.get("date-created", "")),
        summary=summary(sections[0].text),
        concepts=(f"MEDLINEPLUS:{topic.get('id')}", *mesh),
        names=(title, *names, *_texts(topic, "mesh-heading/descriptor")),
    )


def _texts(topic: Element, *tags: str) -> Iterator[str]:
    for tag in tags:
        for element in topic.iterfind(tag):
            if text := flowing(element.text or ""):
                yield text


def _sections(html: str) -> Iterator[Section]:
    """The summary under its own headings; what comes before the first is the overview."""
    heading, lines = FIRST, list[str]()
    for block in _blocks(html):
        if block.kind != "heading":
            lines.append(f"- {block.text}" if block.kind == "item" else block.text)
            continue
        if lines:
            yield section(heading, "\n".join(lines))
        heading, lines = block.text, []
    if lines:
        yield section(heading, "\n".join(lines))


def _blocks(html: str) -> Iterator[_Block]:
    reader = _Summary()
    reader.feed(html)
    reader.close()
    reader.flush()
    for block in reader.blocks:
        is_question = block.kind == "paragraph" and block.text.endswith("?")
        short = len(block.text.split()) <= MOST_QUESTION
        yield _Block("heading", block.text) if is_question and short else block


class _Summary(HTMLParser):
    """Paragraphs, list items and headings of a fragment; every other tag is dropped, its text stays."""

    KINDS = {
        "p": "paragraph",
        "div": "paragraph",
        "br": "paragraph",
        "ul": "paragraph",
        "ol": "paragraph",
        "li": "item",
    }

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[_Block] = []
        self._kind = "paragraph"
        self._texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in self.KINDS or tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.flush()
            self._kind = self.KINDS.get(tag, "heading")

    def handle_endtag(self, tag: str) -> None:
        if tag != "br" and (tag in self.KINDS or tag in ("h1", "h2", "h3", "h4", "h5", "h6")):
            self.flush()

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    def flush(self) -> None:
        """End the block in hand."""
        text = flowing("".join(self._texts))
        if text:
            self.blocks.append(_Block(self._kind, text))
        self._texts.clear()
        self._kind = "paragraph"
