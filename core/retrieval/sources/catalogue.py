"""All importers by name, and which of them fits files by their content. Knows no store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

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
from core.retrieval.sources.material import Options, Reading, Skipped


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
MIXED = "These files are of several forms: {forms}. Add those of one form at a time, or say which (--as)."
BESIDE = ("readme", "license", "licence", "notice", "copying", "changelog", "authors", "citation", "sources", "terms")
MOST_OTHERS = 0.2  # of the files; above that nobody can say which form was meant


class Recognised(msgspec.Struct, frozen=True, kw_only=True):
    """A form, the files that are of it, and the others, each with the reason why it is left out."""

    form: str
    paths: tuple[Path, ...]
    left: tuple[Skipped, ...] = ()


def recognise(paths: Sequence[Path]) -> Recognised:
    """The form of files by their content; of a folder or several files that of nearly all of them.

    Raises:
        UserError: there is no file, none of a form that is known, or they are of several forms.
    """
    files = Files(paths)
    forms = _forms(files)
    if not any(forms.values()):
        forms = _forms(files, beside=())
    votes = Counter(forms[path] for path in files.paths if forms.get(path))
    if not votes:
        if files.refusals:
            raise UserError(f"{files.refusals[0].where}: {files.refusals[0].why}", code="archive")
        raise UserError(UNKNOWN.format(name=files.paths[0].name, names=", ".join(NAMES)), code="form")
    [(form, most)] = votes.most_common(1)
    if votes.total() - most > MOST_OTHERS * votes.total():
        raise UserError(MIXED.format(forms=", ".join(_told(forms, votes))), code="forms")
    left = [path for path in files.paths if forms.get(path, form) != form]
    return Recognised(
        form=form,
        paths=tuple(path for path in files.paths if path not in left),
        left=tuple(Skipped(path.name, _why(forms[path]), failed=False) for path in left),
    )


def _forms(files: Files, *, beside: tuple[str, ...] = BESIDE) -> dict[Path, str]:
    """The form of each file that was looked into; "" = none. What stands `beside` the matter has no say."""
    forms: dict[Path, str] = {}
    for path, name, head in files.heads():
        if not forms.get(path):
            forms[path] = "" if Path(name).stem.lower() in beside else _form_of(name, head)
    return forms


def _form_of(name: str, head: bytes) -> str:
    found = next((importer.name for importer in IMPORTERS if importer.fits(name, head)), "")
    return found or (document.NAME if name.lower().endswith(document.SUFFIXES) else "")


def _told(forms: dict[Path, str], votes: Counter[str]) -> Iterator[str]:
    for form, count in votes.most_common():
        first = next(path.name for path, found in forms.items() if found == form)
        yield f"{count} x {form} ({first}{' ...' if count > 1 else ''})"


def _why(form: str) -> str:
    return f"of the form {form}: add it by itself" if form else "of no form that is read"


def choose(paths: Sequence[Path], name: str = "") -> Recognised:
    """The files as the given importer takes them, or as their content says.

    Raises:
        UserError: no importer of that name, or as `recognise`.
    """
    if not name:
        return recognise(paths)
    if name not in NAMES:
        raise UserError(f"There is no importer {name}; there are {', '.join(NAMES)}.", code="importer")
    return Recognised(form=name, paths=tuple(paths))


def named(name: str) -> Importer:
    """The importer of that name."""
    return next(importer for importer in IMPORTERS if importer.name == name)
