"""From a pack id to a language model ready for use: find, check, plan, load. The one way a backbone is made.

Knows packs and the machine; must not know settings files, cases or the window.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path

import msgspec

from core import codec, paths
from core.domain.chat import ImagePart
from core.domain.pack import FEWER_THREADS, BackboneInfo, MemoryPlan, PackManifest
from core.errors import ModelError, UserError
from models import device as machine
from models.device import Device, Fallback, Rung, WantedDevice
from models.ladder import Policy, Room, choose_rung, room_of
from models.llama.accelerators import graphics_cards
from models.llama.backbone import LlamaBackbone, LoadFacts, Sight
from models.llama.engine import Engine, EngineSetting
from models.llama.prefix import PrefixKeeper
from models.llama.states import StateIdentity
from models.llama.vision import VisionEngine
from models.packs import InstalledPack, MemoryLedger, OnBytes, OpenPack, PackLedger, Verify, find_pack, open_verified
from models.plan import PROJECTOR, Q8_RUNGS, SEEING_CTX, Calibrations, Sizes, fit_context, padded, plan_memory, sizes_of

N_CTX = 4096
GPU_CHUNK = 256
MODEL_FILE = "model.gguf"
CALMER = "Other programs keep the processor busy: the model runs on one thread fewer and waits without spinning."


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """What the site has set about loading. `smaller`: the pack allowed in place of one that does not fit, or ""."""

    device: WantedDevice = "auto"
    fallback: Fallback = "announce"
    smaller: str = ""
    verify: Verify = "full"


class _Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """A language model, and the pack that holds its picture side, which may be the same one."""

    text: InstalledPack
    eyes: InstalledPack | None = None

    @property
    def manifest(self) -> PackManifest:
        """As of one pack with the files of both."""
        if self.eyes is None or self.eyes is self.text:
            return self.text.manifest
        own, seen = self.text.manifest, self.eyes.manifest
        return msgspec.structs.replace(own, id=seen.id, role="vision", files=own.files + seen.files)

    @property
    def contents_sha256(self) -> str:
        if self.eyes is None or self.eyes is self.text:
            return self.text.contents_sha256
        return codec.digest([self.text.contents_sha256, self.eyes.contents_sha256])


class _Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A model with the rung it will run on and the plan for it."""

    pack: _Chosen
    rung: Rung
    n_ctx: int
    plan: MemoryPlan


def open_backbone(
    pack_id: str,
    *,
    stop: threading.Event | None = None,
    on_progress: OnBytes | None = None,
    on_rung: Callable[[Rung], None] | None = None,
    site: Site | None = None,
    n_ctx: int = N_CTX,
    ledger: PackLedger | None = None,
    calibrations: Calibrations | None = None,
    packs: Path | None = None,
    pictures: Callable[[ImagePart], bytes] | None = None,
    on_stall: Callable[[], None] | None = None,
) -> LlamaBackbone:
    """Check and load a language model. The calling thread becomes the only one that may use it.

    `stop` cancels the check, and later every call: it is polled while the model computes. `on_progress` hears bytes
    checked and bytes in all; `on_rung` hears a rung that is not what was asked. `n_ctx` tokens, at most what the model
    was trained for. `ledger` remembers checks and quarantined packs; `packs` is the folder of all packs.
    `pictures` renders what a request asks to be seen; without it, or without a picture side, the model sees nothing.
    `on_stall` hears when other programs have brought the model to a halt.

    Raises:
        UserError: not installed, damaged, too little memory, no AVX2, or a rung that the policy forbids.
        ModelError: the file or its context cannot be loaded.
        Cancelled: `stop` was set during the check.
    """
    site = site or Site()
    found = machine.probe_device()
    machine.require_avx2(found)
    checks, failed = ledger or MemoryLedger(), set[str]()
    while True:
        placed = _place(
            pack_id,
            packs or paths.packs_folder(),
            site,
            n_ctx=n_ctx,
            found=found,
            calibrations=calibrations,
            failed=failed,
        )
        try:
            made = _open(placed, found, site.verify, checks, on_progress=on_progress, stop=stop, pictures=pictures)
        except ModelError as error:
            if error.code != "memory":
                raise
            failed.add(placed.rung.name)
            continue
        if placed.rung.reason and on_rung is not None:
            on_rung(placed.rung)
        made.watch(on_stall)
        return made


