"""A report as a file: what goes on its pages besides the text, and how a file is written whole or not at all.

Shared by window and command line. Knows no Qt: what draws a page is handed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from core.domain.case import Case
from core.domain.hypothesis import Differential
from core.domain.memory import WorkingMemory
from core.domain.report import Report
from core.errors import UserError
from desktop.i18n import tr

PUBLISHED = "passage"  # the kind of provenance that is no part of the case
PDF, HTML = ".pdf", ".html"
FORMS = {PDF: PDF, HTML: HTML, ".htm": HTML}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence on paper. `quote` is escaped HTML: the place in the source, what was read there marked."""

    id: str
    text: str
    source: str
    remark: str = ""
    quote: str = ""
    published: bool = False


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of the case: its title and PNG bytes."""

    title: str
    png: bytes


class Paper(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is printed of a run: the report, its ranking as bars, the evidence cited, the pictures."""

    report: Report
    ranked: Differential | None = None
    entries: tuple[Entry, ...] = ()
    figures: tuple[Figure, ...] = ()


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """What the print child answers beside the bytes: the sentence of a refusal, or nothing."""

    refused: str = ""


Draw = Callable[[Paper], bytes]


def ranked(memory: WorkingMemory) -> Differential | None:
    """The ranking that a report shows as bars: that of an assessment which ranks."""
    found = memory.assessment
    return found.differential if found is not None and found.conclusion == "ranked" else None


def paper(report: Report, case: Case, memory: WorkingMemory, pictures: Mapping[str, bytes]) -> Paper:
    """A report ready to be printed. `pictures` maps preview sha256 to PNG bytes; what is not in it is left out."""
    from core.runtime.report import cited, inputs
    from core.runtime.report_html import quoted

    entries = tuple(
        Entry(
            id=item.id,
            text=item.text,
            source=tr("computed from {ids}", ids=", ".join(inputs(item))) if inputs(item) else item.provenance.label,
            remark=report.remark(item.id),
            quote=quoted(item, case),
            published=item.provenance.kind == PUBLISHED,
        )
        for item in cited(report)
    )
    figures = tuple(
        Figure(title=picture.title, png=pictures[picture.preview_sha256])
        for picture in case.pictures
        if picture.preview_sha256 in pictures
    )
    return Paper(report=report, ranked=ranked(memory), entries=entries, figures=figures)


def form_of(target: Path) -> str:
    """`PDF` or `HTML`, by the name of the file.

    Raises:
        UserError: the name says neither.
    """
    form = FORMS.get(target.suffix.lower())
    if form is None:
        raise UserError(tr("A report is written as .pdf or .html; give the file such a name."), code="form")
    return form


def keep(target: Path, data: bytes, *, replace: bool) -> Path:
    """Write a whole file or none; a file that is there already is replaced only where that was asked for.

    Raises:
        UserError: the file is there already, or cannot be written; what was there is as it was.
    """
    if target.exists() and not (replace and target.is_file()):
        raise UserError(
            tr("{file} is there already; nothing was written. Choose another name.", file=target.name), code="exists"
        )
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UserError(tr("The file could not be written: {why}.", why=error.strerror), code="export") from error
    return target
