"""The commands about this machine: model packs, and how fast it is."""

from __future__ import annotations

import argparse

import msgspec

from core import paths
from core.domain.pack import PackState
from core.errors import EXIT_ACT, EXIT_DONE, UserError
from desktop.assembly import Ledger
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns
from desktop.i18n import tr

MB = 1_000_000


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`models verify --json`: one pack after a look at every byte. `detail` is empty when all is well."""

    pack: str
    version: str
    contents_sha256: str
    detail: str = ""


def show_models(chosen: argparse.Namespace) -> int:
    """`models list`, `models verify`."""
    with opened(chosen, writes=False) as session:
        return {"list": _list, "verify": _verify}[chosen.action](session, chosen)


def _packs(session: Session) -> tuple[PackState, ...]:
    from models.packs import list_packs

    return list_packs(paths.packs_folder(), Ledger(session.stores.packs, session.bench.actor))


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
    return pack.id, pack.version, pack.role, pack.state, f"{pack.size / MB:.0f} MB", pack.licence, pack.detail


def _verify(session: Session, chosen: argparse.Namespace) -> int:
    wanted = [pack for pack in _packs(session) if chosen.pack in ("", pack.id)]
    if not wanted:
        named = chosen.pack or tr("(any)")
        raise UserError(tr("The model pack {id} is not installed.", id=named), code="pack_missing")
    results = tuple(_check(session, pack) for pack in wanted)
    if session.terminal.json:
        session.terminal.value(results)
    for result in results:
        session.terminal.say(f"{result.pack} {result.version}: {result.detail or tr('intact')}")
    return EXIT_ACT if any(result.detail for result in results) else EXIT_DONE


def _check(session: Session, pack: PackState) -> Checked:
    """Every byte of one pack, with a progress bar."""
    from models.packs import find_pack, open_verified

    def progress(done: int, total: int) -> None:
        session.terminal.progress(done, total, tr("checking {pack}", pack=pack.id))

    ledger = Ledger(session.stores.packs, session.bench.actor)
    try:
        with open_verified(find_pack(paths.packs_folder(), pack.id), ledger=ledger, on_bytes=progress):
            detail = ""
    except UserError as error:
        detail = error.text
    return Checked(pack=pack.id, version=pack.version, contents_sha256=pack.contents_sha256, detail=detail)


COMMANDS = {"models": show_models}