def _open(
    placed: _Placed,
    found: Device,
    verify: Verify,
    ledger: PackLedger,
    *,
    on_progress: OnBytes | None,
    stop: threading.Event | None,
    pictures: Callable[[ImagePart], bytes] | None,
) -> LlamaBackbone:
    """Check and load a model where it was placed; both packs of a pair are held open meanwhile."""
    event, chosen = stop if stop is not None else threading.Event(), placed.pack
    with ExitStack() as held:

        def check(pack: InstalledPack) -> OpenPack:
            opened = open_verified(pack, verify=verify, ledger=ledger, on_bytes=on_progress, stop=stop)
            return held.enter_context(opened)

        text = check(chosen.text)
        eyes = text if chosen.eyes is chosen.text else check(chosen.eyes) if chosen.eyes else None
        engine = _load(text, _setting(placed, found), event)
        sight = _see(eyes, engine, pictures, event) if eyes and pictures else None
    device = f"{found.name}, {found.cores} cores"
    how: Verify = "fast" if "fast" in {text.verify, eyes.verify if eyes else text.verify} else "full"
    manifest = chosen.text.manifest
    facts = LoadFacts(template=manifest.template, quant=manifest.quant, device=device, verify=how)
    return _assemble(placed, engine, facts, sight)


def _see(eyes: OpenPack, engine: Engine, pictures: Callable[[ImagePart], bytes], stop: threading.Event) -> Sight:
    """The picture side, loaded into a context of its own. Where it fails, the language model is closed too."""
    setting = msgspec.structs.replace(engine.setting, n_ctx=min(engine.n_ctx, SEEING_CTX))
    [file] = [file for file in eyes.pack.manifest.files if file.path == PROJECTOR]
    try:
        return Sight(VisionEngine(engine, eyes.paths[PROJECTOR], setting, stop, mmproj_sha256=file.sha256), pictures)
    except BaseException as error:
        engine.close()
        if not isinstance(error, ModelError):
            raise
        text = f"{error.text} (model pack {eyes.pack.manifest.id}, file {PROJECTOR})"
        raise ModelError(text, code=error.code) from error


def plan_pack(
    pack_id: str, *, site: Site, n_ctx: int = N_CTX, calibrations: Calibrations | None = None, packs: Path | None = None
) -> tuple[Rung, MemoryPlan]:
    """Where a pack would run now, and what that takes; nothing is loaded but the list of graphics cards.

    Raises:
        UserError: as `open_backbone` would say.
    """
    found, folder = machine.probe_device(), packs or paths.packs_folder()
    machine.require_avx2(found)
    placed = _place(pack_id, folder, site, n_ctx=n_ctx, found=found, calibrations=calibrations)
    return placed.rung, placed.plan


def _place(
    pack_id: str,
    packs: Path,
    site: Site,
    *,
    n_ctx: int,
    found: Device,
    calibrations: Calibrations | None,
    failed: Collection[str] = (),
) -> _Placed:
    """The rung for a pack, and on `cpu_small` the smaller pack."""
    pack = _language_model(packs, pack_id)
    small = _language_model(packs, site.smaller) if site.smaller not in ("", pack_id) else None
    room = room_of(found.ram_free, graphics_cards() if site.device != "cpu" else (), card_is_there=found.cuda)
    policy = Policy(wanted=site.device, fallback=site.fallback, smaller=small is not None)

    def sizes(of: _Chosen) -> Sizes:
        length = fit_context(of.manifest, n_ctx)
        known = calibrations.calibration(of.manifest.id, n_ctx=padded(length), rung="cpu") if calibrations else None
        return sizes_of(of.manifest, length, known)

    rung = choose_rung(room, sizes(pack), policy, smaller=sizes(small) if small else None, failed=failed)
    chosen = small if small is not None and rung.name == "cpu_small" else pack
    length = fit_context(chosen.manifest, n_ctx)
    if _fewer_threads() and not rung.gpu_layers:
        rung = msgspec.structs.replace(rung, reason=f"{rung.reason} {CALMER}".strip())
    return _Placed(pack=chosen, rung=rung, n_ctx=length, plan=_plan(chosen, rung, length, room, calibrations))


