"""`@tool`: name, version, the docstring as the model reads it, the argument struct as its schema."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.action import CallTool, ToolResult
from core.errors import ToolError
from core.runtime.registry import RegisteredTool, ToolContext, tool
from tests.helpers.runs import CASE
from tools import TOOLS


class Span(msgspec.Struct, frozen=True):
    """Arguments."""

    start: int
    end: int


@tool(name="excerpt", version="2")
def excerpt(arguments: Span, context: ToolContext) -> ToolResult:
    """Read a span of the first note."""
    if arguments.end < arguments.start:
        raise ToolError("excerpt: the end lies before the start", code="span")
    return ToolResult(text=context.case.notes[0].text[arguments.start : arguments.end])


def call(arguments: str) -> ToolResult:
    return excerpt.bind(ToolContext(case=CASE)).call(CallTool(tool="excerpt", arguments=arguments))


def test_a_function_becomes_a_tool() -> None:
    assert isinstance(excerpt, RegisteredTool)
    bound = excerpt.bind(ToolContext(case=CASE))
    assert (bound.name, bound.version) == ("excerpt", "2")
    assert excerpt.description == "Read a span of the first note."
    assert excerpt.arguments is Span


def test_it_sees_its_arguments_and_the_case() -> None:
    assert call('{"start":0,"end":10}').text == "Breathless"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"start":0}', "bad_args"),
        ('{"start":"a","end":1}', "bad_args"),
        ("not json", "bad_args"),
        ('{"start":5,"end":1}', "span"),
    ],
)
def test_what_it_refuses_is_a_sentence_for_the_model(arguments: str, code: str) -> None:
    with pytest.raises(ToolError, match="^excerpt: ") as refused:
        call(arguments)
    assert refused.value.code == code


def test_every_shipped_tool_is_documented_and_has_a_schema() -> None:
    assert len({shipped.name for shipped in TOOLS}) == len(TOOLS)
    for shipped in TOOLS:
        assert len(shipped.description) > 60, shipped.name
        assert shipped.version
        fields = msgspec.json.schema(shipped.arguments)["$defs"][shipped.arguments.__name__]["properties"]
        assert fields
        assert all(f"`{name}`" in shipped.description for name in fields), shipped.name
