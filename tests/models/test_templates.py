"""Prompt text of each family, and that a document cannot end a turn."""

from __future__ import annotations

import pytest

from core.domain.chat import message
from core.errors import BugError
from models.llama.engine import Engine
from models.llama.templates import Segment, build_prompt


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
