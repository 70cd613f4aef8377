"""A random vision model of half a megabyte, written when a test needs it: text model and projector (runtime.md 8).

Knows the GGUF form only, through the library that writes it; nothing of it is kept in the repository. Seed 7: the same
bytes on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

SEED = 7
WIDTH, BLOCKS, HEADS, FEED, CONTEXT = 64, 2, 4, 128, 2048
IMAGE, PATCH, V_WIDTH, V_BLOCKS, V_HEADS, V_FEED = 112, 14, 32, 2, 2, 64
PATCHES = (IMAGE // PATCH) ** 2
NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6  # kinds of tokens
MARKS = ("<start_of_image>", "<end_of_image>", "<|im_start|>", "<|im_end|>")
PIECES = ("▁the", "▁a", "▁yes", "▁no", "▁image", "▁white", "▁black", "er", "in", "on", "at", "is")
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
Kind = Literal["gemma3", "mlp"]


def vocabulary() -> list[tuple[str, int, float]]:
    """Every token with its kind and its score."""
    signs = "▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;?!-'\"()/%+{}[]"
    return [
        ("<unk>", UNKNOWN, 0.0),
        ("<s>", CONTROL, 0.0),
        ("</s>", CONTROL, 0.0),
        *((f"<0x{value:02X}>", BYTE, 0.0) for value in range(256)),
        *((mark, USER, 0.0) for mark in MARKS),
        *((sign, NORMAL, -10.0) for sign in signs),
        *((piece, NORMAL, -5.0) for piece in PIECES),
    ]


def write_text(path: Path) -> None:
    """The language model, about 520 kB."""
    import gguf

    random, tokens = np.random.default_rng(SEED), vocabulary()
    out = gguf.GGUFWriter(str(path), "llama")
    out.add_name("tiny")
    out.add_block_count(BLOCKS)
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(FEED)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_tokenizer_model("llama")
    out.add_token_list([text for text, _, _ in tokens])
    out.add_token_types([kind for _, kind, _ in tokens])
    out.add_token_scores([score for _, _, score in tokens])
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_chat_template(CHATML)

    def add(name: str, *shape: int, scale: float = 0.2) -> None:
        out.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))

    add("token_embd.weight", len(tokens), WIDTH, scale=1.0)
    add("output.weight", len(tokens), WIDTH, scale=0.3)
    out.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    for block in range(BLOCKS):
        for name in ("attn_norm", "ffn_norm"):
            out.add_tensor(f"blk.{block}.{name}.weight", np.ones(WIDTH, dtype=np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{block}.{name}.weight", WIDTH, WIDTH)
        add(f"blk.{block}.ffn_gate.weight", FEED, WIDTH)
        add(f"blk.{block}.ffn_up.weight", FEED, WIDTH)
        add(f"blk.{block}.ffn_down.weight", WIDTH, FEED)
    _finish(out)


def write_projector(path: Path, kind: Kind = "gemma3", *, width: int = WIDTH) -> None:
    """The picture side: `gemma3` gives 4 tokens an image, `mlp` (the LLaVA layout) 64. `width`: of the text model."""
    import gguf

    random = np.random.default_rng(SEED)
    out = gguf.GGUFWriter(str(path), "clip")
    out.add_bool("clip.has_vision_encoder", True)
    out.add_string("clip.projector_type", kind)
    out.add_bool("clip.use_gelu", True)
    out.add_vision_image_size(IMAGE)
    out.add_vision_patch_size(PATCH)
    out.add_vision_embedding_length(V_WIDTH)
    out.add_vision_feed_forward_length(V_FEED)
    out.add_vision_block_count(V_BLOCKS)
    out.add_vision_head_count(V_HEADS)
    out.add_vision_projection_dim(width)
    out.add_vision_attention_layernorm_eps(1e-6)
    out.add_vision_image_mean([0.5] * 3)
    out.add_vision_image_std([0.5] * 3)

    def add(name: str, *shape: int, scale: float = 0.2) -> None:
        out.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))

    def norm(name: str) -> None:
        out.add_tensor(f"{name}.weight", np.ones(V_WIDTH, dtype=np.float32))
        out.add_tensor(f"{name}.bias", np.zeros(V_WIDTH, dtype=np.float32))

    add("v.patch_embd.weight", V_WIDTH, 3, PATCH, PATCH)
    add("v.position_embd.weight", PATCHES + (kind == "mlp"), V_WIDTH)
    _add_kind(kind, width, add, norm)
    for block in range(V_BLOCKS):
        norm(f"v.blk.{block}.ln1")
        norm(f"v.blk.{block}.ln2")
        for name, rows, columns in (
            *((f"attn_{part}", V_WIDTH, V_WIDTH) for part in ("q", "k", "v", "out")),
            ("ffn_up", V_FEED, V_WIDTH),
            ("ffn_down", V_WIDTH, V_FEED),
        ):
            add(f"v.blk.{block}.{name}.weight", rows, columns)
            out.add_tensor(f"v.blk.{block}.{name}.bias", np.zeros(rows, dtype=np.float32))
    if kind == "gemma3":
        out.add_tensor("mm.soft_emb_norm.weight", np.ones(V_WIDTH, dtype=np.float32))
    _finish(out)


def _add_kind(kind: Kind, width: int, add: Any, norm: Any) -> None:
    """The tensors in which the two layouts differ."""
    if kind == "gemma3":
        norm("v.post_ln")
        add("mm.input_projection.weight", V_WIDTH, width)
        return
    add("v.class_embd", V_WIDTH)
    norm("v.pre_ln")
    add("mm.0.weight", width, V_WIDTH)
    add("mm.0.bias", width)
    add("mm.2.weight", width, width)
    add("mm.2.bias", width)


def _finish(out: Any) -> None:
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
