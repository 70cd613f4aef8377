"""The language model that the worker holds: loaded for a run or on demand, announced where it is not what was wanted.

Every fall is told three times: a notice to the window, an event in the run's journal, and what both make of it. Where
the policy is to ask, it is a question of the run first. Knows the ports, not the concrete models.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec

from core.domain import event as ev
from core.domain.evidence import Gap, Question
from core.domain.memory import fold
from core.domain.pack import BackboneInfo
from core.domain.ports import Backbone
from core.errors import ModelError, RungAsked, StoreError, UserError, Waiting, WardroundError
from core.runtime import protocol
from core.settings import Models, Settings
from core.store.journal import Journal, RunRow, answer_key

NO_MODEL = "no model"
SPOILT = ("bad_model", "pack_damaged")  # the window offers to verify the pack
TEXT = "text"
RUNG = "rung"
ASKED = "rung:"  # key and concept of the question, before the name of the rung
DECLINED = "That was asked and not agreed to: nothing was started."


def _question(asked: RungAsked) -> Question:
    gap = Gap(concept=f"{ASKED}{asked.rung}", name="Where the model runs", obtain="other", why=asked.why, kind="rung")
    return Question(gaps=(gap,), wording=(f"{asked.why} Shall this work-up run {asked.where}?",))


class Loader(Protocol):
    """What the composition root provides for it."""

    @property
    def journal(self) -> Journal: ...

    def settings(self) -> Settings:
        """The profile's settings, for what is loaded outside a run."""
        ...

    def backbone(
        self, pack: str, settings: Settings, *, on_verify: Callable[[int, int], None], stop: threading.Event
    ) -> Backbone: ...

    def plan(self, pack: str, n_ctx: int, settings: Settings) -> protocol.Planned: ...

    def calibrate(self, info: BackboneInfo, *, tokens: int, seconds: float) -> None:
        """Remember what a finished run came to: tokens through the model, seconds in it, and the peak of memory."""
        ...

    def effect(self, key: str) -> None: ...


class _Wish(msgspec.Struct, frozen=True):
    """What a model was loaded for; another wish needs another load."""

    pack: str
    models: Models
    fallback: str
    verify: str


