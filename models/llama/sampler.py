"""Draws the next token from logits: top-k, top-p, temperature, seed, and the lazy grammar of runtime.md 4.4.

Works on the native library that the engine hands in; must not import it, and knows no prompt.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.chat import Sampling
from core.errors import BugError, ModelError
from models.llama import guards

Logits = NDArray[np.float32]
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Sampler:
    """One chain (and grammar) for one sequence. Free it with `close`; `rejected` counts draws the grammar refused."""

    def __init__(self, library: Any, vocabulary: Any, n_vocab: int, *, sampling: Sampling, seed: int) -> None:
        self._lib, self._vocabulary, self._n_vocab = library, vocabulary, n_vocab
        self._chain: Any = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        self._grammar: Any = None
        self.rejected = 0
        for part in self._parts(sampling, seed):
            library.llama_sampler_chain_add(self._chain, part)

    def _parts(self, sampling: Sampling, seed: int) -> list[Any]:
        lib = self._lib
        if sampling.temperature <= 0:
            return [lib.llama_sampler_init_greedy()]
        return [
            lib.llama_sampler_init_top_k(sampling.top_k),
            lib.llama_sampler_init_top_p(sampling.top_p, 1),
            lib.llama_sampler_init_temp(sampling.temperature),
            lib.llama_sampler_init_dist(seed),
        ]

    def set_grammar(self, text: str) -> None:
        """Hold every token to a GBNF grammar with the rule `root`.

        Raises:
            BugError: the grammar is empty, too large or malformed. The null object of the native call is falsy but
                not None, and passing it on would be a segmentation fault.
        """
        guards.check_grammar(text)
        grammar = self._lib.llama_sampler_init_grammar(self._vocabulary, text.encode(), b"root")
        if not grammar:
            raise BugError("The grammar was refused by its parser.", code="engine_grammar")
        self._grammar = grammar

    def draw(self, logits: Logits) -> int:
        """The next token, accepted by the chain and by the grammar. `logits`: float32[n_vocab], left unchanged."""
        token = self._choose(logits, grammar_first=False)
        if self._grammar is not None and not self._allows(token):
            self.rejected += 1
            token = self._choose(logits, grammar_first=True)
            if not self._allows(token):
                raise ModelError("The model cannot continue in the required form.", code="grammar")
        if self._grammar is not None:
            self._lib.llama_sampler_accept(self._grammar, token)
        self._lib.llama_sampler_accept(self._chain, token)
        return token

    def _choose(self, logits: Logits, *, grammar_first: bool) -> int:
        candidates = np.empty(self._n_vocab, dtype=CANDIDATE)
        candidates["id"] = np.arange(self._n_vocab, dtype=np.int32)
        candidates["logit"] = logits
        candidates["p"] = 0.0
        array = self._array(candidates)
        if grammar_first:
            self._lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        self._lib.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _allows(self, token: int) -> bool:
        candidate = np.array([(token, 0.0, 0.0)], dtype=CANDIDATE)
        array = self._array(candidate)
        self._lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return not math.isinf(float(candidate["logit"][0]))

    def _array(self, candidates: NDArray[np.void]) -> Any:
        """The native view of a candidate array, which must outlive it."""
        pointer = ctypes.cast(candidates.ctypes.data, self._lib.llama_token_data_p)
        return self._lib.llama_token_data_array(pointer, len(candidates), -1, False)

    def close(self) -> None:
        """Free the native samplers; the second call does nothing."""
        for held in (self._grammar, self._chain):
            if held is not None:
                self._lib.llama_sampler_free(held)
        self._grammar = self._chain = None
