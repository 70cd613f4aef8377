"""`wardround doctor`: what is installed, what works, what is missing; each line one check with its outcome.

It looks, and changes nothing. A missing part that the person can add gives exit code 1 and says how.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import msgspec

from core import paths
from core.errors import EXIT_ACT, EXIT_DONE, SecurityError, WardroundError
from desktop import assembly, offline
from desktop.assembly import Ledger
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns, counted
from desktop.i18n import tr

State = Literal["ok", "optional", "missing", "fault"]  # optional: works without, less well
LIBRARIES = ("PySide6-Essentials", "llama-cpp-python", "numpy", "pillow", "pydicom") + (
    "msgspec",
    "sqlite-utils",
    "tantivy",
    "platformdirs",
)
GIB = 1 << 30


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at."""

    name: str
    state: State
    text: str


def examine(chosen: argparse.Namespace) -> int:
    """All checks; exit code 1 when one is not in order."""
    with opened(chosen, writes=False) as session:
        checks = tuple(check for group in GROUPS for check in group(session))
        if session.terminal.json:
            session.terminal.value(checks)
        for line in columns([(check.state, check.name, check.text) for check in checks]):
            session.terminal.say(line)
    return EXIT_DONE if all(check.state in ("ok", "optional") for check in checks) else EXIT_ACT


def _libraries(_session: Session) -> Iterator[Check]:
    yield Check(name="python", state="ok", text=f"{platform.python_version()} on {platform.platform()}")
    for name in LIBRARIES:
        try:
            yield Check(name=name, state="ok", text=version(name))
        except PackageNotFoundError:
            yield Check(name=name, state="missing", text=tr("run: python3 packaging/bootstrap.py setup"))


def _processor(_session: Session) -> Iterator[Check]:
    from models import device

    found = device.probe_device()
    text = tr("{name}, {n} cores, {k} used", name=found.name, n=found.cores, k=found.threads)
    no_avx2 = tr("{name}: lacks AVX2, which the model engine needs; runs work without a model", name=found.name)
    yield Check(name="processor", state="ok" if found.avx2 else "missing", text=text if found.avx2 else no_avx2)
    memory = tr("{free:.1f} of {total:.1f} GiB free", free=found.ram_free / GIB, total=found.ram_total / GIB)
    yield Check(name="memory", state="ok", text=memory)


def _folders(session: Session) -> Iterator[Check]:
    new = "" if session.place == session.profile else tr(" (not there yet; the first import or demo makes it)")
    yield Check(name="profile", state="ok", text=f"{session.profile}{new}")
    yield Check(name="packs", state="ok", text=str(paths.packs_folder()))
    yield Check(name="logs", state="ok", text=str(paths.log_folder()))


def _packs(session: Session) -> Iterator[Check]:
    from models.packs import list_packs

    packs = list_packs(paths.packs_folder(), Ledger(session.stores.packs, session.bench.actor))
    for pack in packs:
        text = tr("sha256 {sha}", sha=pack.contents_sha256) if pack.state == "ready" else pack.detail
        yield Check(name=f"model {pack.id}", state="ok" if pack.state == "ready" else "fault", text=text)
    wanted = session.bench.settings.models.backbone
    if wanted and wanted not in {pack.id for pack in packs}:
        how = tr("run: python3 packaging/bootstrap.py setup (runs work without a model too)")
        yield Check(name=f"model {wanted}", state="missing", text=how)


def _knowledge(session: Session) -> Iterator[Check]:
    """What can be searched and looked up, and what of it is damaged, old or missing."""
    try:
        with assembly.open_library(session.place) as library:
            knowledge = library.knowledge()
            text = tr("{n} conditions, {k} rules", n=len(knowledge.conditions), k=len(knowledge.rules))
            checks = [Check(name="knowledge", state="ok", text=text), *_packs_of(library), _vocabularies(library)]
            checks += [_embedder(session), _vectors(session, library)]
    except WardroundError as error:
        checks = [Check(name="knowledge", state="fault", text=error.text)]
    yield from checks


