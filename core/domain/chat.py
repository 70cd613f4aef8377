"""Requests to a backbone and its answers (runtime.md section 3). Pure values; no path or URL anywhere in a request."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant"]
Method = Literal["total", "mean", "pmi"]


class TextPart(msgspec.Struct, frozen=True, tag="text"):
    """Plain text."""

    text: str


class ImagePart(msgspec.Struct, frozen=True, tag="image"):
    """A picture in the artifact store, and how it is to be rendered for the model.

    `window`: centre and width of the grey values, None as stored; `crop`: left, top, right, bottom in pixels;
    `side`: most pixels of the longer side.
    """

    artifact_sha256: str
    window: tuple[float, float] | None = None
    crop: tuple[int, int, int, int] | None = None
    side: int = 1344


class Message(msgspec.Struct, frozen=True):
    """One turn."""

    role: Role
    parts: tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


def message(role: Role, text: str) -> Message:
    """A message of one text part."""
    return Message(role, (TextPart(text),))


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How to draw tokens; `temperature` 0 is greedy; `exact` decodes forks one by one (runtime.md 4.3)."""

    seed: int
    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    max_tokens: int = 256
    exact: bool = False


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked. `schema` is a JSON Schema text; `static_parts` counts the leading PHI-free messages."""

    messages: tuple[Message, ...]
    sampling: Sampling
    prompt_name: str
    prompt_sha256: str
    schema: str | None = None
    static_parts: int = 0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and milliseconds of one call."""

    tokens_in: int
    tokens_out: int
    ms_prefill: float
    ms_decode: float


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that makes a call reproducible (runtime.md section 7); printed in the report's technical annex."""

    pack_id: str
    contents_sha256: str
    mmproj_sha256: str
    quant: str
    lib_version: str
    lib_build: str
    system_info: str
    device: str
    rung: str
    n_ctx: int
    n_batch: int
    chunk: int
    n_threads: int
    flash: bool
    type_k: str
    type_v: str
    n_candidates: int
    exact: bool
    seed: int
    temperature: float
    top_k: int
    top_p: float
    grammar_sha256: str
    prompt_name: str
    prompt_sha256: str
    prefix_sha256: str
    prefix_len: int
    prefix_source: Literal["cold", "reuse", "state"]
    tokens_in: int
    tokens_out: int
    ms_prefill: float
    ms_decode: float
    rejected: int
    verify: Literal["full", "fast"] = "full"
    unlisted: bool = False


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """A generated text; `parsed` is its canonical JSON when a schema was given and held."""

    text: str
    parsed: str | None
    finish: Literal["stop", "length", "cancel", "schema"]
    usage: Usage
    record: CallRecord


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Log-likelihoods of options in the caller's order; `probs` is the softmax of the chosen score."""

    options: tuple[str, ...]
    total_ll: tuple[float, ...]
    mean_ll: tuple[float, ...]
    pmi: tuple[float, ...] | None
    probs: tuple[float, ...]
    record: CallRecord
