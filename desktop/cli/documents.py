"""A run's report as a file: the same value as the window's, as HTML, text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from core.domain import memory
from core.domain.case import Case
from core.domain.report import Report
from core.errors import StoreError, UserError
from desktop.cli.session import Session
from desktop.i18n import tr

FOLDER = "reports"
Form = Literal["html", "text", "json"]
FORMS: dict[str, Form] = {".html": "html", ".htm": "html", ".txt": "text", "": "text", ".json": "json"}


def build(session: Session, run_id: str) -> tuple[Report, Case]:
    """The report of a run as it stands, and its case.

    Raises:
        UserError: no such run, or it has produced nothing yet.
    """
    from core.runtime import report

    row = session.stores.journal.run(run_id)
    case = session.stores.cases.load(row.case_id, row.revision)
    folded = memory.fold(session.stores.journal.legible(run_id))
    faults, remarks = session.stores.journal.verify(run_id), session.bench.edition_remarks(folded)
    return report.build(case, row, folded, faults=faults, remarks=remarks), case


def as_text(report: Report, *, full: bool = False) -> str:
    """The report for a terminal; `full` lists the published sources too."""
    from core.runtime.report import text

    return text(report, full=full)


def headline(report: Report) -> str:
    """The conclusion in one sentence."""
    from core.runtime import report as reports

    return reports.headline(report)


def as_html(session: Session, report: Report, case: Case) -> str:
    """The report as one self-contained page; a picture that cannot be read is left out, the report says so."""
    from core.runtime.report_html import html

    pictures: dict[str, bytes] = {}
    for picture in case.pictures:
        try:
            pictures[picture.preview_sha256] = session.stores.artifacts.read(picture.preview_sha256)
        except StoreError as error:
            session.terminal.remark(f"{picture.title}: {error.text}")
    return html(report, case, pictures)


def write_html(session: Session, run_id: str) -> tuple[Report, Path]:
    """Write the page beside the profile's data; returns the report and the file."""
    report, case = build(session, run_id)
    path = session.profile / FOLDER / f"{run_id}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, as_html(session, report, case))
    return report, path


def form_of(target: Path | None, named: Form | None) -> Form:
    """The form that was named, else the one that the file's name says.

    Raises:
        UserError: the target is a folder or lies in none, or nothing says which form it shall have.
    """
    if target is None:
        return named or "text"
    if target.is_dir():
        example = target / "report.html"
        raise UserError(tr("{path} is a folder. Name a file: --out {file}", path=target, file=example), code="folder")
    if not target.parent.is_dir():
        raise UserError(tr("There is no folder {path}. Make it first.", path=target.parent), code="no folder")
    form = named or FORMS.get(target.suffix.lower())
    if form is None:
        text = tr("A report is written as .html, .txt or .json, not as {suffix}.", suffix=target.suffix)
        raise UserError(text, code="form")
    return form


def write(path: Path, content: str) -> None:
    """Write a whole file or none, into a folder that is there."""
    part = path.with_name(path.name + ".part")
    part.write_text(content, encoding="utf-8")
    part.replace(path)
