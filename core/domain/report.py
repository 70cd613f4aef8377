"""The report as data: the window, the HTML file, the terminal and JSON all show this one value. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.evidence import Evidence

Tone = Literal["plain", "critical", "serious", "caution", "muted"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence with the evidence ids it rests on. Struck lines stay visible with their reason."""

    text: str
    evidence: tuple[str, ...] = ()
    tone: Tone = "plain"
    struck: bool = False
    reason: str = ""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table of lines: one tuple of cells a row, one tuple of lines a cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Line, ...], ...], ...]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A titled part of the report, in fixed order; `id` is stable ("flags", "conclusion", "table", "tests", ...)."""

    id: str
    title: str
    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report. `banner` is always shown on top, `footer` at the end; `evidence` resolves every id."""

    title: str
    patient: str
    run_id: str
    created_at: str
    banner: tuple[str, ...]
    blocks: tuple[Block, ...]
    evidence: tuple[Evidence, ...]
    footer: tuple[str, ...]
    partial: bool = False

    def find(self, identifier: str) -> Evidence | None:
        """The evidence of that id."""
        return next((item for item in self.evidence if item.id == identifier), None)
