"""`wardround knowledge` for what a site brings itself: add, approve, retire, verify.

Documents are opened in the decode child only. What is added is a draft, vocabularies excepted; only what a person has
approved is searched.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

import msgspec

from core.domain.terminology import ConceptFound
from core.errors import EXIT_ACT, EXIT_DONE, Cancelled, UserError
from core.retrieval.editions import expires_on
from core.retrieval.importing import AboutWhat, ImportReport, Progress, differences, import_knowledge
from core.retrieval.lookup import EXACT, Lookup
from core.retrieval.packfile import SUFFIX
from core.retrieval.packfile_reader import import_pack, is_packfile
from core.retrieval.sources.material import Options, slug
from core.runtime.foreign import Decoder
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Pack
from desktop import assembly
from desktop.cli import vectors
from desktop.cli.holdings import MOST_LISTED, opened_library, pack_of, say_changes
from desktop.cli.session import Session, stoppable
from desktop.cli.terminal import counted
from desktop.i18n import tr

# ------------------------------------------------------------------------------------------------------ bringing in


def add(chosen: argparse.Namespace) -> int:
    """Import files as one pack; says what was skipped and why, what another edition says otherwise, what is next."""
    with opened_library(chosen, writes=True) as (session, library), stoppable() as stop:
        try:
            report = _imported(chosen, session, library, stop)
        except Cancelled:
            session.terminal.remark(tr("Stopped. Nothing was imported."))
            return EXIT_ACT
        pack = pack_of(library.store, report.pack)
        report = msgspec.structs.replace(report, changes=differences(library.store, pack))
        _say_added(session, report, found=not chosen.form and not is_packfile(chosen.paths[0]))
        if not chosen.no_vectors:
            vectors.complete(session, library, stop)
    return EXIT_DONE


def _imported(
    chosen: argparse.Namespace, session: Session, library: assembly.Library, stop: threading.Event
) -> ImportReport:
    store, index, actor = library.store, library.index, session.bench.actor
    if any(is_packfile(path) for path in chosen.paths):
        if len(chosen.paths) > 1:
            raise UserError(tr("Bring in one {suffix} file at a time.", suffix=SUFFIX), code="packfile")
        return import_pack(
            store,
            index,
            chosen.paths[0],
            actor=actor,
            replaces=chosen.replaces,
            on_progress=lambda progress: _move(session, progress),
            stop=stop,
        )
    about = _about(chosen.concept_of, library) if chosen.concept_of else None
    with Decoder(session.bench.settings, stop) as decoder:
        return import_knowledge(
            store,
            index,
            chosen.paths,
            _options(chosen),
            actor=actor,
            importer=chosen.form,
            pack_id=chosen.id,
            about=about,
            read_document=decoder.study,
            on_progress=lambda progress: _move(session, progress),
            stop=stop,
        )


def _options(chosen: argparse.Namespace) -> Options:
    return Options(
        title=chosen.title,
        edition=chosen.edition,
        publisher=chosen.publisher,
        licence=chosen.licence,
        licence_text=_text_of(chosen.licence_text),
        jurisdiction=chosen.jurisdiction,
        issued_on=chosen.issued_on,
        effective_from=chosen.effective_from,
        expires_on=chosen.expires_on,
        review_by=chosen.review_by,
        replaces=chosen.replaces,
        mapping=_text_of(chosen.map),
    )


def _about(name: str, library: assembly.Library) -> AboutWhat:
    """The disease of that name or id: one that runs know, one of the installed vocabularies, else the name itself."""
    knowledge = library.knowledge()
    known = knowledge.concept(name)
    for found in knowledge.annotate(name) if known is None else ():
        whole = (found.mention.start, found.mention.end) == (0, len(name.strip()))
        known = known or (knowledge.concept(found.mention.concept) if whole else None)
    if known is not None:
        return AboutWhat(concept=known.id, names=(known.name, *known.surfaces))
    found_word = Lookup(library.store.vocabulary, lambda pack: (pack, "")).concept(name)
    if isinstance(found_word, ConceptFound) and found_word.how == EXACT:
        return AboutWhat(concept=found_word.id, names=(found_word.name, *found_word.synonyms))
    return AboutWhat(concept=f"SITE:{slug(name)}", names=(name,))


def _text_of(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(tr("The file {file} cannot be read.", file=path), code="open") from error


def _move(session: Session, progress: Progress) -> None:
    said = tr("{n} records", n=progress.records)
    session.terminal.progress(progress.bytes_done, progress.bytes_total, said)


def _say_added(session: Session, report: ImportReport, *, found: bool) -> None:
    if session.terminal.json:
        session.terminal.value(report)
        return
    held = [
        counted(report.docs, tr("document"), tr("documents")),
        counted(report.chunks, tr("passage"), tr("passages")),
    ]
    held.append(counted(report.concepts, tr("concept"), tr("concepts")))
    if found:
        session.terminal.say(tr("Recognised by content: {form}.", form=report.importer))
    unchanged = "" if report.put.writes else f"{tr('unchanged')}; "
    told = f"{unchanged}{', '.join(held)}; {report.state}; {tr('licence')} {report.licence}"
    session.terminal.say(f"{report.pack}: {told}")
    for skipped in report.skipped[:MOST_LISTED]:
        session.terminal.say(f"  {tr('not taken over')}: {skipped.where}: {skipped.why}")
    if len(report.skipped) > MOST_LISTED:
        for reason, number in sorted(report.reasons.items()):
            session.terminal.say(f"  {number} x {reason}")
    say_changes(session, report.changes)
    if report.state == "draft":
        session.terminal.say(
            tr("Not searched until somebody approves it: wardround knowledge approve {p}", p=report.pack)
        )


# ------------------------------------------------------------------------------------------------------- life cycle


def approve(chosen: argparse.Namespace) -> int:
    """Put a pack into use under the name of who does it; the edition that it replaces is superseded."""
    with opened_library(chosen, writes=True) as (session, library), stoppable() as stop:
        pack = pack_of(library.store, chosen.pack)
        end = expires_on(pack, library.calendar.years)
        if end is not None and end < library.calendar.today():
            raise UserError(
                tr(
                    "{pack} expired on {day} by its dates. If it still holds, import it again with --review-by or "
                    "--expires-on.",
                    pack=pack.id,
                    day=end,
                ),
                code="expired",
            )
        changes = differences(library.store, pack)
        library.store.lifecycle.approve(pack.id, actor=session.bench.actor, reason=chosen.reason)
        library.index.reconcile()
        if session.terminal.json:
            session.terminal.value(pack_of(library.store, pack.id))
        say_changes(session, changes)
        session.terminal.say(tr("{pack} is in use, approved by {who}.", pack=pack.id, who=session.bench.actor))
        replaced = library.store.pack(pack.replaces) if pack.replaces else None
        if replaced is not None and replaced.state == "superseded":
            session.terminal.say(tr("{pack} is superseded by it.", pack=replaced.id))
        if not chosen.no_vectors:
            vectors.complete(session, library, stop)
    return EXIT_DONE


def retire(chosen: argparse.Namespace) -> int:
    """Take a pack out of use, with the reason."""
    with opened_library(chosen, writes=True) as (session, library):
        library.store.lifecycle.retire(chosen.pack, actor=session.bench.actor, reason=chosen.reason)
        if session.terminal.json:
            session.terminal.value(pack_of(library.store, chosen.pack))
        session.terminal.say(tr("{pack} is withdrawn.", pack=chosen.pack))
    return EXIT_DONE


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge verify --json`: a pack ("" = the record of changes) and what is not as it was imported."""

    pack: str
    faults: tuple[str, ...]


