"""What a headless run does with a question to the clinician: unavailable, wait, or answers from a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from core import codec
from core.domain.evidence import Answer, Gap
from core.errors import UserError
from desktop.assembly import OnQuestion
from desktop.cli.session import Session
from desktop.i18n import tr

State = Literal["present", "absent", "not obtainable"]
Given = dict[str, State]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`on_question` is empty where nothing was asked for; `given` holds the answers of a file, by concept."""

    on_question: OnQuestion | Literal[""] = ""
    given: Given | None = None


def plan(option: str) -> Plan:
    """The option `--on-question` as a plan.

    Raises:
        UserError: neither a known word nor a readable answer file.
    """
    if option == "":
        return Plan()
    if option == "unavailable":
        return Plan(on_question="unavailable")
    if option == "wait":
        return Plan(on_question="wait")
    return Plan(on_question="wait", given=_read(Path(option)))


def _read(path: Path) -> Given:
    try:
        data = path.read_bytes()
        rows = codec.decode(data, dict[str, str]) if path.suffix == ".json" else tomllib.loads(data.decode())
        return msgspec.convert(rows, Given)
    except OSError as error:
        raise UserError(f"The answer file {path} cannot be read: {error.strerror}.", code="answers") from error
    except (ValueError, msgspec.MsgspecError) as error:
        raise UserError(
            f'The answer file {path} is not usable ({error}). Each line: concept = "present", "absent" or '
            '"not obtainable".',
            code="answers",
        ) from error


def give(session: Session, run_id: str, plan: Plan) -> bool:
    """Commit the file's answers to the open question; what it does not hold is not obtainable. False: no file."""
    asked = session.stores.journal.open_question(run_id)
    gaps: tuple[Gap, ...] = getattr(getattr(asked and asked.event, "question", None), "gaps", ())
    if plan.given is None or not gaps:
        return False
    answers = tuple(Answer(concept=gap.concept, state=plan.given.get(gap.concept, "not obtainable")) for gap in gaps)
    session.stores.journal.answer(run_id, answers, session.bench.actor)
    return True


def wanted(session: Session, run_id: str) -> str:
    """What a waiting run asks, and how to answer it."""
    asked = session.stores.journal.open_question(run_id)
    question = getattr(asked and asked.event, "question", None)
    lines = [tr("Run {id} waits for your answer:", id=run_id)]
    if question is not None:
        for gap, wording in zip(question.gaps, question.wording, strict=False):
            lines.append(f"  {wording}  [{gap.concept}] {gap.why}")
    lines.append(tr("Answer in the window, or: wardround resume {id} --on-question FILE", id=run_id))
    return "\n".join(lines)
