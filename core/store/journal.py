"""Runs and their events: the only writer of tables `run`, `event` and `crash`.

An event row, the run's status it implies and the head of the run's chain are one transaction. Rows of a run form a hash
chain: each hash covers the one before it, and the run's row keeps number and hash of the last. So a changed, removed or
reordered row is found, and a row of the run that is not the one it began with (`verify`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from core import codec
from core.domain import event as ev
from core.domain.evidence import Answer
from core.domain.task import TaskInput
from core.errors import StoreError, UserError
from core.settings import Settings
from core.store.database import Database, now

T = TypeVar("T")
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
                "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                    0,
                    GENESIS,
                ),
            )

    def run(self, identifier: str) -> RunRow:
        """A run by id.

        Raises:
            UserError: there is none.
        """
        row = self._database.one("SELECT * FROM run WHERE id = ?", identifier)
        if row is None:
            how = "`wardround cases list` shows the latest run of each case, `wardround cases show CASE` all."
            raise UserError(f"There is no run {identifier}. {how}", code="no such run")
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
        with self._database.transaction(actor, f"record {type(event).__name__}", run_id) as connection:
            return _append(connection, run_id, event, branch=branch, key=key)

    def events(self, run_id: str, after: int = 0) -> tuple[ev.Recorded, ...]:
        """A run's events in order, those with n > `after`.

        Raises:
            StoreError: a row cannot be read (code "damaged event", its number in the text).
        """
        return tuple(_recorded(row, _event(row)) for row in self._rows(run_id, after))

    def legible(self, run_id: str, after: int = 0) -> tuple[ev.Recorded, ...]:
        """The same for people to read: an `EventDamaged` stands for each row that cannot be read, nothing is raised.

        Not for a replay, which must not go on over a gap.
        """
        return tuple(_recorded(row, _readable(row) or ev.EventDamaged()) for row in self._rows(run_id, after))

    def _rows(self, run_id: str, after: int = 0) -> list[sqlite3.Row]:
        return self._database.query("SELECT * FROM event WHERE run_id = ? AND n > ? ORDER BY n", run_id, after)

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
        event = ev.QuestionAnswered(answers=answers, actor=actor)
        with self._database.transaction(actor, "answer", run_id) as connection:
            question = self.open_question(run_id)  # inside: two answers at once must not both find it open
            if question is None:
                raise UserError("This run waits for no answer.", code="no question")
            return _append(connection, run_id, event, branch=question.branch, key=answer_key(question.key))

    def resumed(self, run_id: str, actor: str) -> None:
        """Count a resume; writes no event. The run is running then, but one with an open question still waits: its
        replay ends at that question, or dies on the way, and neither may make it look like a run that goes on."""
        with self._database.transaction(actor, "resume run", run_id) as connection:
            status = "waiting" if self.open_question(run_id) else "running"
            connection.execute("UPDATE run SET resumes = resumes + 1, status = ? WHERE id = ?", (status, run_id))

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
        """Recompute the hash chain and compare the run's row with it; one sentence for each thing that does not fit.

        It finds what was changed in the file by hand or by damage. Who rewrites a whole chain and the run's row with it
        is not found: that needs a hash kept elsewhere.
        """
        with self._database.snapshot():
            rows = self._rows(run_id)
            run = self._database.one("SELECT * FROM run WHERE id = ?", run_id)
        if run is None:
            return (f"events of run {run_id} are there, the run is not",) if rows else ()
        return (*_broken_links(run_id, rows), *_cut_off(run, rows), *_other_run(run, rows))


def answer_key(key: str) -> str:
    """The key under which the answer to an effect is committed."""
    return f"{key}="


def _tail(connection: sqlite3.Connection, run_id: str) -> tuple[int, str]:
    """The next number of a run and the hash before it."""
    row = connection.execute("SELECT n, hash FROM event WHERE run_id = ? ORDER BY n DESC LIMIT 1", (run_id,)).fetchone()
    return (row["n"] + 1, row["hash"]) if row else (1, GENESIS)


def _append(connection: sqlite3.Connection, run_id: str, event: ev.Event, *, branch: str, key: str) -> ev.Recorded:
    """The row, the head of the chain and the status, inside the caller's transaction."""
    payload = codec.encode(event)
    kind = type(event).__name__
    n, prev = _tail(connection, run_id)
    at = now()
    digest = _chain(prev, run_id, n, branch, kind, key, at, payload)
    cursor = connection.execute(
        "INSERT INTO event (run_id, n, branch, kind, key, at, payload, prev_hash, hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (run_id, n, branch, kind, key, at, payload, prev, digest),
    )
    connection.execute(
        "UPDATE run SET head_n = ?, head_hash = ?, status = coalesce(?, status) WHERE id = ?",
        (n, digest, _STATUS.get(type(event)), run_id),
    )
    return ev.Recorded(run_id=run_id, seq=cursor.lastrowid or 0, n=n, branch=branch, key=key, at=at, event=event)


