"""Prompts are files with a name and a hash; both go into the journal (design convention 9).

A file has parts headed `--- system`, `--- user`, `--- assistant`; the last opens the reply (scoring continues it).
Knows no workflow: the caller names the package that holds the file.
"""

from __future__ import annotations

import re
from importlib import resources

import msgspec

from core import codec
from core.domain.chat import Message, ModelRequest, Role, Sampling, message
from core.errors import BugError

_PART = re.compile(r"^--- (system|user|assistant)\n", re.M)


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt file: its name, the hash of its text, and its parts in order."""

    name: str
    sha256: str
    parts: tuple[tuple[Role, str], ...]

    def request(self, sampling: Sampling, *, schema: str | None = None, **values: str) -> ModelRequest:
        """The request with the file's gaps filled. Values are inserted as they are, never read as gaps."""
        return ModelRequest(
            messages=tuple(self._message(role, text, values) for role, text in self.parts),
            sampling=sampling,
            prompt_name=self.name,
            prompt_sha256=self.sha256,
            schema=schema,
            static_parts=1 if self.parts[0][0] == "system" else 0,
        )

    def _message(self, role: Role, text: str, values: dict[str, str]) -> Message:
        return message(role, re.sub(r"\{(\w+)\}", lambda gap: values[gap.group(1)], text))


def load(package: str, name: str) -> Prompt:
    """The prompt file `name` of a package.

    Raises:
        BugError: the file has no parts.
    """
    text = resources.files(package).joinpath(f"{name}.txt").read_text("utf-8")
    pieces = _PART.split(text)[1:]
    if not pieces:
        raise BugError(f"prompt file {name} has no parts")
    parts: list[tuple[Role, str]] = []
    for role, body in zip(pieces[::2], pieces[1::2], strict=True):
        if role not in ("system", "user", "assistant"):
            raise BugError(f"prompt file {name} has a part {role}")
        parts.append((role, body.rstrip("\n")))  # type: ignore[arg-type]
    return Prompt(name=name, sha256=codec.sha256(text.encode()), parts=tuple(parts))
