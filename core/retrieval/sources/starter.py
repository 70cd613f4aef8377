"""Our own guideline files (TOML) to values: conditions, concepts, rules, sources (knowledge.md section 12).

It must not know the store, a case or a run. A file says by its keys what it is: `slug` a condition, `concept` rows a
concept table, anything else rules and sources that belong to no single condition.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import msgspec

from core.domain.condition import Clue, Condition, Rule
from core.domain.passage import Concept, Fact, Source
from core.errors import UserError

T = TypeVar("T")
_ROWS = {"fact": "facts", "source": "sources", "clue": "clues", "rule": "rules"}  # table in the file -> field


class StarterSet(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the files say. `rules` and `sources` are those of no single condition; order is that of the names."""

    conditions: tuple[Condition, ...] = ()
    concepts: tuple[Concept, ...] = ()
    rules: tuple[Rule, ...] = ()
    sources: tuple[Source, ...] = ()


def packaged() -> StarterSet:
    """The files that ship with the program."""
    return load(packaged_texts())


def packaged_texts() -> dict[str, str]:
    """Path below `starter/` -> text of every shipped file."""
    root = resources.files("core.retrieval").joinpath("starter")
    return {name: item.read_text("utf-8") for name, item in sorted(_tomls(root, ""))}


def _tomls(folder: Traversable, prefix: str) -> Iterable[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _tomls(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".toml"):
            yield prefix + item.name, item


def load(texts: Mapping[str, str]) -> StarterSet:
    """File name -> TOML text, to values.

    Raises:
        UserError: not TOML, an unknown key, a missing one, or a value of the wrong kind; names the file.
    """
    conditions: list[Condition] = []
    concepts: list[Concept] = []
    rules: list[Rule] = []
    sources: list[Source] = []
    for name in sorted(texts):
        content = _parse(name, texts[name])
        try:
            if "slug" in content:
                conditions.append(_condition(content))
                continue
            concepts += [_concept(row) for row in content.pop("concept", ())]
            rules += [_strict(row, Rule) for row in content.pop("rule", ())]
            sources += [_strict(row, Source) for row in content.pop("source", ())]
            _refuse_rest(content)
        except (msgspec.ValidationError, ValueError) as error:
            text = f"The starter file {name} does not have the expected form: {error}."
            raise UserError(text, code="starter") from error
    return StarterSet(
        conditions=tuple(conditions), concepts=tuple(concepts), rules=tuple(rules), sources=tuple(sources)
    )


def _parse(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"The starter file {name} is not TOML: {error}.", code="starter") from error


def _condition(content: dict[str, Any]) -> Condition:
    kinds: dict[str, type] = {"fact": Fact, "source": Source, "clue": Clue, "rule": Rule}
    fields: dict[str, Any] = {}
    for table, field in _ROWS.items():
        fields[field] = tuple(_strict(row, kinds[table]) for row in content.pop(table, ()))
    content["edition"] = str(content.get("edition", ""))  # a TOML date
    content["sections"] = {key: text.strip() for key, text in content.get("sections", {}).items()}
    plain = _strict(content, Condition)
    return msgspec.structs.replace(plain, **fields)


def _concept(row: dict[str, Any]) -> Concept:
    lab = row.get("lab", "")
    if isinstance(lab, list):  # several analytes can stand for one finding; the value keeps them blank-separated
        row["lab"] = " ".join(lab)
    return _strict(row, Concept)


def _strict(row: dict[str, Any], kind: type[T]) -> T:
    """A struct from a table; a key that the struct lacks is an error, not a silently lost clue."""
    known = {field.name for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(row) - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in a row of {kind.__name__.lower()}")
    return msgspec.convert(row, kind)


def _refuse_rest(content: dict[str, Any]) -> None:
    if content:
        raise ValueError(f"unknown table {sorted(content)[0]!r}")
