"""`wardround knowledge` for what a site brings itself: add, approve, retire, show, verify, lookup.

Documents are opened in the decode child only. What is added is a draft, vocabularies excepted; only what a person has
approved is searched.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.errors import EXIT_ACT, EXIT_DONE, UserError
from core.retrieval.importing import ImportReport, Progress, import_knowledge
from core.retrieval.lookup import ConceptFound, DrugFound, Lookup, NotFound
from core.retrieval.sources.material import Options
from core.runtime.foreign import Decoder
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Change, Pack
from desktop import assembly
from desktop.cli.session import Session, opened, stoppable
from desktop.cli.terminal import columns, counted
from desktop.i18n import tr

MOST_SKIPPED = 20  # reasons printed one by one; JSON has all


class PackShown(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge show --json`: all that is kept of a pack, and what happened to it."""

    pack: Pack
    docs: int
    chunks: int
    changes: tuple[Change, ...]


@contextmanager
def _library(chosen: argparse.Namespace, *, writes: bool) -> Iterator[tuple[Session, assembly.Library]]:
    with opened(chosen, writes=writes, alone=False) as session, assembly.open_library(session.place) as library:
        yield session, library


# ------------------------------------------------------------------------------------------------------ bringing in


def add(chosen: argparse.Namespace) -> int:
    """Import files as one pack; says what was skipped and why, and what is to be done next."""
    options = Options(
        title=chosen.title,
        edition=chosen.edition,
        publisher=chosen.publisher,
        licence="site-licensed" if chosen.site_licensed else chosen.licence,
        licence_text=_text_of(chosen.licence_text),
        issued_on=chosen.issued_on,
        expires_on=chosen.expires_on,
        review_by=chosen.review_by,
        replaces=chosen.replaces,
        mapping=_text_of(chosen.map),
    )
    with _library(chosen, writes=True) as (session, library), stoppable() as stop:
        with Decoder(session.bench.settings, stop) as decoder:
            report = import_knowledge(
                library.store,
                library.index,
                chosen.paths,
                options,
                actor=session.bench.actor,
                importer=chosen.form,
                read_document=decoder.study,
                on_progress=lambda progress: _move(session, progress),
                stop=stop,
            )
        _say_added(session, report)
    return EXIT_DONE


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


def _say_added(session: Session, report: ImportReport) -> None:
    if session.terminal.json:
        session.terminal.value(report)
        return
    held = [
        counted(report.docs, tr("document"), tr("documents")),
        counted(report.chunks, tr("passage"), tr("passages")),
    ]
    held.append(counted(report.concepts, tr("concept"), tr("concepts")))
    session.terminal.say(f"{report.pack}: {', '.join(held)}; {report.state}; {tr('licence')} {report.licence}")
    for skipped in report.skipped[:MOST_SKIPPED]:
        session.terminal.say(f"  {tr('not taken over')}: {skipped.where}: {skipped.why}")
    if len(report.skipped) > MOST_SKIPPED:
        for reason, number in sorted(report.reasons.items()):
            session.terminal.say(f"  {number} x {reason}")
    if report.state == "draft":
        session.terminal.say(
            tr("Not searched until somebody approves it: wardround knowledge approve {p}", p=report.pack)
        )


# ------------------------------------------------------------------------------------------------------- life cycle


def approve(chosen: argparse.Namespace) -> int:
    """Put a pack into use under the name of who does it."""
    with _library(chosen, writes=True) as (session, library):
        library.store.lifecycle.approve(chosen.pack, actor=session.bench.actor)
        library.index.reconcile()
        session.terminal.say(tr("{pack} is in use, approved by {who}.", pack=chosen.pack, who=session.bench.actor))
    return EXIT_DONE


def retire(chosen: argparse.Namespace) -> int:
    """Take a pack out of use, with the reason."""
    with _library(chosen, writes=True) as (session, library):
        library.store.lifecycle.retire(chosen.pack, actor=session.bench.actor, reason=chosen.reason)
        session.terminal.say(tr("{pack} is withdrawn.", pack=chosen.pack))
    return EXIT_DONE


