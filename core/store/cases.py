"""Cases by revision: the only writer of tables `case` and `case_item`. A revision is never changed, only followed."""

from __future__ import annotations

import sqlite3

from core import codec
from core.domain.case import Case, CaseSummary
from core.errors import UserError
from core.store.database import Database

_LIST = """
SELECT c.id, c.title, c.revision, c.created_at, i.payload,
       (SELECT r.id FROM run r WHERE r.case_id = c.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS run_id,
       (SELECT r.status FROM run r WHERE r.case_id = c.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS status,
       (SELECT r.revision FROM run r WHERE r.case_id = c.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS run_rev
FROM "case" c JOIN case_item i ON i.case_id = c.id AND i.revision = c.revision ORDER BY c.created_at DESC, c.id
"""
_STATES = {"waiting": "waiting for your answer", "finished": "ready to read", "running": "running", "queued": "queued"}


class Cases:
    """The cases of one profile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, case: Case, actor: str, at: str) -> None:
        """Write a new case or its next revision, whole and in one transaction."""
        payload = codec.encode(case)
        with self._database.transaction(actor, "save case", case.id) as connection:
            connection.execute(
                'INSERT INTO "case" (id, title, revision, created_at, actor) VALUES (?, ?, ?, ?, ?) '
                "ON CONFLICT (id) DO UPDATE SET title = excluded.title, revision = excluded.revision",
                (case.id, case.title, case.revision, case.created_at, actor),
            )
            connection.execute(
                "INSERT INTO case_item (case_id, revision, payload, sha256, at) VALUES (?, ?, ?, ?, ?)",
                (case.id, case.revision, payload, codec.sha256(payload), at),
            )

    def load(self, identifier: str, revision: int | None = None) -> Case:
        """A case at a revision, the latest by default.

        Raises:
            UserError: there is no such case or revision.
        """
        row = self._database.one(
            "SELECT payload FROM case_item WHERE case_id = ? AND revision = coalesce(?, "
            '(SELECT revision FROM "case" WHERE id = ?))',
            identifier,
            revision,
            identifier,
        )
        if row is None:
            raise UserError(f"There is no case {identifier}. `wardround cases list` shows all.", code="no such case")
        return codec.decode(row["payload"], Case)

    def list(self) -> tuple[CaseSummary, ...]:
        """All cases, newest first, each with the state of its latest run."""
        return tuple(_summary(row) for row in self._database.query(_LIST))


def _summary(fields: sqlite3.Row) -> CaseSummary:
    case: Case = codec.decode(fields["payload"], Case)
    status = fields["status"] or ""
    newer_data = fields["run_rev"] is None or fields["run_rev"] < case.revision
    return CaseSummary(
        id=case.id,
        title=case.title,
        revision=case.revision,
        created_at=case.created_at,
        items=len(case.items),
        unread=case.unread_files,
        state="new data" if newer_data else _STATES.get(status, status),
        last_run=fields["run_id"] or "",
    )
