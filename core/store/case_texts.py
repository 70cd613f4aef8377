"""What a search over all cases reads: versions, then a case with its questions and assessments. Writes nothing.

No index is kept on disk: whoever searches holds the texts in memory, and lets them go.
"""

from __future__ import annotations

import msgspec

from core import codec
from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.domain.task import TaskInput
from core.store.database import Database

_VERSIONS = """
SELECT c.id, c.revision, coalesce((SELECT group_concat(r.id || ':' || r.head_n) FROM run r WHERE r.case_id = c.id), '')
    AS runs
FROM "case" c ORDER BY c.created_at DESC, c.id
"""
_CASE = "SELECT payload FROM case_item WHERE case_id = ? ORDER BY revision DESC LIMIT 1"
_RUNS = "SELECT id, task FROM run WHERE case_id = ? ORDER BY created_at DESC, id DESC"
_ENDS = """
SELECT e.run_id, e.payload FROM event e JOIN run r ON r.id = e.run_id
WHERE r.case_id = ? AND e.kind = 'RunFinished' ORDER BY e.n
"""


class RunText(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked in a run, and what it ended with."""

    run_id: str
    question: str
    assessment: Assessment | None = None


class CaseTexts:
    """Reads of one profile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Id of every case, newest first, with a text that changes whenever the case or one of its runs does."""
        rows = self._database.query(_VERSIONS)
        return tuple((row["id"], f"{row['revision']} {row['runs']}") for row in rows)

    def read(self, case_id: str) -> tuple[Case, tuple[RunText, ...]]:
        """The latest revision of a case and its runs, newest first. A damaged end of a run is passed over."""
        payload = self._database.query(_CASE, case_id)[0]["payload"]
        ends = {row["run_id"]: _assessment(row["payload"]) for row in self._database.query(_ENDS, case_id)}
        runs = tuple(
            RunText(run_id=row["id"], question=_question(row["task"]), assessment=ends.get(row["id"]))
            for row in self._database.query(_RUNS, case_id)
        )
        return codec.decode(payload, Case), runs


def _question(data: bytes) -> str:
    return codec.decode(data, TaskInput).question


def _assessment(data: bytes) -> Assessment | None:
    try:
        event: ev.Event = codec.decode(data, ev.Event)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return event.assessment if isinstance(event, ev.RunFinished) else None
