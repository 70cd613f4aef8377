"""States of model packs (ready, quarantined): the only writer of table `pack`. The files are checked in `models`."""

from __future__ import annotations

from core.store.database import Database, now


class Packs:
    """Pack states of one profile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def detail(self, identifier: str, version: str, *, state: str) -> str:
        """What is recorded of a pack in that state; empty when it is in another."""
        row = self._database.one(
            "SELECT detail FROM pack WHERE id = ? AND version = ? AND state = ?", identifier, version, state
        )
        return str(row["detail"]) if row else ""

    def set_state(self, identifier: str, version: str, *, state: str, detail: str, actor: str) -> None:
        """Record what the last check found."""
        with self._database.transaction(actor, "set pack state", identifier) as connection:
            connection.execute(
                "INSERT INTO pack (id, version, state, detail, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id, version) "
                "DO UPDATE SET state = excluded.state, detail = excluded.detail, at = excluded.at",
                (identifier, version, state, detail, now()),
            )