def _packs_of(library: assembly.Library) -> Iterator[Check]:
    """Guidelines of the site that need somebody: damaged, waiting for approval, near their end or past it."""
    from core.retrieval import editions

    packs = library.store.packs()
    for pack in packs:
        if pack.state == "quarantined":
            how = tr("damaged, not searched: import the same files again (wardround knowledge add)")
            yield Check(name=f"guideline {pack.id}", state="fault", text=how)
        elif pack.state == "draft":
            how = tr("waits for approval: wardround knowledge approve {pack}", pack=pack.id)
            yield Check(name=f"guideline {pack.id}", state="optional", text=how)
        elif pack.state in ("active", "expired") and (said := editions.remark(pack, packs, library.calendar)):
            yield Check(name=f"guideline {pack.id}", state="optional", text=said)


def _vocabularies(library: assembly.Library) -> Check:
    active = {pack.id for pack in library.store.packs() if pack.state == "active"}
    counts = {pack: n for pack, n in library.store.vocabulary.counts().items() if pack in active}
    if not counts:
        how = tr("none: concepts and drugs cannot be looked up; wardround knowledge add FILE brings one in")
        return Check(name="vocabularies", state="optional", text=how)
    said = ", ".join(f"{pack} ({number})" for pack, number in counts.items())
    return Check(name="vocabularies", state="ok", text=said)


def _embedder(session: Session) -> Check:
    from models.packs import list_packs

    wanted = session.bench.settings.models.embedder
    packs = list_packs(paths.packs_folder(), Ledger(session.stores.packs, session.bench.actor))
    if not wanted:
        return Check(name="embedder", state="optional", text=tr("none in the settings: search by words alone"))
    if not any(pack.id == wanted and pack.state == "ready" for pack in packs):
        how = tr("not installed: guidelines are searched by words alone; packaging/packs.py minilm adds it")
        return Check(name=f"embedder {wanted}", state="optional", text=how)
    return Check(name=f"embedder {wanted}", state="ok", text=tr("installed"))


def _vectors(session: Session, library: assembly.Library) -> Check:
    """Packs without vectors, by the headers of their files; the model itself is not loaded."""
    from core.retrieval.vectors import VectorFile
    from desktop.vectors import FOLDER

    counts = [count for count in library.store.counts() if count.chunks]
    active = {pack.id for pack in library.store.packs() if pack.state == "active"}
    wanted, folder = session.bench.settings.models.embedder, session.place / FOLDER
    lacking = []
    for count in counts:
        header = VectorFile(folder, count.pack).header() if count.pack in active else None
        if count.pack in active and (header is None or header.embedder != wanted or header.n < count.chunks):
            lacking.append(count.pack)
    if lacking:
        how = tr("missing for {packs}: wardround knowledge reindex --vectors", packs=", ".join(lacking))
        return Check(name="vectors", state="optional", text=how)
    return Check(name="vectors", state="ok", text=tr("of {n}", n=counted(len(active), tr("pack"), tr("packs"))))


def _journal(session: Session) -> Iterator[Check]:
    """Every run's hash chain."""
    journal = session.stores.journal
    runs = journal.runs()
    faults = [fault for run in runs for fault in journal.verify(run.id)]
    text = "; ".join(faults[:3]) if faults else tr("{runs}, every chain intact", runs=counted(len(runs), "run", "runs"))
    yield Check(name="journal", state="fault" if faults else "ok", text=text)


def _network(_session: Session) -> Iterator[Check]:
    """The audit event of an attempt to reach a network, raised by ourselves: the denial must answer it."""
    before = offline.attempts()
    try:
        sys.audit("socket.getaddrinfo", "wardround.invalid", 9)
    except SecurityError:
        text = tr("denied; {n} attempts since the start", n=before)
        yield Check(name="network", state="ok", text=text)
        return
    yield Check(name="network", state="fault", text=tr("not denied: this is a mistake of the program"))


def _window(_session: Session) -> Iterator[Check]:
    found = importlib.util.find_spec("PySide6") is not None
    text = tr("Qt is there") if found else tr("no Qt: commands work, the window does not")
    yield Check(name="window", state="ok" if found else "missing", text=text)


GROUPS: tuple[Callable[[Session], Iterator[Check]], ...] = (
    _libraries,
    _processor,
    _folders,
    _packs,
    _knowledge,
    _journal,
    _network,
    _window,
)
COMMANDS = {"doctor": examine}
