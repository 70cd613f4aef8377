"""The language model as the workflows see it: the port `Backbone` over an `Engine` (runtime.md sections 3 and 7).

Builds prompts, counts tokens, holds answers to their schema, and writes the record of each call. Calls no native
function; knows no case and no workflow. All calls come from the thread that made the engine.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

import msgspec

from core import codec
from core.domain.chat import (
    CallRecord,
    ImagePart,
    Message,
    Method,
    ModelReply,
    ModelRequest,
    Sampling,
    Scores,
    Usage,
    message,
)
from core.domain.pack import BackboneInfo
from core.domain.ports import OnDelta
from core.errors import BugError, ModelError
from models.llama.decoding import Draft, fork_seed, sample
from models.llama.engine import Engine
from models.llama.grammar import write_grammar
from models.llama.prefix import PrefixKeeper, Source
from models.llama.prompt import Picture, Piece, Prompt, count_tokens, join
from models.llama.schema import name_of, read_schema
from models.llama.scoring import Tokens, log_likelihoods, softmax
from models.llama.templates import Segment, build_prompt
from models.llama.vision import VisionEngine
from models.packs import Verify

NONE = "none"
BASES = 64  # neutral scores kept at most
_BaseKey = tuple[str, tuple[Tokens, ...]]


class LoadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the loader knows of the pack and the machine, for the record."""

    template: str
    quant: str
    device: str
    verify: Verify


class Sight(msgspec.Struct, frozen=True):
    """How the model sees: its engine for pictures, and who renders them (8-bit PNG, within the part's `side`)."""

    engine: VisionEngine
    render: Callable[[ImagePart], bytes]


class _Prefill(msgspec.Struct, frozen=True):
    """An engine that holds a prompt, of `length` places in its context."""

    engine: Engine
    prompt: Prompt
    length: int
    source: Source
    milliseconds: float


