"""What the shipped documents say is what the code does: settings, tools, the README's commands and files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

import handbook
import msgspec
import pytest

from core.domain.action import ToolResult
from core.runtime.registry import RegisteredTool, ToolContext
from core.settings import Settings
from desktop.cli import arguments, commands
from tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_handbook_says_what_the_code_says() -> None:
    assert handbook.differing() == []


def test_every_setting_and_every_tool_stands_in_it() -> None:
    settings, tools = (handbook.TEXTS[name]() for name in ("SETTINGS.md", "TOOLS.md"))
    for field in msgspec.structs.fields(Settings):
        assert f"`{field.encode_name}`" in settings or f"`{field.encode_name}." in settings
    for tool in TOOLS:
        assert f"## {tool.name} (version {tool.version})" in tools and tool.description in tools


def test_defaults_in_the_handbook_are_those_of_an_empty_file() -> None:
    plain = msgspec.to_builtins(Settings())
    for row in handbook.setting_rows():
        value = plain
        for part in row.key.split("."):
            value = value[part]
        assert row.default == msgspec.json.encode(value).decode(), row.key


def test_a_change_of_the_code_alone_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handbook, "DOCS", tmp_path)
    assert handbook.differing() == ["SETTINGS.md", "TOOLS.md"]
    handbook.main([])
    assert handbook.differing() == [] and handbook.main(["--check"]) == 0
    (tmp_path / "TOOLS.md").write_text("old", encoding="utf-8")
    assert handbook.main(["--check"]) == 1


class Wordless(msgspec.Struct, frozen=True):
    """One argument has no words."""

    named: Annotated[int, msgspec.Meta(description="Something.")]
    silent: int = 0


def test_what_has_no_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def described(arguments: Wordless, context: ToolContext) -> ToolResult:
        """A docstring."""
        return ToolResult(text="")

    def silent(arguments: Wordless, context: ToolContext) -> ToolResult:
        return ToolResult(text="")

    with pytest.raises(handbook.Undocumented, match="probe: its argument silent"):
        handbook.argument_rows(RegisteredTool(described, "probe", "1"))
    with pytest.raises(handbook.Undocumented, match="probe has no docstring"):
        handbook.argument_rows(RegisteredTool(silent, "probe", "1"))
    monkeypatch.setattr(handbook, "Settings", Wordless)
    with pytest.raises(handbook.Undocumented, match="setting silent"):
        handbook.setting_rows()


# ---------------------------------------------------------------------------------------------------- the README


def _command_lines() -> list[list[str]]:
    """The `wardround ...` lines of the README; what stands after two blanks is the explanation."""
    lines = (line.strip() for line in README.splitlines() if line.startswith("    wardround "))
    return [shlex.split(re.split(r"\s{2,}", line)[0])[1:] for line in lines]


def test_the_readme_shows_commands() -> None:
    assert len(_command_lines()) >= 8


@pytest.mark.parametrize("given", _command_lines(), ids=" ".join)
def test_every_command_line_of_the_readme_is_understood(given: list[str]) -> None:
    chosen = arguments.parse(given)
    assert not chosen.command or chosen.command in commands._PLACES


def test_every_command_stands_in_the_readme() -> None:
    shown = {given[0] for given in _command_lines() if given} | set(re.findall(r"`wardround (\w+)", README))
    assert set(commands._PLACES) - shown <= {"cases"}, "a command that the README does not show"


def test_every_file_that_the_readme_names_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    named = re.findall(r"`((?:core|desktop|models|tools|packaging|tests)/[\w./-]+)`", README)
    scripts = re.findall(r"python3? (packaging/\w+\.py)", README)
    assert {path for path in (*links, *named, *scripts) if not (ROOT / path).exists()} == set()
