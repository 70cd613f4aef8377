"""Who has read which intended-use text, and when. The only writer of table `consent`."""

from __future__ import annotations

from core import codec
from core.store.database import Database, now


class Consents:
    """Consents of one profile; a changed text asks again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def given(self, actor: str, text: str) -> bool:
        """Has this person accepted exactly this text?"""
        sql = "SELECT 1 FROM consent WHERE actor = ? AND text_hash = ?"
        return self._database.one(sql, actor, codec.digest(text)) is not None

    def give(self, actor: str, text: str) -> None:
        """Record the acceptance."""
        with self._database.transaction(actor, "consent", "intended use") as connection:
            connection.execute(
                "INSERT OR IGNORE INTO consent (actor, text_hash, at) VALUES (?, ?, ?)",
                (actor, codec.digest(text), now()),
            )
