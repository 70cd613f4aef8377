"""`@tool`: one function, one argument struct, one docstring become a tool of the toolbox (convention 4).

The function's docstring is what a model reads; its argument struct is the schema. Knows no tool itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

import msgspec

from core import codec
from core.domain.action import CallTool, ToolResult
from core.domain.case import Case
from core.errors import ToolError

Arguments = TypeVar("Arguments", bound=msgspec.Struct)


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may see: the case; never a path."""

    case: Case


class RegisteredTool:
    """A function with its argument struct, callable through the `Tool` port once bound to a context."""

    def __init__(self, function: Callable[[Any, ToolContext], ToolResult], name: str, version: str) -> None:
        self.name = name
        self.version = version
        self.description = inspect.getdoc(function) or ""
        self.arguments: type[msgspec.Struct] = get_type_hints(function)["arguments"]
        self._function = function

    def bind(self, context: ToolContext) -> BoundTool:
        """The tool as a run calls it."""
        return BoundTool(self, context)

    def run(self, call: CallTool, context: ToolContext) -> ToolResult:
        """Parse the arguments and call.

        Raises:
            ToolError: the arguments do not fit the schema; or the tool itself refused.
        """
        try:
            arguments: msgspec.Struct = codec.decode(call.arguments, self.arguments)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise ToolError(f"{self.name}: {error}", code="arguments") from error
        return self._function(arguments, context)


class BoundTool:
    """A tool with its context: what the `Tool` port asks for."""

    def __init__(self, tool: RegisteredTool, context: ToolContext) -> None:
        self.name = tool.name
        self.version = tool.version
        self._tool = tool
        self._context = context

    def call(self, call: CallTool) -> ToolResult:
        return self._tool.run(call, self._context)


def tool(*, name: str, version: str) -> Callable[[Callable[[Arguments, ToolContext], ToolResult]], RegisteredTool]:
    """Make a function `(arguments, context) -> ToolResult` a tool."""

    def register(function: Callable[[Arguments, ToolContext], ToolResult]) -> RegisteredTool:
        return RegisteredTool(function, name, version)

    return register
