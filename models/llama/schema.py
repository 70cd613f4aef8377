"""The subset of JSON Schema that a model may be held to, as a tree that can check a value (runtime.md 4.4).

Reads what msgspec writes for our structs; anything outside the subset is a bug of the schema's author. Knows no
grammar and no model.
"""

from __future__ import annotations

import json
from typing import Any, Protocol

import msgspec

from core.errors import BugError

MOST_ITEMS = 32


class SchemaTooBig(BugError):
    """The schema is outside the subset, or its grammar above the size caps: a bug, found by a test."""

    def __init__(self, text: str) -> None:
        super().__init__(text, code="schema")


class Node(Protocol):
    """A place in the schema."""

    def problem(self, value: Any, path: str) -> str | None:
        """Where and why a value does not fit, without quoting the value; None if it fits."""
        ...


class Choice(msgspec.Struct, frozen=True):
    """`enum` or `const`: one of these JSON values."""

    values: tuple[str | int | float | bool | None, ...]

    def problem(self, value: Any, path: str) -> str | None:
        fits = any(type(value) is type(known) and value == known for known in self.values)
        return None if fits else f"{path}: none of the allowed values"


class Text(msgspec.Struct, frozen=True):
    """A string; its length is checked here and limited by the token budget, never by the grammar."""

    least: int = 0
    most: int | None = None

    def problem(self, value: Any, path: str) -> str | None:
        if not isinstance(value, str):
            return f"{path}: expected text"
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return f"{path}: text of the wrong length"
        return None


class Number(msgspec.Struct, frozen=True):
    """A number between two bounds, both included."""

    whole: bool
    least: float | None = None
    most: float | None = None

    def problem(self, value: Any, path: str) -> str | None:
        kinds = (int,) if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return f"{path}: expected {'a whole number' if self.whole else 'a number'}"
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            return f"{path}: out of range"
        return None


class Boolean(msgspec.Struct, frozen=True):
    """true or false."""

    def problem(self, value: Any, path: str) -> str | None:
        return None if isinstance(value, bool) else f"{path}: expected true or false"


class Array(msgspec.Struct, frozen=True):
    """A list of like items."""

    item: Node
    least: int = 0
    most: int = MOST_ITEMS

    def problem(self, value: Any, path: str) -> str | None:
        if not isinstance(value, list):
            return f"{path}: expected a list"
        if not self.least <= len(value) <= self.most:
            return f"{path}: expected {self.least} to {self.most} items"
        found = (self.item.problem(item, f"{path}[{i}]") for i, item in enumerate(value))
        return next((text for text in found if text), None)


class Object(msgspec.Struct, frozen=True):
    """All properties, in declared order."""

    name: str
    fields: tuple[tuple[str, Node], ...]

    def problem(self, value: Any, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path}: expected an object"
        if set(value) != {name for name, _ in self.fields}:
            return f"{path}: missing or unknown properties"
        found = (node.problem(value[name], f"{path}.{name}") for name, node in self.fields)
        return next((text for text in found if text), None)


class Union(msgspec.Struct, frozen=True):
    """One of several forms; objects among them are told apart by their first property, the tag."""

    variants: tuple[Node, ...]

    def problem(self, value: Any, path: str) -> str | None:
        reasons = [variant.problem(value, path) for variant in self.variants]
        if None in reasons:
            return None
        inside = [reason for reason in reasons if reason and not reason.startswith(f"{path}:")]
        return max(inside, key=_depth, default=f"{path}: none of the allowed forms")


def _depth(problem: str) -> int:
    """How far inside a value a problem lies: the form that fits deepest is the one that was meant."""
    return problem.partition(":")[0].count(".")


def read_schema(text: str) -> Node:
    """The tree of a JSON Schema text.

    Raises:
        SchemaTooBig: a construct outside the subset, or a schema that refers to itself.
    """
    whole = json.loads(text)
    return _Reader(whole.get("$defs", {})).read(whole, ())


def name_of(node: Node) -> str:
    """The name of an object as its author gave it, else a word for the kind."""
    return node.name if isinstance(node, Object) else type(node).__name__.lower()


class _Reader:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def read(self, schema: dict[str, Any], above: tuple[str, ...]) -> Node:
        if "$ref" in schema:
            return self._follow(schema["$ref"], above)
        if "anyOf" in schema:
            return self._union([self.read(variant, above) for variant in schema["anyOf"]])
        if "enum" in schema or "const" in schema:
            values = tuple(schema["enum"]) if "enum" in schema else (schema["const"],)
            return Choice(values)
        return self._typed(schema, above)

    def _follow(self, reference: str, above: tuple[str, ...]) -> Node:
        name = reference.rpartition("/")[2]
        if name in above or name not in self._definitions:
            raise SchemaTooBig(f"The schema {name} refers to itself or is not there.")
        return self.read({"title": name, **self._definitions[name]}, (*above, name))

    def _union(self, variants: list[Node]) -> Node:
        objects = [variant for variant in variants if isinstance(variant, Object)]
        if len(objects) > 1 and not all(_is_tagged(found) for found in objects):
            raise SchemaTooBig("A union of objects needs a tag as the first property of each.")
        return Union(tuple(variants))

    def _typed(self, schema: dict[str, Any], above: tuple[str, ...]) -> Node:
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, above)
        if kind == "array":
            return self._array(schema, above)
        if kind == "string":
            return Text(schema.get("minLength", 0), schema.get("maxLength"))
        if kind in ("integer", "number"):
            return Number(kind == "integer", schema.get("minimum"), schema.get("maximum"))
        if kind == "boolean":
            return Boolean()
        if kind == "null":
            return Choice((None,))
        raise SchemaTooBig(f"The schema type {kind} is not in the subset.")

    def _object(self, schema: dict[str, Any], above: tuple[str, ...]) -> Node:
        fields = schema.get("properties", {})
        if not fields or isinstance(schema.get("additionalProperties"), dict):
            raise SchemaTooBig("An object needs named properties.")
        name = str(schema.get("title", "object"))
        return Object(name, tuple((key, self.read(value, above)) for key, value in fields.items()))

    def _array(self, schema: dict[str, Any], above: tuple[str, ...]) -> Node:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", MOST_ITEMS))
        if not isinstance(schema.get("items"), dict) or not 0 <= least <= most <= MOST_ITEMS or most == 0:
            raise SchemaTooBig(f"A list needs one kind of item and at most {MOST_ITEMS} of them.")
        return Array(self.read(schema["items"], above), least, most)


def _is_tagged(found: Object) -> bool:
    first = found.fields[0][1]
    return isinstance(first, Choice) and len(first.values) == 1
