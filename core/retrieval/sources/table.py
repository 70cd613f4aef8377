"""Tables of concepts or drugs (.csv, .tsv: a LOINC table, a formulary), read through a mapping file that names columns.

The mapping is TOML: `vocab`, fixed `kind`, `separator` of several names in one cell, `[columns]` from our words to the
table's headings; title, edition, publisher and licence of the table may stand there too. It must not know a store.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from core.domain.passage import ConceptKind
from core.domain.terminology import Drug
from core.errors import UserError
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, flowing, slug, surfaces
from core.store.knowledge_values import Item, Relation, VocabularyConcept

NAME, VERSION = "table", "1"
SUFFIXES: tuple[str, ...] = (".csv", ".tsv")
DRUG_COLUMNS = ("description", "state", "indication", "dosage", "contraindication", "interaction", "version")
KINDS = frozenset(ConceptKind.__args__)  # type: ignore[attr-defined]
Column = Literal[
    "id", "name", "synonyms", "definition", "kind", "parent", "description", "state", "indication", "dosage",
    "contraindication", "interaction", "version",
]  # fmt: skip


class Columns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping file. `kind` holds for rows whose kind column is absent, empty or no kind of ours."""

    vocab: str
    columns: dict[Column, str]
    kind: ConceptKind = "other"
    separator: str = ";"
    title: str = ""
    edition: str = ""
    publisher: str = ""
    licence: str = "unknown"
    licence_text: str = ""


def fits(name: str, head: bytes) -> bool:
    return name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def read(files: Files, options: Options) -> Reading:
    """A concept a row; a drug beside it where its kind is drug.

    Raises:
        UserError: no mapping, one of another form, or one that names a column which the table lacks.
    """
    columns = _columns(options.mapping)
    about = About(
        slug=slug(columns.title or columns.vocab),
        title=columns.title or columns.vocab,
        kind="drug" if columns.kind in ("drug", "drug-class") else "vocabulary",
        edition=columns.edition,
        publisher=columns.publisher,
        licence=columns.licence,
        licence_text=columns.licence_text,
    )
    return Reading(about, _records(files, columns))


def _columns(text: str) -> Columns:
    if not text:
        raise UserError("A table needs a mapping file that names its columns (--map).", code="map")
    try:
        columns = msgspec.convert(tomllib.loads(text), Columns)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"The mapping file does not have the expected form: {error}.", code="map") from error
    if not {"id", "name"} <= set(columns.columns):
        raise UserError("The mapping file must name the columns of id and name.", code="map")
    return columns


def _records(files: Files, columns: Columns) -> Iterator[Item | Skipped]:
    for file in files:
        rows = csv.reader(file.lines(), delimiter="\t" if ".tsv" in file.name.lower() else ",", strict=True)
        try:
            header = [flowing(cell) for cell in next(rows, [])]
            places = _places(header, columns, file.name)
            for row in rows:
                if row:
                    yield from _row(row, header, places, columns, f"{file.name}, line {rows.line_num}")
        except csv.Error as error:
            raise UserError(f"{file.name} is damaged at line {rows.line_num}: {error}.", code="table") from error


def _places(header: list[str], columns: Columns, name: str) -> dict[str, int]:
    missing = [heading for heading in columns.columns.values() if heading not in header]
    if missing:
        raise UserError(f"{name} has no column {missing[0]!r}, which the mapping file names.", code="map")
    return {column: header.index(heading) for column, heading in columns.columns.items()}


def _row(
    row: list[str], header: list[str], places: Mapping[str, int], columns: Columns, where: str
) -> Iterator[Item | Skipped]:
    if len(row) != len(header):
        yield Skipped(where, f"The row has {len(row)} cells instead of {len(header)}.")
        return
    cells = {column: flowing(row[place]) for column, place in places.items()}
    if not cells["id"] or not cells["name"]:
        yield Skipped(where, "The row has no id or no name.")
        return
    concept = _concept(cells, columns)
    yield concept
    if concept.kind == "drug":
        yield Drug(
            id=concept.id,
            name=concept.name,
            dosage=tuple(part for part in _parts(cells.get("dosage", ""), columns.separator)),
            source=columns.title or columns.vocab,
            **{name: cells.get(name, "") for name in DRUG_COLUMNS if name != "dosage"},
        )


def _concept(cells: Mapping[str, str], columns: Columns) -> VocabularyConcept:
    said = cells.get("kind", "").lower()
    names = [cells["name"], *_parts(cells.get("synonyms", ""), columns.separator)]
    definition = cells.get("definition", "")
    parents = _parts(cells.get("parent", ""), columns.separator)
    return VocabularyConcept(
        id=f"{columns.vocab}:{cells['id']}",
        name=cells["name"],
        kind=msgspec.convert(said, ConceptKind) if said in KINDS else columns.kind,
        surfaces=surfaces((name, "exact") for name in names),
        relations=tuple(Relation("is_a", f"{columns.vocab}:{parent}") for parent in parents),
        definition=definition,
        def_source=columns.vocab if definition else "",
    )


def _parts(cell: str, separator: str) -> list[str]:
    return [part.strip() for part in cell.split(separator) if part.strip()] if separator else [cell] if cell else []
