"""Work on model packs beside the window's thread: list, look at a source, bring it in, verify, remove.

Each function returns a job `(progress, stop) -> value`; progress is in thousandths, for bytes do not fit Qt's numbers.
The heavier modules are imported inside. Knows no Qt; `wardround models` shares its rules.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from core import codec, paths
from core.domain.pack import PackManifest, PackState
from core.errors import UserError, WardroundError
from core.settings import Settings
from desktop.i18n import tr

if TYPE_CHECKING:
    from core.store.consent import Consents
    from core.store.journal import RunRow
    from desktop.state.workbench import Stores, Workbench
    from models.importing import PackSource, Receipt
    from models.sealing import Inspected, SealChoice

T = TypeVar("T")
Progress = Callable[[int, int, str], None]
Job = Callable[[Progress, threading.Event], T]
STEPS = 1_000
UNFINISHED = ("queued", "running", "waiting", "stopped")
MODEL_SUFFIXES = (".gguf", ".onnx")


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be brought in: a pack (`manifest`) or model files that must be described first (`found`).

    `lacking`: what a person must say of the files. `needs_consent`: its terms are yet to be accepted; `terms` is how
    they are shown, `shown` the hash of what is then recorded.
    """

    paths: tuple[Path, ...]
    manifest: PackManifest | None = None
    choice: SealChoice | None = None
    found: Inspected | None = None
    lacking: tuple[str, ...] = ()
    needs_consent: bool = False
    terms: str = ""
    shown: str = ""


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """A pack that is installed now; `copied` bytes, 0 where it was there already."""

    pack: str
    version: str
    copied: int
    unlisted: bool


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A pack after a look at every byte; `detail` is empty when all is well."""

    pack: str
    detail: str = ""


# --------------------------------------------------------------------------------------------------------- the rules


def used_packs(settings: Settings) -> frozenset[str]:
    """The packs that a profile's settings name."""
    named = msgspec.to_builtins(settings.models).values()
    return frozenset(value for value in named if isinstance(value, str) and value)


def refuse_used(pack: str, settings: Settings, runs: Sequence[RunRow]) -> None:
    """The model of this profile, or of a run that has begun with it and is not finished, stays (UserError)."""
    if pack in used_packs(settings):
        text = tr("{id} is in use: the settings of this profile name it. Choose another one there first.", id=pack)
        raise UserError(text, code="pack_used")
    waiting = [row.id for row in runs if row.backbone == pack and row.status in UNFINISHED]
    if waiting:
        raise UserError(tr("{id} is in use: run {run} is not finished.", id=pack, run=waiting[0]), code="pack_used")


def consent_text(manifest: PackManifest, text: bytes) -> str:
    """What is recorded as accepted: the licence's name and its text."""
    return f"{manifest.licence.spdx}\n{text.decode('utf-8', 'replace')}"


def readable(text: bytes, name: str) -> str:
    """A licence's text as a person reads it."""
    if Path(name).suffix.lower() not in (".html", ".htm"):
        return text.decode("utf-8", "replace")
    from core.readers.html import read

    return read(text, limit_bytes=len(text)).text


# -------------------------------------------------------------------------------------------------------------- jobs


def _with_stores(bench: Workbench, work: Callable[[Stores], T]) -> T:
    stores = bench.open_stores()
    with closing(stores.database):
        return work(stores)


