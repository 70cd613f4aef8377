"""One language model, one context, n sequences: canonical prefill, forks, decoding, cancellation (runtime.md 4).

Uses the low-level calls of llama.cpp only, which `library.py` loads. Must not know prompts, cases
or packs. Sequence 0 holds the prefix; sequences 1 … n are forks of it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from core.domain.chat import Sampling
from core.errors import BugError, Cancelled, ModelError
from models.llama import guards
from models.llama.guards import Row
from models.llama.library import describe_library, load_library
from models.llama.pace import Pace
from models.llama.sampler import Logits, Sampler

FLASH_OFF, FLASH_ON = 0, 1
CACHE_FULL, ABORTED, REFUSED = 1, 2, -1
CACHE_TYPES = {"f16": 1, "q8_0": 8}  # enum ggml_type


class EngineSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Context parameters (runtime.md 4.1). `n_ctx` tokens; `chunk` tokens of one prefill step; `forks` at once;
    `gpu_layers` of the model on the graphics card."""

    n_ctx: int = 4096
    n_batch: int = 512
    n_threads: int = 1
    chunk: int = 64
    forks: int = 32
    flash: bool = False
    type_k: str = "f16"
    type_v: str = "f16"
    gpu_layers: int = 0


class Engine:
    """Raises BugError where a rule of `guards` is broken, Cancelled when `stop` is set; both leave it usable."""

    def __init__(
        self,
        model: str | Engine,
        setting: EngineSetting,
        stop: threading.Event,
        *,
        library: Any | None = None,
    ) -> None:
        """Load a GGUF file and make a context; the calling thread becomes the only one that may call.

        `model`: the file, or an engine whose model gets a second context; that engine is closed last.

        Raises:
            ModelError: `bad_model`, the file is not a model that can be read; `memory`, no context could be made.
            Cancelled: `stop` was set while it was loaded.
        """
        self._lib: Any = library if library is not None else load_library()
        self._owner, self._closed, self._stop, self.setting = threading.get_ident(), False, stop, setting
        self._abort: Any = self._lib.ggml_abort_callback(lambda _data: stop.is_set())
        self._lent = isinstance(model, Engine)
        self._model: Any = model._model if isinstance(model, Engine) else self._load(model)
        self._context: Any = self._make_context()
        self._memory: Any = self._lib.llama_get_memory(self._context)
        self._vocabulary: Any = self._lib.llama_model_get_vocab(self._model)
        self._batch: Any = self._lib.llama_batch_init(setting.n_batch, 0, 1)
        self.n_seq = setting.forks + 1
        self.n_ctx = int(self._lib.llama_n_ctx(self._context))
        self.n_vocab = int(self._lib.llama_vocab_n_tokens(self._vocabulary))
        self.build = describe_library(self._lib)
        self._row_type = ctypes.POINTER(ctypes.c_float * self.n_vocab)
        self._held: list[int] = []  # what sequence 0 holds
        self._whole = 0  # how many of them were evaluated in whole chunks
        self._complete = False  # whether `prefix_logits` belong to what it holds
        self._flagged: frozenset[int] = frozenset()
        self._prefix_logits: Logits = np.empty(0, dtype=np.float32)
        self.pace = Pace()
        self.decodes = self.evaluated = 0  # native calls and tokens, since the engine was made

    # ------------------------------------------------------------------------------------------ making and ending

    def _load(self, model_file: str) -> Any:
        parameters = self._lib.llama_model_default_params()
        parameters.n_gpu_layers = self.setting.gpu_layers
        going_on = self._lib.llama_progress_callback(lambda _share, _data: not self._stop.is_set())
        parameters.progress_callback = going_on
        model = self._lib.llama_model_load_from_file(model_file.encode(), parameters)
        if not model and self._stop.is_set():
            raise Cancelled("load")
        if not model:
            raise ModelError("The model file cannot be read as a model.", code="bad_model")
        return model

    def _make_context(self) -> Any:
        made = self._lib.llama_init_from_model(self._model, self._parameters())
        if not made:
            self._free_model()
            raise ModelError("There is not enough memory for the model's context.", code="memory")
        return made

    def _parameters(self) -> Any:
        """Both thread counts are set: the library's default for batches is every core, and its barriers spin."""
        made, setting = self._lib.llama_context_default_params(), self.setting
        made.n_ctx, made.n_seq_max = setting.n_ctx, setting.forks + 1
        made.n_batch = made.n_ubatch = setting.n_batch
        made.n_threads = made.n_threads_batch = setting.n_threads
        made.flash_attn_type = FLASH_ON if setting.flash else FLASH_OFF
        made.type_k, made.type_v = CACHE_TYPES[setting.type_k], CACHE_TYPES[setting.type_v]
        made.kv_unified = made.swa_full = made.no_perf = True
        made.abort_callback = self._abort
        return made

    def close(self) -> None:
        """Free batch, context and model in this order; the second call does nothing."""
        guards.check_owner(self._owner)
        if self._closed:
            return
        self._closed = True
        self._lib.llama_batch_free(self._batch)
        self._lib.llama_free(self._context)
        self._free_model()

    def _free_model(self) -> None:
        if not self._lent:
            self._lib.llama_model_free(self._model)

    def _enter(self) -> None:
        guards.check_owner(self._owner)
        guards.check_open(self._closed)

    # ------------------------------------------------------------------------------------------------------ words

    def tokenize(self, text: str, *, markup: bool = False) -> tuple[int, ...]:
        """Token ids without begin mark; `markup` lets control words such as <|im_end|> become control tokens."""
        self._enter()
        data = text.encode()
        room = len(data) + 8
        tokens = (ctypes.c_int32 * room)()
        count = self._lib.llama_tokenize(self._vocabulary, data, len(data), tokens, room, False, markup)
        if count < 0:
            raise ModelError("The text cannot be split into tokens.", code="tokens")
        return tuple(tokens[:count])

    def begin(self) -> tuple[int, ...]:
        """The begin mark, where the vocabulary asks for one."""
        self._enter()
        wanted = self._lib.llama_vocab_get_add_bos(self._vocabulary)
        return (int(self._lib.llama_vocab_bos(self._vocabulary)),) if wanted else ()

    def piece(self, token: int) -> bytes:
        """A token's bytes, which may be part of a character; control tokens give none."""
        self._enter()
        room = ctypes.create_string_buffer(256)
        count = self._lib.llama_token_to_piece(self._vocabulary, token, room, len(room), 0, False)
        return room.raw[: max(count, 0)]

    def is_end(self, token: int) -> bool:
        """Whether the token ends an answer."""
        self._enter()
        return bool(self._lib.llama_vocab_is_eog(self._vocabulary, token))

    def sampler(self, sampling: Sampling, seed: int, grammar: str | None = None) -> Sampler:
        """A sampler for one fork; the caller closes it before the engine. `seed`: 32 bits."""
        self._enter()
        made = Sampler(self._lib, self._vocabulary, self.n_vocab, sampling=sampling, seed=seed)
        if grammar is not None:
            try:
                made.set_grammar(grammar)
            except BaseException:
                made.close()
                raise
        return made

    # ----------------------------------------------------------------------------------------------------- prefix

    @property
    def prefix_length(self) -> int:
        """Tokens in sequence 0, and the position of the next one."""
        return len(self._held)

    @property
    def used(self) -> int:
        """Places of the context that sequence 0 takes."""
        return len(self._held)

    @property
    def prefix_logits(self) -> Logits:
        """Logits after the prefix's last token, float32[n_vocab]; valid until the next `set_prefix`."""
        return self._prefix_logits

    def shared(self, tokens: Sequence[int]) -> int:
        """How many tokens of sequence 0 may stay for the prefix `tokens`: a multiple of the chunk, less than all.

        Only tokens evaluated in whole chunks count: a chunk that was cut short gives other bits than a whole one.
        """
        limit, same = min(self._whole, len(tokens) - 1), 0
        while same < limit and self._held[same] == tokens[same]:
            same += 1
        return same - same % self.setting.chunk

    def advance(self, tokens: Sequence[int], length: int) -> None:
        """Make sequence 0 hold the first `length` tokens, a multiple of the chunk (runtime.md 4.2, steps 1 to 3)."""
        self._enter()
        guards.check_prefix(len(tokens), self.n_ctx)
        self._complete = False
        self.drop_forks()
        self._keep(self.shared(tokens))
        while len(self._held) < length:
            self._append(tokens[len(self._held) : min(length, self._next_border())])

    def set_prefix(self, tokens: Sequence[int]) -> None:
        """Make sequence 0 hold exactly `tokens`; its logits become `prefix_logits`.

        Canonical prefill (runtime.md 4.2): chunk borders at multiples of the chunk and the last token alone, so that
        the result has the same bits whatever was held before. The same prefix again costs nothing.
        """
        self._enter()
        if self._complete and self._held == list(tokens):
            self.drop_forks()
            return
        self.advance(tokens, len(tokens) - 1)
        self._append(tokens[-1:], wanted=True)
        self._prefix_logits = self.logits(0)
        self._complete = True

    def _next_border(self) -> int:
        chunk = self.setting.chunk
        return (len(self._held) // chunk + 1) * chunk

    def _append(self, tokens: Sequence[int], *, wanted: bool = False) -> None:
        start = len(self._held)
        rows = [Row(token, start + i, 0, wanted) for i, token in enumerate(tokens)]
        try:
            self.decode(rows)
        except BaseException:
            self._keep(self._whole)
            raise
        self._held.extend(tokens)
        if len(tokens) == self.setting.chunk:
            self._whole = len(self._held)

    def _keep(self, length: int) -> None:
        """Cut sequence 0 to `length` tokens; caches that cannot be cut are emptied."""
        if not self._lib.llama_memory_seq_rm(self._memory, 0, length, -1):
            self._lib.llama_memory_seq_rm(self._memory, 0, -1, -1)
            length = 0
        del self._held[length:]
        self._whole = min(self._whole, length)

    def clear(self) -> None:
        """Forget every sequence and overwrite the cache, which holds the text in recoverable form."""
        self._enter()
        self._lib.llama_memory_clear(self._memory, True)
        self._held, self._whole, self._complete = [], 0, False

    def save(self) -> bytes:
        """The state of sequence 0, which must hold whole chunks only. It contains the text in recoverable form."""
        self._enter()
        guards.check_whole(len(self._held), self._whole)
        size = self._lib.llama_state_seq_get_size(self._context, 0)
        room = (ctypes.c_uint8 * size)()
        written = self._lib.llama_state_seq_get_data(self._context, room, size, 0)
        return bytes(memoryview(room)[:written])

    def restore(self, state: bytes, tokens: Sequence[int]) -> bool:
        """Put a saved state of exactly `tokens` into sequence 0; False leaves it empty."""
        self._enter()
        self._complete = False
        self.drop_forks()
        self._keep(0)
        room = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if not self._lib.llama_state_seq_set_data(self._context, room, len(state), 0):
            self._keep(0)
            return False
        self._held, self._whole = list(tokens), len(tokens)
        return True

    # ------------------------------------------------------------------------------------------ forks and decoding

    def fork(self, sequences: Iterable[int]) -> None:
        """Let the sequences continue the prefix; with the unified cache a fork only marks cells."""
        self._enter()
        wanted = tuple(sequences)
        for sequence in wanted:
            guards.check_sequence(sequence, self.n_seq)
        for sequence in wanted:
            self._lib.llama_memory_seq_cp(self._memory, 0, sequence, -1, -1)

    def drop(self, sequence: int) -> None:
        """Remove a fork; its cells become free."""
        self._enter()
        guards.check_sequence(sequence, self.n_seq)
        self._lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def drop_forks(self) -> None:
        """Remove every fork."""
        for sequence in range(1, self.n_seq):
            self.drop(sequence)

    def decode(self, rows: Sequence[Row]) -> None:
        """Evaluate rows of any sequences in one native call; then `logits` answers for the rows that asked.

        Raises:
            Cancelled: `stop` was set; what was evaluated is cut off by the caller.
            ModelError: the cache is full, or the library failed.
        """
        self._enter()
        guards.check_rows(rows, n_batch=self.setting.n_batch, n_seq=self.n_seq, n_vocab=self.n_vocab, n_ctx=self.n_ctx)
        if self._stop.is_set():
            raise Cancelled("model")
        self._flagged = frozenset()
        self._fill(rows)
        self.decodes += 1
        self.evaluated += len(rows)
        self._judge(int(self._lib.llama_decode(self._context, self._batch)))
        self._flagged = frozenset(i for i, row in enumerate(rows) if row.wanted)

    def _fill(self, rows: Sequence[Row]) -> None:
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, row in enumerate(rows):
            batch.token[i], batch.pos[i], batch.logits[i] = row.token, row.position, row.wanted
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = row.sequence

    def _judge(self, code: int) -> None:
        if code == 0:
            return
        if code == ABORTED:
            raise Cancelled("model")
        if code == CACHE_FULL:
            raise ModelError("The model's context is full.", code="context_full")
        if code == REFUSED:
            raise BugError("The model engine refused a batch.", code="engine_batch")
        raise ModelError(f"The model engine failed (code {code}).", code="engine")

    def logits(self, row: int) -> Logits:
        """A copy of a row's logits of the last batch, float32[n_vocab]."""
        self._enter()
        guards.check_flagged(row, self._flagged)
        found = ctypes.cast(self._lib.llama_get_logits_ith(self._context, row), self._row_type)
        return np.array(found.contents, dtype=np.float32)
