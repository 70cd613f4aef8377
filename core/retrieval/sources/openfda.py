"""openFDA drug labels (`drug-label-*.json`): a drug with its names, and the leaflet as a document.

The form is from memory of openFDA's description of the endpoint drug/label. The file is one JSON object whose array
`results` is read label by label: never as a whole. It must not know a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from core import codec
from core.domain.terminology import Drug
from core.errors import UserError
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import (
    MOST_TEXT,
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

NAME, VERSION = "openfda", "1"
SUFFIXES: tuple[str, ...] = (".json",)
BLOCK = 1 << 16
PARTS: tuple[tuple[str, str, SectionClass], ...] = (
    ("indications_and_usage", "Indications and usage", "treatment"),
    ("dosage_and_administration", "Dosage and administration", "treatment"),
    ("contraindications", "Contraindications", "other"),
    ("boxed_warning", "Boxed warning", "complications"),
    ("warnings", "Warnings", "complications"),
    ("drug_interactions", "Drug interactions", "complications"),
)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}]')
_RESULTS = re.compile(rb'"results"\s*:\s*\[')


class _Names(msgspec.Struct, frozen=True):
    """The part of a label that openFDA adds."""

    generic_name: tuple[str, ...] = ()
    brand_name: tuple[str, ...] = ()
    rxcui: tuple[str, ...] = ()
    manufacturer_name: tuple[str, ...] = ()


class _Label(msgspec.Struct, frozen=True):
    """One label; every part is a list of texts."""

    set_id: str = ""
    version: str = ""
    effective_time: str = ""
    openfda: _Names = _Names()
    description: tuple[str, ...] = ()
    indications_and_usage: tuple[str, ...] = ()
    dosage_and_administration: tuple[str, ...] = ()
    contraindications: tuple[str, ...] = ()
    boxed_warning: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    drug_interactions: tuple[str, ...] = ()


def fits(name: str, head: bytes) -> bool:
    return b'"results"' in head and (b"openfda" in head or b"drug-label" in name.encode() or b"open.fda.gov" in head)


def read(files: Files, options: Options) -> Reading:
    """A drug, its concept and its leaflet for each label."""
    about = About(
        slug="openfda-labels",
        title="openFDA drug labels",
        kind="drug",
        publisher="U.S. Food and Drug Administration",
        licence="CC0-1.0",
        source_url="https://open.fda.gov",
    )
    return Reading(about, _records(files))


def _records(files: Files) -> Iterator[Item | Skipped]:
    for file in files:
        for number, raw in enumerate(_objects(file.stream), 1):
            where = f"{file.name}, label {number}"
            try:
                yield from _label(codec.decode(raw, _Label), where)
            except msgspec.DecodeError as error:
                yield Skipped(where, f"Not a label: {error}.")


def _objects(stream: BinaryIO) -> Iterator[bytes]:
    """The objects of the array `results`, each as its bytes.

    Raises:
        UserError: there is no such array, an object longer than 8 MB, or the file ends inside one.
    """
    buffer = bytearray()
    _skip_to_results(stream, buffer)
    position = depth = start = 0
    while True:
        for match in _TOKEN.finditer(buffer, position):
            position = match.end()
            if match.group() == b"{":
                start = match.start() if depth == 0 else start
                depth += 1
            elif match.group() == b"}":
                depth -= 1
                if depth < 0:
                    return
                if depth == 0:
                    yield bytes(buffer[start:position])
        # A string that is cut by the end of the block is read again with the next one.
        position, start = _keep(buffer, position, start if depth else position)
        block = stream.read(BLOCK)
        if not block and depth:
            raise UserError("The file ends inside a label.", code="truncated")
        if not block:
            return
        buffer += block
        if len(buffer) > MOST_TEXT:
            raise UserError(f"One label is longer than {MOST_TEXT:,} bytes.", code="size")


def _skip_to_results(stream: BinaryIO, buffer: bytearray) -> None:
    while (match := _RESULTS.search(buffer)) is None:
        block = stream.read(BLOCK)
        if not block or len(buffer) > MOST_TEXT:
            raise UserError("The file holds no list of results: it is no openFDA download.", code="form")
        buffer += block
    del buffer[: match.end()]


def _keep(buffer: bytearray, position: int, start: int) -> tuple[int, int]:
    """Forget what lies before `start`; position and start afterwards."""
    del buffer[:start]
    return position - start, 0


def _label(label: _Label, where: str) -> Iterator[Item | Skipped]:
    names = [flowing(name) for name in (*label.openfda.generic_name, *label.openfda.brand_name) if name.strip()]
    if not label.set_id or not names:
        yield Skipped(where, "A label without its number or without a name.", failed=not label.set_id)
        return
    title = names[0] if names[0] in label.openfda.brand_name else names[0].lower()
    identifier = f"FDA:{label.set_id}"
    yield VocabularyConcept(
        id=identifier,
        name=title,
        kind="drug",
        surfaces=surfaces((name.lower() if name.isupper() else name, "exact") for name in names),
        relations=tuple(Relation("xref", f"RXNORM:{number}") for number in label.openfda.rxcui),
    )
    yield Drug(
        id=identifier,
        name=title,
        description=_first(label.description),
        state="label",
        indication=_first(label.indications_and_usage),
        dosage=tuple(collapse(text) for text in label.dosage_and_administration),
        contraindication=_first(label.contraindications),
        interaction=_first(label.drug_interactions),
        source="openFDA",
        version=label.version,
    )
    sections = tuple(_sections(label))
    if sections:
        yield Doc(
            source_key=label.set_id,
            title=title,
            sections=sections,
            aliases=tuple(dict.fromkeys(names[1:])),
            group="; ".join(label.openfda.manufacturer_name),
            published_on=_date(label.effective_time),
            summary=summary(sections[0].text),
            concepts=(identifier,),
            names=tuple(dict.fromkeys(names)),
        )


def _first(texts: tuple[str, ...]) -> str:
    return collapse("\n".join(texts))


def _sections(label: _Label) -> Iterator[Section]:
    for field, path, kind in PARTS:
        if text := _first(getattr(label, field)):
            yield section(path, text, kind)


def _date(stamp: str) -> str:
    """`20240131` as an ISO date."""
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}" if len(stamp) == 8 and stamp.isdecimal() else ""
