"""A run's report as a file: the same value as the window's, as HTML, text or JSON."""

from __future__ import annotations

from pathlib import Path

from core.domain import memory
from core.domain.case import Case
from core.domain.report import Report
from core.errors import StoreError
from desktop.cli.session import Session

FOLDER = "reports"


def build(session: Session, run_id: str) -> tuple[Report, Case]:
    """The report of a run as it stands, and its case.

    Raises:
        UserError: no such run, or it has produced nothing yet.
    """
    from core.runtime import report

    row = session.stores.journal.run(run_id)
    case = session.stores.cases.load(row.case_id, row.revision)
    return report.build(case, row, memory.fold(session.stores.journal.events(run_id))), case


def as_text(report: Report) -> str:
    """The report for a terminal."""
    from core.runtime.report import text

    return text(report)


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
    write(path, as_html(session, report, case))
    return report, path


def write(path: Path, content: str) -> None:
    """Write a whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(content, encoding="utf-8")
    part.replace(path)
