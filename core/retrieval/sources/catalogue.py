"""All importers by name, and which of them fits files by their content. Knows no store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from core.retrieval.sources import (
    document,
    icd10cm,
    medlineplus,
    medquad,
    medrag,
    mesh,
    obo,
    openfda,
    pubmed,
    table,
)
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import Options, Reading


class Importer(NamedTuple):
    """A module of this folder, as the list holds it."""

    name: str
    version: str
    suffixes: tuple[str, ...]
    fits: Callable[[str, bytes], bool]
    read: Callable[[Files, Options], Reading]


# In the order of being asked; a table and a document are recognised by their names alone and come last.
IMPORTERS: tuple[Importer, ...] = tuple(
    Importer(module.NAME, module.VERSION, module.SUFFIXES, module.fits, module.read)
    for module in (medlineplus, medquad, icd10cm, mesh, pubmed, obo, openfda, medrag, table)
)
NAMES = (*(importer.name for importer in IMPORTERS), document.NAME)
UNKNOWN = "The form of {name} is not known. Say it with --as: {names}."


def choose(paths: Sequence[Path], name: str = "") -> str:
    """Name of the importer: the given one, or the first that the content of the files fits.

    Raises:
        UserError: no importer of that name, or none that fits.
    """
    if name:
        if name not in NAMES:
            raise UserError(f"There is no importer {name}; there are {', '.join(NAMES)}.", code="importer")
        return name
    if all(path.name.lower().endswith(document.SUFFIXES) for path in paths):
        return document.NAME
    files = Files(paths)
    for title, head in files.heads():
        for importer in IMPORTERS:
            if importer.fits(title, head):
                return importer.name
    if files.refusals:
        raise UserError(f"{files.refusals[0].where}: {files.refusals[0].why}", code="archive")
    raise UserError(UNKNOWN.format(name=files.paths[0].name, names=", ".join(NAMES)), code="form")


def named(name: str) -> Importer:
    """The importer of that name."""
    return next(importer for importer in IMPORTERS if importer.name == name)
