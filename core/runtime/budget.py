"""What a run may spend, and what it has spent. Pure: limits against the folded memory."""

from __future__ import annotations

import msgspec

from core.domain.memory import WorkingMemory


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one run; None = no limit."""

    model_calls: int | None = None
    tokens: int | None = None

    def exhausted(self, memory: WorkingMemory) -> str:
        """Which limit is reached, in words; empty while there is room."""
        if self.model_calls is not None and memory.model_calls >= self.model_calls:
            return f"{self.model_calls} model calls"
        spent = memory.tokens_in + memory.tokens_out
        if self.tokens is not None and spent >= self.tokens:
            return f"{self.tokens} tokens"
        return ""
