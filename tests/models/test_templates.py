"""Prompt text of each family, and that a document cannot end a turn."""

from __future__ import annotations

import pytest

from core.domain.chat import ImagePart, Message, TextPart, message
from core.errors import BugError
from models.llama.engine import Engine
from models.llama.templates import TEMPLATES, Segment, build_prompt


def _text(template: str, *turns: tuple[str, str]) -> str:
    messages = [message(role, text) for role, text in turns]  # type: ignore[arg-type]
    return "".join(segment.text for parts in build_prompt(template, messages) for segment in parts)


def test_chatml_as_its_model_card_shows_it() -> None:
    assert _text("chatml", ("system", "Be brief."), ("user", "Hello")) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    )


def test_last_turn_of_the_assistant_stays_open() -> None:
    assert _text("chatml", ("user", "Question"), ("assistant", "Answer:")).endswith("<|im_start|>assistant\nAnswer:")


def test_plain_joins_lines() -> None:
    assert _text("plain", ("system", "A"), ("user", "B"), ("assistant", "Answer:")) == "A\nB\nAnswer:"


def test_gemma_as_its_model_card_shows_it() -> None:
    """Google's card of Gemma 3: no system role, its words before the user's first; the assistant is "model"."""
    assert _text("gemma", ("user", " Hello ")) == ("<start_of_turn>user\nHello<end_of_turn>\n<start_of_turn>model\n")
    assert _text("gemma", ("system", "Be brief."), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Go")) == (
        "<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nYes?<end_of_turn>\n"
        "<start_of_turn>user\nGo<end_of_turn>\n<start_of_turn>model\n"
    )
    assert _text("gemma", ("user", "Q"), ("assistant", "A:")).endswith("<start_of_turn>model\nA:")
    with pytest.raises(BugError, match="not followed"):
        _text("gemma", ("system", "S"), ("assistant", "A"))


def test_llama3_as_its_model_card_shows_it() -> None:
    """Meta's prompt format of Llama 3: headers, an empty line, the text, <|eot_id|>."""
    assert _text("llama3", ("system", "Be brief."), ("user", "Hello\n")) == (
        "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    assert _text("llama3", ("user", "Q"), ("assistant", "A:")).endswith("<|end_header_id|>\n\nA:")


def test_qwen3_without_thinking_as_its_own_template_writes_it() -> None:
    """Qwen 3 with enable_thinking = false: ChatML, then an empty pair of think marks."""
    assert _text("qwen3", ("user", "Hello")) == (
        "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )
    assert _text("qwen3", ("user", "Q"), ("assistant", "A:")).endswith("<|im_start|>assistant\nA:")


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_each_message_ends_where_its_own_part_ends(template: str) -> None:
    """The system's part does not depend on what follows: it is what may be kept on disk."""
    system = message("system", "Be brief.")
    first, second = (build_prompt(template, [system, message("user", text)]) for text in ("One", "Two words"))
    assert first[0] == second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_picture_stands_where_it_was_put(template: str) -> None:
    part = ImagePart("ab" * 32)
    turn = Message("user", (TextPart("Before."), part, TextPart("After.")))
    [segments] = build_prompt(template, [turn])
    at = [segment.image for segment in segments].index(part)
    assert sum(segment.image is not None for segment in segments) == 1
    assert segments[at - 1].text.endswith("Before.")
    assert segments[at + 1].text.startswith("After.")
    assert not any(segment.markup for segment in (segments[at - 1], segments[at], segments[at + 1]))


def test_text_is_never_markup() -> None:
    [parts] = build_prompt("chatml", [message("user", "x<|im_end|>y")])
    assert Segment("user\nx<|im_end|>y", False) in parts
    assert {segment.text for segment in parts if segment.markup} == {"<|im_start|>", "<|im_end|>"}


def test_unknown_template_and_empty_prompt_are_bugs() -> None:
    for template, messages in (("none", [message("user", "x")]), ("chatml", [])):
        with pytest.raises(BugError):
            build_prompt(template, messages)


@pytest.mark.weights
def test_segments_give_the_tokens_of_the_whole_text(engine: Engine) -> None:
    """Splitting at our markup changes no token; a document's "<|im_end|>" becomes no control token."""
    turns = [message("system", "You help physicians."), message("user", "Fever, 39.2 °C.\nWhat now?")]
    segments = [segment for parts in build_prompt("chatml", turns) for segment in parts]
    pieces = [token for segment in segments for token in engine.tokenize(segment.text, markup=segment.markup)]
    assert tuple(pieces) == engine.tokenize("".join(segment.text for segment in segments), markup=True)
    control = engine.tokenize("<|im_end|>", markup=True)
    assert len(control) == 1
    assert control[0] not in engine.tokenize("x<|im_end|>y")
