"""The commands that do the work: demo, import, run, resume. They start a worker and follow its run."""

from __future__ import annotations

import argparse
import tempfile
import threading
from pathlib import Path

import msgspec

from core import paths
from core import settings as options
from core.domain import event as ev
from core.domain.case import Case
from core.domain.notices import rung_notices
from core.domain.report import Report
from core.errors import EXIT_ACT, EXIT_BUG, EXIT_DONE, WardroundError
from core.runtime import protocol
from core.runtime.client import WorkerClient
from core.settings import Settings
from core.store.database import now
from core.store.journal import RunRow
from desktop.assembly import NO_BACKBONE
from desktop.cli import answers, documents
from desktop.cli.arguments import DEMO
from desktop.cli.boundary import sentence_of
from desktop.cli.session import Session, opened, stoppable
from desktop.cli.terminal import counted, one_line
from desktop.i18n import tr

EXAMPLE = "a"
UNREAD = 100  # files named after an import; all of them stand in the case


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, as `--json` prints it."""

    run: str
    case: str
    status: str
    sentence: str = ""
    html: str = ""
    report: Report | None = None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import came to, as `--json` prints it."""

    case: str
    revision: int
    items: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]


# ------------------------------------------------------------------------------------------------ commands


def show_demo(chosen: argparse.Namespace) -> int:
    """Import example (a), analyse it, print the assessment and where the HTML report lies."""
    folder = paths.profile_folder(DEMO)
    if not (folder / options.FILE).exists():
        options.save(folder, Settings(profile="research_imaging"))
    with opened(chosen, writes=True, profile=folder) as plain:
        session = plain.with_settings(on_question="unavailable")
        case = _example(session)
        row = session.bench.queue(case, backbone=_backbone(session, chosen), workflow=chosen.workflow)
        code, outcome = _follow(session, row, answers.Plan(), fault=chosen.fault)
        _tell(session, outcome, code, text=True)
        if code == EXIT_DONE:
            session.terminal.say(tr("In the window: wardround --profile demo"))
        if outcome.report is not None:
            session.terminal.say(documents.headline(outcome.report))
        return code


def import_files(chosen: argparse.Namespace) -> int:
    """Read files into a case; say what was not read, and why."""
    with opened(chosen, writes=True) as session, stoppable() as stop:
        case = _import(session, tuple(chosen.paths), case_id=chosen.case, title=chosen.title or "", stop=stop)
        _show_import(session, case)
    return EXIT_DONE


def run_case(chosen: argparse.Namespace) -> int:
    """Queue a run of a case and follow it."""
    plan = answers.plan(chosen.on_question)
    with opened(chosen, writes=True) as plain:
        case = plain.stores.cases.load(chosen.case)
        session = plain.with_settings(mode=chosen.mode or plain.bench.settings.mode)
        plan = answers.attended(session, plan)
        waiting = "wait" if plan.leave else plan.on_question
        row = session.bench.queue(
            case,
            chosen.question,
            backbone=_backbone(session, chosen),
            on_question=waiting or session.bench.settings.on_question,
            seed=chosen.seed,
            workflow=chosen.workflow,
        )
        code, outcome = _follow(session, row, plan, fault=chosen.fault)
        return _tell(session, outcome, code, text=True)


def resume_runs(chosen: argparse.Namespace) -> int:
    """Continue one run, or every interrupted one; the worst exit code counts."""
    plan = answers.plan(chosen.on_question)
    with opened(chosen, writes=True) as session:
        journal = session.stores.journal
        rows = (journal.run(chosen.run),) if chosen.run else journal.unfinished()
        if not rows:
            session.terminal.say(tr("There is no interrupted run."))
        worst, outcomes = EXIT_DONE, []
        for row in rows:
            if not chosen.run:
                session.terminal.say(_named(session, row))
            code, outcome = _follow(session, row, plan, fault=chosen.fault)
            worst = max(worst, code)
            outcomes.append(outcome)
            if not session.terminal.json:
                _tell(session, outcome, code, text=bool(chosen.run))
            if outcome.status == "stopped":
                break
        if session.terminal.json:
            session.terminal.value(tuple(outcomes))
        return worst


def _named(session: Session, row: RunRow) -> str:
    """Which case a run is of, for a person who did not name it."""
    case = session.stores.cases.load(row.case_id, row.revision)
    return tr("{title} ({id}), run {run}", title=one_line(case.title), id=case.id, run=row.id)


# ------------------------------------------------------------------------------------------------ import


def _example(session: Session) -> Case:
    """The example case as it ships; a new revision only when its files have changed since the last demo."""
    from core.runtime import examples

    title = examples.TITLES[EXAMPLE]
    known = next((case.id for case in session.stores.cases.list() if case.title == title), "")
    with tempfile.TemporaryDirectory(prefix="wardround-") as folder, stoppable() as stop:
        examples.write(EXAMPLE, Path(folder))
        return _import(session, (Path(folder),), case_id=known, title=title, stop=stop)


def _import(session: Session, files: tuple[Path, ...], *, case_id: str, title: str, stop: threading.Event) -> Case:
    from core.runtime import intake

    return intake.import_paths(
        files,
        case_id=case_id,
        title=title,
        settings=session.bench.settings,
        cases=session.stores.cases,
        artifacts=session.stores.artifacts,
        actor=session.bench.actor,
        clock=now,
        on_progress=session.terminal.progress,
        stop=stop,
    )


