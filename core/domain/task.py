"""What a run is asked, and in which form the answer is due. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.domain.case import Case

WORK_UP = "What is the likely diagnosis, and what would settle it?"


class AnswerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The form of the answer: a free assessment, or one of the options."""

    form: Literal["assessment", "option"] = "assessment"
    options: tuple[str, ...] = ()


class TaskInput(msgspec.Struct, frozen=True, kw_only=True):
    """The question of one run."""

    question: str
    answer: AnswerSpec = AnswerSpec()


def task_from_case(case: Case, question: str = "") -> TaskInput:
    """The task of a case: the clinician's own question, or the diagnostic work-up."""
    del case
    return TaskInput(question=question.strip() or WORK_UP)
