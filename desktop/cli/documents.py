"""A run's report as a file: the same value as the window's, as HTML, text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from core import codec, isolate, paths
from core.domain import memory
from core.domain.case import Case
from core.domain.report import Report
from core.errors import StoreError, UserError
from desktop.cli.session import Session, stoppable
from desktop.i18n import tr
from desktop.state import report_files

FOLDER = "reports"
TAKEN = "{file} is there already; nothing was written. Choose another name."
NO_PRINT = "The PDF could not be drawn: the part of the program that draws pages does not run on this system. \
`--html` works without it."
Form = Literal["html", "text", "json", "pdf"]
FORMS: dict[str, Form] = {
    ".html": "html",
    ".htm": "html",
    ".txt": "text",
    "": "text",
    ".json": "json",
    ".pdf": "pdf",
}
DRAWING_S = 120.0  # a report of many hundred pages takes a part of it


def build(session: Session, run_id: str) -> tuple[Report, Case]:
    """The report of a run as it stands, and its case.

    Raises:
        UserError: no such run, or it has produced nothing yet.
    """
    report, case, _memory = _gathered(session, run_id)
    return report, case


def _gathered(session: Session, run_id: str) -> tuple[Report, Case, memory.WorkingMemory]:
    from core.runtime import report

    row = session.stores.journal.run(run_id)
    case = session.stores.cases.load(row.case_id, row.revision)
    folded = memory.fold(session.stores.journal.legible(run_id))
    faults, remarks = session.stores.journal.verify(run_id), session.bench.edition_remarks(folded)
    return report.build(case, row, folded, faults=faults, remarks=remarks), case, folded


def as_text(report: Report, *, full: bool = False) -> str:
    """The report for a terminal; `full` lists the published sources too."""
    from core.runtime.report import text

    return text(report, full=full)


def headline(report: Report) -> str:
    """The conclusion in one sentence."""
    from core.runtime import report as reports

    return reports.headline(report)


def as_html(session: Session, report: Report, case: Case) -> str:
    """The report as one self-contained page."""
    from core.runtime.report_html import html

    return html(report, case, _pictures(session, case))


def _pictures(session: Session, case: Case) -> dict[str, bytes]:
    """PNG bytes by the sha256 of the preview; a picture that cannot be read is left out, and that is said."""
    pictures: dict[str, bytes] = {}
    for picture in case.pictures:
        try:
            pictures[picture.preview_sha256] = session.stores.artifacts.read(picture.preview_sha256)
        except StoreError as error:
            session.terminal.remark(f"{picture.title}: {error.text}")
    return pictures


def write_html(session: Session, run_id: str) -> tuple[Report, Path]:
    """Write the page beside the profile's data; returns the report and the file."""
    report, case = build(session, run_id)
    path = session.profile / FOLDER / f"{run_id}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, as_html(session, report, case))
    return report, path


def write_pdf(session: Session, run_id: str, target: Path) -> Path:
    """Draw the report in a child that may load Qt, and write it where no file is yet; returns the file.

    Raises:
        UserError: no such run, a file of that name is there, Qt does not start here, or nothing could be written.
    """
    if target.exists():
        raise UserError(tr(TAKEN, file=target), code="exists")
    report, case, folded = _gathered(session, run_id)
    content = _drawn(report_files.paper(report, case, folded, _pictures(session, case)))
    return report_files.keep(target, content, replace=False)


def _drawn(paper: report_files.Paper) -> bytes:
    child = isolate.Child(paths.own_command("--print"))
    try:
        with stoppable() as stop:
            answer = child.ask(paper, seconds=DRAWING_S, stop=stop)
    finally:
        child.close()
    if isinstance(answer, isolate.Lost):
        raise UserError(tr(NO_PRINT), code="no print")
    said: report_files.Drawn = codec.decode(answer[0], report_files.Drawn)
    if said.refused:
        raise UserError(said.refused, code="no print")
    return answer[1]


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
        text = tr("A report is written as .html, .pdf, .txt or .json, not as {suffix}.", suffix=target.suffix)
        raise UserError(text, code="form")
    return form


def write(path: Path, content: str) -> None:
    """Write a whole file or none, into a folder that is there."""
    part = path.with_name(path.name + ".part")
    part.write_text(content, encoding="utf-8")
    part.replace(path)
