"""What differs between two runs: values that the command prints and the window shows. Pure; compares nothing itself."""

from __future__ import annotations

from typing import Literal

import msgspec

NOTHING = "–"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not the same in both runs; `NOTHING` where one of them lacks it."""

    what: str
    one: str
    other: str

    @property
    def change(self) -> Literal["added", "gone", "changed"]:
        """Whether only the other run has it, only the one, or both have it differently."""
        return "added" if self.one == NOTHING else "gone" if self.other == NOTHING else "changed"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A subject of the comparison, with its differences in fixed order and how many things are the same."""

    title: str
    differences: tuple[Difference, ...]
    equal: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs by id, and every subject."""

    one: str
    other: str
    parts: tuple[Part, ...]

    @property
    def same(self) -> bool:
        """Nothing differs but, perhaps, times."""
        return not any(part.differences for part in self.parts)
