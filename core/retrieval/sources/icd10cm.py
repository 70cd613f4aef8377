"""ICD-10-CM tabular list (CDC/NCHS XML): codes, names, inclusion terms, what a code excludes or asks for.

A concept for each `diag`; is_a the code above it, or the section. Names to be found in texts lose trailing brackets,
"NOS" and "unspecified" (knowledge.md section 9). It must not know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from core.domain.passage import ConceptKind
from core.readers import xml
from core.retrieval.sources.files import File, Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, flowing, surfaces
from core.store.knowledge_values import Item, Relation, SurfaceType, VocabularyConcept

NAME, VERSION = "icd10cm", "1"
SUFFIXES: tuple[str, ...] = (".xml",)
VOCAB = "ICD10CM"
NOTES = ("excludes1", "excludes2", "codeFirst", "codeAlso", "useAdditionalCode")
# First letter of a code -> kind: symptoms and findings, outside causes, circumstances; the rest are diseases.
KINDS: dict[str, ConceptKind] = {"R": "finding", "V": "other", "W": "other", "X": "other", "Y": "other", "Z": "other"}
_CODE = re.compile(r"\b([A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?)\b")
_ANY_CODE = re.compile(r"[A-Z][0-9A-Z]{2}(?:\.[0-9A-Z]{1,4})?")  # of a new chapter, too
_TAIL = re.compile(
    r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|,?\s*\b(?:NOS|NEC|unspecified|not elsewhere classified))\s*$", re.IGNORECASE
)
_UNSAID = re.compile(r"^(?:other|other specified|unspecified)\s+(?=\w)", re.IGNORECASE)
_NO_NAME = re.compile(r"^other\b", re.IGNORECASE)


class _Range(NamedTuple):
    first: str
    last: str
    id: str
    name: str


def fits(name: str, head: bytes) -> bool:
    return b"<ICD10CM.tabular" in head


def read(files: Files, options: Options) -> Reading:
    """The codes of all files, in order."""
    edition = next((flowing(e.text or "") for file in files for e in _elements(file, "version")), "")
    about = About(
        slug="icd10cm",
        title="ICD-10-CM tabular list",
        kind="vocabulary",
        edition=edition,
        publisher="National Center for Health Statistics",
        licence="public-domain",
    )
    return Reading(about, _concepts(files))


def _elements(file: File, *tags: str) -> Iterator[Element]:
    yield from xml.records(file.stream, *tags)


def _concepts(files: Files) -> Iterator[Item | Skipped]:
    for file in files:
        ranges: list[_Range] = []
        for element in _elements(file, "sectionRef", "diag"):
            if element.tag == "sectionRef":
                first, last, identifier = (element.get(key, "") for key in ("first", "last", "id"))
                ranges.append(_Range(first, last, identifier, flowing(element.text or "")))
            else:
                code = element.findtext("name") or ""
                above = next((r for r in reversed(ranges) if r.first <= code[:3] <= r.last), None)
                parent = Relation("is_a", f"{VOCAB}:{above.id}", above.name) if above else None
                yield from _diagnosis(element, parent, file.name)


def _diagnosis(element: Element, parent: Relation | None, where: str) -> Iterator[Item | Skipped]:
    """A code and all below it."""
    code, name = flowing(element.findtext("name") or ""), flowing(element.findtext("desc") or "")
    if not _ANY_CODE.fullmatch(code) or not name:
        yield Skipped(f"{where}, {code or 'diag'}", "A code without a name, or no code.")
        return
    included = [flowing(note.text or "") for note in element.iterfind("inclusionTerm/note")]
    includes = [flowing(note.text or "") for note in element.iterfind("includes/note")]
    names: list[tuple[str, SurfaceType]] = [(cleaned(name), "exact")]
    yield VocabularyConcept(
        id=f"{VOCAB}:{code}",
        name=name,
        kind=KINDS.get(code[0], "disease"),
        surfaces=surfaces(names + [(cleaned(text), "narrow") for text in included]),
        relations=tuple(_relations(element, parent)),
        definition="; ".join(includes or included),
        def_source="ICD inclusion" if includes or included else "",
    )
    for child in element.iterfind("diag"):
        yield from _diagnosis(child, Relation("is_a", f"{VOCAB}:{code}", name), where)


def cleaned(name: str) -> str:
    """The name as texts write it; empty for a residual class ("other ..."), which no text names."""
    before = None
    while before != name:
        before, name = name, _TAIL.sub("", name).strip(" ,;")
    return "" if _NO_NAME.match(name) else _UNSAID.sub("", name)


def _relations(element: Element, parent: Relation | None) -> Iterator[Relation]:
    if parent is not None:
        yield parent
    for rel in NOTES:
        for note in element.iterfind(f"{rel}/note"):
            text = flowing(note.text or "")
            codes = _CODE.findall(text)
            yield Relation(rel, f"{VOCAB}:{codes[0]}" if codes else "", text)
    for extension in element.iterfind("sevenChrDef/extension"):
        yield Relation("seventh character", "", f"{extension.get('char', '')}: {flowing(extension.text or '')}")