class LlamaBackbone:
    """A loaded language model; `close` it, engine and all."""

    def __init__(
        self,
        engine: Engine,
        keeper: PrefixKeeper,
        *,
        info: BackboneInfo,
        facts: LoadFacts,
        sight: Sight | None = None,
    ) -> None:
        self._engine, self._keeper, self._info, self._facts, self._sight = engine, keeper, info, facts, sight
        self._bases: OrderedDict[_BaseKey, tuple[float, ...]] = OrderedDict()

    @property
    def info(self) -> BackboneInfo:
        """Pack, family, context length, rung, hash."""
        return self._info

    def reply(self, request: ModelRequest, on_delta: OnDelta) -> ModelReply:
        """One answer; `on_delta` hears its text as it grows.

        Raises:
            ModelError: the prompt does not fit (code `context`), or the engine failed.
            Cancelled: the run was stopped; the backbone stays usable.
        """
        return self.sample(request, 1, on_delta)[0]

    def sample(self, request: ModelRequest, n: int, on_delta: OnDelta) -> tuple[ModelReply, ...]:
        """n answers from one shared prefix, in order; `on_delta` hears the first. Errors as for `reply`.

        `tokens_in` and `ms_prefill` of each reply are those of the shared prefix. An answer that breaks its schema
        is asked for once more; if that one breaks it too, its finish is "schema".
        """
        if n < 1:
            raise BugError(f"{n} answers were asked for.", code="sample")
        grammar = write_grammar(request.schema) if request.schema else None
        prefill = self._prefill(request, room=request.sampling.max_tokens)
        drafts = sample(prefill.engine, request.sampling, n, grammar=grammar, on_delta=on_delta)
        replies = [self._reply(request, draft, prefill, n=n, grammar=grammar) for draft in drafts]
        return tuple(self._held_to_schema(request, reply, i) for i, reply in enumerate(replies))

    def ask(self, requests: Sequence[ModelRequest]) -> tuple[ModelReply, ...]:
        """An answer to each question about the same pictures, which are encoded once; one fork for each question.

        The requests differ in the text after their last picture only. Errors as for `reply`.
        """
        first, prompts = requests[0], [self._prompt(request) for request in requests]
        seen = {prompt.until_picture for prompt in prompts}
        if len(seen) != 1 or any((r.sampling, r.schema) != (first.sampling, first.schema) for r in requests):
            raise BugError("Questions asked together must be about the same pictures.", code="ask")
        begun, sight = time.perf_counter(), self._seeing()
        for prompt in prompts:
            self._check_room(sight.engine.count(prompt.pieces), sight.engine, first.sampling.max_tokens)
        grammar = write_grammar(first.schema) if first.schema else None
        [pieces] = seen
        questions = [prompt.after_picture for prompt in prompts]
        before = sight.engine.encodings
        drafts = sight.engine.ask(pieces, questions, first.sampling, grammar=grammar)
        source: Source = "reuse" if sight.engine.encodings == before else "cold"
        spent = (time.perf_counter() - begun) * 1000 - sum(draft.milliseconds for draft in drafts)
        replies = []
        for i, (request, prompt, draft) in enumerate(zip(requests, prompts, drafts, strict=True)):
            length = sight.engine.count(prompt.pieces)
            prefill = _Prefill(sight.engine, prompt, length, source, max(spent, 0.0) / len(prompts))
            reply = self._reply(request, draft, prefill, n=len(prompts), grammar=grammar)
            replies.append(self._held_to_schema(request, reply, i))
        return tuple(replies)

    def score(
        self, request: ModelRequest, options: tuple[str, ...], *, method: Method, neutral: ModelRequest | None
    ) -> Scores:
        """Log-likelihoods of known options (runtime.md 4.5); the order of the options cannot change a bit.

        `pmi` needs `neutral`, the same template with the question left empty. Only the ratio of `probs` within one
        call has meaning: scores of different option sets are not compared. Errors as for `reply`.
        """
        if not options or (method == "pmi" and neutral is None):
            raise BugError("Scoring needs options, and PMI a neutral prompt.", code="score")
        begun = time.perf_counter()
        tokens = tuple(self._engine.tokenize(f" {option}") for option in options)
        prefill = self._prefill(request, room=max(map(len, tokens)))
        totals = log_likelihoods(prefill.engine, tokens)
        base = self._base(neutral, tokens) if neutral is not None else None
        pmi = tuple(own - other for own, other in zip(totals, base, strict=True)) if base else None
        means = tuple(total / len(ids) for total, ids in zip(totals, tokens, strict=True))
        decode_ms = (time.perf_counter() - begun) * 1000 - prefill.milliseconds
        usage = Usage(
            tokens_in=prefill.length,
            tokens_out=sum(map(len, tokens)),
            ms_prefill=prefill.milliseconds,
            ms_decode=decode_ms,
        )
        return Scores(
            options=options,
            total_ll=totals,
            mean_ll=means,
            pmi=pmi,
            probs=softmax(totals if method == "total" else means if method == "mean" or pmi is None else pmi),
            record=self._record(request, prefill, usage, n=len(options)),
        )

    def _base(self, neutral: ModelRequest, tokens: tuple[Tokens, ...]) -> tuple[float, ...]:
        """The options after the neutral prompt. It recurs from call to call, so its values are kept, not redone."""
        key = (self._prompt(neutral).digest, tokens)
        found = self._bases.get(key)
        if found is None:
            prefill = self._prefill(neutral, room=max(map(len, tokens)))
            found = self._bases[key] = log_likelihoods(prefill.engine, tokens)
        self._bases.move_to_end(key)
        if len(self._bases) > BASES:
            self._bases.popitem(last=False)
        return found

    def watch(self, on_stall: Callable[[], None] | None) -> None:
        """Let someone hear when a step of an answer took far too long (runtime.md 4.7, rule 3); once."""
        for engine in (self._engine, self._sight.engine if self._sight else self._engine):
            engine.pace.on_stall = on_stall

    def forget_cases(self) -> None:
        """Drop all kept patient text (case closed, screen locked)."""
        self._bases.clear()
        self._keeper.forget_cases()
        if self._sight is not None:
            self._sight.engine.forget()

    def close(self) -> None:
        """Free the model; the second call does nothing."""
        if self._sight is not None:
            self._sight.engine.close()
        self._engine.close()

    # ---------------------------------------------------------------------------------------------------- prompts

    def _prompt(self, request: ModelRequest) -> Prompt:
        pieces: list[Piece] = [self._engine.begin()]
        static = 0
        for i, segments in enumerate(build_prompt(self._facts.template, request.messages)):
            static = count_tokens(pieces) if i == request.static_parts else static
            for segment in segments:
                pieces = join(pieces, self._piece(segment))
        return Prompt(tuple(piece for piece in pieces if piece), static)

    def _piece(self, segment: Segment) -> Piece:
        if segment.image is not None:
            return Picture(segment.image, self._seeing().render(segment.image))
        return self._engine.tokenize(segment.text, markup=segment.markup)

    def _seeing(self) -> Sight:
        if self._sight is None:
            raise ModelError("This model cannot look at images.", code="vision")
        return self._sight

    def _prefill(self, request: ModelRequest, *, room: int) -> _Prefill:
        """Bring the engine to the request's prompt, with `room` tokens of context left."""
        begun = time.perf_counter()
        prompt = self._prompt(request)
        if prompt.seen:
            return self._look(prompt, room, begun)
        self._check_room(len(prompt.tokens), self._engine, room)
        source = self._keeper.prepare(prompt.tokens, prompt.static)
        spent = (time.perf_counter() - begun) * 1000
        return _Prefill(self._engine, prompt, len(prompt.tokens), source, spent)

    def _look(self, prompt: Prompt, room: int, begun: float) -> _Prefill:
        eyes = self._seeing().engine
        self._check_room(eyes.count(prompt.pieces), eyes, room)
        source: Source = "reuse" if eyes.look(prompt.pieces) else "cold"
        return _Prefill(eyes, prompt, eyes.used, source, (time.perf_counter() - begun) * 1000)

    def _check_room(self, length: int, engine: Engine, room: int) -> None:
        most = engine.n_ctx - room
        if length > most:
            sentence = f"The case is too long for this model: {length} of {max(most, 0)} tokens."
            raise ModelError(sentence, code="context")

    # ---------------------------------------------------------------------------------------------------- replies

    def _reply(
        self, request: ModelRequest, draft: Draft, prefill: _Prefill, *, n: int, grammar: str | None
    ) -> ModelReply:
        usage = Usage(
            tokens_in=prefill.length,
            tokens_out=len(draft.tokens),
            ms_prefill=prefill.milliseconds,
            ms_decode=draft.milliseconds,
        )
        record = self._record(request, prefill, usage, n=n, grammar=grammar, rejected=draft.sampler.rejected)
        finish = draft.finish or "length"
        return ModelReply(text=draft.text, parsed=None, finish=finish, usage=usage, record=record)

    def _held_to_schema(self, request: ModelRequest, reply: ModelReply, index: int) -> ModelReply:
        """The reply with its parsed JSON, after one repair at most."""
        if request.schema is None:
            return reply
        parsed, problem = parse_reply(reply.text, request.schema)
        if problem is None:
            return msgspec.structs.replace(reply, parsed=parsed)
        again = self._repair(request, reply, problem=problem, index=index)
        if again is None:
            return msgspec.structs.replace(reply, finish="schema")
        parsed, problem = parse_reply(again.text, request.schema)
        finish = again.finish if problem is None else "schema"
        return _joined(reply, msgspec.structs.replace(again, parsed=parsed, finish=finish))

    def _repair(self, request: ModelRequest, reply: ModelReply, *, problem: str, index: int) -> ModelReply | None:
        """Ask once more, naming the place and the form; None where the longer prompt does not fit."""
        assert request.schema is not None  # noqa: S101 (the caller returned before)
        seed = fork_seed(request.sampling.seed, index)
        longer = msgspec.structs.replace(
            request,
            messages=_repair_messages(request.messages, reply.text, problem, name_of(read_schema(request.schema))),
            sampling=_seeded(request.sampling, seed),
        )
        try:
            prefill = self._prefill(longer, room=longer.sampling.max_tokens)
        except ModelError:
            return None
        grammar = write_grammar(request.schema)
        [draft] = sample(prefill.engine, longer.sampling, 1, grammar=grammar)
        return self._reply(longer, draft, prefill, n=1, grammar=grammar)

    def _record(
        self,
        request: ModelRequest,
        prefill: _Prefill,
        usage: Usage,
        *,
        n: int,
        grammar: str | None = None,
        rejected: int = 0,
    ) -> CallRecord:
        engine, info, facts, drawn = prefill.engine, self._info, self._facts, request.sampling
        setting, build = engine.setting, engine.build
        return CallRecord(
            pack_id=info.pack_id,
            contents_sha256=info.contents_sha256,
            mmproj_sha256=engine.mmproj_sha256 if isinstance(engine, VisionEngine) else NONE,
            quant=facts.quant,
            lib_version=build.lib_version,
            lib_build=build.lib_build,
            system_info=build.system_info,
            device=facts.device,
            rung=info.rung,
            n_ctx=engine.n_ctx,
            n_batch=setting.n_batch,
            chunk=setting.chunk,
            n_threads=setting.n_threads,
            flash=setting.flash,
            type_k=setting.type_k,
            type_v=setting.type_v,
            n_candidates=n,
            exact=drawn.exact,
            seed=drawn.seed,
            temperature=drawn.temperature,
            top_k=drawn.top_k,
            top_p=drawn.top_p,
            grammar_sha256=codec.sha256(grammar.encode()) if grammar else NONE,
            prompt_name=request.prompt_name,
            prompt_sha256=request.prompt_sha256,
            prefix_sha256=prefill.prompt.digest,
            prefix_len=prefill.length,
            prefix_source=prefill.source,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            ms_prefill=usage.ms_prefill,
            ms_decode=usage.ms_decode,
            rejected=rejected,
            verify=facts.verify,
            unlisted=info.unlisted,
        )


