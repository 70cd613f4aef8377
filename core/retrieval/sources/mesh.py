"""MeSH descriptors (`descYYYY.xml`) and supplementary records (`suppYYYY.xml`) of the National Library of Medicine.

Kinds by tree (C and F03 disease, A anatomy, B organism, D drug, E04 procedure, E test); is_a by tree number. It must
not know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from core.domain.passage import ConceptKind
from core.readers import xml
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, flowing, surfaces
from core.store.knowledge_values import Item, Relation, SurfaceType, VocabularyConcept

NAME, VERSION = "mesh", "1"
SUFFIXES: tuple[str, ...] = (".xml",)
VOCAB = "MSH"
DESCRIPTOR, SUPPLEMENT = "DescriptorRecord", "SupplementalRecord"
# Longest fitting beginning of a tree number first.
TREES: tuple[tuple[str, ConceptKind], ...] = (
    ("F03", "disease"), ("C23", "finding"), ("E04", "procedure"), ("C", "disease"), ("A", "anatomy"),
    ("B", "organism"), ("D", "drug"), ("E", "test"),
)  # fmt: skip
CLASSES: dict[str, ConceptKind] = {"1": "drug", "3": "disease", "4": "organism"}
_YEAR = re.compile(r"(?:desc|supp)(\d{4})", re.IGNORECASE)


def fits(name: str, head: bytes) -> bool:
    return b"<DescriptorRecord" in head or b"<SupplementalRecord" in head


def read(files: Files, options: Options) -> Reading:
    """The descriptors and supplementary records of all files."""
    years = [match.group(1) for file in files if (match := _YEAR.search(file.name))]
    about = About(
        slug="mesh",
        title="Medical Subject Headings",
        kind="vocabulary",
        edition=max(years, default=""),
        publisher="National Library of Medicine",
        licence="public-domain",
    )
    return Reading(about, _concepts(files, _trees(files)))


def _trees(files: Files) -> dict[str, str]:
    """Tree number -> descriptor."""
    found: dict[str, str] = {}
    for file in files:
        for record in xml.records(file.stream, DESCRIPTOR):
            identifier = flowing(record.findtext("DescriptorUI") or "")
            found |= dict.fromkeys(_numbers(record), identifier)
    return found


def _numbers(record: Element) -> list[str]:
    return [flowing(element.text or "") for element in record.iterfind("TreeNumberList/TreeNumber")]


def _concepts(files: Files, trees: dict[str, str]) -> Iterator[Item | Skipped]:
    for file in files:
        for record in xml.records(file.stream, DESCRIPTOR, SUPPLEMENT):
            yield _concept(record, trees, file.name)


def _concept(record: Element, trees: dict[str, str], where: str) -> Item | Skipped:
    stem = "Descriptor" if record.tag == DESCRIPTOR else "SupplementalRecord"
    identifier = flowing(record.findtext(f"{stem}UI") or "")
    name = flowing(record.findtext(f"{stem}Name/String") or "")
    if not identifier or not name:
        return Skipped(f"{where}, {identifier or name or 'record'}", "A record without its number or name.")
    definition = _definition(record)
    return VocabularyConcept(
        id=f"{VOCAB}:{identifier}",
        name=name,
        kind=_kind(record),
        surfaces=surfaces([(name, "exact"), *_terms(record)]),
        relations=tuple(_relations(record, trees)),
        definition=definition,
        def_source=VOCAB if definition else "",
    )


def _kind(record: Element) -> ConceptKind:
    if record.tag == SUPPLEMENT:
        return CLASSES.get(record.get("SCRClass", ""), "other")
    for number in _numbers(record):
        for beginning, kind in TREES:
            if number.startswith(beginning):
                return kind
    return "other"


def _definition(record: Element) -> str:
    """The scope note of the preferred concept; a supplementary record's note."""
    for concept in record.iterfind("ConceptList/Concept"):
        note = concept.findtext("ScopeNote")
        if note and concept.get("PreferredConceptYN", "Y") == "Y":
            return flowing(note)
    return flowing(record.findtext("Note") or "")


def _terms(record: Element) -> Iterator[tuple[str, SurfaceType]]:
    """Entry terms: those of the preferred concept are other names, those of the other concepts narrower or related."""
    for concept in record.iterfind("ConceptList/Concept"):
        is_preferred = concept.get("PreferredConceptYN", "Y") == "Y"
        for term in concept.iterfind("TermList/Term"):
            is_short = term.get("LexicalTag") in ("ABB", "ABX", "ACR", "ACX")
            kind: SurfaceType = "abbreviation" if is_short else "exact" if is_preferred else "narrow"
            yield flowing(term.findtext("String") or ""), kind


def _relations(record: Element, trees: dict[str, str]) -> Iterator[Relation]:
    parents = (trees.get(number.rpartition(".")[0], "") for number in _numbers(record))
    mapped = record.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
    for parent in dict.fromkeys((*parents, *(flowing(e.text or "").lstrip("*") for e in mapped))):
        if parent:
            yield Relation("is_a", f"{VOCAB}:{parent}")
