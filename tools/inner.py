"""Plan, Think, Finish: what a model says to itself, and its answer. They read nothing and compute nothing."""

from __future__ import annotations

from itertools import takewhile
from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.task import AnswerSpec
from core.runtime.registry import ToolContext, refusal, tool

LONGEST = 2_000  # characters of a plan, a thought, a free answer
MOST_THOUGHTS = 2  # in a row, before a model is told to go on
DONE, GO_ON = "OK", "OK. Use a tool or finish."


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of Plan and Think."""

    response: Annotated[str, msgspec.Meta(description="The words, at most 2,000 characters.")]


class Answered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of Finish."""

    answer: Annotated[str, msgspec.Meta(description="The answer; of given options the option or its letter.")] = ""
    evidence: Annotated[
        tuple[int, ...], msgspec.Meta(max_length=32, description="Numbers of the steps that the answer rests on.")
    ] = ()
    response: Annotated[str, msgspec.Meta(description="The answer in the published form; then no `answer`.")] = ""


class Final(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data`: the answer in the form that the task asks for, and the steps that it cites."""

    answer: str
    evidence: tuple[int, ...]


@tool(name="Plan", version="1", dimension="Inner")
def plan(arguments: Response, context: ToolContext) -> ToolResult:
    """Write down in `response` how you will go about the task. Nothing else happens."""
    del context
    _words("Plan", arguments.response)
    return ToolResult(text=DONE)


@tool(name="Think", version="1", dimension="Inner")
def think(arguments: Response, context: ToolContext) -> ToolResult:
    """Write down in `response` what you make of the observations so far. Nothing else happens."""
    _words("Think", arguments.response)
    before = takewhile(lambda step: step.tool == "Think", reversed(context.steps()))
    return ToolResult(text=GO_ON if sum(1 for _ in before) >= MOST_THOUGHTS else DONE)


@tool(name="Finish", version="1", dimension="Inner", aliases=("Answer", "Submit"))
def finish(arguments: Answered, context: ToolContext) -> ToolResult:
    """Give the final `answer` and, in `evidence`, the numbers of the steps that it rests on (or `response` alone)."""
    if bool(arguments.answer.strip()) == bool(arguments.response.strip()):
        raise refusal("Finish", "bad_args", "give the answer, once")
    text = _words("Finish", arguments.answer or arguments.response)
    taken = len(context.steps())
    for step in arguments.evidence:
        if not 1 <= step <= taken:
            raise refusal("Finish", "bad_args", f"there is no step {step}; {taken} steps were taken")
    answer = _option(text, context.answer) if context.answer.form == "option" else text
    return ToolResult(text=answer, data=codec.encode(Final(answer=answer, evidence=arguments.evidence)).decode())


def _words(name: str, text: str) -> str:
    if not text.strip():
        raise refusal(name, "bad_args", "the text is empty")
    if len(text) > LONGEST:
        raise refusal(name, "bad_args", f"the text is longer than {LONGEST} characters")
    return text.strip()


def _option(text: str, spec: AnswerSpec) -> str:
    """The option that is meant, by its words or its letter."""
    plain = {" ".join(option.casefold().split()): option for option in spec.options}
    lettered = {chr(ord("a") + place): option for place, option in enumerate(spec.options[:26])}
    said = " ".join(text.casefold().split())
    found = plain.get(said) or lettered.get(said.strip("().: "))
    if found is None:
        raise refusal("Finish", "bad_args", f"the answer is none of the options: {', '.join(spec.options)}")
    return found
