"""Budgets: the first limit that is reached is named."""

from __future__ import annotations

import pytest

from core.domain.memory import WorkingMemory
from core.runtime.budget import Budget

SPENT = WorkingMemory(model_calls=3, tokens_in=70, tokens_out=30)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(), ""),
        (Budget(model_calls=4, tokens=101), ""),
        (Budget(model_calls=3), "3 model calls"),
        (Budget(tokens=100), "100 tokens"),
        (Budget(model_calls=3, tokens=100), "3 model calls"),
        (Budget(model_calls=0), "0 model calls"),
    ],
)
def test_a_limit_that_is_reached_is_named(budget: Budget, said: str) -> None:
    assert budget.exhausted(SPENT) == said
