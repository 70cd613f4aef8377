"""The import job: files to one knowledge pack, in one transaction, then into the index.

The importer is chosen by content or by name; each record is written as it is read. A crash, a cancel or too many broken
records leave the store as it was; the index follows at the next start. It must not know a window or a terminal.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from core import codec
from core.errors import Cancelled, UserError
from core.retrieval import editions
from core.retrieval.index import PassageIndex
from core.retrieval.sources import catalogue, document
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, slug
from core.store import lifecycle
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Item, Pack, PackState, PutReport, SourceFile, VocabularyConcept

MOST_FAILED = 0.2  # of the records; above it nothing is imported
MOST_LISTED = 1_000  # skipped records that the report names one by one
EVERY = 100  # records between two reports of progress
ACTIVE_KINDS = ("vocabulary",)  # active on import; everything else waits for its approval
RESERVED = ("starter", "condition", "rule")  # ids that stand for what ships with the program
LONGEST_ID = 80  # characters
ID = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
DATES = {
    "issued_on": "the date of issue",
    "effective_from": "the day it takes effect",
    "review_by": "its review",
    "expires_on": "its end",
}


class Progress(NamedTuple):
    """Records read so far, and how much of the files."""

    records: int
    bytes_done: int
    bytes_total: int


class AboutWhat(msgspec.Struct, frozen=True, kw_only=True):
    """The concept that documents are about, where the person says it: its id and its names."""

    concept: str
    names: tuple[str, ...]


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did. `sha256` is over the hashes of all files; `reasons` counts all skipped records by reason.

    `changes`: what it says otherwise than the edition that it replaces, where that was asked for.
    """

    pack: str
    importer: str
    state: PackState
    docs: int
    chunks: int
    concepts: int
    put: PutReport
    skipped: tuple[Skipped, ...]
    reasons: dict[str, int]
    licence: str
    licence_text: str
    sha256: str
    changes: tuple[editions.SectionChange, ...] = ()


def import_knowledge(
    store: KnowledgeStore,
    index: PassageIndex | None,
    paths: Sequence[Path],
    options: Options,
    *,
    actor: str,
    importer: str = "",
    pack_id: str = "",
    about: AboutWhat | None = None,
    read_document: document.ReadDocument | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    stop: threading.Event | None = None,
) -> ImportReport:
    """Import files as one pack. `index=None` leaves the index to whoever opens the store next.

    Raises:
        UserError: no file, no form that is known, no licence, no date where one is due, an edition that is in use
            with other content, or more than 20 % of the records broken; nothing is changed then.
        Cancelled: `stop` was set; nothing is changed.
        StoreError: the disk refuses.
    """
    chosen = catalogue.choose(paths, importer)
    name = chosen.form
    walk = _Walk(chosen, () if name == document.NAME else catalogue.named(name).suffixes, on_progress, stop)
    reading, version = _reading(name, walk.files, options, read_document)
    pack = _pack(reading.about, options, (name, version), walk.files.identities(), pack_id=pack_id)
    pack = admitted(store, pack)
    items = _told(walk.items(reading.records), about)
    put = store.put_pack(pack, items, actor=actor, reason="import")
    if index is not None:
        index.reconcile()
    return reported(pack, put, skipped=tuple(walk.skipped), reasons=dict(walk.reasons))


def reported(
    pack: Pack, put: PutReport, *, skipped: tuple[Skipped, ...] = (), reasons: dict[str, int] | None = None
) -> ImportReport:
    """What an import of a pack did."""
    return ImportReport(
        pack=pack.id,
        importer=pack.importer,
        state=pack.state,
        docs=put.docs,
        chunks=put.chunks,
        concepts=put.concepts,
        put=put,
        skipped=skipped,
        reasons=reasons or {},
        licence=pack.licence_id,
        licence_text=pack.licence_text,
        sha256=codec.digest([file.sha256 for file in pack.files]),
    )


def _told(items: Iterator[Item], about: AboutWhat | None) -> Iterator[Item]:
    """The records, the documents among them about what the person says."""
    for item in items:
        if about is not None and isinstance(item, Doc):
            concepts = tuple(dict.fromkeys((about.concept, *item.concepts)))
            names = tuple(dict.fromkeys((*about.names, *item.names)))
            yield msgspec.structs.replace(item, concepts=concepts, names=names)
        else:
            yield item


def _reading(
    name: str, files: Files, options: Options, read_document: document.ReadDocument | None
) -> tuple[Reading, str]:
    if name != document.NAME:
        chosen = catalogue.named(name)
        return chosen.read(files, options), chosen.version
    if read_document is None:
        raise UserError("Documents cannot be read here.", code="document")
    return document.read(files, options, read_document), document.VERSION


