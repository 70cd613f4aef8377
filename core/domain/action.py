"""Calls of tools and their results. Pure values."""

from __future__ import annotations

import msgspec

from core.domain.evidence import Evidence


class CallTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool by name with its arguments as canonical JSON."""

    tool: str
    arguments: str


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answered: text for the model, `data` as canonical JSON, evidence, artifacts by sha256."""

    text: str
    data: str = ""
    evidence: tuple[Evidence, ...] = ()
    artifacts: tuple[str, ...] = ()
    failed: bool = False
