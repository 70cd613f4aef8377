"""What to do when the worker dies in the middle of a run: go on, or stop after three crashes of one step.

Shared by the headless client and the window's engine; knows no process.
"""

from __future__ import annotations

from typing import Literal

from core.domain import event as ev
from core.store.journal import Journal

MOST_CRASHES = 3
START_SILENCE_S = 60.0  # first import of native libraries on a cold disk
BUSY_SILENCE_S = 10.0
IDLE_SILENCE_S = 3.0
STOP_GRACE_S = 5.0
POISON = "This step crashed the model process three times. The case is intact; the run was stopped."


def after_crash(journal: Journal, run_id: str, actor: str) -> Literal["resume", "stop"]:
    """Count the crash at the effect that was under way; the third one ends the run with its sentence."""
    if journal.crashed(run_id, journal.last_key(run_id), actor) < MOST_CRASHES:
        return "resume"
    journal.append(run_id, ev.RunFailed(code="poison", text=POISON), branch="", key="poison", actor=actor)
    return "stop"


def stopped_by_force(journal: Journal, run_id: str, actor: str) -> None:
    """Record a stop that had to end the worker: nothing committed is lost."""
    events = journal.events(run_id)
    if events and isinstance(events[-1].event, ev.RunFinished | ev.RunFailed | ev.RunCancelled):
        return
    event = ev.RunCancelled(step=journal.last_key(run_id), steps_done=len(events))
    journal.append(run_id, event, branch="", key=f"stop{len(events)}", actor=actor)