def parse_reply(text: str, schema: str) -> tuple[str | None, str | None]:
    """(canonical JSON, None) where the text fits the schema, else (None, where and why it does not)."""
    try:
        value = json.loads(text)
    except ValueError:
        return None, "$: not complete JSON"
    problem = read_schema(schema).problem(value, "$")
    return (codec.encode(value).decode(), None) if problem is None else (None, problem)


def _repair_messages(messages: tuple[Message, ...], text: str, problem: str, name: str) -> tuple[Message, ...]:
    lead = messages[-1].text if messages[-1].role == "assistant" else ""
    kept = messages[:-1] if lead else messages
    ask = f"That answer is not valid ({problem}). Answer again with one JSON value of the form {name} and nothing else."
    return (*kept, message("assistant", lead + text), message("user", ask))


def _seeded(sampling: Sampling, seed: int) -> Sampling:
    return msgspec.structs.replace(sampling, seed=seed)


def _joined(first: ModelReply, second: ModelReply) -> ModelReply:
    """The second reply, with the cost of both; its record keeps the first call's prefix and seed."""
    usage = Usage(
        tokens_in=first.usage.tokens_in + second.usage.tokens_in,
        tokens_out=first.usage.tokens_out + second.usage.tokens_out,
        ms_prefill=first.usage.ms_prefill + second.usage.ms_prefill,
        ms_decode=first.usage.ms_decode + second.usage.ms_decode,
    )
    record = msgspec.structs.replace(
        first.record,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        ms_prefill=usage.ms_prefill,
        ms_decode=usage.ms_decode,
        rejected=first.record.rejected + second.record.rejected,
    )
    return msgspec.structs.replace(second, usage=usage, record=record)
