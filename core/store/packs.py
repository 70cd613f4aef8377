"""States of model packs (ready, quarantined) and what their runs came to on this machine.

The only writer of the tables `pack` and `calibration`. The files are checked in `models`.
"""

from __future__ import annotations

import msgspec

from core.domain.pack import Calibration
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

    def forget(self, identifier: str, version: str, *, actor: str) -> None:
        """The pack was removed: neither its state nor its measurements are kept."""
        with self._database.transaction(actor, "forget pack", identifier) as connection:
            connection.execute("DELETE FROM pack WHERE id = ? AND version = ?", (identifier, version))
            connection.execute("DELETE FROM calibration WHERE pack = ?", (identifier,))

    def calibration(self, pack: str, *, n_ctx: int, rung: str) -> Calibration | None:
        """What was measured of a pack under that context length and rung."""
        sql = "SELECT peak, tok_s, tokens FROM calibration WHERE pack = ? AND n_ctx = ? AND rung = ?"
        row = self._database.one(sql, pack, n_ctx, rung)
        if row is None:
            return None
        return Calibration(
            pack=pack, n_ctx=n_ctx, rung=rung, peak=row["peak"], tok_s=row["tok_s"], tokens=row["tokens"]
        )

    def calibrate(self, measured: Calibration, *, actor: str) -> None:
        """Record a run: the highest peak is kept, speed and tokens are those of the last run that used the model."""
        with self._database.transaction(actor, "calibrate", measured.pack) as connection:
            connection.execute(
                "INSERT INTO calibration (pack, n_ctx, rung, peak, tok_s, tokens, at) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (pack, n_ctx, rung) DO UPDATE SET peak = max(peak, excluded.peak), at = excluded.at, "
                "tok_s = iif(excluded.tokens > 0, excluded.tok_s, tok_s), "
                "tokens = iif(excluded.tokens > 0, excluded.tokens, tokens)",
                (*msgspec.structs.astuple(measured), now()),
            )