def _broken_links(run_id: str, rows: Sequence[sqlite3.Row]) -> Iterator[str]:
    prev = GENESIS
    for position, row in enumerate(rows, start=1):
        expected = _chain(prev, run_id, row["n"], row["branch"], row["kind"], row["key"], row["at"], row["payload"])
        if row["n"] != position or row["prev_hash"] != prev or row["hash"] != expected:
            yield f"event {row['n']} of run {run_id} does not fit the chain"
        prev = row["hash"]


def _cut_off(run: sqlite3.Row, rows: Sequence[sqlite3.Row]) -> Iterator[str]:
    """A chain that lost its end still fits; but the run's row knows its head, and a status that its events imply."""
    kinds = [row["kind"] for row in reversed(rows)]
    implied = next((_STATUS_OF_KIND[kind] for kind in kinds if kind in _STATUS_OF_KIND), "queued")
    if run["status"] not in ("running", implied):
        yield f"run {run['id']} is {run['status']}, but its events end before that"
    last = (rows[-1]["n"], rows[-1]["hash"]) if rows else (0, GENESIS)
    if last != (run["head_n"], run["head_hash"]):
        yield f"run {run['id']} had event {run['head_n']} as its last, but ends with another"


def _other_run(run: sqlite3.Row, rows: Sequence[sqlite3.Row]) -> Iterator[str]:
    """What the run's row says that its first events, which are in the chain, say otherwise."""
    for name, kept, begun in _beginnings(run, rows):
        if kept != begun:
            yield f"run {run['id']} was begun with another {name} than its row says"


def _beginnings(run: sqlite3.Row, rows: Sequence[sqlite3.Row]) -> Iterator[tuple[str, object, object]]:
    """Name, value in the run's row, value in the event that began the run."""
    for row in rows:
        event = _readable(row)
        if isinstance(event, ev.CaseOpened):
            yield "case", (run["case_id"], run["revision"]), (event.case, event.revision)
            yield "task", _value(run["task"], TaskInput), event.task
        elif isinstance(event, ev.RunStarted):
            yield "workflow", (run["workflow"], run["version"]), (event.workflow, event.version)
            yield "mode", run["mode"], event.mode
            yield "model", run["backbone"], event.backbone
            yield "seed", run["seed"], event.seed
            # As stored, or as a later version that knows more settings reads what is stored.
            known = (codec.sha256(_bytes(run["settings"])), codec.digest(_value(run["settings"], Settings)))
            yield "set of settings", event.settings_sha256 in known, True


def _value(data: bytes, kind: type[T]) -> T | None:
    """A stored value; None where it cannot be read."""
    try:
        return codec.decode(data, kind)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def _readable(row: sqlite3.Row) -> ev.Event | None:
    """The event of a row; None where it is damaged, which the chain tells already."""
    try:
        return _event(row)
    except StoreError:
        return None


def _chain(prev: str, *parts: object) -> str:
    fields: Sequence[object] = [_text(part) if isinstance(part, bytes) else part for part in parts]
    return codec.digest([prev, *fields])


def _bytes(stored: bytes | str) -> bytes:
    """What stands in a column for bytes; text stands there only if it was changed by hand."""
    return stored.encode() if isinstance(stored, str) else stored


def _text(payload: bytes) -> str:
    """Bytes as text; what is no text was not written by us, and must fail the check instead of breaking it."""
    return payload.decode("utf-8", "backslashreplace")


def _event(row: sqlite3.Row) -> ev.Event:
    try:
        event: ev.Event = codec.decode(row["payload"], ev.Event)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise StoreError(f"Event {row['n']} of this run is damaged.", code="damaged event") from error
    return event


def _recorded(row: sqlite3.Row, event: ev.Event) -> ev.Recorded:
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
    del fields["head_n"], fields["head_hash"]  # of the chain, not of what is to be done
    fields["task"] = codec.decode(fields["task"], TaskInput)
    fields["settings"] = codec.decode(fields["settings"], Settings)
    return RunRow(**fields)
