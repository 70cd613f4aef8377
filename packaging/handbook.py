"""Writes packaging/docs/SETTINGS.md and TOOLS.md from the metadata in the code, so that they cannot lag behind it.

    python packaging/handbook.py            writes both files
    python packaging/handbook.py --check    says which one differs from the code, exit code 1

Whoever adds a setting, a tool or an argument without words is stopped here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import inspect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.runtime.registry import RegisteredTool
from core.settings import FILE, Settings
from tools import TOOLS
from tools.calculators import CALCULATORS
from tools.calculators.evaluation import inputs_text

DOCS = Path(__file__).resolve().parent / "docs"
MADE = "Made by `python packaging/handbook.py` from the code; a test compares. Do not edit."


class Row(NamedTuple):
    """A setting or an argument: dotted key, default as JSON (None: required), values, meaning."""

    key: str
    default: str | None
    values: str
    meaning: str


class Undocumented(Exception):
    """A setting, a tool or an argument without words."""


def setting_rows() -> list[Row]:
    """All settings in order of their definition.

    Raises:
        Undocumented: one has no description.
    """
    return _worded(Settings, "the setting")


def argument_rows(tool: RegisteredTool) -> list[Row]:
    """The arguments of a tool.

    Raises:
        Undocumented: the tool or one of them has no description.
    """
    if not tool.description:
        raise Undocumented(f"the tool {tool.name} has no docstring")
    return _worded(tool.arguments, f"the tool {tool.name}: its argument")


def _worded(struct: type[msgspec.Struct], what: str) -> list[Row]:
    rows = list(_fields(struct, ""))
    for row in rows:
        if not row.meaning:
            raise Undocumented(f"{what} {row.key} has no description")
    return rows


def _fields(struct: type[msgspec.Struct], prefix: str) -> Iterator[Row]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - a class that is a Struct
    for field in info.fields:
        kind, meaning = _described(field.type)
        inner = _inner(kind)
        key = f"{prefix}{field.encode_name}"
        if inner is not None and isinstance(kind, inspect.StructType):
            yield from _fields(inner, f"{key}.")
            continue
        yield Row(key, _default(field), _values(kind), meaning)
        if inner is not None:
            yield from _fields(inner, f"{key}[].")


def _described(kind: inspect.Type) -> tuple[inspect.Type, str]:
    """The type without its metadata, and the description."""
    if isinstance(kind, inspect.Metadata):
        return kind.type, str((kind.extra_json_schema or {}).get("description", ""))
    return kind, ""


def _inner(kind: inspect.Type) -> type[msgspec.Struct] | None:
    """The struct that a field holds, alone or as a list."""
    if isinstance(kind, inspect.StructType):
        return kind.cls
    if isinstance(kind, inspect.VarTupleType):
        return _inner(kind.item_type)
    return None


def _default(field: inspect.Field) -> str | None:
    if field.default is not msgspec.NODEFAULT:
        return msgspec.json.encode(field.default).decode()
    return None if field.default_factory is msgspec.NODEFAULT else "[]"


_NAMES: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "whole number",
    inspect.FloatType: "number",
    inspect.BoolType: "true or false",
}


def _values(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.VarTupleType):
        return "list"
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_values(each) for each in kind.types)
    return _NAMES[type(kind)]


def settings_text() -> str:
    """SETTINGS.md."""
    rows = "\n".join(f"| `{r.key}` | `{r.default}` | {r.values} | {r.meaning} |" for r in setting_rows())
    return (
        f"# Settings\n\nThey lie in `{FILE}` in the profile's folder as JSON; what is not named there has its default. "
        "An unknown key or value is refused with a sentence that names it. A run keeps the settings that it was "
        f"started with.\n\n{MADE}\n\n| key | default | values | meaning |\n|---|---|---|---|\n{rows}\n"
    )


def tools_text() -> str:
    """TOOLS.md."""
    parts = "\n".join(_tool_text(tool) for tool in TOOLS)
    return (
        "# Tools\n\nWhat a workflow may call. A tool sees its arguments and the case, never a path; every call and "
        f"every result is in the journal of the run.\n\n{MADE}\n\n{parts}\n{_calculators_text()}"
    )


def _calculators_text() -> str:
    """The named calculators: what each reads, gives and rests on."""
    rows = "\n".join(
        f"| `{each.id}` | {each.name} | {inputs_text(each)} | {each.output.unit} | {each.citation.text} |"
        for each in CALCULATORS.values()
    )
    return (
        "## Named calculators\n\nA question mark stands behind what may be left out; a missing item of a score leaves "
        "a range. Formulas and limits are as remembered from the papers and are unreviewed until a person has compared "
        f"them.\n\n| id | name | reads | unit | source |\n|---|---|---|---|---|\n{rows}\n"
    )


def _tool_text(tool: RegisteredTool) -> str:
    rows = "\n".join(
        f"| `{r.key}` | {'required' if r.default is None else f'`{r.default}`'} | {r.values} | {r.meaning} |"
        for r in argument_rows(tool)
    )
    table = f"| argument | default | values | meaning |\n|---|---|---|---|\n{rows}\n"
    names = [f"In the published system: {tool.paper_name}."] if tool.paper_name != tool.name else []
    names += [f"Also called {', '.join(tool.aliases)}."] if tool.aliases else []
    said = " ".join([f"{tool.dimension}.", *names])
    return f"## {tool.name} (version {tool.version})\n\n{said}\n\n{tool.description}\n\n{table}"


TEXTS = {"SETTINGS.md": settings_text, "TOOLS.md": tools_text}


def differing() -> list[str]:
    """The files that do not say what the code says."""
    return [name for name, text in TEXTS.items() if not _same(DOCS / name, text())]


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main(given: list[str]) -> int:
    """Write the files, or compare them; 1 when one differs."""
    if given == ["--check"]:
        for name in differing():
            print(f"{name} differs from the code: python packaging/handbook.py")
        return 1 if differing() else 0
    for name, text in TEXTS.items():
        (DOCS / name).write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