class Resident:
    """One model at most, kept until another one is wanted."""

    def __init__(self, parts: Loader, send: Callable[[protocol.Notice], None], stop: threading.Event) -> None:
        self._parts, self._send, self._stop = parts, send, stop
        self._backbone: Backbone | None = None
        self._wish: _Wish | None = None
        self._case = ""

    def for_run(self, row: RunRow, commit: Callable[[ev.Event, str], None]) -> Backbone | None:
        """The run's model; None when it was asked for none, or when it failed to load and that was announced.

        A run of another case closes the case before it: what the model keeps of that one's text is dropped.
        `commit` writes an event under a key into the run's journal.

        Raises:
            ModelError, UserError: it cannot be loaded, and neither policy nor person let the run go on without it.
            Waiting: the person is asked, and has not answered.
        """
        if self._backbone is not None and row.case_id != self._case:
            self._backbone.forget_cases()
        self._case = row.case_id
        if not row.backbone or self._announced_without(row.id):
            return None
        try:
            made = self._permitted(row, commit)
        except (ModelError, UserError) as error:
            if error.code in SPOILT:
                self._send(protocol.Fault(code=error.code, detail=error.text))
            if row.settings.fallback == "forbid" or error.code == RUNG:
                raise
            self._refuse_change(row, error)
            if row.settings.fallback == "ask" and NO_MODEL not in self._agreed(row.id):
                without = RungAsked(error.text, why=error.text, rung=NO_MODEL, where="without a model")
                raise self._asked(row, without, commit) from error
            self._announce(row, ev.RungChanged(from_rung=row.backbone, to_rung=NO_MODEL, reason=error.text), commit)
            return None
        self._announce_rung(row, made.info, commit)
        return made

    def _permitted(self, row: RunRow, commit: Callable[[ev.Event, str], None]) -> Backbone:
        """The model as the policy has it: what a person said yes to loads like what is only announced."""
        agreed = self._agreed(row.id)
        if not agreed:
            try:
                return self.load(row.backbone, row.settings)
            except RungAsked as asked:
                raise self._asked(row, asked, commit) from None
        made = self.load(row.backbone, msgspec.structs.replace(row.settings, fallback="announce"))
        info = made.info
        if info.rung not in (info.wanted, *agreed):  # less is free than when the person was asked
            lower = RungAsked(info.reason, why=info.reason, rung=info.rung, where="so")
            raise self._asked(row, lower, commit)
        return made

    def _asked(self, row: RunRow, asked: RungAsked, commit: Callable[[ev.Event, str], None]) -> BaseException:
        """Put it to the person, once: what to raise while there is no yes."""
        if row.settings.on_question != "wait":
            return asked
        key = f"{ASKED}{asked.rung}"
        known = {row.key for row in self._parts.journal.events(row.id)}
        if answer_key(key) in known:
            return UserError(f"{asked.why} {DECLINED}", code=RUNG)
        if key not in known:
            commit(ev.QuestionAsked(question=_question(asked)), key)
        return Waiting()

    def _agreed(self, run_id: str) -> tuple[str, ...]:
        """The rungs that a person said yes to for this run."""
        rows = [row for row in self._parts.journal.events(run_id) if row.key.startswith(ASKED)]
        answers = [row.event.answers[0] for row in rows if isinstance(row.event, ev.QuestionAnswered)]
        return tuple(answer.concept.removeprefix(ASKED) for answer in answers if answer.state == "present")

    def load(self, pack: str, settings: Settings) -> Backbone:
        """The model of a pack under these settings, loaded anew only where something differs.

        Raises:
            ModelError, UserError, Cancelled: as the loader says.
        """
        wish = _Wish(pack, settings.models, settings.fallback, settings.verify_on_load)
        if self._backbone is not None and self._wish == wish:
            return self._backbone
        self.close()

        def verify(done: int, total: int) -> None:
            self._send(protocol.Verify(pack=pack, done=done, total=total))

        self._parts.effect("load")
        self._backbone = self._parts.backbone(pack, settings, on_verify=verify, stop=self._stop)
        self._wish = wish
        info = self._backbone.info
        self._send(
            protocol.Loaded(
                role=TEXT, pack=info.pack_id, rung=info.rung, reason=info.reason, expected_s=info.expected_s
            )
        )
        return self._backbone

    def close(self) -> None:
        """Let go of the model, if there is one."""
        if self._backbone is not None:
            self._backbone.close()
            self._backbone = self._wish = None

    def obey(self, command: protocol.Load | protocol.Unload | protocol.Plan) -> None:
        """A command about models outside a run.

        Raises:
            WardroundError, Cancelled: it could not be done; the sentence is for the person.
        """
        if isinstance(command, protocol.Plan):
            self._send(self._parts.plan(command.pack, command.n_ctx, self._parts.settings()))
        elif command.role != TEXT:
            raise UserError(f"This worker holds no model of the role {command.role}.", code="role")
        elif isinstance(command, protocol.Unload):
            self.close()
        else:
            settings = self._parts.settings()
            self.load(command.pack or settings.models.backbone, settings)

    def measured(self, run_id: str) -> None:
        """A run that used the model has finished: its speed replaces the estimate of the next."""
        memory = fold(self._parts.journal.events(run_id))
        if self._backbone is not None and memory.model_calls and memory.rung == self._backbone.info.rung:
            tokens = memory.tokens_in + memory.tokens_out
            with suppress(StoreError):  # the run is finished and kept, whatever becomes of its measurement
                self._parts.calibrate(self._backbone.info, tokens=tokens, seconds=memory.model_seconds)

    def _announce_rung(self, row: RunRow, info: BackboneInfo, commit: Callable[[ev.Event, str], None]) -> None:
        if info.reason:
            changed = ev.RungChanged(
                from_rung=info.wanted, to_rung=info.rung, reason=info.reason, expected_s=info.expected_s
            )
            self._announce(row, changed, commit)

    def _announce(self, row: RunRow, changed: ev.RungChanged, commit: Callable[[ev.Event, str], None]) -> None:
        """One notice and one row for a change; a resume under the same rung is no change."""
        known = self._changes(row.id)
        if known and known[-1].to_rung == changed.to_rung:
            return
        commit(changed, f"rung{len(known) or ''}")
        fields = msgspec.structs.asdict(changed)
        self._send(protocol.Rung(**fields))

    def _changes(self, run_id: str) -> tuple[ev.RungChanged, ...]:
        rows = self._parts.journal.events(run_id)
        return tuple(row.event for row in rows if isinstance(row.event, ev.RungChanged))

    def _announced_without(self, run_id: str) -> bool:
        return any(changed.to_rung == NO_MODEL for changed in self._changes(run_id))

    def _refuse_change(self, row: RunRow, error: WardroundError) -> None:
        """A run that has used its model cannot go on without it: its replay would take another path."""
        if any(isinstance(known.event, ev.ModelCalled) for known in self._parts.journal.events(row.id)):
            text = f"{error.text} This run has begun with that model; resume it when the model is back."
            raise StoreError(text, code="model gone") from error
