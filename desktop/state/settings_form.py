"""The settings as a form: one line a setting, made from the metadata of the struct; answers put back and checked.

Knows no widget and no file. A new setting appears by being defined in `core.settings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import inspect

from core import codec
from core.errors import UserError
from core.settings import Settings
from desktop.i18n import tr

Value = str | int | float | bool
Kind = Literal["choice", "text", "whole", "number", "yes-no"]
_KINDS: dict[type[inspect.Type], Kind] = {
    inspect.StrType: "text",
    inspect.IntType: "whole",
    inspect.FloatType: "number",
    inspect.BoolType: "yes-no",
}


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One setting: dotted key, its group's title ("" for the first), what it means, what it may be, what it is."""

    key: str
    group: str
    meaning: str
    kind: Kind
    value: Value
    default: Value
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the key in words."""
        return self.key.rsplit(".", 1)[-1].replace("_", " ").capitalize()


def lines(settings: Settings) -> tuple[Line, ...]:
    """Every setting in the order of its definition."""
    return tuple(_lines(settings, Settings(), "", ""))


def _lines(now: msgspec.Struct, default: msgspec.Struct, prefix: str, group: str) -> Iterator[Line]:
    info = inspect.type_info(type(now))
    assert isinstance(info, inspect.StructType)  # noqa: S101 - a class that is a Struct
    for field in info.fields:
        kind, meaning = _described(field.type)
        value, usual = getattr(now, field.name), getattr(default, field.name)
        if isinstance(kind, inspect.StructType):
            yield from _lines(value, usual, f"{prefix}{field.name}.", _title(kind))
            continue
        choices = tuple(str(choice) for choice in kind.values) if isinstance(kind, inspect.LiteralType) else ()
        yield Line(
            key=f"{prefix}{field.name}",
            group=group,
            meaning=meaning,
            kind="choice" if choices else _KINDS[type(kind)],
            value=value,
            default=usual,
            choices=choices,
        )


def _described(kind: inspect.Type) -> tuple[inspect.Type, str]:
    if isinstance(kind, inspect.Metadata):
        return kind.type, str((kind.extra_json_schema or {}).get("description", ""))
    return kind, ""


def _title(kind: inspect.StructType) -> str:
    """What a group of settings is called: the name of its struct."""
    return kind.cls.__name__


def changed(settings: Settings, answers: Mapping[str, Value]) -> Settings:
    """The settings with these answers in place of what they were.

    Raises:
        UserError: a value that the setting cannot have, or no such setting; nothing is changed.
    """
    tree: dict[str, Any] = codec.decode(codec.encode(settings), dict)
    for key, value in answers.items():
        place = tree
        *groups, last = key.split(".")
        for group in groups:
            place = place.get(group, {})
        if last not in place:
            raise UserError(tr("There is no setting {key}.", key=key), code="settings")
        place[last] = value
    try:
        return codec.decode(codec.encode(tree), Settings)
    except msgspec.ValidationError as error:
        raise UserError(tr("This cannot be saved: {why}.", why=str(error)), code="settings") from error
