"""OBO ontologies (HPO, DOID and its slims, Mondo): terms, synonyms, cross references, definitions.

OBO 1.2 and 1.4 text, `[Term]` stanzas. HPO terms are findings below HP:0000118, else of kind other (knowledge.md
section 9). It must not know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.domain.passage import ConceptKind
from core.errors import UserError
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, slug, surfaces
from core.store.knowledge_values import Item, Relation, SurfaceType, VocabularyConcept

NAME, VERSION = "obo", "1"
SUFFIXES: tuple[str, ...] = (".obo",)
PHENOTYPES = "HP:0000118"
KINDS: dict[str, ConceptKind] = {"DOID": "disease", "MONDO": "disease", "UBERON": "anatomy", "CHEBI": "drug"}
PUBLISHERS = {"hp": "Human Phenotype Ontology", "doid": "Human Disease Ontology", "mondo": "Monarch Initiative"}
LICENCES = {"doid": "CC0-1.0"}
# Spellings of other vocabularies' prefixes -> ours.
PREFIXES = {"UMLS_CUI": "UMLS", "MESH": "MSH", "MIM": "OMIM", "ICD10": "ICD10CM"}
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(EXACT|NARROW|BROAD|RELATED)?\s*([^\s\[]*)')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}")
_AFTER_ID = re.compile(r'[!{"]')
_SNOMED = re.compile(r"SNOMEDCT.*")

Tags = dict[str, list[str]]


def fits(name: str, head: bytes) -> bool:
    return b"format-version:" in head[:400] and b"ontology:" in head or name.lower().endswith(".obo")


def read(files: Files, options: Options) -> Reading:
    """Concepts of all files; what one file says of itself stands for all."""
    header = next((tags for _, name, tags in _stanzas(files) if not name), {})
    return Reading(_about(header), _concepts(files, _below(files, PHENOTYPES)))


def _about(header: Tags) -> About:
    ontology = (header.get("ontology") or ["ontology"])[0].removesuffix(".obo")
    family = ontology.split("/")[0]
    version = _VERSION.search((header.get("data-version") or [""])[0])
    said = [value for value in header.get("property_value", ()) if "license" in value.lower()]
    return About(
        slug=slug(ontology),
        title=ontology.rsplit("/", 1)[-1].replace("_", " ").upper() if family == "hp" else ontology.rsplit("/", 1)[-1],
        kind="vocabulary",
        edition=version.group() if version else "",
        publisher=PUBLISHERS.get(family, family),
        licence=LICENCES.get(family, "unknown"),
        licence_text=f"The file names its licence: {said[0]}" if said else "",
        issued_on=version.group() if version else "",
    )


def _stanzas(files: Files) -> Iterator[tuple[str, str, Tags]]:
    """(where, stanza name, its tags); the header of a file has no name."""
    for file in files:
        name, tags = "", dict[str, list[str]]()
        first = 1
        for number, line in enumerate(file.lines(), 1):
            text = line.strip()
            if text.startswith("[") and text.endswith("]"):
                yield f"{file.name}, line {first}", name, tags
                name, tags, first = text[1:-1], {}, number
            elif text and not text.startswith("!"):
                tag, _, value = text.partition(":")
                tags.setdefault(tag, []).append(value.strip())
        yield f"{file.name}, line {first}", name, tags


def _below(files: Files, top: str) -> frozenset[str] | None:
    """Ids of a term and all terms below it; None where the files do not hold it."""
    children: dict[str, list[str]] = {}
    known = False
    for _, name, tags in _stanzas(files):
        if name == "Term":
            identifier = (tags.get("id") or [""])[0]
            known = known or identifier == top
            for parent in tags.get("is_a", ()):
                children.setdefault(_target(parent), []).append(identifier)
    if not known:
        return None
    below, waiting = set[str](), [top]
    while waiting:
        current = waiting.pop()
        if current not in below:
            below.add(current)
            waiting += children.get(current, ())
    return frozenset(below)


def _concepts(files: Files, phenotypes: frozenset[str] | None) -> Iterator[Item | Skipped]:
    for where, name, tags in _stanzas(files):
        if name != "Term":
            continue
        try:
            yield _concept(tags, phenotypes)
        except UserError as error:
            yield Skipped(where, error.text)


def _concept(tags: Tags, phenotypes: frozenset[str] | None) -> VocabularyConcept:
    identifier, name = (tags.get("id") or [""])[0], _plain((tags.get("name") or [""])[0])
    obsolete = tags.get("is_obsolete") == ["true"]
    if ":" not in identifier or not (name or obsolete):
        raise UserError("A term without an id or a name.", code="record")
    definition = _QUOTED.match((tags.get("def") or [""])[0])
    return VocabularyConcept(
        id=identifier,
        name=name or identifier,
        kind=_kind(identifier, phenotypes),
        surfaces=surfaces([(name, "exact"), *_synonyms(tags.get("synonym", ()))]),
        relations=tuple(_relations(tags)),
        definition=_plain(definition.group(1)) if definition else "",
        def_source=identifier.partition(":")[0] if definition else "",
        obsolete=obsolete,
        replaced_by=_target((tags.get("replaced_by") or tags.get("consider") or [""])[0]),
    )


def _kind(identifier: str, phenotypes: frozenset[str] | None) -> ConceptKind:
    prefix = identifier.partition(":")[0]
    if prefix == "HP":
        return "finding" if phenotypes is None or identifier in phenotypes else "other"
    return KINDS.get(prefix, "other")


def _synonyms(values: Iterable[str]) -> Iterator[tuple[str, SurfaceType]]:
    for value in values:
        match = _SYNONYM.match(value)
        if match is None:
            continue
        text, scope, kind = match.groups()
        is_short = kind in ("abbreviation", "OMO:0003012")
        types: dict[str, SurfaceType] = {"EXACT": "exact", "NARROW": "narrow", "BROAD": "broad"}
        yield _plain(text), "abbreviation" if is_short else types.get(scope or "", "related")


def _relations(tags: Tags) -> Iterator[Relation]:
    for value in tags.get("is_a", ()):
        yield Relation("is_a", _target(value), value.partition("!")[2].strip())
    for value in tags.get("alt_id", ()):
        yield Relation("alt_id", _target(value))
    for value in tags.get("xref", ()):
        if target := _xref(value):
            yield Relation("xref", target)


def _xref(value: str) -> str:
    """`UMLS:C0018923` of any spelling of it; "" for an address or a bare word."""
    prefix, colon, code = _target(value).partition(":")
    if not colon or not code or code.startswith("//") or prefix in ("url", "http", "https"):
        return ""
    return f"{_SNOMED.sub('SNOMEDCT_US', PREFIXES.get(prefix, prefix))}:{code}"


def _target(value: str) -> str:
    """The id of `HP:0000107 ! Renal cyst` or of `HP:0000107 {source="x"}`."""
    return _AFTER_ID.split(value, maxsplit=1)[0].strip()


def _plain(text: str) -> str:
    """Without the escapes of OBO."""
    return _ESCAPE.sub(r"\1", text).strip()
