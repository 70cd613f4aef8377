"""A native library that answers as the real one and writes down every call: a guard can be seen to fire first."""

from __future__ import annotations

from typing import Any

from models.llama.library import load_library


class NativeSpy:
    """Hands every attribute of the llama.cpp binding through; `calls` lists the functions called, in order."""

    def __init__(self) -> None:
        self._library = load_library()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._library, name)
        if not name.startswith("llama_") or isinstance(found, type):
            return found

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            return found(*arguments)

        return call

    def since(self, count: int) -> list[str]:
        """The calls after the first `count`."""
        return self.calls[count:]