def verify(chosen: argparse.Namespace) -> int:
    """Recompute every hash; a pack that differs is quarantined. Exit code 1 where anything does."""
    with opened_library(chosen, writes=True) as (session, library), stoppable() as stop:
        store = library.store
        packs = [pack_of(store, chosen.pack)] if chosen.pack else store.packs()
        checked = [_check(session, store, pack, stop) for pack in packs]
        if record := store.record_faults():
            checked.append(Checked(pack="", faults=record))
        if session.terminal.json:
            session.terminal.value(checked)
        for result in checked:
            _say_checked(session, result)
        faulty = any(result.faults for result in checked)
        if not faulty:
            number = counted(len(packs), tr("pack"), tr("packs"))
            session.terminal.say(tr("{n}: every text is as it was imported.", n=number))
    return EXIT_ACT if faulty else EXIT_DONE


def _check(session: Session, store: KnowledgeStore, pack: Pack, stop: threading.Event) -> Checked:
    looked = 0

    def look() -> None:
        nonlocal looked
        looked += 1
        if stop.is_set():
            raise Cancelled("verify")
        session.terminal.progress(0, 0, tr("checking {pack}: {n}", pack=pack.id, n=looked))

    faults = tuple(fault.text for fault in store.faults(pack, on_record=look))
    if faults:
        store.lifecycle.quarantine(pack.id, actor=session.bench.actor, reason=faults[0])
    return Checked(pack=pack.id, faults=faults)


def _say_checked(session: Session, result: Checked) -> None:
    for fault in result.faults[:MOST_LISTED]:
        session.terminal.say(fault)
    if len(result.faults) > MOST_LISTED:
        session.terminal.say(tr("  and {n} more", n=len(result.faults) - MOST_LISTED))
    if result.faults and result.pack:
        session.terminal.say(
            tr(
                "{pack} is damaged and quarantined: nothing of it is searched. Import the same files again to mend it.",
                pack=result.pack,
            )
        )


ACTIONS = {"add": add, "approve": approve, "retire": retire, "verify": verify}
