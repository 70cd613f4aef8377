"""What a headless run does with a question to the clinician: unavailable, wait, or answers from a file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from core import codec
from core.domain.evidence import Answer, Gap, Question
from core.errors import UserError
from desktop.assembly import OnQuestion
from desktop.cli.session import Session
from desktop.cli.terminal import Terminal
from desktop.i18n import tr

State = Literal["present", "absent", "not obtainable"]
Given = dict[str, State]
NO_FILE = "--on-question takes `unavailable`, `wait`, or the name of an answer file; there is no file {path}."
LARGEST = 1_000_000  # bytes of an answer file
_BARE = re.compile(
    r"""\s*["']?(?P<concept>[^"'=\s#]+)["']?\s*[=:]\s*(?P<state>present|absent|not obtainable)\s*(?:#.*)?""",
    re.IGNORECASE,
)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`on_question` is empty where nothing was asked for; `given` holds the answers of a file, by concept. `leave`: a
    person is asked where the model may run, whatever becomes of other questions."""

    on_question: OnQuestion | Literal[""] = ""
    given: Given | None = None
    leave: bool = False


def plan(option: str) -> Plan:
    """The option `--on-question` as a plan.

    Raises:
        UserError: neither a known word nor a usable answer file.
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
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise UserError(tr(NO_FILE, path=path), code="answers") from error
    except OSError as error:
        raise UserError(f"The answer file {path} cannot be read: {error.strerror}.", code="answers") from error
    if len(data) > LARGEST:
        raise UserError(tr("The answer file {path} is larger than {n:,} bytes.", path=path, n=LARGEST), code="answers")
    try:
        rows = codec.decode(data, dict[str, str]) if path.suffix == ".json" else tomllib.loads(data.decode())
        return msgspec.convert(rows, Given)
    except (ValueError, msgspec.MsgspecError) as error:
        how = _ready_line(data) or tr(
            '{why}. Each line: "concept" = "present", "absent" or "not obtainable"', why=error
        )
        raise UserError(
            tr("The answer file {path} is not usable: {how}.", path=path, how=how), code="answers"
        ) from error


def _ready_line(data: bytes) -> str:
    """For the first line that only lacks its quotes: the line as it must be."""
    for number, line in enumerate(data.decode(errors="replace").splitlines(), start=1):
        found = _BARE.fullmatch(line)
        if found is not None and '"' not in found["state"]:
            ready = f'"{found["concept"]}" = "{found["state"].lower()}"'
            return tr("line {n} lacks quotes. Write it so: {line}", n=number, line=ready)
    return ""


def give(session: Session, run_id: str, plan: Plan) -> bool:
    """Commit answers to the open question: those of the file, and "not obtainable" to what it does not hold, or to all
    of it when the person said "unavailable". False: nothing was said, the run waits on.
    """
    asked = session.stores.journal.open_question(run_id)
    question = getattr(asked and asked.event, "question", None)
    gaps: tuple[Gap, ...] = getattr(question, "gaps", ())
    given = {} if plan.on_question == "unavailable" else plan.given
    if question is not None and plan.given is None:
        given = _leave(session.terminal, question) or given
    if given is None or not gaps:
        return False
    answers = tuple(Answer(concept=gap.concept, state=given.get(gap.concept, "not obtainable")) for gap in gaps)
    session.stores.journal.answer(run_id, answers, session.bench.actor)
    return True


def _leave(terminal: Terminal, question: Question) -> Given:
    """The word of a person at the terminal on where the model may run; nothing on any other question."""
    if question.gaps[0].kind != "rung" or not terminal.attended:
        return {}
    return {question.gaps[0].concept: "present" if terminal.agrees(question.wording[0]) else "absent"}


def attended(session: Session, plan: Plan) -> Plan:
    """The plan of a person who is there to say where the model may run, and is asked nothing else; else the same."""
    settings = session.bench.settings
    waits = plan.on_question or settings.on_question == "wait"
    if settings.fallback != "ask" or waits or not session.terminal.attended:
        return plan
    return msgspec.structs.replace(plan, on_question="unavailable", leave=True)


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