def _show_import(session: Session, case: Case) -> None:
    if session.terminal.json:
        items = tuple(item.title for item in case.items)
        unread = tuple((entry.name, entry.reason) for entry in case.unread)
        session.terminal.value(Imported(case=case.id, revision=case.revision, items=items, unread=unread))
        return
    say = session.terminal.say
    many = counted(len(case.items), tr("item"), tr("items"))
    say(tr("Case {id}, revision {n}: {items}.", id=case.id, n=case.revision, items=many))
    if case.unread:
        say(tr("Not read:"))
    for entry in case.unread[:UNREAD]:
        say(f"  {one_line(entry.name)}: {entry.reason}")
    if (more := len(case.unread) - UNREAD) > 0:
        say(tr("  and {n} more: wardround cases show {id}", n=more, id=case.id))
    say(tr("Next: wardround run --case {id}", id=case.id))


# ------------------------------------------------------------------------------------------------ runs


def _backbone(session: Session, chosen: argparse.Namespace) -> str | None:
    """The pack that was named, if it is there; a name that is not is the person's mistake, found before the run."""
    from desktop.assembly import scripted_seconds

    named: str | None = chosen.backbone
    if named in (None, NO_BACKBONE) or scripted_seconds() is not None:
        return named
    from models.packs import find_pack

    return find_pack(paths.packs_folder(), str(named)).manifest.id


def _follow(session: Session, row: RunRow, plan: answers.Plan, *, fault: str = "") -> tuple[int, Outcome]:
    """Execute a run to its end or rest, answering its questions from a file where one is given."""
    watcher = _Watcher(session, row.id)
    client = WorkerClient(
        session.bench.worker_command(fault),
        journal=session.stores.journal,
        actor=session.bench.actor,
        on_notice=watcher.hear,
    )
    with stoppable() as stop:
        try:
            status = client.run(row.id, stop)
            while status == "waiting" and answers.give(session, row.id, plan):
                status = client.run(row.id, stop)
        except WardroundError as error:
            status, watcher.fault = "failed", sentence_of(error)
        finally:
            client.close()
    return _outcome(session, row, status, watcher.fault)


class _Watcher:
    """Turns the worker's notices into the progress line, and keeps what it said went wrong."""

    def __init__(self, session: Session, run_id: str) -> None:
        self._session = session
        self._run = run_id
        self._seen = 0
        self.fault = ""

    def hear(self, notice: protocol.Notice) -> None:
        terminal = self._session.terminal
        if isinstance(notice, protocol.Verify):
            terminal.progress(notice.done, notice.total, tr("checking the model {pack}", pack=notice.pack))
        elif isinstance(notice, protocol.Embedded):
            terminal.progress(notice.done, notice.total, tr("reading the guidelines for the search"))
        elif isinstance(notice, protocol.Seq):
            self._step()
        elif isinstance(notice, protocol.Rung):
            terminal.remark(" ".join(rung_notices(notice.to_rung, notice.reason, notice.expected_s)))
        elif isinstance(notice, protocol.Fault):
            self.fault = notice.detail

    def _step(self) -> None:
        rows = self._session.stores.journal.events(self._run, self._seen)
        if rows:
            self._seen = rows[-1].n
            self._session.terminal.progress(0, 0, tr("step {n}: {what}", n=self._seen, what=_words(rows[-1].event)))


def _words(event: ev.Event) -> str:
    """A committed event in a few words, for the progress line."""
    name = type(event).__name__
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.strip()


def _outcome(session: Session, row: RunRow, status: str, fault: str) -> tuple[int, Outcome]:
    made = documents.write_html(session, row.id) if status == "finished" else None
    code, sentence = _verdict(session, row.id, status, fault)
    return code, Outcome(
        run=row.id,
        case=row.case_id,
        status=status,
        sentence=sentence,
        html=str(made[1]) if made else "",
        report=made[0] if made else None,
    )


def _verdict(session: Session, run_id: str, status: str, fault: str) -> tuple[int, str]:
    """Exit code, and the sentence that says what the person must do."""
    if status == "finished":
        return EXIT_DONE, ""
    if status == "waiting":
        return EXIT_ACT, answers.wanted(session, run_id)
    if status == "stopped":
        return EXIT_ACT, tr("Run {id} was stopped. Go on with: wardround resume {id}", id=run_id)
    events = session.stores.journal.events(run_id)
    failed = [row.event for row in events if isinstance(row.event, ev.RunFailed)]
    if failed:
        return (EXIT_BUG if failed[-1].code == "bug" else EXIT_ACT), f"Run {run_id}: {failed[-1].text}"
    return EXIT_ACT, f"Run {run_id}: {fault or tr('it could not be continued.')}"


def _tell(session: Session, outcome: Outcome, code: int, *, text: bool) -> int:
    terminal = session.terminal
    if terminal.json:
        terminal.value(outcome)
    elif outcome.report is not None:
        if text:
            terminal.say(documents.as_text(outcome.report))
        terminal.say(tr("Run {id}. HTML report: {path}", id=outcome.run, path=outcome.html))
    if outcome.sentence:
        terminal.remark(outcome.sentence)
    return code


COMMANDS = {"demo": show_demo, "import": import_files, "run": run_case, "resume": resume_runs}
