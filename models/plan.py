"""How much memory a model needs, and how long a run will take: an estimate until this machine has measured it.

Pure arithmetic over manifests (runtime.md section 10); loads nothing, looks at nothing.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from core.domain.pack import Architecture, Calibration, MemoryPlan, PackManifest
from core.errors import UserError
from models.device import GIB

COMPUTE = 300 << 20  # bytes of scratch memory until measured
RAM_RESERVE = 2 * GIB
VRAM_RESERVE = 768 << 20  # the display's share
VRAM_SHARE = 0.10
KV_BYTES = {"f16": 2.0, "q8_0": 34 / 32}
PAD = 256  # the library rounds a context up to this many tokens
PROJECTOR = "mmproj.gguf"
SEEING_CTX = 4096  # tokens of the second context, in which pictures and what is asked of them lie
Q8_RUNGS = ("gpu_kv_q8", "gpu_partial")  # what does not fit whole takes the compressed cache as well
# Bytes of weights gone through in a second while writing. Processor: SmolLM2 (98 MB) wrote 62 to 92 tokens a second on
# two cores (runtime.md 4.4). Graphics card: not measured; a third of the memory rate of a small card.
CPU_RATE = 7.5e9
GPU_RATE = 1.0e11
READING = 4.0  # tokens read in the time of one written: 267 to 69 (SmolLM2, runtime.md 4.1)
WRITTEN = 256


class Calibrations(Protocol):
    """Remembers what runs on this machine came to."""

    def calibration(self, pack: str, *, n_ctx: int, rung: str) -> Calibration | None: ...


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """What one pack takes, in bytes; `vision`: projector and its own cache, `layers`: of the language model."""

    weights: int
    kv: int
    kv_q8: int
    compute: int = COMPUTE
    vision: int = 0
    layers: int = 1

    def total(self, *, q8: bool = False) -> int:
        """Everything that must lie in one memory, without its reserve."""
        return self.weights + self.vision + self.compute + (self.kv_q8 if q8 else self.kv)


def kv_bytes(arch: Architecture, n_ctx: int, kind: str = "f16") -> int:
    """Bytes of keys and values for n_ctx tokens: n_ctx · n_layer · n_kv_head · (dim of K + dim of V) · bytes of one."""
    dims = arch.head_dim + (arch.head_dim_v or arch.head_dim)
    return int(n_ctx * arch.n_layer * arch.n_kv_head * dims * KV_BYTES[kind])


def padded(n_ctx: int) -> int:
    """The context length that the library makes of the one asked for."""
    return -(-n_ctx // PAD) * PAD


def fit_context(manifest: PackManifest, n_ctx: int) -> int:
    """At most what the model was trained for."""
    return min(n_ctx, manifest.arch.n_ctx_train) if manifest.arch else n_ctx


def sizes_of(manifest: PackManifest, n_ctx: int, calibration: Calibration | None = None) -> Sizes:
    """What a pack takes with that context; a measured peak replaces the estimate of what is not weights and cache."""
    projector = sum(file.size for file in manifest.files if file.path == PROJECTOR)
    weights = sum(file.size for file in manifest.files) - projector
    arch = manifest.arch
    vision = projector + (kv_bytes(arch, padded(min(n_ctx, SEEING_CTX))) if arch and projector else 0)
    kv, kv_q8 = (kv_bytes(arch, padded(n_ctx), kind) if arch else 0 for kind in ("f16", "q8_0"))
    measured = max(0, calibration.peak - weights - vision - kv) if calibration else COMPUTE
    layers = arch.n_layer if arch else 1
    return Sizes(weights=weights, kv=kv, kv_q8=kv_q8, compute=measured, vision=vision, layers=layers)


def vram_reserve(total: int) -> int:
    """What is left alone of a graphics card: a tenth, at least what a display needs."""
    return max(int(total * VRAM_SHARE), VRAM_RESERVE)


def plan_memory(
    manifest: PackManifest,
    *,
    n_ctx: int,
    free: int,
    rung: str = "cpu",
    vram: int = 0,
    onnx: int = 0,
    forks: int = 1,
    tokens_per_fork: int = WRITTEN,
    calibration: Calibration | None = None,
) -> MemoryPlan:
    """What a load takes on a rung, in bytes, and how long a run will take.

    `free` and `vram` (the card's whole memory) are of the memory that the rung uses. Forks take their tokens inside
    n_ctx and cost no memory. Time: tokens of the last run by its speed, else a full context read and the forks written.
    """
    sizes = sizes_of(manifest, n_ctx, calibration)
    reserve = vram_reserve(vram) if rung.startswith("gpu") else RAM_RESERVE
    kv = sizes.kv_q8 if rung in Q8_RUNGS else sizes.kv
    total = sizes.weights + kv + sizes.compute + sizes.vision + onnx + reserve
    speed, seconds = _pace(sizes.weights, n_ctx, forks * tokens_per_fork, rung, calibration)
    return MemoryPlan(
        weights=sizes.weights,
        kv=kv,
        compute=sizes.compute,
        vision=sizes.vision,
        onnx=onnx,
        reserve=reserve,
        total=total,
        free=free,
        fits=total <= free,
        expected_tok_s=round(speed, 1),
        expected_s=round(seconds, 1),
        measured=calibration is not None,
    )


def _pace(weights: int, n_ctx: int, written: int, rung: str, calibration: Calibration | None) -> tuple[float, float]:
    """(tokens read and written a second, seconds of a run)."""
    if calibration is not None and calibration.tok_s > 0:
        return calibration.tok_s, calibration.tokens / calibration.tok_s
    rate = (GPU_RATE if rung.startswith("gpu") else CPU_RATE) / max(weights, 1)
    read = max(n_ctx - written, 0)
    seconds = read / (rate * READING) + written / rate
    return (read + written) / seconds, seconds


def require_memory(plan: MemoryPlan) -> None:
    """UserError with both figures where a load does not fit."""
    if not plan.fits:
        raise UserError(too_large(plan.total, plan.free), code="memory")


def too_large(need: int, free: int) -> str:
    """The sentence for a load that fits nowhere."""
    return (
        f"The model needs {need / GIB:.1f} GiB of free memory and {free / GIB:.1f} GiB are free: "
        "close other programs, or choose a smaller model."
    )
