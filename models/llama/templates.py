"""Prompts as text with our own markup, one builder a family (runtime.md 1); never the model file's own template.

A prompt is a row of segments. Only our markup is read for control words: a document that contains "<|im_end|>" stays
text and cannot end a turn. Knows no model and no case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.domain.chat import Message
from core.errors import BugError


class Segment(NamedTuple):
    """A piece of a prompt; `markup` ones are ours and may hold control words."""

    text: str
    markup: bool = False


Turn = Callable[[Message, bool, bool], list[Segment]]


def _chatml(message: Message, _first: bool, last: bool) -> list[Segment]:
    """<|im_start|>role, text, <|im_end|>. A last turn of the assistant stays open: the answer continues it."""
    opened = [Segment("<|im_start|>", True), Segment(f"{message.role}\n{message.text}")]
    if last and message.role == "assistant":
        return opened
    closed = [*opened, Segment("<|im_end|>", True), Segment("\n")]
    return [*closed, Segment("<|im_start|>", True), Segment("assistant\n")] if last else closed


def _plain(message: Message, first: bool, _last: bool) -> list[Segment]:
    """For base models: the texts, one after the other on their own lines."""
    return [Segment(message.text if first else f"\n{message.text}")]


TEMPLATES: dict[str, Turn] = {"chatml": _chatml, "plain": _plain}


def build_prompt(template: str, messages: Sequence[Message]) -> tuple[tuple[Segment, ...], ...]:
    """The segments of each message, in order; the last ones end where the answer begins.

    Raises:
        BugError: an unknown template, or no message.
    """
    if template not in TEMPLATES or not messages:
        raise BugError(f"No prompt can be built by the template {template}.", code="template")
    turn, last = TEMPLATES[template], len(messages) - 1
    return tuple(tuple(turn(message, i == 0, i == last)) for i, message in enumerate(messages))
