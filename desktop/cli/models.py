"""The commands about model packs: what is installed and fits, bringing packs in, checking them, taking them away."""

from __future__ import annotations

import argparse
import sys
import threading
from typing import TYPE_CHECKING

import msgspec

from core import paths
from core.domain.pack import EmbedSpec, PackManifest, PackState
from core.errors import EXIT_ACT, EXIT_DONE, Cancelled, UserError, WardroundError
from desktop.assembly import Ledger
from desktop.cli.session import Session, opened, stoppable
from desktop.cli.terminal import columns
from desktop.i18n import tr
from desktop.state.pack_jobs import consent_text, readable, refuse_used, used_packs

if TYPE_CHECKING:
    from models.importing import PackSource
    from models.sealing import SealChoice

MB, GIB = 1_000_000, 1 << 30
NOT_REMEMBERED = "There is no profile yet, so this is not remembered; the files are checked again at every load."
KEPT = "Stopped. What was copied is kept: the same command goes on from there."


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`models verify --json`: one pack after a look at every byte. `detail` is empty when all is well."""

    pack: str
    version: str
    contents_sha256: str
    detail: str = ""


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """`models add --json`, `models seal --json`: the pack, and how many bytes were written for it."""

    pack: str
    version: str
    contents_sha256: str
    copied: int
    unlisted: bool
    signature: str
    folder: str


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """`models remove --json`: the pack, and the bytes that are free again."""

    pack: str
    freed: int


def handle_models(chosen: argparse.Namespace) -> int:
    """`models list`, `verify`, `add`, `seal`, `remove`."""
    act = {"list": _list, "verify": _verify, "add": _add, "seal": _seal, "remove": _remove}[chosen.action]
    writes = chosen.action in ("add", "seal", "remove")
    with opened(chosen, writes=writes, alone=chosen.action == "remove") as session:
        return act(session, chosen)


def _ledger(session: Session) -> Ledger:
    return Ledger(session.stores.packs, session.bench.actor)


# ------------------------------------------------------------------------------------------------------------- list


def _packs(session: Session) -> tuple[PackState, ...]:
    from models.listing import shown_packs

    ledger = _ledger(session)
    return shown_packs(paths.packs_folder(), ledger, ledger, used=used_packs(session.bench.settings))


def _list(session: Session, _chosen: argparse.Namespace) -> int:
    packs = _packs(session)
    if session.terminal.json:
        session.terminal.value(packs)
        return EXIT_DONE
    if not packs:
        session.terminal.say(tr("No model pack is installed in {folder}.", folder=paths.packs_folder()))
    for line in columns([_line(pack) for pack in packs]):
        session.terminal.say(line)
    return EXIT_DONE


def _line(pack: PackState) -> tuple[str, ...]:
    notes = [pack.detail, tr("unlisted model") if pack.unlisted else "", tr("in use") if pack.used else ""]
    size = f"{pack.size / MB:.0f} MB"
    return pack.id, pack.version, pack.role, pack.state, size, pack.licence, _fit(pack), "; ".join(filter(None, notes))


def _fit(pack: PackState) -> str:
    plan = pack.plan
    if plan is None:
        return "-"
    if not plan.fits:
        return tr("does not fit: {n:.1f} of {k:.1f} GiB", n=plan.total / GIB, k=plan.free / GIB)
    how = tr("measured") if plan.measured else tr("estimated")
    return tr("fits: {n:.1f} GiB, {s:.0f} tokens/s {how}", n=plan.total / GIB, s=plan.expected_tok_s, how=how)


# ----------------------------------------------------------------------------------------------------------- verify


def _verify(session: Session, chosen: argparse.Namespace) -> int:
    wanted = [pack for pack in _packs(session) if chosen.pack in ("", pack.id)]
    if not wanted:
        named = chosen.pack or tr("(any)")
        raise UserError(tr("The model pack {id} is not installed.", id=named), code="pack_missing")
    with stoppable() as stop:
        results = tuple(_check(session, pack, stop) for pack in wanted)
    if session.terminal.json:
        session.terminal.value(results)
    for result in results:
        session.terminal.say(f"{result.pack} {result.version}: {result.detail or tr('intact')}")
    damaged = any(result.detail for result in results)
    if damaged and session.place != session.profile:
        session.terminal.remark(tr(NOT_REMEMBERED))
    return EXIT_ACT if damaged else EXIT_DONE


def _check(session: Session, pack: PackState, stop: threading.Event) -> Checked:
    """Every byte of one pack, with a progress bar."""
    from models.packs import InstalledPack, open_verified, read_manifest

    def progress(done: int, total: int) -> None:
        session.terminal.progress(done, total, tr("checking {pack}", pack=pack.id))

    folder = paths.packs_folder() / pack.id / pack.version
    try:
        installed = InstalledPack(manifest=read_manifest(folder), folder=folder)
        with open_verified(installed, ledger=_ledger(session), on_bytes=progress, stop=stop):
            detail = ""
    except WardroundError as error:
        detail = error.text
    return Checked(pack=pack.id, version=pack.version, contents_sha256=pack.contents_sha256, detail=detail)


# ---------------------------------------------------------------------------------------------------- add and seal


def _add(session: Session, chosen: argparse.Namespace) -> int:
    from models.importing import open_source

    with stoppable() as stop, open_source(chosen.path) as source:
        return _bring(session, source, chosen, stop)


def _seal(session: Session, chosen: argparse.Namespace) -> int:
    from models.sealing import completed, inspect, lacking, seal

    def progress(done: int, total: int) -> None:
        session.terminal.progress(done, total, tr("hashing"))

    with stoppable() as stop:
        found = inspect(tuple(chosen.files), on_bytes=progress, stop=stop)
        choice = completed(_choice(chosen), found)
        if names := _askable(lacking(choice)):
            answers = {name: _ask(name) for name in names}
            choice = msgspec.structs.replace(choice, **answers)
        return _bring(session, seal(choice, found), chosen, stop)


def _choice(chosen: argparse.Namespace) -> SealChoice:
    from models.sealing import SealChoice

    embed = None
    if chosen.dim and chosen.max_tokens:
        embed = EmbedSpec(
            dim=chosen.dim, max_tokens=chosen.max_tokens, inputs=tuple(chosen.inputs.split(",")), output=chosen.output
        )
    return SealChoice(
        id=chosen.id,
        version=chosen.version_of_pack,
        role=chosen.role,
        family=chosen.family,
        template=chosen.template,
        quant=chosen.quant,
        params_b=chosen.params_b,
        licence=chosen.licence,
        licence_file=chosen.licence_file,
        uses=chosen.uses,
        embed=embed,
    )


def _askable(names: tuple[str, ...]) -> tuple[str, ...]:
    """What a person at a terminal can be asked in words; without one the options must say it."""
    words = tuple(name for name in names if name in ("role", "family", "template", "licence"))
    return words if words == names and sys.stdin.isatty() else ()


def _ask(name: str) -> str:
    hints = {
        "role": "text, vision, embed, segment",
        "family": "smollm2, gemma3, qwen3, llama3 …",
        "template": "chatml, gemma, llama3, plain, qwen3",
        "licence": "SPDX name, e.g. Apache-2.0",
    }
    return input(f"{name} ({hints[name]}): ").strip()


def _bring(session: Session, source: PackSource, chosen: argparse.Namespace, stop: threading.Event) -> int:
    """Import a pack from a source and say what came of it."""
    from models.importing import import_pack

    def progress(done: int, total: int) -> None:
        session.terminal.progress(done, total, tr("copying and checking"))

    try:
        receipt = import_pack(
            source,
            paths.packs_folder(),
            ledger=_ledger(session),
            accept=_Licence(session, accepted=chosen.accept_licence),
            on_bytes=progress,
            stop=stop,
        )
    except Cancelled:
        session.terminal.remark(tr(KEPT))
        return EXIT_ACT
    manifest = receipt.pack.manifest
    if session.terminal.json:
        session.terminal.value(
            Added(
                pack=manifest.id,
                version=manifest.version,
                contents_sha256=receipt.pack.contents_sha256,
                copied=receipt.copied,
                unlisted=manifest.unlisted,
                signature=receipt.signature,
                folder=str(receipt.pack.folder),
            )
        )
    name = f"{manifest.id} {manifest.version}"
    done = tr("{name} is installed: {n:.0f} MB copied, every hash agrees.", name=name, n=receipt.copied / MB)
    session.terminal.say(done if receipt.copied else tr("{name} was installed already, intact.", name=name))
    if manifest.unlisted:
        session.terminal.say(tr("It is in no list of known models: every result made with it says “unlisted model”."))
    return EXIT_DONE


class _Licence:
    """The gate: the terms are shown, and accepted by an option, by an earlier yes, or at the terminal."""

    def __init__(self, session: Session, *, accepted: bool) -> None:
        self._session, self._accepted = session, accepted

    def __call__(self, manifest: PackManifest, text: bytes) -> bool:
        consents, actor = self._session.stores.consents, self._session.bench.actor
        terms = consent_text(manifest, text)
        if consents.given(actor, terms):
            return True
        self._show(manifest, text)
        if not self._accepted and not self._asked():
            return False
        consents.give(actor, terms)
        return True

    def _show(self, manifest: PackManifest, text: bytes) -> None:
        licence, terminal = manifest.licence, self._session.terminal
        if text:
            terminal.remark(readable(text, licence.file))
        else:
            terminal.remark(tr("The terms are not among the files: read those that came with the model."))
        terminal.remark(tr("These are the terms of {id}: {spdx}.", id=manifest.id, spdx=licence.spdx))

    def _asked(self) -> bool:
        return sys.stdin.isatty() and input(tr("Do you accept them? (yes/no) ")).strip().lower() in ("y", "yes")


# ----------------------------------------------------------------------------------------------------------- remove


def _remove(session: Session, chosen: argparse.Namespace) -> int:
    from models.listing import remove_pack

    wanted = [pack for pack in _packs(session) if pack.id == chosen.pack]
    if not wanted:
        raise UserError(tr("The model pack {id} is not installed.", id=chosen.pack), code="pack_missing")
    refuse_used(chosen.pack, session.bench.settings, session.stores.journal.runs())
    size = sum(pack.size for pack in wanted)
    question = tr("Remove {id} ({n:.0f} MB)? (yes/no) ", id=chosen.pack, n=size / MB)
    if not chosen.yes and not sys.stdin.isatty():
        raise UserError(tr("Nothing was removed. Add --yes to remove {id}.", id=chosen.pack), code="not asked")
    if not chosen.yes and input(question).strip().lower() not in ("y", "yes"):
        session.terminal.say(tr("Nothing was removed."))
        return EXIT_ACT
    freed = remove_pack(paths.packs_folder(), chosen.pack, _ledger(session))
    if session.terminal.json:
        session.terminal.value(Removed(pack=chosen.pack, freed=freed))
    session.terminal.say(tr("{id} is removed: {n:.0f} MB are free again.", id=chosen.pack, n=freed / MB))
    return EXIT_DONE


COMMANDS = {"models": handle_models}
