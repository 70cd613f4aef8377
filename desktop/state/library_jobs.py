"""Work on the knowledge beside the window's thread: import, approve, retire, verify, what a pack went through.

Each function returns a job `(progress, stop) -> value` that opens store and index for itself. Knows no Qt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from core import paths
from core.errors import Cancelled, StoreError, UserError
from desktop.i18n import tr

if TYPE_CHECKING:
    from core.retrieval.editions import SectionChange
    from core.retrieval.importing import ImportReport
    from core.retrieval.importing import Progress as Records
    from core.retrieval.index import PassageIndex
    from core.store.knowledge import KnowledgeStore
    from desktop.state.workbench import Workbench

T = TypeVar("T")
Progress = Callable[[int, int, str], None]
Job = Callable[[Progress, threading.Event], T]
STEPS = 1_000
PACK_FILE = ".wrpack"
LICENCES = ("public-domain", "CC0", "CC-BY", "CC-BY-SA", "CC-BY-NC", "site-licensed", "own", "unknown")


FORMS = (
    "document", "medlineplus", "medquad", "pubmed", "icd10cm", "mesh", "obo", "openfda", "medrag", "table",
)  # fmt: skip
UNKNOWN = "The form of these files is not known: choose it under “Form”."


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of the files; empty = as the files say. `replaces`: id of the edition that it replaces."""

    form: str = ""
    title: str = ""
    edition: str = ""
    publisher: str = ""
    licence: str = ""
    licence_text: str = ""
    issued_on: str = ""
    replaces: str = ""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did. `skipped`: a line for each record that was left out."""

    pack: str
    importer: str
    state: str
    docs: int
    passages: int
    concepts: int
    writes: int
    skipped: tuple[str, ...]


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A pack after every hash was recomputed: a sentence for each difference."""

    pack: str
    faults: tuple[str, ...]


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to a pack, oldest first, in lines; and its difference from the edition that it replaces."""

    pack: str
    acts: tuple[str, ...]
    replaces: str = ""
    changes: tuple[SectionChange, ...] = ()


def _with_store(bench: Workbench, work: Callable[[KnowledgeStore, PassageIndex], T]) -> T:
    from core.retrieval import catalogue

    store, index, _, _ = catalogue.open_knowledge(bench.profile, paths.cache_folder(), bench.actor)
    try:
        return work(store, index)
    finally:
        store.close()


def add(bench: Workbench, places: Sequence[Path], told: Told) -> Job[Imported]:
    """Import files as one pack; its form is found by content. Documents are opened in the decode child.

    Raises:
        UserError: no form that is known, no licence, too many records broken; nothing is changed then.
        Cancelled: `stop` was set; nothing is changed.
    """

    def work(progress: Progress, stop: threading.Event) -> Imported:
        def moved(done: Records) -> None:
            share = done.bytes_done * STEPS // max(done.bytes_total, 1)
            progress(share, STEPS, tr("{n} records read", n=done.records))

        bring = _bring_pack if is_pack_file(places) else _bring_files

        def brought(store: KnowledgeStore, index: PassageIndex) -> Imported:
            with _words_of_the_window():
                return _imported(bring(bench, store, index, tuple(places), told, moved, stop))

        return _with_store(bench, brought)

    return work


def is_pack_file(places: Sequence[Path]) -> bool:
    """One file that another Wardround exported; nothing needs to be said of it."""
    return len(places) == 1 and places[0].name.lower().endswith(PACK_FILE)


def _bring_pack(
    bench: Workbench,
    store: KnowledgeStore,
    index: PassageIndex,
    places: tuple[Path, ...],
    told: Told,
    moved: Callable[[Records], None],
    stop: threading.Event,
) -> ImportReport:
    from core.retrieval.packfile_reader import import_pack

    return import_pack(store, index, places[0], actor=bench.actor, replaces=told.replaces, on_progress=moved, stop=stop)


def _bring_files(
    bench: Workbench,
    store: KnowledgeStore,
    index: PassageIndex,
    places: tuple[Path, ...],
    told: Told,
    moved: Callable[[Records], None],
    stop: threading.Event,
) -> ImportReport:
    from core.retrieval.importing import import_knowledge
    from core.retrieval.sources.material import Options
    from core.runtime.foreign import Decoder

    options = msgspec.structs.asdict(told)
    form = options.pop("form")
    with Decoder(bench.settings, stop) as decoder:
        return import_knowledge(
            store,
            index,
            places,
            Options(**options),
            actor=bench.actor,
            importer=form,
            read_document=decoder.study,
            on_progress=moved,
            stop=stop,
        )


def _imported(report: ImportReport) -> Imported:
    return Imported(
        pack=report.pack,
        importer=report.importer,
        state=report.state,
        docs=report.docs,
        passages=report.chunks,
        concepts=report.concepts,
        writes=report.put.writes,
        skipped=tuple(f"{record.where}: {record.why}" for record in report.skipped),
    )


@contextmanager
def _words_of_the_window() -> Iterator[None]:
    """A sentence that names options of a command says instead what to do on the page."""
    try:
        yield
    except UserError as error:
        said = {
            "form": tr(UNKNOWN),
            "forms": error.text.replace("(--as)", tr("under “Form”")),
            "licence": error.text.replace("(--licence)", tr("under “Licence”")),
        }
        if error.code not in said:
            raise
        raise UserError(said[error.code], code=error.code) from error


def approve(bench: Workbench, pack: str) -> Job[str]:
    """Put a pack into use, as this person; the edition that it replaces is superseded. Gives the pack's id.

    Raises:
        UserError: it cannot be approved as it is.
    """

    def work(store: KnowledgeStore, index: PassageIndex) -> str:
        store.lifecycle.approve(pack, actor=bench.actor)
        return pack

    return lambda progress, stop: _with_store(bench, work)


def retire(bench: Workbench, pack: str, reason: str) -> Job[str]:
    """Take a pack out of use. Gives the pack's id.

    Raises:
        UserError: no reason, or it is withdrawn already.
    """

    def work(store: KnowledgeStore, index: PassageIndex) -> str:
        store.lifecycle.retire(pack, actor=bench.actor, reason=reason)
        return pack

    return lambda progress, stop: _with_store(bench, work)


def verify(bench: Workbench, pack_id: str) -> Job[Checked]:
    """Recompute every hash of a pack; a difference puts it into quarantine.

    Raises:
        Cancelled: `stop` was set.
    """

    def work(progress: Progress, stop: threading.Event) -> Checked:
        def check(store: KnowledgeStore, index: PassageIndex) -> Checked:
            pack = store.pack(pack_id)
            if pack is None:
                return Checked(pack=pack_id, faults=(tr("It is no longer there."),))
            total = _size(store, pack_id)
            faults = tuple(fault.text for fault in store.faults(pack, on_record=_Counter(total, progress, stop)))
            if faults:
                store.lifecycle.quarantine(pack_id, actor=bench.actor, reason=faults[0])
            return Checked(pack=pack_id, faults=faults)

        return _with_store(bench, check)

    return work


def _size(store: KnowledgeStore, pack_id: str) -> int:
    docs = next((count.docs for count in store.counts() if count.pack == pack_id), 0)
    return docs + store.vocabulary.counts().get(pack_id, 0)


class _Counter:
    """Hears of each record; ends the work when asked to."""

    def __init__(self, total: int, progress: Progress, stop: threading.Event) -> None:
        self._done, self._total, self._progress, self._stop = 0, max(total, 1), progress, stop

    def __call__(self) -> None:
        if self._stop.is_set():
            raise Cancelled("verify")
        self._done += 1
        if self._done % 100 == 0 or self._done == self._total:
            self._progress(min(self._done, self._total), self._total, tr("{n} records checked", n=self._done))


def make_vectors(bench: Workbench) -> Job[int]:
    """Give every passage in use its vector, in a child process; gives how many were made. None without an embedder.

    Raises:
        UserError, ModelError: the embedder is damaged or stopped. StoreError: the disk refuses.
        Cancelled: `stop` was set; what was made is kept.
    """

    def work(progress: Progress, stop: threading.Event) -> int:
        from desktop.embedding import ChildEmbedder
        from desktop.vectors import KnowledgeVectors, named_embedder

        if named_embedder(bench.settings) is None:
            return 0
        calm = partial(ChildEmbedder, bench.settings, calm=True)
        vectors = KnowledgeVectors(bench.profile, bench.settings, open_embedder=calm)

        def told(done: int, total: int) -> None:
            progress(done, total, tr("{n} of {m} passages", n=f"{done:,}", m=f"{total:,}"))

        def make(store: KnowledgeStore, index: PassageIndex) -> int:
            try:
                return vectors.make(store, index, on_texts=told, stop=stop)
            except StoreError as error:
                if error.code != "second process":
                    raise
                return 0  # another program makes them
            finally:
                vectors.close()

        return _with_store(bench, make)

    return work


def export(bench: Workbench, pack_id: str, target: Path, *, within_site: bool) -> Job[Path]:
    """Write a pack into a file that another Wardround reads; `within_site`: a person said that it stays here.

    Raises:
        UserError: damaged, or its licence does not let it leave the site, or the file cannot be written.
    """

    def work(progress: Progress, stop: threading.Event) -> Path:
        from core.retrieval.packfile import export_pack

        def write(store: KnowledgeStore, index: PassageIndex) -> Path:
            def told(done: int, total: int) -> None:
                if stop.is_set():
                    raise Cancelled("export")
                progress(done, total, target.name)

            try:
                export_pack(store, pack_id, target, actor=bench.actor, within_site=within_site, on_progress=told)
            except OSError as error:
                raise UserError(tr("The file could not be written: {why}.", why=error.strerror), code="disk") from error
            return target

        return _with_store(bench, write)

    return work


def history(bench: Workbench, pack_id: str) -> Job[History]:
    """What happened to a pack, and what it says otherwise than the edition that it replaces."""

    def work(store: KnowledgeStore, index: PassageIndex) -> History:
        from core.retrieval import editions

        pack = store.pack(pack_id)
        acts = tuple(_act(row) for row in store.lifecycle.changes(pack_id))
        if pack is None or not pack.replaces or store.pack(pack.replaces) is None:
            return History(pack=pack_id, acts=acts)
        old, new = (editions.parts(doc for _, doc in store.documents(name)) for name in (pack.replaces, pack_id))
        return History(pack=pack_id, acts=acts, replaces=pack.replaces, changes=editions.compare(old, new))

    return lambda progress, stop: _with_store(bench, work)


def _act(row: object) -> str:
    """One change as a line: when, who, what, and why."""
    fields = msgspec.to_builtins(row)
    states = " → ".join(state for state in (fields["from_state"], fields["to_state"]) if state)
    line = f"{fields['at'][:16].replace('T', ' ')}  {fields['user']}  {fields['what']}  {states}"
    return f"{line}: {fields['reason']}" if fields["reason"] else line
