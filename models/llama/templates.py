"""Prompts as text with our own markup, one builder a family (runtime.md 1); never the model file's own template.

A prompt is a row of segments. Only our markup is read for control words: a document that contains "<|im_end|>" stays
text and cannot end a turn. A picture is a segment of its own. Knows no model and no case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.domain.chat import ImagePart, Message
from core.errors import BugError


class Segment(NamedTuple):
    """A piece of a prompt; `markup` ones are ours and may hold control words; `image` stands for a picture."""

    text: str
    markup: bool = False
    image: ImagePart | None = None


Turns = Callable[[Sequence[Message]], list[list[Segment]]]


def _content(turn: Message, *, lead: str = "", strip: bool = False) -> list[Segment]:
    """A turn's parts, with `lead` before them; text that follows text is one segment, so that its tokens are whole."""
    made = [Segment(lead)]
    for part in turn.parts:
        if isinstance(part, ImagePart):
            made += [Segment("", image=part), Segment("")]
        else:
            made[-1] = Segment(made[-1].text + part.text)
    if strip:
        made[0] = Segment(made[0].text.lstrip())
        made[-1] = Segment(made[-1].text.rstrip())
    return [segment for segment in made if segment.text or segment.image]


def _chatml(messages: Sequence[Message]) -> list[list[Segment]]:
    """<|im_start|>role, text, <|im_end|> (SmolLM2, Qwen 2 and 3). A last turn of the assistant stays open: the answer
    continues it."""
    made = [
        [
            Segment("<|im_start|>", True),
            *_content(turn, lead=f"{turn.role}\n"),
            Segment("<|im_end|>", True),
            Segment("\n"),
        ]
        for turn in messages
    ]
    return _opened(made, messages, tail=2, start=[Segment("<|im_start|>", True), Segment("assistant\n")])


def _qwen3(messages: Sequence[Message]) -> list[list[Segment]]:
    """As ChatML, with thinking switched off as Qwen 3's own template does it: an empty pair of think marks."""
    made = _chatml(messages)
    if messages[-1].role != "assistant":
        made[-1] += [Segment("<think>", True), Segment("\n\n"), Segment("</think>", True), Segment("\n\n")]
    return made


def _gemma(messages: Sequence[Message]) -> list[list[Segment]]:
    """<start_of_turn>user, text, <end_of_turn> (Gemma 2 and 3, instruction-tuned). There is no system role: what it
    says stands before the first turn of the user; the assistant is called model, and texts are stripped."""
    made: list[list[Segment]] = []
    start, system = Segment("<start_of_turn>", True), _leading_system(messages)
    for i, turn in enumerate(messages):
        if system and i == 0:  # written here, so that a static part ends where it ends
            made.append([start, *_content(turn, lead="user\n"), Segment("\n\n")])
            continue
        role = "model" if turn.role == "assistant" else "user"
        opened = [] if system and i == 1 else [start, Segment(f"{role}\n")]
        made.append([*opened, *_content(turn, strip=True), Segment("<end_of_turn>", True), Segment("\n")])
    if system and len(messages) == 1:
        made[0] += [Segment("<end_of_turn>", True), Segment("\n")]
    return _opened(made, messages, tail=2, start=[start, Segment("model\n")])


def _leading_system(messages: Sequence[Message]) -> bool:
    """Whether the first turn is the system's and the next one the user's, as a family without that role needs it."""
    if messages[0].role != "system":
        return False
    if len(messages) > 1 and messages[1].role != "user":
        raise BugError("The system's turn is not followed by the user's.", code="template")
    return True


def _llama3(messages: Sequence[Message]) -> list[list[Segment]]:
    """<|start_header_id|>role<|end_header_id|>, an empty line, text, <|eot_id|> (Llama 3 and 3.1); texts stripped."""
    made = [[*_header(turn.role), *_content(turn, strip=True), Segment("<|eot_id|>", True)] for turn in messages]
    return _opened(made, messages, tail=1, start=_header("assistant"))


def _header(role: str) -> list[Segment]:
    opened, closed = Segment("<|start_header_id|>", True), Segment("<|end_header_id|>", True)
    return [opened, Segment(role), closed, Segment("\n\n")]


def _opened(
    made: list[list[Segment]], messages: Sequence[Message], *, tail: int, start: list[Segment]
) -> list[list[Segment]]:
    """Leave a last turn of the assistant open by dropping its `tail` segments, else `start` a turn for it."""
    made[-1] = made[-1][:-tail] if messages[-1].role == "assistant" else [*made[-1], *start]
    return made


def _plain(messages: Sequence[Message]) -> list[list[Segment]]:
    """For base models: the texts, one after the other on their own lines."""
    return [_content(turn, lead="\n" if i else "") for i, turn in enumerate(messages)]


TEMPLATES: dict[str, Turns] = {
    "chatml": _chatml,
    "gemma": _gemma,
    "llama3": _llama3,
    "plain": _plain,
    "qwen3": _qwen3,
}


def build_prompt(template: str, messages: Sequence[Message]) -> tuple[tuple[Segment, ...], ...]:
    """The segments of each message, in order; the last ones end where the answer begins.

    Raises:
        BugError: an unknown template, or no message.
    """
    if template not in TEMPLATES or not messages:
        raise BugError(f"No prompt can be built by the template {template}.", code="template")
    return tuple(tuple(segments) for segments in TEMPLATES[template](messages))
