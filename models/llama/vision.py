"""Pictures for the language model: encoded once, then a prefix like any other, with forks, samples and scores.

A context of its own beside the text's: the places of a picture hold no tokens, so a text prefix must never be compared
with them. Takes bytes only; opens no path and no address. Knows no prompt, case or pack.
Source: runtime.md section 8.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from core.domain.chat import ImagePart, Sampling
from core.errors import BugError, Cancelled, ModelError
from models.llama import guards
from models.llama.decoding import Draft, finish, fork_seed, sample
from models.llama.engine import FLASH_OFF, FLASH_ON, Engine, EngineSetting
from models.llama.guards import Row
from models.llama.library import load_pictures
from models.llama.prompt import Picture, Piece, Prompt, Tokens
from models.llama.sampler import Logits

MOST_IMAGES = 4
TEXT, IMAGE = 0, 1  # enum mtmd_input_chunk_type
_Key = tuple[ImagePart, str]


class _Image:
    """A picture as the projector reads it; its embeddings, float32[tokens, width] a chunk, once it was encoded."""

    def __init__(self, chunks: Any, tokens: int) -> None:
        self.chunks, self.tokens = chunks, tokens
        self.embeddings: dict[int, NDArray[np.float32]] = {}


class VisionEngine(Engine):
    """An engine whose sequence 0 holds pictures and texts; `look` puts them there. Errors as for `Engine`.

    `encodings` counts the pictures that went through the encoder: one that is still in memory does not again.
    """

    def __init__(
        self,
        text: Engine,
        projector: str,
        setting: EngineSetting,
        stop: threading.Event,
        *,
        mmproj_sha256: str,
        timings: bool = False,
    ) -> None:
        """A second context over the model of `text`, which is closed after this one; `projector`: a checked file.

        `timings`: let the library speak of its timings, into the callback that drops them.

        Raises:
            ModelError: `bad_model`, the projector cannot be read, or fits another model; `memory`.
        """
        self._mtmd: Any = load_pictures()
        self._eyes: Any = None
        super().__init__(text, setting, stop)
        self.mmproj_sha256, self.encodings = mmproj_sha256, 0
        self._images: OrderedDict[_Key, _Image] = OrderedDict()
        self._seen: tuple[Tokens | _Key, ...] | None = None  # what sequence 0 holds up to its last picture
        self._tail: Tokens | None = None
        self._position = self._cells = 0
        self._seen_end = (0, 0)  # position and cells after the last picture
        try:
            self._eyes = self._open(projector, timings)
        except BaseException:
            super().close()
            raise

    def _open(self, projector: str, timings: bool) -> Any:
        made = self._mtmd.mtmd_context_params_default()
        made.use_gpu, made.n_threads = bool(self.setting.gpu_layers), self.setting.n_threads
        made.print_timings, made.warmup = timings, False
        made.flash_attn_type = FLASH_ON if self.setting.flash else FLASH_OFF
        eyes = self._mtmd.mtmd_init_from_file(projector.encode(), self._model, made)
        if not eyes:
            raise ModelError("The picture side of the model cannot be read, or belongs to another.", code="bad_model")
        if not self._mtmd.mtmd_support_vision(eyes):
            self._mtmd.mtmd_free(eyes)
            raise ModelError("The picture side of the model takes no pictures.", code="bad_model")
        return eyes

    def close(self) -> None:
        """Free pictures, projector and context in this order; the second call does nothing."""
        guards.check_owner(self._owner)
        if self._eyes is not None:
            self.forget()
            self._mtmd.mtmd_free(self._eyes)
            self._eyes = None
        super().close()

    # --------------------------------------------------------------------------------------------- what is held

    @property
    def prefix_length(self) -> int:
        """The position of the next token; a picture may take other positions than places."""
        return self._position

    @property
    def used(self) -> int:
        """Places of the context that sequence 0 takes."""
        return self._cells

    def set_prefix(self, tokens: Sequence[int]) -> NoReturn:
        """Never: a prefix of tokens alone belongs to the text's own context."""
        raise BugError("A text prefix was set in the context of pictures.", code="engine_vision")

    def advance(self, tokens: Sequence[int], length: int) -> NoReturn:
        """Never, as for `set_prefix`."""
        self.set_prefix(tokens)

    def save(self) -> NoReturn:
        """Never: a state with pictures is not kept."""
        raise BugError("A state with pictures was to be kept.", code="engine_vision")

    def forget(self) -> None:
        """Drop every picture and overwrite the cache; both hold what belongs to a patient."""
        self._enter()
        self._empty()
        self._lib.llama_memory_clear(self._memory, True)
        for image in self._images.values():
            self._mtmd.mtmd_input_chunks_free(image.chunks)
        self._images.clear()

    def _empty(self) -> None:
        self.drop_forks()
        self._lib.llama_memory_seq_rm(self._memory, 0, -1, -1)
        self._seen = self._tail = None
        self._position = self._cells = 0
        self._seen_end = (0, 0)

    # -------------------------------------------------------------------------------------------------- looking

    def count(self, pieces: Sequence[Piece]) -> int:
        """Places that the pieces take in the context; nothing is encoded."""
        self._enter()
        return sum(self._image(p).tokens if isinstance(p, Picture) else len(p) for p in pieces)

    def look(self, pieces: Sequence[Piece]) -> bool:
        """Make sequence 0 hold the pieces, the last of which is a text; `prefix_logits` are those after it.

        What comes before the last picture's end is kept from call to call, so that another question about the same
        pictures costs its own tokens only. The same pieces give the same bits whatever was held before. True where
        what had been seen was still there.

        Raises:
            BugError: no picture, more than four, none of ours, or no text after them.
            ModelError: they do not fit; a picture cannot be decoded.
            Cancelled: `stop` was set; the engine holds nothing.
        """
        self._enter()
        seen, tail = _split(pieces)
        guards.check_prefix(self.count(pieces), self.n_ctx)
        self.drop_forks()
        with self._nothing_half():
            kept = self._see(seen)
            if not kept or self._tail != tail:
                self._cut()
                self._read(tail)
                self._tail = tail
        return kept

    def _see(self, seen: Sequence[Piece]) -> bool:
        """Make sequence 0 begin with what ends in the last picture; True where it did already."""
        key = tuple(self._key(piece) if isinstance(piece, Picture) else piece for piece in seen)
        if self._seen == key:
            return True
        self._empty()
        for piece in seen:
            if isinstance(piece, Picture):
                self._show(self._image(piece))
            else:
                self._write(piece)
        self._seen, self._seen_end = key, (self._position, self._cells)
        return False

    @contextmanager
    def _nothing_half(self) -> Iterator[None]:
        """Where the work fails, nothing half seen is left."""
        try:
            yield
        except BaseException:
            self._empty()
            raise

    def _cut(self) -> None:
        """Back to the end of the last picture."""
        self._position, self._cells = self._seen_end
        self._tail = None
        if not self._lib.llama_memory_seq_rm(self._memory, 0, self._position, -1):
            raise ModelError("The model's memory of the picture cannot be cut.", code="engine")

    def _read(self, tail: Tokens) -> None:
        self._write(tail[:-1])
        self._write(tail[-1:], wanted=True)
        self._prefix_logits = self.logits(0)

    def _write(self, tokens: Sequence[int], *, wanted: bool = False) -> None:
        chunk = self.setting.chunk
        for at in range(0, len(tokens), chunk):
            part = tokens[at : at + chunk]
            self.decode([Row(token, self._position + i, 0, wanted) for i, token in enumerate(part)])
            self._position += len(part)
            self._cells += len(part)

    # ------------------------------------------------------------------------------------------------- pictures

    def _key(self, picture: Picture) -> _Key:
        return picture.part, self.mmproj_sha256

    def _image(self, picture: Picture) -> _Image:
        key = self._key(picture)
        if key not in self._images:
            self._images[key] = self._prepared(guards.check_picture(picture.png))
        self._images.move_to_end(key)
        while len(self._images) > MOST_IMAGES:
            _, old = self._images.popitem(last=False)
            self._mtmd.mtmd_input_chunks_free(old.chunks)
        return self._images[key]

    def _prepared(self, png: bytes) -> _Image:
        """A picture cut and scaled for the encoder, with the marks that its family puts around it."""
        mtmd = self._mtmd
        room = (ctypes.c_uint8 * len(png)).from_buffer_copy(png)
        bitmap = mtmd.mtmd_helper_bitmap_init_from_buf(self._eyes, room, len(png), False)
        if not bitmap:
            raise ModelError("The picture cannot be decoded for the model.", code="picture")
        mtmd.mtmd_bitmap_set_id(bitmap, hashlib.sha256(png).hexdigest().encode())
        chunks = mtmd.mtmd_input_chunks_init()
        part = mtmd.mtmd_input_part(text=None, bitmap=bitmap)
        parts = (ctypes.POINTER(mtmd.mtmd_input_part) * 1)(ctypes.pointer(part))
        failed = mtmd.mtmd_tokenize_from_parts(self._eyes, chunks, parts, 1, False)
        mtmd.mtmd_bitmap_free(bitmap)
        if failed:
            mtmd.mtmd_input_chunks_free(chunks)
            raise ModelError("The picture cannot be prepared for the model.", code="picture")
        return _Image(chunks, int(mtmd.mtmd_helper_get_n_tokens(chunks)))

    def _show(self, image: _Image) -> None:
        """Put a picture and its marks after what sequence 0 holds."""
        new = image.embeddings == {}
        for number in range(self._mtmd.mtmd_input_chunks_size(image.chunks)):
            chunk = self._mtmd.mtmd_input_chunks_get(image.chunks, number)
            if self._mtmd.mtmd_input_chunk_get_type(chunk) == IMAGE:
                self._show_chunk(image, number, chunk)
            else:
                self._write(self._text_of(chunk))
        self.encodings += new

    def _text_of(self, chunk: Any) -> Tokens:
        count = ctypes.c_size_t()
        found = self._mtmd.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
        return tuple(found[: count.value])

    def _show_chunk(self, image: _Image, number: int, chunk: Any) -> None:
        tokens = int(self._mtmd.mtmd_input_chunk_get_n_tokens(chunk))
        if number not in image.embeddings:
            image.embeddings[number] = self._encode(chunk, tokens)
        after = ctypes.c_int32()
        values = image.embeddings[number].ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        self._check_stop()
        code = self._mtmd.mtmd_helper_decode_image_chunk(
            self._eyes,
            self._context,
            chunk,
            values,
            self._position,
            0,
            self.setting.n_batch,
            ctypes.byref(after),
            self._mtmd.mtmd_helper_post_decode_callback(),
            None,
        )
        self._lib.llama_set_causal_attn(self._context, True)  # a failure must not leave it off
        self._judge(int(code))
        self._position, self._cells = after.value, self._cells + tokens

    def _encode(self, chunk: Any, tokens: int) -> NDArray[np.float32]:
        """The slow step, which cannot be interrupted: `check_picture` bounds it by the picture's size."""
        self._check_stop()
        if self._mtmd.mtmd_encode_chunk(self._eyes, chunk):
            raise ModelError("The picture cannot be encoded by the model.", code="picture")
        width = int(self._lib.llama_model_n_embd_inp(self._model))
        kind = ctypes.POINTER(ctypes.c_float * (tokens * width))
        found = ctypes.cast(self._mtmd.mtmd_get_output_embd(self._eyes), kind)
        return np.array(found.contents, dtype=np.float32)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Cancelled("picture")

    # ------------------------------------------------------------------------------------------------ questions

    def ask(
        self, seen: Sequence[Piece], questions: Sequence[Tokens], sampling: Sampling, *, grammar: str | None = None
    ) -> list[Draft]:
        """An answer to each question about the same pictures: one encoding, one prefix, a fork for each question.

        `seen` ends in a picture. Under `exact` each answer has the bits of `look` and `sample` for its question alone.
        """
        self._enter()
        room = self.n_ctx - self.count(seen) - sum(map(len, questions))
        together = len(questions) <= self.setting.forks and room >= len(questions) * sampling.max_tokens
        if sampling.exact or not together or sum(map(len, questions)) > self.setting.n_batch:
            return [self._ask_alone(seen, question, sampling, grammar) for question in questions]
        _split((*seen, questions[0]))
        with self._nothing_half():
            self._see(seen)
            self._cut()
        return self._ask_together(questions, sampling, grammar)

    def _ask_alone(self, seen: Sequence[Piece], question: Tokens, sampling: Sampling, grammar: str | None) -> Draft:
        self.look((*seen, question))
        [draft] = sample(self, sampling, 1, grammar=grammar)
        return draft

    def _ask_together(self, questions: Sequence[Tokens], sampling: Sampling, grammar: str | None) -> list[Draft]:
        drafts: list[Draft] = []
        seed = fork_seed(sampling.seed, 0)
        try:
            for number, question in enumerate(questions, start=1):
                sampler, start = self.sampler(sampling, seed, grammar), self._position + len(question)
                drafts.append(Draft(number, sampler, start=start, max_tokens=sampling.max_tokens))
            self.fork(range(1, len(questions) + 1))
            finish(self, drafts, self._first(questions))
        finally:
            for draft in drafts:
                draft.sampler.close()
            self.drop_forks()
        return drafts

    def _first(self, questions: Sequence[Tokens]) -> list[Logits]:
        """All questions in one native call, each in its own fork; the logits after each."""
        rows = [
            Row(token, self._position + place, number, place == len(question) - 1)
            for number, question in enumerate(questions, start=1)
            for place, token in enumerate(question)
        ]
        self.decode(rows)
        return [self.logits(at) for at, row in enumerate(rows) if row.wanted]


def _split(pieces: Sequence[Piece]) -> tuple[tuple[Piece, ...], Tokens]:
    """What ends in the last picture, and the tokens after it."""
    prompt = Prompt(tuple(pieces), 0)
    if len({piece.part for piece in pieces if isinstance(piece, Picture)}) > MOST_IMAGES:
        raise ModelError(f"The model can look at {MOST_IMAGES} pictures at most in one question.", code="pictures")
    if not prompt.seen or not prompt.after_picture:
        raise BugError("A question about pictures needs a picture and a text after it.", code="engine_vision")
    return prompt.until_picture, prompt.after_picture