def _plan(pack: _Chosen, rung: Rung, n_ctx: int, room: Room, calibrations: Calibrations | None) -> MemoryPlan:
    known = calibrations.calibration(pack.manifest.id, n_ctx=padded(n_ctx), rung=rung.name) if calibrations else None
    free = room.vram if rung.name.startswith("gpu") else room.ram
    return plan_memory(pack.manifest, n_ctx=n_ctx, free=free, rung=rung.name, vram=room.vram_total, calibration=known)


def _language_model(packs: Path, pack_id: str) -> _Chosen:
    """A pack that can answer: a language model, with its picture side where it has one, or a pair of packs."""
    pack = find_pack(packs, pack_id)
    manifest = pack.manifest
    files = {file.path for file in manifest.files}
    eyes = pack if PROJECTOR in files and "vision" in manifest.capabilities else None
    if manifest.role in ("text", "vision") and MODEL_FILE in files:
        return _Chosen(text=pack, eyes=eyes)
    if manifest.role == "vision" and eyes and manifest.uses not in ("", pack_id):
        return _Chosen(text=_language_model(packs, manifest.uses).text, eyes=eyes)
    raise UserError(f"The model pack {manifest.id} is not a language model.", code="pack_role")


def _fewer_threads() -> bool:
    """Whether this process was started again because the last one stalled (runtime.md 4.7, rule 3)."""
    return os.environ.get(FEWER_THREADS) == "1"


def _setting(placed: _Placed, found: Device) -> EngineSetting:
    """Flash attention only on a card, where a compressed cache needs it (runtime.md 4.1)."""
    threads = max(1, found.threads - _fewer_threads())
    kind = "q8_0" if placed.rung.name in Q8_RUNGS else "f16"
    if not placed.rung.gpu_layers:
        return EngineSetting(n_ctx=placed.n_ctx, n_threads=threads)
    return EngineSetting(
        n_ctx=placed.n_ctx,
        n_threads=threads,
        chunk=GPU_CHUNK,
        flash=True,
        type_k=kind,
        type_v=kind,
        gpu_layers=placed.rung.gpu_layers,
    )


def _load(opened: OpenPack, setting: EngineSetting, stop: threading.Event) -> Engine:
    try:
        return Engine(opened.paths[MODEL_FILE], setting, stop)
    except ModelError as error:
        name = opened.pack.manifest.id
        check = f" Check it with: wardround models verify {name}" if error.code == "bad_model" else ""
        text = f"{error.text} (model pack {name}, file {MODEL_FILE}){check}"
        raise ModelError(text, code=error.code) from error


def _assemble(placed: _Placed, engine: Engine, facts: LoadFacts, sight: Sight | None) -> LlamaBackbone:
    pack, rung, setting = placed.pack, placed.rung, engine.setting
    manifest = pack.manifest
    info = BackboneInfo(
        pack_id=manifest.id,
        family=manifest.family,
        n_ctx=engine.n_ctx,
        vision=sight is not None,
        rung=rung.name,
        contents_sha256=pack.contents_sha256,
        params_b=manifest.params_b,
        unlisted=manifest.unlisted,
        wanted=rung.wanted,
        reason=rung.reason,
        expected_s=placed.plan.expected_s,
    )
    identity = StateIdentity(
        contents_sha256=pack.text.contents_sha256,
        lib_build=engine.build.lib_build,
        type_k=setting.type_k,
        type_v=setting.type_v,
        flash=setting.flash,
        swa_full=True,
        chunk=setting.chunk,
    )
    keeper = PrefixKeeper(engine, identity=identity, folder=paths.cache_folder() / "states")
    return LlamaBackbone(engine, keeper, info=info, facts=facts, sight=sight)
