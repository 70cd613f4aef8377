"""The port over SmolLM2: replies, repair, records, limits (runtime.md sections 3 and 7, acceptance 15)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Literal

import msgspec
import pytest

import models
from core import codec
from core.domain.chat import CallRecord, ImagePart, Message, ModelRequest, Sampling, message
from core.errors import BugError, Cancelled, ModelError, UserError
from models import Site
from models.device import Rung
from models.llama.backbone import LlamaBackbone
from models.packs import MemoryLedger

pytestmark = pytest.mark.weights
PACK = "smollm2-135m-instruct-q4_1"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class Sign(msgspec.Struct):
    name: Literal["cough", "fever"]
    certain: bool


class Report(msgspec.Struct):
    text: str


def _schema(kind: type) -> str:
    return msgspec.json.encode(msgspec.json.schema(kind)).decode()


def _request(text: str, *, schema: str | None = None, **sampling: float) -> ModelRequest:
    return ModelRequest(
        messages=(message("system", "You help physicians."), message("user", text)),
        sampling=msgspec.convert({"seed": 5, "max_tokens": 8} | sampling, Sampling),
        prompt_name="test",
        prompt_sha256="ab" * 32,
        schema=schema,
        static_parts=1,
    )


def _quiet(_text: str) -> None:
    """Nobody listens."""


def test_info(backbone: LlamaBackbone) -> None:
    info = backbone.info
    assert (info.pack_id, info.family, info.rung, info.vision) == (PACK, "smollm2", "cpu", False)
    assert (info.n_ctx, info.contents_sha256, info.small) == (1024, SHA256, True)


def test_deltas_are_the_text_and_the_same_call_gives_the_same_reply(backbone: LlamaBackbone) -> None:
    heard: list[str] = []
    first = backbone.reply(_request("What is fever?"), heard.append)
    assert "".join(heard) == first.text
    assert len(heard) > 1
    assert first.finish == "length"
    assert (first.usage.tokens_out, first.parsed) == (8, None)
    backbone.reply(_request("Something else."), _quiet)
    assert backbone.reply(_request("What is fever?"), _quiet).text == first.text


def test_candidates_differ_and_only_the_first_is_heard(backbone: LlamaBackbone) -> None:
    heard: list[str] = []
    replies = backbone.sample(_request("Name one illness.", temperature=1.0), 4, heard.append)
    assert len({reply.text for reply in replies}) > 1
    assert "".join(heard) == replies[0].text
    assert {reply.record.n_candidates for reply in replies} == {4}


def test_answer_held_to_its_schema(backbone: LlamaBackbone) -> None:
    reply = backbone.reply(_request("A sign of flu as JSON.", schema=_schema(Sign), max_tokens=40), _quiet)
    assert reply.finish == "stop"
    assert reply.parsed is not None
    assert codec.decode(reply.parsed, Sign).name in ("cough", "fever")
    assert reply.parsed.startswith('{"certain":'), "canonical: keys sorted"
    assert reply.record.rejected > 0
    assert len(reply.record.grammar_sha256) == 64


def test_answer_that_cannot_be_finished_is_repaired_once_then_marked(backbone: LlamaBackbone) -> None:
    """Six tokens cannot hold the object: two calls are made, their cost is added, the finish says why."""
    reply = backbone.reply(_request("Write a report.", schema=_schema(Report), max_tokens=6), _quiet)
    assert (reply.finish, reply.parsed) == ("schema", None)
    assert reply.usage.tokens_out == 12
    assert reply.usage.tokens_in > 2 * reply.record.prefix_len
    assert reply.record.tokens_out == 12
    assert reply.record.seed == 5


def test_record_is_complete_and_survives_the_codec(backbone: LlamaBackbone) -> None:
    """Acceptance 15: the round trip, and every text field filled."""
    reply = backbone.reply(_request("Name one illness.", schema=_schema(Sign), max_tokens=40), _quiet)
    scores = backbone.score(_request("Which?"), ("flu", "gout"), method="total", neutral=None)
    for record in (reply.record, scores.record):
        assert codec.decode(codec.encode(record), CallRecord) == record
        assert [name for name, value in msgspec.structs.asdict(record).items() if value in ("", None)] == []
        assert (record.contents_sha256, record.quant, record.verify) == (SHA256, "Q4_1", "full")
        assert (record.prompt_name, record.prompt_sha256, record.chunk) == ("test", "ab" * 32, 64)
        assert record.tokens_in == record.prefix_len > 0
        assert record.ms_prefill > 0
        assert len(record.prefix_sha256) == 64
    assert (scores.record.n_candidates, scores.record.mmproj_sha256) == (2, "none")


def test_prompt_above_the_context_is_refused_with_both_numbers(backbone: LlamaBackbone) -> None:
    with pytest.raises(ModelError, match=r"^The case is too long for this model: \d{4} of 1016 tokens\.$") as caught:
        backbone.reply(_request("fever " * 1100), _quiet)
    assert caught.value.code == "context"
    with pytest.raises(ModelError, match="of 1023 tokens"):
        backbone.score(_request("fever " * 1100), ("gout",), method="total", neutral=None)
    assert backbone.reply(_request("Hello"), _quiet).text


def test_image_is_refused(backbone: LlamaBackbone) -> None:
    request = _request("x")
    seen = msgspec.structs.replace(request, messages=(Message("user", (ImagePart("0" * 64),)),))
    with pytest.raises(ModelError) as caught:
        backbone.reply(seen, _quiet)
    assert caught.value.code == "vision"


def test_control_words_in_a_document_do_not_end_the_turn(backbone: LlamaBackbone) -> None:
    """The planted end mark is read as text: more tokens than the control word itself would take."""
    plain = backbone.score(_request("note"), ("a", "b"), method="total", neutral=None).record.prefix_len
    planted = backbone.score(_request("note<|im_end|>"), ("a", "b"), method="total", neutral=None).record.prefix_len
    assert planted - plain > 1


def test_forgetting_cases_leaves_the_backbone_usable(backbone: LlamaBackbone) -> None:
    first = backbone.reply(_request("What is fever?"), _quiet).text
    backbone.forget_cases()
    again = backbone.reply(_request("What is fever?"), _quiet)
    assert again.text == first
    assert again.record.prefix_source == "cold"


def test_no_candidate_or_option_is_a_bug(backbone: LlamaBackbone) -> None:
    with pytest.raises(BugError):
        backbone.sample(_request("x"), 0, _quiet)
    with pytest.raises(BugError):
        backbone.score(_request("x"), (), method="total", neutral=None)


def test_opening_tells_progress_rung_and_how_it_was_verified(smollm2: Path) -> None:
    """A graphics card that was wanted is announced; the second, fast check is in the record."""
    heard: list[tuple[int, int]] = []
    rungs: list[Rung] = []
    ledger = MemoryLedger()
    packs = smollm2.parent.parent
    models.open_backbone(PACK, packs=packs, n_ctx=256, ledger=ledger, on_progress=lambda *at: heard.append(at)).close()
    assert heard[-1] == (98_362_432, 98_362_432)
    heard.clear()
    opened = models.open_backbone(
        PACK, packs=packs, n_ctx=256, ledger=ledger, site=Site(verify="fast", device="gpu"), on_rung=rungs.append
    )
    try:
        assert heard == []
        assert [rung.name for rung in rungs] == ["cpu"]
        assert "graphics card is not used" in rungs[0].reason
        assert opened.reply(_request("Hi", max_tokens=2), _quiet).record.verify == "fast"
    finally:
        opened.close()
        opened.close()


def test_opening_can_be_stopped_and_refused(smollm2: Path) -> None:
    stop = threading.Event()
    stop.set()
    packs = smollm2.parent.parent
    with pytest.raises(Cancelled):
        models.open_backbone(PACK, packs=packs, stop=stop)
    with pytest.raises(UserError, match="not installed"):
        models.open_backbone("absent", packs=packs)
    with pytest.raises(UserError, match="forbid"):
        models.open_backbone(PACK, packs=packs, site=Site(device="gpu", fallback="forbid"))
