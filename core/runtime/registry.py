"""`@tool`: one function, one argument struct, one docstring become a tool of the toolbox (convention 4).

The function's docstring is what a model reads; its argument struct is the schema. Knows no tool itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from core import codec
from core.domain.action import CallTool, ToolResult
from core.domain.case import Case
from core.domain.ports import CaseSearch, Shelves, Terminology
from core.domain.task import AnswerSpec
from core.errors import ToolError

Arguments = TypeVar("Arguments", bound=msgspec.Struct)


Dimension = Literal["Inner", "Knowledge", "MultiModal", "Numerical", "Data"]
Code = Literal["no_input", "not_installed", "bad_args", "not_found", "too_large", "timeout", "refused"]
LONGEST_REFUSAL = 240  # characters


class Taken(msgspec.Struct, frozen=True):
    """A step that the run has taken: the tool and its observation."""

    tool: str
    text: str


def _no_steps() -> tuple[Taken, ...]:
    return ()


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may see: the case, searches behind their ports, the run's steps so far; never a path."""

    case: Case
    shelves: Shelves | None = None
    terminology: Terminology | None = None
    documents: CaseSearch | None = None
    answer: AnswerSpec = AnswerSpec()
    steps: Callable[[], tuple[Taken, ...]] = _no_steps


def refusal(tool: str, code: Code, text: str) -> ToolError:
    """What a tool says when it cannot answer: a code of the closed set, at most 240 characters."""
    said = f"{tool}: {text}"
    return ToolError(said if len(said) <= LONGEST_REFUSAL else f"{said[: LONGEST_REFUSAL - 1]}…", code=code)


class RegisteredTool:
    """A function with its argument struct, callable through the `Tool` port once bound to a context."""

    def __init__(
        self,
        function: Callable[[Any, ToolContext], ToolResult],
        name: str,
        version: str,
        *,
        dimension: Dimension = "Numerical",
        paper_name: str = "",
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.version = version
        self.dimension = dimension
        self.paper_name = paper_name or name
        self.aliases = aliases
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
            raise refusal(self.name, "bad_args", str(error)) from error
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


def tool(
    *, name: str, version: str, dimension: Dimension = "Numerical", paper_name: str = "", aliases: tuple[str, ...] = ()
) -> Callable[[Callable[[Arguments, ToolContext], ToolResult]], RegisteredTool]:
    """Make a function `(arguments, context) -> ToolResult` a tool.

    `paper_name` is what the published system calls it, `aliases` are further names that a model may use.
    """

    def register(function: Callable[[Arguments, ToolContext], ToolResult]) -> RegisteredTool:
        return RegisteredTool(function, name, version, dimension=dimension, paper_name=paper_name, aliases=aliases)

    return register
