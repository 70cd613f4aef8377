"""`wardround knowledge`: what is there, searching it, and packs as files; the group's other acts in their own modules.

What only reads takes no lock and makes no profile.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core import paths
from core.domain.passage import Hit, Passage
from core.domain.ports import Query
from core.errors import EXIT_DONE, UserError
from desktop import assembly
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns, counted
from desktop.i18n import tr

UNSTATED = ("unknown", "site-licensed")  # licences whose own text stands with each passage


class PackRow(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge list --json`: a pack, how much it holds, until when it holds, and what is to be said of it."""

    id: str
    title: str
    kind: str
    state: str
    edition: str
    publisher: str
    licence: str
    docs: int
    passages: int
    concepts: int
    expires_on: str
    remark: str


class ConditionRow(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge list --conditions --json`: a condition that runs can weigh; `derived`: from a site's own guideline."""

    slug: str
    title: str
    edition: str
    clues: int
    rules: int
    facts: int
    unreviewed: int
    derived: bool


class PassageHit(msgspec.Struct, frozen=True, kw_only=True):
    """`knowledge search --json`: a passage, the state of its edition, and its rank in each branch that found it."""

    score: float
    passage: Passage
    state: str
    remark: str
    licence_text: str
    ranks: dict[str, int]


# ------------------------------------------------------------------------------------------------------------ list


def show_list(chosen: argparse.Namespace) -> int:
    """All packs, or all conditions."""
    with opened(chosen, writes=False) as session, assembly.open_library(session.place) as library:
        rows: Sequence[PackRow | ConditionRow] = _condition_rows(library) if chosen.conditions else pack_rows(library)
        if session.terminal.json:
            session.terminal.value(rows)
            return EXIT_DONE
        table = _condition_table(rows) if chosen.conditions else _pack_table(rows)
        for line in columns(table):
            session.terminal.say(line)
        for row in rows:
            if isinstance(row, PackRow) and row.remark:
                session.terminal.say(f"{row.id}: {row.remark}")
    return EXIT_DONE


def pack_rows(library: assembly.Library) -> tuple[PackRow, ...]:
    """Every pack as it is listed."""
    from core.retrieval import editions

    store = library.store
    packs, counts, words = store.packs(), {count.pack: count for count in store.counts()}, store.vocabulary.counts()
    return tuple(
        PackRow(
            id=pack.id,
            title=pack.title,
            kind=pack.kind,
            state=pack.state,
            edition=pack.edition,
            publisher=pack.publisher,
            licence=pack.licence_id,
            docs=counts[pack.id].docs if pack.id in counts else 0,
            passages=counts[pack.id].chunks if pack.id in counts else 0,
            concepts=words.get(pack.id, 0),
            expires_on=str(editions.expires_on(pack, library.calendar.years) or ""),
            remark=editions.remark(pack, packs, library.calendar),
        )
        for pack in packs
    )


def _pack_table(rows: Sequence[PackRow | ConditionRow]) -> list[tuple[str, ...]]:
    head = (tr("pack"), tr("state"), tr("kind"), tr("edition"), tr("documents"), tr("passages"), tr("concepts"))
    table: list[tuple[str, ...]] = [(*head, tr("licence"), tr("expires"))]
    table += [
        (row.id, row.state, row.kind, row.edition or "-", str(row.docs), str(row.passages), str(row.concepts))
        + (row.licence, row.expires_on or "-")
        for row in rows
        if isinstance(row, PackRow)
    ]
    return table


def _condition_rows(library: assembly.Library) -> tuple[ConditionRow, ...]:
    return tuple(
        ConditionRow(
            slug=condition.slug,
            title=condition.title,
            edition=condition.edition,
            clues=len(condition.clues),
            rules=len(condition.rules),
            facts=len(condition.facts),
            unreviewed=sum(1 for fact in condition.facts if fact.status != "reviewed"),
            derived=bool(condition.derivations),
        )
        for condition in library.knowledge().conditions
    )


def _condition_table(rows: Sequence[PackRow | ConditionRow]) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [
        (tr("condition"), tr("edition"), tr("clues"), tr("rules"), tr("numbers"), tr("unreviewed"))
    ]
    for row in rows:
        if isinstance(row, ConditionRow):
            clues = tr("{n} derived", n=row.clues) if row.derived else str(row.clues)
            numbers = str(row.rules), str(row.facts), str(row.unreviewed)
            table.append((row.title, row.edition, clues, *numbers))
    return table


# ---------------------------------------------------------------------------------------------------------- search


def search(chosen: argparse.Namespace) -> int:
    """Passages for a text; with vectors where they are made already, and by words alone if asked so."""
    if not chosen.text.strip():
        raise UserError(tr("Give the text to search for."), code="empty search")
    with opened(chosen, writes=False) as session, _searchable(session, by_words=chosen.words) as library:
        found = library.retriever.search_in(
            Query(text=chosen.text, k=chosen.k, classes=tuple(chosen.classes)),
            packs=tuple(chosen.packs),
            also_superseded=chosen.also_superseded,
        )
        hits = tuple(_hits(library, found.hits, found.passages))
        if session.terminal.json:
            session.terminal.value(hits)
            return EXIT_DONE
        if chosen.why:
            session.terminal.say(tr("Reached by: {path}.", path=found.path))
        if not hits:
            session.terminal.say(tr("No passage matches."))
        for hit in hits:
            _say_hit(session, hit, why=chosen.why)
        session.terminal.say(_how(session, library, found.path, by_words=chosen.words))
    return EXIT_DONE


@contextmanager
def _searchable(session: Session, *, by_words: bool) -> Iterator[assembly.Library]:
    """The library, by words and vectors where some are made: a search by command makes none."""
    from desktop.vectors import FOLDER, KnowledgeVectors

    there = (session.place / FOLDER).is_dir() and not by_words
    vectors = KnowledgeVectors(session.place, session.bench.settings, few=0) if there else None
    with assembly.open_library(session.place, vectors=vectors) as library:
        yield library


def _how(session: Session, library: assembly.Library, path: str, *, by_words: bool) -> str:
    """By what was searched; and what to do where vectors are missing that an installed embedder could make."""
    from desktop.vectors import KnowledgeVectors

    said = tr("Searched by {how}.", how=tr(path.rpartition("; ")[2]))
    missing = KnowledgeVectors(session.place, session.bench.settings).missing(library.store, library.index)
    if not missing or by_words:
        return said
    lacking = counted(missing, tr("passage has"), tr("passages have"))
    return f"{said} {tr('{n} no vector yet: wardround knowledge reindex --vectors', n=lacking)}"


def _hits(library: assembly.Library, hits: Sequence[Hit], passages: Sequence[Passage]) -> Iterator[PassageHit]:
    from core.retrieval import editions

    packs = library.store.packs()
    by_id = {pack.id: pack for pack in packs}
    for hit, passage in zip(hits, passages, strict=True):
        pack = by_id[passage.pack]
        yield PassageHit(
            score=hit.score,
            passage=passage,
            state=pack.state,
            remark=editions.remark(pack, packs, library.calendar),
            licence_text=pack.licence_text if pack.licence_id in UNSTATED else "",
            ranks=hit.ranks,
        )


def _say_hit(session: Session, hit: PassageHit, *, why: bool) -> None:
    say, passage = session.terminal.say, hit.passage
    say(f"{hit.score:6.2f}  {passage.title} / {passage.section}  [{passage.key}]")
    if hit.remark:
        say(f"        ! {hit.remark}")
    if why:
        ranks = ", ".join(f"{branch} {rank}" for branch, rank in sorted(hit.ranks.items()))
        say(f"        {tr('ranks')}: {ranks}; {passage.pack_title}, {tr('edition')} {passage.edition or '-'}")
    say(f"        {' '.join(passage.text.split())[:240]}")
    terms = " ".join(hit.licence_text.split())[:120]
    say(f"        {tr('licence')} {passage.licence}{f': {terms}' if terms else ''}")


# --------------------------------------------------------------------------------------------- files, and the index


def export(chosen: argparse.Namespace) -> int:
    """Write a pack into a `.wrpack` file; whether it stays within the site is asked where the licence needs it."""
    from core.retrieval.packfile import SUFFIX, export_pack
    from core.store.lifecycle import may_leave_site

    with opened(chosen, writes=True, alone=False) as session, assembly.open_library(session.place) as library:
        target = Path(chosen.out) if chosen.out else Path(f"{chosen.pack}{SUFFIX}")
        if not target.parent.is_dir():
            raise UserError(tr("There is no folder {path}. Make it first.", path=target.parent), code="no folder")
        pack = library.store.pack(chosen.pack)
        within = chosen.within_site
        if pack is not None and not within and not may_leave_site(pack.licence_id) and sys.stdin.isatty():
            within = _asked(pack.title, pack.licence_id)

        def told(done: int, total: int) -> None:
            session.terminal.progress(done, total, tr("writing {file}", file=target.name))

        manifest = export_pack(
            library.store,
            chosen.pack,
            target,
            actor=session.bench.actor,
            within_site=within,
            on_progress=told,
        )
        if session.terminal.json:
            session.terminal.value(manifest)
        session.terminal.say(str(target))
    return EXIT_DONE


def _asked(title: str, licence: str) -> bool:
    question = tr("{title} ({licence}): does the file stay within this site? (yes/no) ", title=title, licence=licence)
    return input(question).strip().lower() in ("y", "yes")


def reindex(chosen: argparse.Namespace) -> int:
    """Make the index of words anew; with --vectors the vectors that passages lack instead."""
    if chosen.vectors:
        from desktop.cli import vectors

        return vectors.reindex(chosen)
    with opened(chosen, writes=True) as session:
        from core.retrieval.catalogue import INDEX

        shutil.rmtree(paths.cache_folder() / INDEX, ignore_errors=True)
        session.terminal.part(tr("building the index"))
        with assembly.open_library(session.place) as library:
            passages = sum(count.chunks for count in library.store.counts())
        if session.terminal.json:
            session.terminal.value(passages)
        session.terminal.say(tr("{passages} indexed.", passages=counted(passages, tr("passage"), tr("passages"))))
    return EXIT_DONE


# ------------------------------------------------------------------------------------------------------ the group


def handle_knowledge(chosen: argparse.Namespace) -> int:
    """Every `knowledge` command."""
    own = {"list": show_list, "search": search, "export": export, "reindex": reindex}
    if chosen.action in own:
        return own[chosen.action](chosen)
    if chosen.action == "eval":
        from desktop.cli import evaluation  # with the search and its libraries

        return evaluation.evaluate(chosen)
    if chosen.action in ("show", "lookup"):
        from desktop.cli import holdings

        return holdings.ACTIONS[chosen.action](chosen)
    from desktop.cli import library  # with the importers

    return library.ACTIONS[chosen.action](chosen)


COMMANDS = {"knowledge": handle_knowledge}
