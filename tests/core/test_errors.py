"""One page of errors: who must act (exit code), what is said, and what no `except Exception` may swallow."""

from __future__ import annotations

import inspect

import pytest

from core import errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UserError("Do this."), 1),
        (errors.ToolError("No."), 1),
        (errors.ModelError("Too long."), 1),
        (errors.SecurityError("Refused."), 1),
        (errors.StoreError("The disk is full.", code="disk full"), 1),
        (errors.StoreError("no such table", known=False), 3),
        (errors.BugError("rule broken"), 3),
        (ValueError("anything else"), 3),
        (errors.Cancelled("3.rank"), 3),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_exit_codes(error: BaseException, code: int) -> None:
    assert errors.exit_code(error) == code


def test_codes_of_the_command_line() -> None:
    assert (errors.EXIT_DONE, errors.EXIT_ACT, errors.EXIT_USAGE, errors.EXIT_BUG) == (0, 1, 2, 3)


def test_text_and_code_are_kept() -> None:
    error = errors.UserError("Free some space.", code="disk")
    assert (error.text, error.code, str(error)) == ("Free some space.", "disk", "Free some space.")
    assert errors.ToolError("x").code == "error"


def test_a_stop_passes_through_except_exception() -> None:
    for signal in (errors.Cancelled("step"), errors.Waiting()):
        with pytest.raises(type(signal)):
            try:
                raise signal
            except Exception:  # a workflow that is careless about errors
                pytest.fail("swallowed")
    assert errors.Cancelled("step").step == "step"


def test_every_error_is_drawn_at_the_top_of_its_page() -> None:
    page = errors.__doc__ or ""
    own = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    assert [name for name in own if name not in page] == []
