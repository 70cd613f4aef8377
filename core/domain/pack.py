"""Model packs as data: manifest, what a loaded backbone tells of itself, the memory plan. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

FEWER_THREADS = "WARDROUND_FEWER_THREADS"  # "1": a worker that is started again because the last one stalled
PackRole = Literal["text", "vision", "embed", "segment", "knowledge"]


class PackFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a pack with its whole-file hash and the hashes of its chunks."""

    path: str
    size: int
    sha256: str
    chunk: int = 16777216
    chunks: tuple[str, ...] = ()


class Architecture(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory plan needs to know of a language model."""

    n_layer: int
    n_kv_head: int
    head_dim: int
    n_ctx_train: int
    head_dim_v: int = 0  # of the values; 0: as of the keys


class Licence(msgspec.Struct, frozen=True, kw_only=True):
    """Licence of a pack; `accept` means the user must accept it first."""

    spdx: str
    file: str = ""
    accept: bool = False


class MadeFrom(msgspec.Struct, frozen=True, kw_only=True):
    """The public package that a converted model was made of; `sha256` of the weights in it."""

    package: str
    version: str
    sha256: str


class EmbedSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The `embed` part of a manifest of role "embed": how a text becomes a vector (knowledge.md section 5).

    `dim` numbers a vector; `max_tokens` pieces of a text with its marks; `inputs` and `output` are names in the graph.
    """

    dim: int
    max_tokens: int
    pooling: str = "mean, in graph"
    normalised: bool = True
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")
    output: str = "embedding"
    made_from: MadeFrom | None = None


class PackManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json` of a pack folder (runtime.md section 9)."""

    id: str
    version: str
    role: PackRole
    family: str
    template: str
    params_b: float
    quant: str
    files: tuple[PackFile, ...]
    licence: Licence
    arch: Architecture | None = None
    capabilities: tuple[str, ...] = ()
    min_app: str = "0"
    unlisted: bool = False
    uses: str = ""  # a vision pack without a model file of its own names the text pack it works with
    embed: EmbedSpec | None = None


class PackState(msgspec.Struct, frozen=True, kw_only=True):
    """A pack as the model list shows it. `state`: ready, quarantined, missing. `plan`: of a language model, here."""

    id: str
    version: str
    role: str
    state: str
    size: int
    licence: str
    contents_sha256: str = ""
    detail: str = ""
    unlisted: bool = False
    used: bool = False
    plan: MemoryPlan | None = None


class BackboneInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a loaded backbone tells of itself.

    `wanted` is the rung that was asked for; where `rung` is another one, `reason` says why, in one sentence.
    `expected_s`: seconds that a run is expected to take on this rung, 0 where nothing is known.
    """

    pack_id: str
    family: str
    n_ctx: int
    vision: bool
    rung: str
    contents_sha256: str
    params_b: float
    unlisted: bool = False
    wanted: str = ""
    reason: str = ""
    expected_s: float = 0.0

    @property
    def small(self) -> bool:
        """Below 3B parameters: ranks get less weight, no summaries (direct.md sections 3.4 and 5)."""
        return self.params_b < 3.0


class EmbedderInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a loaded embedder tells of itself: `dim` numbers a vector, `max_tokens` pieces a window with its marks."""

    pack_id: str
    model_sha256: str
    dim: int
    max_tokens: int


class MemoryPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes a load needs, and whether they are there (runtime.md section 10).

    `expected_tok_s`: tokens read and written a second; `expected_s`: seconds of a run. `measured`: both and `compute`
    come from this machine's own earlier runs, not from an estimate.
    """

    weights: int
    kv: int
    compute: int
    reserve: int
    total: int
    free: int
    fits: bool
    vision: int = 0
    onnx: int = 0
    expected_tok_s: float = 0.0
    expected_s: float = 0.0
    measured: bool = False


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What runs of a pack on this machine came to: peak bytes, tokens a second, tokens of a run."""

    pack: str
    n_ctx: int
    rung: str
    peak: int
    tok_s: float = 0.0
    tokens: int = 0
