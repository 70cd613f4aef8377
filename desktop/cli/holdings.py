"""`wardround knowledge show` and `lookup`: one pack with its history and who cites it; a concept or drug by name."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from core.domain.terminology import ConceptFound, DrugFound, NotFound
from core.errors import EXIT_ACT, EXIT_DONE
from core.retrieval import editions
from core.retrieval.editions import SectionChange, expires_on
from core.retrieval.importing import differences
from core.retrieval.lookup import Lookup
from core.runtime.usage import uses
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Change, Pack
from core.store.lifecycle import no_such
from desktop import assembly
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns, counted
from desktop.i18n import tr

MOST_LISTED = 20  # reasons, faults or files printed one by one; JSON has all
MOST_CHANGES = 40  # sections that differ
FIELDS = ("title", "kind", "state", "edition", "publisher", "jurisdiction", "lang", "issued_on", "effective_from") + (
    "review_by",
    "expires_on",
    "licence_id",
    "source_url",
    "importer",
    "importer_version",
    "replaces",
    "added_by",
    "added_at",
    "approved_by",
    "approved_at",
)


class PackShown(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge show --json`: all that is kept of a pack, and what happened to it."""

    pack: Pack
    docs: int
    chunks: int
    concepts: int
    ends_on: str
    remark: str
    changes: tuple[Change, ...]


@contextmanager
def opened_library(chosen: argparse.Namespace, *, writes: bool) -> Iterator[tuple[Session, assembly.Library]]:
    """The profile of a command with its knowledge; beside an open window."""
    with opened(chosen, writes=writes, alone=False) as session, assembly.open_library(session.place) as library:
        yield session, library


def pack_of(store: KnowledgeStore, name: str) -> Pack:
    """The pack of that name. Raises UserError: there is none."""
    pack = store.pack(name)
    if pack is None:
        raise no_such(name)
    return pack


def say_changes(session: Session, changes: Sequence[SectionChange]) -> None:
    """What an edition says otherwise than the one that it replaces."""
    if not changes:
        return
    counts = Counter(change.verdict for change in changes)
    told = [f"{counts[verdict]} {tr(verdict)}" for verdict in ("same", "changed", "added", "removed")]
    session.terminal.say(tr("Sections against the edition that it replaces: {counts}.", counts=", ".join(told)))
    different = [change for change in changes if change.verdict != "same"]
    for change in different[:MOST_CHANGES]:
        said = tr("; {n:.0f} % alike", n=change.similar) if change.verdict == "changed" else ""
        numbers = tr("; numbers {numbers}", numbers=change.numbers) if change.numbers else ""
        session.terminal.say(f"  {tr(change.verdict)}: {change.doc} / {change.path}{said}{numbers}")
    if len(different) > MOST_CHANGES:
        session.terminal.say(tr("  and {n} more; --json shows them with their texts", n=len(different) - MOST_CHANGES))


# ---------------------------------------------------------------------------------------------------------- reading


def show(chosen: argparse.Namespace) -> int:
    """One pack with its licence, counts and history, or with who cites it; without a name all packs in a table."""
    if not chosen.pack:
        from desktop.cli import knowledge

        chosen.conditions = False
        return knowledge.show_list(chosen)
    with opened_library(chosen, writes=False) as (session, library):
        pack = pack_of(library.store, chosen.pack)
        (_show_uses if chosen.used_by else _show_pack)(session, library, pack)
    return EXIT_DONE


def _show_uses(session: Session, library: assembly.Library, pack: Pack) -> None:
    """Finished runs that cite the pack; they are never changed, only flagged."""
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        session.terminal.progress(0, 0, tr("looking at run {n}", n=done))

    found = uses(session.stores.journal, dict(library.store.passage_hashes(pack.id)), on_run=told)
    if session.terminal.json:
        session.terminal.value(found)
        return
    if remark := editions.remark(pack, library.store.packs(), library.calendar):
        session.terminal.say(remark)
    if not found:
        session.terminal.say(tr("No finished run cites {pack}.", pack=pack.id))
    rows = [
        (use.run, use.case, use.at[:16], tr("signed by {who}", who=use.signed_by) if use.signed_by else tr("unsigned"))
        + (counted(len(use.passages), tr("passage"), tr("passages")),)
        for use in found
    ]
    for line in columns(rows):
        session.terminal.say(line)


def _show_pack(session: Session, library: assembly.Library, pack: Pack) -> None:
    count = next((count for count in library.store.counts() if count.pack == pack.id), None)
    docs, chunks = (count.docs, count.chunks) if count else (0, 0)
    shown = PackShown(
        pack=pack,
        docs=docs,
        chunks=chunks,
        concepts=library.store.vocabulary.counts().get(pack.id, 0),
        ends_on=str(expires_on(pack, library.calendar.years) or ""),
        remark=editions.remark(pack, library.store.packs(), library.calendar),
        changes=library.store.lifecycle.changes(pack.id),
    )
    if session.terminal.json:
        session.terminal.value(shown)
        return
    for line in _lines_of(shown):
        session.terminal.say(line)
    say_changes(session, differences(library.store, pack))


def _lines_of(shown: PackShown) -> Iterator[str]:
    if shown.remark:
        yield f"! {shown.remark}"
    for name in FIELDS:
        if value := getattr(shown.pack, name):
            yield f"{name.replace('_', ' ')}: {value}"
    yield tr("holds until: {day}", day=shown.ends_on or tr("no date is known"))
    yield f"{tr('documents')}: {shown.docs}, {tr('passages')}: {shown.chunks}, {tr('concepts')}: {shown.concepts}"
    for file in shown.pack.files[:MOST_LISTED]:
        yield f"  {file.name}  {file.bytes} B  sha256 {file.sha256}"
    if shown.pack.licence_text:
        yield tr("licence text:")
        yield shown.pack.licence_text
    for change in shown.changes:
        states = f"{change.from_state or '-'} → {change.to_state}"
        yield f"  {change.at[:16]}  {change.what}  {states}  {change.user}  {change.reason}".rstrip()


def lookup(chosen: argparse.Namespace) -> int:
    """A concept or drug by name, over the vocabularies that are installed. Exit code 1 where there is none."""
    with opened_library(chosen, writes=False) as (session, library):

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


ACTIONS = {"show": show, "lookup": lookup}
