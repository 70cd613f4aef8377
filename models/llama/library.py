"""The native libraries, loaded once a process and silenced: llama.cpp, and mtmd for pictures.

Their log lines can hold the prompt, so the one callback counts lines by level and keeps none of their text. Must not
know models, prompts or files.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import Any

import msgspec


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """Which native library answered."""

    lib_version: str
    lib_build: str
    system_info: str


class _Log:
    """Takes the libraries' log lines and keeps none of their text."""

    def __init__(self) -> None:
        self.lines: Counter[int] = Counter()
        self.callback: Any = None
        self._pictures = False

    def install(self, library: Any) -> None:
        if self.callback is None:
            self.callback = library.llama_log_callback(self._count)
            library.llama_log_set(self.callback, None)
            library.llama_backend_init()

    def install_pictures(self, library: Any) -> None:
        """mtmd and its helper write through callbacks of their own; both are set."""
        if not self._pictures:
            library.mtmd_log_set(self.callback, None)
            library.mtmd_helper_log_set(self.callback, None)
            self._pictures = True

    def _count(self, level: int, _text: bytes, _data: Any) -> None:
        self.lines[level] += 1


LOG = _Log()  # for ever: a garbage-collected callback is a crash


def load_library() -> Any:
    """The low-level binding of llama.cpp."""
    import llama_cpp.llama_cpp as library

    LOG.install(library)
    return library


def load_pictures() -> Any:
    """The low-level binding of mtmd."""
    load_library()
    import llama_cpp.mtmd_cpp as library

    LOG.install_pictures(library)
    return library


def describe_library(library: Any) -> Build:
    """Version, commit and processor features of the loaded library."""
    from llama_cpp import __version__

    commit = library._lib.ggml_commit
    commit.restype = ctypes.c_char_p
    return Build(
        lib_version=f"llama-cpp-python {__version__}",
        lib_build=f"{library.llama_version().decode()} {commit().decode()}",
        system_info=library.llama_print_system_info().decode().strip(" |"),
    )
