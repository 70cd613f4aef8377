"""The commands that read: report, cases. None takes the profile's lock: they work beside an open window."""

from __future__ import annotations

import argparse

import msgspec

from core import codec
from core.domain.case import Case, CaseSummary, LabTable, Note
from core.errors import EXIT_DONE, UserError
from core.store.journal import RunRow
from desktop.cli import documents
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns, counted, one_line
from desktop.i18n import tr
from desktop.state import report_files


class CaseShown(msgspec.Struct, frozen=True, kw_only=True):
    """`cases show --json`."""

    case: Case
    runs: tuple[RunRow, ...]


class CaseHit(msgspec.Struct, frozen=True, kw_only=True):
    """`cases search --json`: a case and the places where the text stands."""

    case: str
    title: str
    places: tuple[str, ...]


# ------------------------------------------------------------------------------------------------ report


def _compare(session: Session, chosen: argparse.Namespace) -> int:
    """What differs between the run and another one."""
    from core.domain.memory import fold
    from core.runtime import comparison

    journal = session.stores.journal
    one, other = ((journal.run(run), fold(journal.events(run))) for run in (chosen.run, chosen.compare))
    found = comparison.compare(one, other)
    print(codec.pretty(found) if chosen.json else comparison.text(found))
    return EXIT_DONE


def show_report(chosen: argparse.Namespace) -> int:
    """The report of a run: on the terminal, or into a file."""
    if chosen.pdf and chosen.out:
        raise UserError(tr("--pdf names the file already; leave --out away."), code="two files")
    if chosen.compare and (chosen.pdf or chosen.out or chosen.form):
        raise UserError(tr("A comparison is printed as text or --json; only the window exports it."), code="form")
    named: documents.Form | None = "pdf" if chosen.pdf else "json" if chosen.json else chosen.form
    target = chosen.pdf or chosen.out
    form = documents.form_of(target, named)
    with opened(chosen, writes=False, must_exist=True) as session:
        if chosen.compare:
            return _compare(session, chosen)
        if form == "pdf":
            session.terminal.say(str(documents.write_pdf(session, chosen.run, target)))
            return EXIT_DONE
        report, case = documents.build(session, chosen.run)
        if form == "json":
            content = codec.pretty(report)
        elif form == "html":
            content = documents.as_html(session, report, case)
        else:
            content = documents.as_text(report, full=chosen.full)
        if chosen.out is None:
            print(content)
        else:
            report_files.keep(chosen.out, content.encode(), replace=False)
            session.terminal.say(str(chosen.out))
    return EXIT_DONE


# ------------------------------------------------------------------------------------------------ cases


def show_cases(chosen: argparse.Namespace) -> int:
    """`cases list`, `cases show`, `cases search`."""
    with opened(chosen, writes=False, must_exist=True) as session:
        {"list": _list_cases, "show": _show_case, "search": _search_cases}[chosen.action](session, chosen)
    return EXIT_DONE


def _list_cases(session: Session, _chosen: argparse.Namespace) -> None:
    cases = session.stores.cases.list()
    if session.terminal.json:
        session.terminal.value(cases)
        return
    if not cases:
        session.terminal.say(tr("No case yet. `wardround import PATH` makes one; `wardround demo` shows one."))
    for line in columns([_case_line(case) for case in cases]):
        session.terminal.say(line)


def _case_line(case: CaseSummary) -> tuple[str, ...]:
    unread = tr("{n} not read", n=case.unread) if case.unread else ""
    items = counted(case.items, tr("item"), tr("items"))
    return case.id, case.state, case.last_run or "-", items, unread, one_line(case.title)


def _show_case(session: Session, chosen: argparse.Namespace) -> None:
    case = session.stores.cases.load(chosen.case)
    runs = session.stores.journal.runs(case.id)
    if session.terminal.json:
        session.terminal.value(CaseShown(case=case, runs=runs))
        return
    say = session.terminal.say
    title = one_line(case.title)
    say(tr("{title} ({id}, revision {n}, {at})", title=title, id=case.id, n=case.revision, at=case.created_at))
    for item in case.items:
        say(f"  {item.id}  {one_line(item.title)}")
    for entry in case.unread:
        say(tr("  not read: {name}: {reason}", name=one_line(entry.name), reason=entry.reason))
    for run in runs:
        say(f"  {run.id}  {run.workflow} {run.version}  {run.status}  {run.created_at}")


def _search_cases(session: Session, chosen: argparse.Namespace) -> None:
    wanted = chosen.text.casefold()
    if not wanted.strip():
        raise UserError(tr("Give the text to search for."), code="empty search")
    loaded = (session.stores.cases.load(row.id) for row in session.stores.cases.list())
    found = [hit for case in loaded if (hit := _hit(case, wanted)).places]
    if session.terminal.json:
        session.terminal.value(tuple(found))
        return
    if not found:
        session.terminal.say(tr("No case holds this text."))
    for hit in found:
        session.terminal.say(f"{hit.case}  {hit.title}  ({', '.join(hit.places)})")


def _hit(case: Case, wanted: str) -> CaseHit:
    patient = f"{case.title} {case.patient.name} {case.patient.patient_id}"
    places = [tr("title or patient")] if wanted in patient.casefold() else []
    for item in case.items:
        text = item.text if isinstance(item, Note) else ""
        rows = " ".join(f"{row.test} {row.value}" for row in item.rows) if isinstance(item, LabTable) else ""
        if wanted in f"{item.title} {text} {rows}".casefold():
            places.append(item.title)
    return CaseHit(case=case.id, title=case.title, places=tuple(places))


COMMANDS = {"report": show_report, "cases": show_cases}
