"""Known models: what a file that the site brings is, found by its hash. Rows are defaults, never downloads.

Sizes and licences come from the sources named in the rows' notes and are checked again before each release.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from core import codec
from core.domain.pack import Licence, PackRole

NEAR = 0.04


class CatalogueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A known model. `sha256`: hashes of its files; `size`: bytes, approximate where `note` says so.

    `architecture`: the name in a model file's head; `vision` is data, never found out by trying. `status`: "unreviewed"
    where size or licence was not checked against the publisher's own page.
    """

    id: str
    name: str
    role: PackRole
    family: str
    template: str
    params_b: float
    quant: str
    size: int
    licence: Licence
    sha256: tuple[str, ...] = ()
    vision: bool = False
    architecture: str = ""
    status: Literal["reviewed", "unreviewed"] = "unreviewed"
    note: str = ""


@cache
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the file."""
    data = resources.files("models").joinpath("catalogue.json").read_bytes()
    rows: tuple[CatalogueRow, ...] = codec.decode(data, tuple[CatalogueRow, ...])
    return rows


def identify(sha256: str, rows: Sequence[CatalogueRow] | None = None) -> CatalogueRow | None:
    """The row that knows a file by its hash; None: the file is unlisted. `rows`: another catalogue than ours."""
    return next((row for row in rows or catalogue() if sha256 in row.sha256), None)


def resembling(architecture: str, params_b: float) -> CatalogueRow | None:
    """The row of that architecture whose size in billions is nearest, within 4 %: it suggests family and template.

    A file is not the known model for that: what it resembles stays unlisted, and its licence is its own.
    """
    near = [row for row in catalogue() if row.architecture == architecture and _off(row, params_b) <= NEAR]
    return min(near, key=lambda row: _off(row, params_b), default=None)


def _off(row: CatalogueRow, params_b: float) -> float:
    return abs(row.params_b - params_b) / row.params_b
