"""Two runs of one case beside each other: the comparison that the command prints too, with what both runs are.

Adds no judgement of its own: every word of a difference is `core.runtime.comparison`'s.
"""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from core.domain.comparison import Part
from core.domain.memory import fold
from core.errors import UserError
from desktop.i18n import tr
from desktop.state.runs import RunSummary, summarise

if TYPE_CHECKING:
    from desktop.state.jobs import Job, Progress
    from desktop.state.workbench import Stores, Workbench


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """The earlier run, the later one, every subject."""

    one: RunSummary
    other: RunSummary
    parts: tuple[Part, ...]

    @property
    def differing(self) -> int:
        return sum(len(part.differences) for part in self.parts)


def compare_runs(bench: Workbench, case_id: str, one: str, other: str) -> Job[Beside]:
    """What differs between two runs, the earlier one first.

    Raises:
        UserError: one of them belongs to another case than the one on the screen.
    """

    def read(progress: Progress, stop: threading.Event) -> Beside:
        stores = bench.open_stores()
        with closing(stores.database):
            return _beside(stores, case_id, one, other)

    return read


def _beside(stores: Stores, case_id: str, *names: str) -> Beside:
    from core.runtime import comparison

    rows = sorted((stores.journal.run(name) for name in names), key=lambda row: (row.created_at, row.id))
    if any(row.case_id != case_id for row in rows):
        raise UserError(tr("These work-ups belong to two cases; nothing is compared."), code="other case")
    events = [stores.journal.legible(row.id) for row in rows]
    memories = [fold(found) for found in events]
    found = comparison.compare((rows[0], memories[0]), (rows[1], memories[1]))
    sides = [summarise(*run) for run in zip(rows, memories, events, strict=True)]
    return Beside(one=sides[0], other=sides[1], parts=found.parts)