def _bytes(progress: Progress, words: str) -> Callable[[int, int], None]:
    """Bytes done as thousandths, each told once."""
    last = -1

    def told(done: int, total: int) -> None:
        nonlocal last
        step = min(STEPS, done * STEPS // max(total, 1))
        if step != last:
            last = step
            progress(step, STEPS, words)

    return told


def list_packs(bench: Workbench) -> Job[tuple[PackState, ...]]:
    """Every installed pack with its state, and the packs that the settings name and that are not there."""

    def read(stores: Stores) -> tuple[PackState, ...]:
        from models.listing import shown_packs

        book, used = bench.pack_book(stores.packs), used_packs(bench.settings)
        found = shown_packs(paths.packs_folder(), book, book, used=used)
        return (*found, *absent_packs(bench.settings, found))

    return lambda progress, stop: _with_stores(bench, read)


def absent_packs(settings: Settings, found: Sequence[PackState]) -> tuple[PackState, ...]:
    """The models that the settings name and that are not installed."""
    there = {pack.id for pack in found}
    named = {"text": settings.models.backbone, "embed": settings.models.embedder}
    text = tr("The settings name this pack and it is not installed.")
    return tuple(
        PackState(id=pack, version="", role=role, state="missing", size=0, licence="", detail=text, used=True)
        for role, pack in named.items()
        if pack and pack not in there
    )


def verify_pack(bench: Workbench, pack: PackState) -> Job[Verified]:
    """Read every byte of a pack; a difference puts it into quarantine."""

    def work(progress: Progress, stop: threading.Event) -> Verified:
        from models.packs import InstalledPack, open_verified, read_manifest

        def check(stores: Stores) -> str:
            folder = paths.packs_folder() / pack.id / pack.version
            told = _bytes(progress, pack.id)
            try:
                installed = InstalledPack(manifest=read_manifest(folder), folder=folder)
                with open_verified(installed, ledger=bench.pack_book(stores.packs), on_bytes=told, stop=stop):
                    return ""
            except WardroundError as error:
                if stop.is_set():
                    raise
                return error.text

        return Verified(pack=pack.id, detail=_with_stores(bench, check))

    return work


def look_at(bench: Workbench, places: Sequence[Path]) -> Job[Offer]:
    """What a person brings: a pack in a folder or ZIP, or model files. Model files are hashed, which takes time.

    Raises:
        UserError: neither of them, damaged, a web page.
        Cancelled: `stop` was set.
    """

    def work(progress: Progress, stop: threading.Event) -> Offer:
        if _are_model_files(places):
            return _files_offer(tuple(places), progress, stop)
        if len(places) != 1:
            raise UserError(tr("Add one pack at a time: a folder or a ZIP, or the files of one model."), code="seal")
        from models.importing import open_source
        from models.packs import parse_manifest

        with open_source(places[0]) as source:
            manifest = parse_manifest(source.manifest, str(places[0]))
            return _with_terms(bench, source, Offer(paths=tuple(places), manifest=manifest))

    return work


def _are_model_files(places: Sequence[Path]) -> bool:
    return all(place.is_file() and place.suffix.lower() in MODEL_SUFFIXES for place in places)


def _files_offer(places: tuple[Path, ...], progress: Progress, stop: threading.Event) -> Offer:
    from models.sealing import SealChoice, completed, inspect, lacking

    found = inspect(places, on_bytes=_bytes(progress, tr("hashing")), stop=stop)
    choice = completed(SealChoice(), found)
    return Offer(paths=places, choice=choice, found=found, lacking=lacking(choice))


def _with_terms(bench: Workbench, source: PackSource, offer: Offer) -> Offer:
    """The offer with its terms as a person reads them, and whether this person must still accept them."""
    manifest = offer.manifest
    if manifest is None or not manifest.licence.accept:
        return offer
    text = _licence_bytes(source, manifest)
    recorded = consent_text(manifest, text)
    given = _with_stores(bench, lambda stores: stores.consents.given(bench.actor, recorded))
    terms = readable(text, manifest.licence.file)
    return msgspec.structs.replace(offer, terms=terms, needs_consent=not given, shown=codec.digest(recorded))


def _licence_bytes(source: PackSource, manifest: PackManifest) -> bytes:
    from models.importing import MOST_LICENCE

    if manifest.licence.file not in source.names():
        return b""
    with source.open(manifest.licence.file) as stream:
        return stream.read(MOST_LICENCE)


def describe(bench: Workbench, offer: Offer, choice: SealChoice) -> Job[Offer]:
    """Model files with what the person said of them: the manifest they get, and the terms to accept.

    Raises:
        UserError: something lacks, or there is no such prompt template.
    """

    def work(progress: Progress, stop: threading.Event) -> Offer:
        from models.packs import parse_manifest
        from models.sealing import seal

        assert offer.found is not None  # noqa: S101 - only files are described
        source = seal(choice, offer.found)
        manifest = parse_manifest(source.manifest, choice.id)
        return _with_terms(bench, source, msgspec.structs.replace(offer, choice=choice, manifest=manifest))

    return work


def bring(bench: Workbench, offer: Offer) -> Job[Brought]:
    """Copy a pack whose terms, if it has any, were accepted on the screen; the acceptance is recorded.

    Raises:
        UserError: too little space, a damaged or missing file (both hashes named).
        SecurityError: a name that leaves the pack's folder.
        Cancelled: `stop` was set; what was copied is kept, and the next import goes on from there.
    """

    def work(progress: Progress, stop: threading.Event) -> Brought:
        from models.importing import import_pack

        def keep(stores: Stores, source: PackSource) -> Receipt:
            return import_pack(
                source,
                paths.packs_folder(),
                ledger=bench.pack_book(stores.packs),
                accept=_Recorded(stores.consents, bench.actor, shown=offer.shown),
                on_bytes=_bytes(progress, tr("copying and checking")),
                stop=stop,
            )

        receipt = _with_stores(bench, lambda stores: _from_source(offer, lambda source: keep(stores, source)))
        manifest = receipt.pack.manifest
        return Brought(pack=manifest.id, version=manifest.version, copied=receipt.copied, unlisted=manifest.unlisted)

    return work


def _from_source(offer: Offer, act: Callable[[PackSource], T]) -> T:
    if offer.found is not None and offer.choice is not None:
        from models.sealing import seal

        return act(seal(offer.choice, offer.found))
    from models.importing import open_source

    with open_source(offer.paths[0]) as source:
        return act(source)


class _Recorded:
    """The licence gate of the window: these very terms were accepted on the screen just now, or before."""

    def __init__(self, consents: Consents, actor: str, *, shown: str) -> None:
        self._consents, self._actor, self._shown = consents, actor, shown

    def __call__(self, manifest: PackManifest, text: bytes) -> bool:
        terms = consent_text(manifest, text)
        if self._consents.given(self._actor, terms):
            return True
        if codec.digest(terms) != self._shown:
            return False
        self._consents.give(self._actor, terms)
        return True


def remove(bench: Workbench, pack: str) -> Job[int]:
    """Take a pack away; gives the bytes that are free again.

    Raises:
        UserError: it is in use.
    """

    def work(stores: Stores) -> int:
        from models.listing import remove_pack

        refuse_used(pack, bench.settings, stores.journal.runs())
        return remove_pack(paths.packs_folder(), pack, bench.pack_book(stores.packs))

    return lambda progress, stop: _with_stores(bench, work)


# ------------------------------------------------------------------------------------------------ describing files


def templates() -> tuple[str, ...]:
    """The prompt templates that this program has."""
    from models.llama.templates import TEMPLATES

    return tuple(sorted(TEMPLATES))


def sealed_choice(offer: Offer, *, role: str, words: Mapping[str, str], lengths: tuple[int, ...]) -> SealChoice:
    """The offer's choice with what a person said: texts by field, for an embedder (numbers, longest text)."""
    from core.domain.pack import EmbedSpec

    assert offer.choice is not None  # noqa: S101 - only files are described
    dim, longest = lengths
    embed = EmbedSpec(dim=dim, max_tokens=longest) if role == "embed" and dim and longest else offer.choice.embed
    return msgspec.structs.replace(offer.choice, role=role, embed=embed, **words)