class _Walk:
    """One pass over the records: counts, watches the failures, reports progress, can be stopped."""

    def __init__(
        self,
        chosen: catalogue.Recognised,
        suffixes: tuple[str, ...],
        on_progress: Callable[[Progress], None],
        stop: threading.Event | None,
    ) -> None:
        self.files = Files(chosen.paths, suffixes, on_read=self._read)
        self.skipped: list[Skipped] = []
        self.reasons: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self._on_progress = on_progress
        self._stop = stop
        self._bytes = 0
        self._total = self.files.total_bytes()
        for other in chosen.left:
            self._skip(other)

    def items(self, records: Iterator[Item | Skipped]) -> Iterator[Item]:
        """The records without the skipped ones; raises at the end if too many were broken, or nothing was there."""
        for record in records:
            self._check()
            if isinstance(record, Skipped):
                self._skip(record)
                continue
            self.done["records"] += not _is_part(record)
            if self.done["records"] % EVERY == 0:
                self._report()
            yield record
        for refusal in self.files.refusals:
            self._skip(refusal)
        self._report()
        self._refuse_bad()

    def _read(self, size: int) -> None:
        self._check()
        self._bytes = min(self._bytes + size, self._total)

    def _check(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise Cancelled("import")

    def _report(self) -> None:
        self._on_progress(Progress(self.done["records"], self._bytes, self._total))

    def _skip(self, record: Skipped) -> None:
        self.reasons[record.why] += 1
        self.done["failed"] += record.failed
        if len(self.skipped) < MOST_LISTED:
            self.skipped.append(record)

    def _refuse_bad(self) -> None:
        good, failed = self.done["records"], self.done["failed"]
        if failed > MOST_FAILED * (good + failed):
            first = next((record for record in self.skipped if record.failed), None)
            what = f" {first.where}: {first.why}" if first else ""
            raise UserError(
                f"Nothing was imported: {failed} of {good + failed} could not be read.{what}", code="broken"
            )
        if not good:
            why = ", ".join(f"{reason} ({count})" for reason, count in self.reasons.most_common(3)) or "no record"
            raise UserError(f"Nothing was imported: the files hold nothing that can be used: {why}.", code="nothing")


def _is_part(item: Item) -> bool:
    """Drugs come beside their concept and are not counted again."""
    return not isinstance(item, Doc | VocabularyConcept)


# ------------------------------------------------------------------------------------------------------------ pack


def _pack(
    about: About, options: Options, importer: tuple[str, str], files: tuple[SourceFile, ...], *, pack_id: str
) -> Pack:
    """The pack as the person and the files describe it; what the person says counts."""
    edition = options.edition or about.edition
    licence = licence_name(options.licence or ("unknown" if options.licence_text else about.licence))
    text = options.licence_text or about.licence_text
    if licence == "unknown" and not text:
        raise UserError(
            f"{options.title or about.title} states no licence. Name it (--licence), or give its text.", code="licence"
        )
    dates = {name: editions.checked_date(getattr(options, name), what) for name, what in DATES.items()}
    issued = about.issued_on if editions.parse_date(about.issued_on) else ""  # "May 2024": no date to reckon with
    return Pack(
        id=pack_id or slug(f"{about.slug} {edition}")[:LONGEST_ID].strip("-"),
        title=options.title or about.title,
        kind=about.kind,
        edition=edition,
        publisher=options.publisher or about.publisher,
        licence_id=licence,
        licence_text=text,
        importer=importer[0],
        importer_version=importer[1],
        files=files,
        lang=options.lang,
        state="active" if about.kind in ACTIVE_KINDS else "draft",
        jurisdiction=options.jurisdiction,
        issued_on=dates.pop("issued_on") or issued,
        **dates,
        source_url=about.source_url,
        replaces=options.replaces,
    )


def licence_name(text: str) -> str:
    """A licence as it is kept: "cc by 4.0" is CC-BY-4.0."""
    joined = re.sub(r"[\s_]+", "-", text.strip())
    known = joined.lower()
    return known.upper() if known.startswith(("cc0", "cc-")) else known if known in _LOWER else joined


_LOWER = ("public-domain", "site-licensed", "own", "unknown")


def admitted(store: KnowledgeStore, pack: Pack) -> Pack:
    """The pack as it comes in beside what is there: the same files keep state and approval.

    Raises:
        UserError: an id that is none or is the program's own, an edition in use with other content, or a pack to be
            replaced that is not there.
    """
    if not ID.fullmatch(pack.id) or len(pack.id) > LONGEST_ID:
        raise UserError(
            f"{pack.id!r} is no name for a pack. Give one of letters, digits and hyphens (--id).", code="id"
        )
    if pack.id in RESERVED:
        raise UserError(f"The name {pack.id} is the program's own. Give another one (--id).", code="id")
    held = store.pack(pack.id)
    if pack.replaces:
        _check_replaced(store, pack)
    if held is None:
        return pack
    same = held.files == pack.files
    if not same and held.kind in editions.GUIDELINES and held.state != "draft":
        raise UserError(
            f"{held.title} ({pack.id}) is {held.state} and has other content. Cases may cite it, so it is not "
            f"overwritten. Import the new edition under a name of its own: --edition EDITION --replaces {pack.id}.",
            code="in use",
        )
    if not same or held.state == "quarantined":
        return pack
    return msgspec.structs.replace(
        pack,
        state=held.state,
        approved_by=held.approved_by,
        approved_at=held.approved_at,
        replaces=pack.replaces or held.replaces,
    )


def _check_replaced(store: KnowledgeStore, pack: Pack) -> None:
    if pack.replaces == pack.id:
        text = f"{pack.id} cannot replace itself. Name the new edition: --edition EDITION, or --id NAME."
        raise UserError(text, code="replaces")
    if store.pack(pack.replaces) is None:
        raise lifecycle.no_such(pack.replaces)


def differences(store: KnowledgeStore, pack: Pack) -> tuple[editions.SectionChange, ...]:
    """What a pack says otherwise than the one that it replaces; nothing where it replaces none.

    Raises:
        StoreError: one of the two is damaged.
    """
    if not pack.replaces or store.pack(pack.replaces) is None:
        return ()
    old, new = (editions.parts(doc for _, doc in store.documents(name)) for name in (pack.replaces, pack.id))
    return editions.compare(old, new)
