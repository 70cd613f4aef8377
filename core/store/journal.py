"""Runs and their events: the only writer of tables `run`, `event` and `crash`.

An event row and the run's status it implies are one transaction. Rows of a run form a hash chain: each hash covers the
one before it, so a changed, removed or reordered row is found (`verify`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from core import codec
from core.domain import event as ev
from core.domain.evidence import Answer
from core.domain.task import TaskInput
from core.errors import StoreError, UserError
from core.settings import Settings
from core.store.database import Database, now

_STATUS: dict[type, str] = {
    ev.RunStarted: "running",
    ev.RunFinished: "finished",
    ev.RunFailed: "failed",
    ev.RunCancelled: "stopped",
    ev.QuestionAsked: "waiting",
    ev.QuestionAnswered: "queued",
}
_STATUS_OF_KIND = {kind.__name__: status for kind, status in _STATUS.items()}
GENESIS = "0" * 64


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as queued: what is to be done, on which revision, with which settings and seed."""

    id: str
    case_id: str
    revision: int
    task: TaskInput
    workflow: str
    version: str
    mode: str
    backbone: str
    settings: Settings
    seed: int
    actor: str
    status: str
    resumes: int
    created_at: str


class Journal:
    """Runs and events of one profile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def queue(self, run: RunRow) -> None:
        """Put a run into the queue."""
        with self._database.transaction(run.actor, "queue run", run.id) as connection:
            connection.execute(
                "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    run.id,
                    run.case_id,
                    run.revision,
                    codec.encode(run.task),
                    run.workflow,
                    run.version,
                    run.mode,
                    run.backbone,
                    codec.encode(run.settings),
                    run.seed,
                    run.actor,
                    run.status,
                    run.resumes,
                    run.created_at,
                ),
            )

    def run(self, identifier: str) -> RunRow:
        """A run by id.

        Raises:
            UserError: there is none.
        """
        row = self._database.one("SELECT * FROM run WHERE id = ?", identifier)
        if row is None:
            raise UserError(f"There is no run {identifier}.", code="no such run")
        return _run(row)

    def runs(self, case_id: str | None = None) -> tuple[RunRow, ...]:
        """Runs, newest first, of one case or all."""
        rows = self._database.query(
            "SELECT * FROM run WHERE ?1 IS NULL OR case_id = ?1 ORDER BY created_at DESC, id DESC", case_id
        )
        return tuple(_run(row) for row in rows)

    def unfinished(self) -> tuple[RunRow, ...]:
        """Runs that a crash or a stop left behind, oldest first."""
        rows = self._database.query(
            "SELECT * FROM run WHERE status IN ('queued', 'running', 'stopped') ORDER BY created_at, id"
        )
        return tuple(_run(row) for row in rows)

    def append(self, run_id: str, event: ev.Event, *, branch: str, key: str, actor: str) -> ev.Recorded:
        """Commit one event and the status it implies.

        Raises:
            StoreError: the row could not be written; nothing of it is there then.
        """
        payload = codec.encode(event)
        kind = type(event).__name__
        with self._database.transaction(actor, f"record {kind}", run_id) as connection:
            n, prev = _tail(connection, run_id)
            at = now()
            digest = _chain(prev, run_id, n, branch, kind, key, at, payload)
            cursor = connection.execute(
                "INSERT INTO event (run_id, n, branch, kind, key, at, payload, prev_hash, hash) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run_id, n, branch, kind, key, at, payload, prev, digest),
            )
            status = _STATUS.get(type(event))
            if status:
                connection.execute("UPDATE run SET status = ? WHERE id = ?", (status, run_id))
            seq = cursor.lastrowid or 0
        return ev.Recorded(run_id=run_id, seq=seq, n=n, branch=branch, key=key, at=at, event=event)

    def events(self, run_id: str, after: int = 0) -> tuple[ev.Recorded, ...]:
        """A run's events in order, those with n > `after`.

        Raises:
            StoreError: a row cannot be read (code "damaged event", its number in the text).
        """
        rows = self._database.query("SELECT * FROM event WHERE run_id = ? AND n > ? ORDER BY n", run_id, after)
        return tuple(_recorded(row) for row in rows)

    def open_question(self, run_id: str) -> ev.Recorded | None:
        """The question that a run waits with, if any."""
        rows = self.events(run_id)
        answered = {row.key for row in rows if isinstance(row.event, ev.QuestionAnswered)}
        asked = [row for row in rows if isinstance(row.event, ev.QuestionAsked)]
        return next((row for row in reversed(asked) if answer_key(row.key) not in answered), None)

    def answer(self, run_id: str, answers: tuple[Answer, ...], actor: str) -> ev.Recorded:
        """Commit the clinician's answers to the open question; the run is queued again.

        Raises:
            UserError: the run waits for nothing.
        """
        question = self.open_question(run_id)
        if question is None:
            raise UserError("This run waits for no answer.", code="no question")
        event = ev.QuestionAnswered(answers=answers, actor=actor)
        return self.append(run_id, event, branch=question.branch, key=answer_key(question.key), actor=actor)

    def resumed(self, run_id: str, actor: str) -> None:
        """Count a resume and mark the run as running; writes no event."""
        with self._database.transaction(actor, "resume run", run_id) as connection:
            connection.execute("UPDATE run SET resumes = resumes + 1, status = 'running' WHERE id = ?", (run_id,))

    def crashed(self, run_id: str, key: str, actor: str) -> int:
        """Count a crash of the worker at this effect; returns how often it happened there."""
        with self._database.transaction(actor, "count crash", run_id) as connection:
            connection.execute(
                "INSERT INTO crash (run_id, key, times) VALUES (?, ?, 1) "
                "ON CONFLICT (run_id, key) DO UPDATE SET times = times + 1",
                (run_id, key),
            )
            row = connection.execute("SELECT times FROM crash WHERE run_id = ? AND key = ?", (run_id, key)).fetchone()
        return int(row[0])

    def last_key(self, run_id: str) -> str:
        """The key of the last event: the effect that was under way when a worker died."""
        row = self._database.one("SELECT key FROM event WHERE run_id = ? ORDER BY n DESC LIMIT 1", run_id)
        return str(row["key"]) if row else ""

    def verify(self, run_id: str) -> tuple[str, ...]:
        """Recompute the hash chain; one sentence for each row that does not fit."""
        faults: list[str] = []
        prev = GENESIS
        for position, row in enumerate(
            self._database.query("SELECT * FROM event WHERE run_id = ? ORDER BY n", run_id), start=1
        ):
            expected = _chain(prev, run_id, row["n"], row["branch"], row["kind"], row["key"], row["at"], row["payload"])
            if row["n"] != position or row["prev_hash"] != prev or row["hash"] != expected:
                faults.append(f"event {row['n']} of run {run_id} does not fit the chain")
            prev = row["hash"]
        return tuple(faults) + self._cut_off(run_id)

    def _cut_off(self, run_id: str) -> tuple[str, ...]:
        """A chain that lost its end still fits; but the run's status then says more than its last event."""
        run = self._database.one("SELECT status FROM run WHERE id = ?", run_id)
        kinds = self._database.query("SELECT kind FROM event WHERE run_id = ? ORDER BY n DESC", run_id)
        implied = next((_STATUS_OF_KIND[row["kind"]] for row in kinds if row["kind"] in _STATUS_OF_KIND), "queued")
        if run is None or run["status"] in ("running", implied):
            return ()
        return (f"run {run_id} is {run['status']}, but its events end before that",)


