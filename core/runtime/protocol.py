"""Window and worker talk in JSON lines: the whole list of commands and notices (runtime.md section 6).

Notices are never stored; what must be remembered is an event as well. Knows no process and no pipe.
"""

from __future__ import annotations

import msgspec

from core import codec
from core.domain.pack import MemoryPlan


class _Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="line"):
    """Common form."""


class Hello(_Line, frozen=True, kw_only=True, tag="hello"):
    """First line to the worker."""

    token: str


class RunCommand(_Line, frozen=True, kw_only=True, tag="run"):
    run: str


class Load(_Line, frozen=True, kw_only=True, tag="load"):
    """Load a pack now, so that the next run need not wait; an empty pack name loads the profile's own."""

    pack: str
    role: str = "text"


class Unload(_Line, frozen=True, kw_only=True, tag="unload"):
    """Let go of the model of that role."""

    role: str = "text"


class Plan(_Line, frozen=True, kw_only=True, tag="plan"):
    """Ask where a pack would run now and what that takes; answered by `planned`."""

    pack: str
    n_ctx: int


class Embed(_Line, frozen=True, kw_only=True, tag="embed"):
    """Make the vectors that passages of the knowledge lack."""


class Cancel(_Line, frozen=True, kw_only=True, tag="cancel"):
    """Stop what is under way."""


class Ping(_Line, frozen=True, kw_only=True, tag="ping"):
    """Ask for `alive` now."""


class Shutdown(_Line, frozen=True, kw_only=True, tag="shutdown"):
    """Close everything and exit."""


Command = Hello | RunCommand | Load | Unload | Plan | Embed | Cancel | Ping | Shutdown


class Seq(_Line, frozen=True, kw_only=True, tag="seq"):
    """A row of that run is in the journal."""

    run: str
    seq: int


class Alive(_Line, frozen=True, kw_only=True, tag="alive"):
    """Heartbeat, 1 Hz: memory in bytes, tokens a second of the last call, whether a run is under way.

    Used and whole memory of the graphics cards in bytes, zeros without one.
    """

    rss: int
    tok_s: float
    busy: bool
    card_used: int = 0
    card_total: int = 0


class Verify(_Line, frozen=True, kw_only=True, tag="verify"):
    """Progress of a pack's hash check, in bytes."""

    pack: str
    done: int
    total: int


class Embedded(_Line, frozen=True, kw_only=True, tag="embedded"):
    """Vectors are being made: passages done, and all that lack theirs."""

    done: int
    total: int


class Loaded(_Line, frozen=True, kw_only=True, tag="loaded"):
    """A pack is loaded, and under which rung; `expected_s`: seconds that a run is expected to take, 0 if unknown."""

    role: str
    pack: str
    rung: str
    reason: str
    expected_s: float = 0.0


class Rung(_Line, frozen=True, kw_only=True, tag="rung"):
    """The model runs on another rung than was wanted. What remembers it is the event `RungChanged`."""

    from_rung: str
    to_rung: str
    reason: str
    expected_s: float = 0.0


class Planned(_Line, frozen=True, kw_only=True, tag="planned"):
    """Where a pack would run now, and what that takes."""

    pack: str
    rung: str
    reason: str
    plan: MemoryPlan


class Delta(_Line, frozen=True, kw_only=True, tag="delta"):
    """A piece of model text, for the window only."""

    run: str
    text: str


class Ended(_Line, frozen=True, kw_only=True, tag="ended"):
    """The run came to rest: finished, failed, waiting, stopped."""

    run: str
    status: str


class Cancelled(_Line, frozen=True, kw_only=True, tag="cancelled"):
    """The engine is idle again after a cancel."""

    run: str


class Stalled(_Line, frozen=True, kw_only=True, tag="stalled"):
    """Other programs have brought the model to a halt: the worker is to be started again at the next idle moment."""


class Fault(_Line, frozen=True, kw_only=True, tag="fault"):
    """Something failed; `detail` is a sentence for the person."""

    code: str
    detail: str


Notice = Seq | Alive | Verify | Embedded | Loaded | Rung | Planned | Delta | Ended | Cancelled | Stalled | Fault


def line(value: Command | Notice) -> bytes:
    """One JSON line."""
    return codec.encode(value) + b"\n"


def command(data: bytes) -> Command:
    """A line to the worker.

    Raises:
        msgspec.ValidationError, msgspec.DecodeError: not a command.
    """
    return codec.decode(data, Command)


def notice(data: bytes) -> Notice:
    """A line from the worker."""
    return codec.decode(data, Notice)
