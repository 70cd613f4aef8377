"""DICOM instances as header facts, grouped into series and stacks: order, the middle one, what is wrong. Pure.

Values only: neither pydicom nor pixels here, so that the process that never opens foreign bytes can use it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from core.domain.case import Check
from core.imaging import series_checks
from core.imaging.stacks import Member, Stack, in_stacks

__all__ = ["Group", "Member", "grouped"]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One series: its stacks, all members in display order, and what is wrong with it.

    `cards` are files of the series that could not be read and are no members.
    """

    series_uid: str
    stacks: tuple[Stack, ...]
    members: tuple[Member, ...]
    checks: tuple[Check, ...]
    remarks: tuple[str, ...] = ()
    cards: int = 0

    @property
    def middle(self) -> Member:
        """The member to show first: the middle of the largest stack."""
        largest = max(self.stacks, key=lambda stack: len(stack.slices))
        return largest.slices[len(largest.slices) // 2].member

    @property
    def name(self) -> str:
        """The first of its files' names: its place among the other items."""
        return min(member.name for member in self.members)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences of the checks, then remarks that are no check."""
        return (*(check.text for check in self.checks), *self.remarks)

    def without(self, undrawn: int) -> Group:
        """The group, when so many of its members turned out to be beyond decoding."""
        found = series_checks.cards(len(self.members) - undrawn, len(self.members) + self.cards)
        others = tuple(check for check in self.checks if check.code != "S14")
        return msgspec.structs.replace(self, checks=(*others, *found))


def grouped(
    members: list[Member], *, announced: Mapping[str, int] | None = None, cards: Mapping[str, int] | None = None
) -> list[Group]:
    """Members by SeriesInstanceUID, each series in display order, series by their first file's name.

    `announced` says how many instances a DICOMDIR lists of a series, `cards` how many of its files could not be
    decoded; both by SeriesInstanceUID.
    """
    by_series: dict[str, list[Member]] = {}
    for member in sorted(members, key=lambda m: (m.name, m.sha256)):
        by_series.setdefault(member.instance.series_uid or member.sha256, []).append(member)
    strangers = series_checks.studies_of_several(members)
    groups = [
        _group(uid, found, series_checks.Beside((announced or {}).get(uid), (cards or {}).get(uid, 0), strangers))
        for uid, found in by_series.items()
    ]
    return sorted(groups, key=lambda group: group.name)


def _group(uid: str, members: list[Member], beside: series_checks.Beside) -> Group:
    stacks = in_stacks(members)
    ordered = list(dict.fromkeys(piece.member for stack in stacks for piece in stack.slices))
    return Group(
        series_uid=uid,
        stacks=stacks,
        members=tuple(ordered),
        checks=tuple(series_checks.check(stacks, ordered, beside)),
        remarks=tuple(series_checks.remarks(ordered)),
        cards=beside.cards,
    )