def answer_key(key: str) -> str:
    """The key under which the answer to an effect is committed."""
    return f"{key}="


def _tail(connection: sqlite3.Connection, run_id: str) -> tuple[int, str]:
    """The next number of a run and the hash before it."""
    row = connection.execute("SELECT n, hash FROM event WHERE run_id = ? ORDER BY n DESC LIMIT 1", (run_id,)).fetchone()
    return (row["n"] + 1, row["hash"]) if row else (1, GENESIS)


def _chain(prev: str, *parts: object) -> str:
    fields: Sequence[object] = [_text(part) if isinstance(part, bytes) else part for part in parts]
    return codec.digest([prev, *fields])


def _text(payload: bytes) -> str:
    """Bytes as text; what is no text was not written by us, and must fail the check instead of breaking it."""
    return payload.decode("utf-8", "backslashreplace")


def _recorded(row: sqlite3.Row) -> ev.Recorded:
    try:
        event: ev.Event = codec.decode(row["payload"], ev.Event)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise StoreError(f"Event {row['n']} of this run is damaged.", code="damaged event") from error
    return ev.Recorded(
        run_id=row["run_id"],
        seq=row["seq"],
        n=row["n"],
        branch=row["branch"],
        key=row["key"],
        at=row["at"],
        event=event,
    )


def _run(row: sqlite3.Row) -> RunRow:
    fields = dict(row)
    fields["task"] = codec.decode(fields["task"], TaskInput)
    fields["settings"] = codec.decode(fields["settings"], Settings)
    return RunRow(**fields)
