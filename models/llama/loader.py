"""From a pack id to a language model ready for use: find, check, plan, load. The one way a backbone is made.

Knows packs and the machine; must not know settings files, cases or the window.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from pathlib import Path

from core import paths
from core.domain.pack import BackboneInfo
from core.errors import ModelError, UserError
from models import device as machine
from models.device import Fallback, Rung, WantedDevice
from models.llama.backbone import LlamaBackbone, LoadFacts
from models.llama.engine import Engine, EngineSetting
from models.llama.prefix import PrefixKeeper
from models.packs import InstalledPack, MemoryLedger, OnBytes, OpenPack, PackLedger, Verify, find_pack, open_verified

N_CTX = 4096
MODEL_FILE = "model.gguf"


def open_backbone(
    pack_id: str,
    *,
    stop: threading.Event | None = None,
    on_progress: OnBytes | None = None,
    on_rung: Callable[[Rung], None] | None = None,
    verify: Verify = "full",
    device: WantedDevice = "auto",
    fallback: Fallback = "announce",
    n_ctx: int = N_CTX,
    ledger: PackLedger | None = None,
    packs: Path | None = None,
) -> LlamaBackbone:
    """Check and load a language model. The calling thread becomes the only one that may use it.

    `stop` cancels the check, and later every call: it is polled while the model computes. `on_progress` hears bytes
    checked and bytes in all; `on_rung` hears a rung that is not what was asked. `n_ctx` tokens, at most what the model
    was trained for. `ledger` remembers checks and quarantined packs; `packs` is the folder of all packs.

    Raises:
        UserError: not installed, damaged, too little memory, no AVX2, or a rung that the policy forbids.
        ModelError: the file or its context cannot be loaded.
        Cancelled: `stop` was set during the check.
    """
    pack = find_pack(packs or paths.packs_folder(), pack_id)
    found = machine.probe_device()
    machine.require_avx2(found)
    rung = machine.choose_rung(device, found, fallback)
    n_ctx = _fit_context(pack, n_ctx)
    machine.require_memory(machine.plan_memory(pack.manifest, n_ctx=n_ctx, free=found.ram_free))
    if rung.reason and on_rung is not None:
        on_rung(rung)
    setting = EngineSetting(n_ctx=n_ctx, n_threads=found.threads)
    event = stop if stop is not None else threading.Event()
    with open_verified(pack, verify=verify, ledger=ledger or MemoryLedger(), on_bytes=on_progress, stop=stop) as opened:
        engine = _load(opened, setting, event)
    facts = LoadFacts(
        template=pack.manifest.template,
        quant=pack.manifest.quant,
        device=f"{found.name}, {found.cores} cores",
        verify=opened.verify,
    )
    return _assemble(pack, engine, facts, rung)


def _fit_context(pack: InstalledPack, n_ctx: int) -> int:
    manifest = pack.manifest
    if manifest.role != "text" or MODEL_FILE not in {file.path for file in manifest.files}:
        raise UserError(f"The model pack {manifest.id} is not a language model.", code="pack_role")
    return min(n_ctx, manifest.arch.n_ctx_train) if manifest.arch else n_ctx


def _load(opened: OpenPack, setting: EngineSetting, stop: threading.Event) -> Engine:
    try:
        return Engine(opened.paths[MODEL_FILE], setting, stop)
    except ModelError as error:
        text = f"{error.text} (model pack {opened.pack.manifest.id}, file {MODEL_FILE})"
        raise ModelError(text, code=error.code) from error


def _assemble(pack: InstalledPack, engine: Engine, facts: LoadFacts, rung: Rung) -> LlamaBackbone:
    manifest, setting = pack.manifest, engine.setting
    info = BackboneInfo(
        pack_id=manifest.id,
        family=manifest.family,
        n_ctx=engine.n_ctx,
        vision=False,
        rung=rung.name,
        contents_sha256=pack.contents_sha256,
        params_b=manifest.params_b,
    )
    parts = (pack.contents_sha256, engine.build.lib_build, setting.type_k, setting.type_v)
    identity = "/".join((*parts, f"flash={setting.flash}", "swa_full", f"chunk={setting.chunk}", platform.machine()))
    keeper = PrefixKeeper(engine, identity=identity, folder=paths.cache_folder() / "states")
    return LlamaBackbone(engine, keeper, info=info, facts=facts)
