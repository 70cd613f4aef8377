"""Known models: what a file that the site brings is, found by its hash. Rows are defaults, never downloads.

Sizes and licences come from the sources named in the rows' notes and are checked again before each release.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from core import codec
from core.domain.pack import Licence, PackRole


class CatalogueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A known model. `sha256`: hashes of its files; `size`: bytes, approximate where `note` says so."""

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
    note: str = ""


@cache
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the file."""
    data = resources.files("models").joinpath("catalogue.json").read_bytes()
    rows: tuple[CatalogueRow, ...] = codec.decode(data, tuple[CatalogueRow, ...])
    return rows


def identify(sha256: str) -> CatalogueRow | None:
    """The row that knows a file by its hash; None: the file is unlisted."""
    return next((row for row in catalogue() if sha256 in row.sha256), None)