def verify(chosen: argparse.Namespace) -> int:
    """Recompute every hash; a pack that differs is quarantined. Exit code 1 where anything does."""
    faults: list[str] = []
    with _library(chosen, writes=True) as (session, library):
        for pack in library.store.packs():
            found = [fault.text for fault in library.store.faults(pack)]
            if found:
                library.store.lifecycle.quarantine(pack.id, actor=session.bench.actor, reason=found[0])
            faults += found
        faults += library.store.record_faults()
        if session.terminal.json:
            session.terminal.value(faults)
        for fault in faults:
            session.terminal.say(fault)
        if not faults:
            number = counted(len(library.store.packs()), tr("pack"), tr("packs"))
            session.terminal.say(tr("{n}: every text is as it was imported.", n=number))
    return EXIT_ACT if faults else EXIT_DONE


# ---------------------------------------------------------------------------------------------------------- reading


def show(chosen: argparse.Namespace) -> int:
    """One pack with its licence, counts and history; without a name all packs in a table."""
    with _library(chosen, writes=False) as (session, library):
        if chosen.pack:
            _show_pack(session, _pack(library.store, chosen.pack), library.store)
        else:
            _show_packs(session, library.store)
    return EXIT_DONE


def _pack(store: KnowledgeStore, name: str) -> Pack:
    pack = store.pack(name)
    if pack is None:
        raise UserError(tr("There is no knowledge pack {name}.", name=name), code="no such pack")
    return pack


def _show_packs(session: Session, store: KnowledgeStore) -> None:
    packs = store.packs()
    if session.terminal.json:
        session.terminal.value(packs)
        return
    counts = {count.pack: count for count in store.counts()}
    table = [(tr("pack"), tr("state"), tr("documents"), tr("licence"), tr("edition"))]
    for pack in packs:
        docs = str(counts[pack.id].docs) if pack.id in counts else "0"
        table.append((pack.id, pack.state, docs, pack.licence_id, pack.edition))
    for line in columns(table):
        session.terminal.say(line)


def _show_pack(session: Session, pack: Pack, store: KnowledgeStore) -> None:
    count = next((count for count in store.counts() if count.pack == pack.id), None)
    docs, chunks = (count.docs, count.chunks) if count else (0, 0)
    changes = store.lifecycle.changes(pack.id)
    if session.terminal.json:
        session.terminal.value(PackShown(pack=pack, docs=docs, chunks=chunks, changes=changes))
        return
    for name in ("title", "kind", "state", "edition", "publisher", "issued_on", "review_by", "expires_on",
                 "licence_id", "licence_text", "replaces", "approved_by", "approved_at"):  # fmt: skip
        if value := getattr(pack, name):
            session.terminal.say(f"{name.replace('_', ' ')}: {value}")
    session.terminal.say(f"{tr('documents')}: {docs}, {tr('passages')}: {chunks}")
    for change in changes:
        session.terminal.say(f"  {change.at[:16]}  {change.what}  {change.user}  {change.reason}".rstrip())


def lookup(chosen: argparse.Namespace) -> int:
    """A concept or drug by name, over the vocabularies that are installed. Exit code 1 where there is none."""
    with _library(chosen, writes=False) as (session, library):

        def edition(pack_id: str) -> tuple[str, str]:
            pack = library.store.pack(pack_id)
            return (pack.title, pack.edition) if pack else (pack_id, "")

        search = Lookup(library.store.vocabulary, edition)
        found = search.drug(chosen.name) if chosen.drug else search.concept(chosen.name)
        if session.terminal.json:
            session.terminal.value(found)
        else:
            for line in _told(found):
                session.terminal.say(line)
    return EXIT_ACT if isinstance(found, NotFound) else EXIT_DONE


def _told(found: ConceptFound | DrugFound | NotFound) -> Iterator[str]:
    if isinstance(found, NotFound):
        near = tr("; near it: {names}", names=", ".join(found.near)) if found.near else ""
        yield tr("No installed vocabulary has {name}{near}.", name=found.asked, near=near)
        return
    if isinstance(found, DrugFound):
        yield f"{found.drug.name}  [{found.drug.id}]"
        yield from filter(None, (found.drug.description, found.drug.indication, found.drug.contraindication))
    else:
        yield f"{found.name}  [{found.id}]  {found.kind}"
        if found.definition:
            yield f"{found.definition} ({found.def_source})"
        yield from (f"  {relation.rel}: {relation.name}" for relation in found.relations)
    if found.synonyms:
        yield tr("Other names: {names}", names="; ".join(found.synonyms))
    yield tr("Source: {source} {version}", source=found.source, version=found.version)


ACTIONS = {
    "add": add,
    "approve": approve,
    "retire": retire,
    "show": show,
    "verify": verify,
    "lookup": lookup,
}
