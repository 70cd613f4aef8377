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


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader must know today of a guideline that a piece of evidence cites (N14); `title` of the guideline."""

    evidence: str
    title: str
    text: str


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
    remarks: tuple[Remark, ...] = ()

    def remark(self, identifier: str) -> str:
        """What is to be said of the source of this evidence; "" where nothing is."""
        return next((remark.text for remark in self.remarks if remark.evidence == identifier), "")

    def find(self, identifier: str) -> Evidence | None:
        """The evidence of that id."""
        return next((item for item in self.evidence if item.id == identifier), None)
