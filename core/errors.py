"""All errors of the product on one page.

    WardroundError
    ├── UserError        the person must act; the sentence says what              exit 1
    │   └── RungAsked    the model runs only where it was not wanted; may it?
    ├── ToolError        the model reads it as its observation and goes on
    ├── ModelError       a model effect failed; the step is marked failed, the run may go on
    ├── StoreError       known=True: a sentence for the person (disk full, locked) exit 1
    │                    known=False: a bug                                        exit 3
    ├── SecurityError    something was refused that must never happen              exit 1
    └── BugError         our own fault; a crash file is written                    exit 3
    Cancelled, Waiting   not errors: the run was stopped, or waits for an answer

Two questions each: who must act, and may we go on? This module must not know anything else of the program.
"""

from __future__ import annotations


class WardroundError(Exception):
    """Root of the tree. `code` is stable and short, `text` is one sentence for its reader."""

    def __init__(self, text: str, *, code: str = "error") -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class UserError(WardroundError):
    """The person must act; `text` says what happened and what to do."""


class RungAsked(UserError):
    """The model can run, but not where it was wanted, and the site is to be asked (runtime.md section 10, `ask`).

    `why` is the reason, `rung` where it would run, `where` the same in words; `text` refuses, for want of an answer.
    """

    def __init__(self, text: str, *, why: str, rung: str, where: str) -> None:
        super().__init__(text, code="rung")
        self.why = why
        self.rung = rung
        self.where = where


class ToolError(WardroundError):
    """A tool could not answer; `text` is the observation that the model reads."""


class ModelError(WardroundError):
    """A model call failed; the run may go on without it."""


class StoreError(WardroundError):
    """The store refused. `known` tells a sentence for the person from a bug."""

    def __init__(self, text: str, *, code: str = "store", known: bool = True) -> None:
        super().__init__(text, code=code)
        self.known = known


class SecurityError(WardroundError):
    """Something was attempted that this program never does (network, foreign path)."""


class BugError(WardroundError):
    """The program broke its own rule."""


class Cancelled(BaseException):
    """The clinician stopped the run. Derived from BaseException so that no `except Exception` swallows it."""

    def __init__(self, step: str = "") -> None:
        super().__init__(step)
        self.step = step


class Waiting(BaseException):
    """The run waits for the clinician's answer to a question that is in the journal."""


EXIT_DONE, EXIT_ACT, EXIT_USAGE, EXIT_BUG = 0, 1, 2, 3


def exit_code(error: BaseException) -> int:
    """The command line's exit code for an error (design: 1 the person must act, 3 a bug)."""
    if isinstance(error, StoreError):
        return EXIT_ACT if error.known else EXIT_BUG
    if isinstance(error, UserError | ModelError | ToolError | SecurityError):
        return EXIT_ACT
    return EXIT_BUG
