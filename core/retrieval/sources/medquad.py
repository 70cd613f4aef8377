"""MedQuAD: question-answer pairs of the National Institutes of Health, one XML file a topic (CC BY 4.0).

A document a file, a section a question; the focus of the file with its synonyms is a concept. Form: data.md 3.1;
Ben Abacha and Demner-Fushman 2019. It must not know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from core.domain.passage import ConceptKind
from core.errors import UserError
from core.readers import xml
from core.readers.archive import Bomb
from core.retrieval.sources.files import File, Files
from core.retrieval.sources.material import (
    About,
    Options,
    Reading,
    Skipped,
    collapse,
    flowing,
    section,
    summary,
    surfaces,
)
from core.store.knowledge_values import Doc, Item, Relation, Section, SectionClass, VocabularyConcept

NAME, VERSION = "medquad", "1"
SUFFIXES: tuple[str, ...] = (".xml",)
EDITION = "2019"
ROOTS = ("Document", "DiseaseFile")  # one file has the second
NO_ANSWER = "no answer text"
CLASSES: dict[str, SectionClass] = {
    "information": "overview",
    "symptoms": "symptoms",
    "causes": "causes",
    "inheritance": "causes",
    "genetic changes": "causes",
    "susceptibility": "causes",
    "exams and tests": "tests",
    "treatment": "treatment",
    "prevention": "prevention",
    "complications": "complications",
    "outlook": "complications",
    "stages": "severity",
    "frequency": "overview",
}
GROUPS: dict[str, ConceptKind] = {
    "disorders": "disease",
    "chemicals & drugs": "drug",
    "anatomy": "anatomy",
    "procedures": "procedure",
    "living beings": "organism",
}
_LIST_MARK = re.compile(r"(?<!\s)\s{2,}-\s+")


def fits(name: str, head: bytes) -> bool:
    return b"<Document id=" in head and b"<Focus>" in head


def read(files: Files, options: Options) -> Reading:
    """A document a file, then the concepts of them all."""
    about = About(
        slug="medquad",
        title="MedQuAD: medical questions and answers",
        kind="literature",
        edition=EDITION,
        publisher="National Institutes of Health; A. Ben Abacha, D. Demner-Fushman",
        licence="CC-BY-4.0",
        source_url="https://github.com/abachaa/MedQuAD",
    )
    return Reading(about, _records(files))


def _records(files: Files) -> Iterator[Item | Skipped]:
    concepts: dict[str, VocabularyConcept] = {}
    for file in files:
        reading = xml.records(file.stream, *ROOTS)
        try:
            for root in reading:
                sections, concept = tuple(_sections(root)), _concept(root, _key(file))
                if not sections:
                    yield Skipped(file.name, NO_ANSWER, failed=False)
                    continue
                if concept is not None:
                    concepts[concept.id] = _joined(concepts.get(concept.id), concept)
                yield _doc(root, file, sections, concept)
        except Bomb:
            raise
        except UserError as error:
            yield Skipped(file.name, error.text)
        if reading.root is not None and reading.root.tag not in ROOTS:
            yield Skipped(file.name, f"not of the form of MedQuAD ({reading.root.tag})")
    yield from concepts.values()


def _key(file: File) -> str:
    """`5_NIDDK_QA/0000001`: folder and file, because numbers repeat."""
    return "/".join(file.name.removesuffix(".xml").replace("\\", "/").split("/")[-2:])


def _doc(root: Element, file: File, sections: tuple[Section, ...], concept: VocabularyConcept | None) -> Doc:
    title = flowing(root.findtext("Focus") or "")
    return Doc(
        source_key=_key(file),
        title=title or sections[0].path,
        sections=sections,
        aliases=tuple(_synonyms(root)),
        group=root.get("source", ""),
        url=root.get("url", ""),
        summary=summary(sections[0].text),
        concepts=(concept.id,) if concept else (),
        names=(title, *_synonyms(root)) if concept else (),
    )


def _sections(root: Element) -> Iterator[Section]:
    for pair in root.iterfind("QAPairs/QAPair"):
        question = pair.find("Question")
        answer = collapse(_LIST_MARK.sub("\n- ", pair.findtext("Answer") or ""))
        if question is None or not answer:
            continue
        kind = CLASSES.get(question.get("qtype", ""), "other")
        yield section(flowing(question.text or ""), answer, kind)


def _synonyms(root: Element) -> Iterator[str]:
    for element in root.iter("Synonym"):
        if name := flowing(element.text or ""):
            yield name


def _concept(root: Element, key: str) -> VocabularyConcept | None:
    """The focus, under its first UMLS number where it has one; None without a name."""
    name = flowing(root.findtext("Focus") or "")
    if not name:
        return None
    group = flowing(root.findtext(".//SemanticGroup") or "").lower()
    numbers = [flowing(e.text or "") for e in root.iter("CUI")]
    numbers = [number for number in numbers if number]
    return VocabularyConcept(
        id=f"UMLS:{numbers[0]}" if numbers else f"MEDQUAD:{key}",
        name=name,
        kind=GROUPS.get(group, "other"),
        surfaces=surfaces([(name, "exact"), *((synonym, "exact") for synonym in _synonyms(root))]),
        relations=tuple(Relation("xref", f"UMLS:{number}") for number in numbers[:1]),
    )


def _joined(known: VocabularyConcept | None, new: VocabularyConcept) -> VocabularyConcept:
    """One concept of two files: the first name stays, the names add up."""
    if known is None:
        return new
    texts = [(s.text, s.type) for s in (*known.surfaces, *new.surfaces)]
    return VocabularyConcept(
        id=known.id, name=known.name, kind=known.kind, surfaces=surfaces(texts), relations=known.relations
    )
