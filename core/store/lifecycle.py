"""The life of a pack: draft, active, superseded, expired, withdrawn, quarantined (knowledge.md section 11).

Every change of a state is one transaction with its row in the record `knowledge_change`, whose rows form a hash chain.
What follows from dates is computed elsewhere and handed in. It must not know a search, and no clock but the moment of
an act.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from core import codec
from core.errors import UserError
from core.store.database import Database, now
from core.store.knowledge_values import Change, Pack, PackState

GENESIS = "0" * 64
LICENCES = "public-domain, CC0, CC-BY, CC-BY-SA, CC-BY-NC, site-licensed, own, unknown"
_LICENCE = re.compile(r"public-domain|CC0(-1\.0)?|CC-BY(-SA|-NC(-SA|-ND)?)?(-[1-4]\.0)?|site-licensed|own|unknown")
_FREE = re.compile(r"public-domain|CC0(-1\.0)?|CC-BY(-[1-4]\.0)?|own")
_CHANGE = 'SELECT at, "user", pack, what, from_state, to_state, reason FROM knowledge_change'
# A state from which a person may approve a pack; of the others why not.
APPROVABLE = ("draft", "expired", "withdrawn", "superseded")


# -------------------------------------------------------------------------------------------------------- licences


def check_licence(licence: str, text: str, *, title: str) -> None:
    """Raises UserError: a licence that is not known, or "unknown" without its text."""
    if not _LICENCE.fullmatch(licence):
        raise UserError(
            f"The licence {licence!r} of {title} is not one that is known. Known are {LICENCES}.", code="licence"
        )
    if licence == "unknown" and not text.strip():
        raise UserError(
            f"{title} states no licence. Give its licence text to import it, or say that this site is licensed.",
            code="licence",
        )


def may_leave_site(licence: str) -> bool:
    """May a pack of this licence be given to another organisation?"""
    return _FREE.fullmatch(licence) is not None


# ------------------------------------------------------------------------------------- inside a caller's transaction


def state_of(connection: sqlite3.Connection, pack_id: str) -> str | None:
    """The state of a pack; None where there is none."""
    row = connection.execute("SELECT state FROM knowledge_pack WHERE id = ?", (pack_id,)).fetchone()
    return str(row["state"]) if row else None


def record(
    connection: sqlite3.Connection, actor: str, pack_id: str, what: str, states: tuple[str, str], reason: str
) -> None:
    """Append to the chain of changes; `states` before and after."""
    row = connection.execute("SELECT hash FROM knowledge_change ORDER BY seq DESC LIMIT 1").fetchone()
    prev = row["hash"] if row else GENESIS
    fields = [now(), actor, pack_id, what, *states, reason]
    connection.execute(
        'INSERT INTO knowledge_change (at, "user", pack, what, from_state, to_state, reason, prev_hash, hash) '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*fields, prev, codec.digest([prev, *fields])),
    )


def move(connection: sqlite3.Connection, actor: str, pack_id: str, state: PackState, *, what: str, reason: str) -> None:
    """Put a pack into a state and record it. Raises UserError: there is no such pack."""
    before = state_of(connection, pack_id)
    if before is None:
        raise no_such(pack_id)
    connection.execute("UPDATE knowledge_pack SET state = ? WHERE id = ?", (state, pack_id))
    record(connection, actor, pack_id, what, (before, state), reason)


def supersede(connection: sqlite3.Connection, actor: str, pack_id: str) -> None:
    """The edition that an active pack replaces is superseded by it, if it is still in use."""
    row = connection.execute("SELECT replaces FROM knowledge_pack WHERE id = ?", (pack_id,)).fetchone()
    old = str(row["replaces"]) if row else ""
    if old and state_of(connection, old) in ("draft", "active", "expired"):
        move(connection, actor, old, "superseded", what="supersede", reason=f"replaced by {pack_id}")


def no_such(pack_id: str) -> UserError:
    """The sentence for a pack that is not there."""
    return UserError(
        f"There is no knowledge pack {pack_id}. `wardround knowledge list` shows those there are.", code="no such pack"
    )


# ------------------------------------------------------------------------------------------------------------- acts


class Lifecycle:
    """What persons and dates do to packs, and the record of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def approve(self, pack_id: str, *, actor: str, reason: str = "") -> None:
        """A named person puts a pack into use; the edition that it replaces is superseded in the same transaction.

        Raises:
            UserError: no such pack, or one that cannot be approved as it is.
        """
        with self._database.transaction(actor, "approve knowledge", pack_id) as connection:
            state = state_of(connection, pack_id)
            if state is None:
                raise no_such(pack_id)
            if state not in APPROVABLE:
                raise UserError(_NOT_APPROVABLE[state].format(pack=pack_id), code=state)
            self._refuse_replaced(connection, pack_id, state)
            connection.execute(
                "UPDATE knowledge_pack SET approved_by = ?, approved_at = ? WHERE id = ?", (actor, now(), pack_id)
            )
            move(connection, actor, pack_id, "active", what="approve", reason=reason)
            supersede(connection, actor, pack_id)

    def _refuse_replaced(self, connection: sqlite3.Connection, pack_id: str, state: str) -> None:
        newer = connection.execute(
            "SELECT id FROM knowledge_pack WHERE replaces = ? AND state = 'active' ORDER BY id", (pack_id,)
        ).fetchone()
        if state == "superseded" and newer:
            raise UserError(
                f"{pack_id} is superseded by {newer['id']}, which is in use. Retire that one first.", code="superseded"
            )

    def retire(self, pack_id: str, *, actor: str, reason: str) -> None:
        """A person takes a pack out of use.

        Raises:
            UserError: no such pack, no reason, or it is withdrawn already.
        """
        if not reason.strip():
            raise UserError("Say why the pack is retired (--reason).", code="no reason")
        with self._database.transaction(actor, "retire knowledge", pack_id) as connection:
            if state_of(connection, pack_id) == "withdrawn":
                raise UserError(f"{pack_id} is withdrawn already.", code="withdrawn")
            move(connection, actor, pack_id, "withdrawn", what="retire", reason=reason.strip())

    def quarantine(self, pack_id: str, *, actor: str, reason: str) -> None:
        """A damaged pack is taken out of every search; one that is quarantined already stays so, without a row."""
        with self._database.transaction(actor, "quarantine knowledge", pack_id) as connection:
            if state_of(connection, pack_id) != "quarantined":
                move(connection, actor, pack_id, "quarantined", what="quarantine", reason=reason)

    def expire(self, due: Sequence[tuple[str, str]], *, actor: str) -> None:
        """Active packs whose time is over, each with the day it ended (ISO 8601)."""
        if not due:
            return
        with self._database.transaction(actor, "expire knowledge", "knowledge") as connection:
            for pack_id, day in due:
                if state_of(connection, pack_id) == "active":
                    move(connection, actor, pack_id, "expired", what="expire", reason=f"valid until {day}")

    def note_export(self, pack: Pack, *, actor: str, reason: str) -> None:
        """Record that a pack was written into a file, and for whom."""
        with self._database.transaction(actor, "export knowledge", pack.id) as connection:
            state = state_of(connection, pack.id) or ""
            record(connection, actor, pack.id, "export", (state, state), reason)

    # -------------------------------------------------------------------------------------------------- the record

    def changes(self, pack_id: str) -> tuple[Change, ...]:
        """What happened to a pack, oldest first."""
        rows = self._database.query(f"{_CHANGE} WHERE pack = ? ORDER BY seq", pack_id)
        return tuple(Change(**dict(row)) for row in rows)

    def active_at(self, moment: str) -> tuple[str, ...]:
        """The packs that were active at a moment (ISO 8601, UTC), by id: what a run begun then may know."""
        rows = self._database.query(
            "SELECT pack FROM (SELECT pack, to_state, max(seq) FROM knowledge_change WHERE at <= ? GROUP BY pack) "
            "WHERE to_state = 'active' ORDER BY pack",
            moment,
        )
        return tuple(row["pack"] for row in rows)


_NOT_APPROVABLE = {
    "active": "{pack} is in use already.",
    "quarantined": "{pack} is damaged and cannot be approved. Import the same files again first.",
}
