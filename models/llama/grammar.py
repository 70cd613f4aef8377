"""JSON Schema to GBNF, our own writer for the subset of `schema.py`, with size caps (runtime.md 4.4).

The native parser prints a grammar it refuses to stderr, so a grammar must contain no case text: enumerations of
evidence use ids, never names. Left recursion cannot arise, because a rule only refers to rules written before it.
"""

from __future__ import annotations

import json
from functools import lru_cache

from models.llama.guards import GRAMMAR_BYTES
from models.llama.schema import Array, Boolean, Choice, Node, Number, Object, SchemaTooBig, Text, Union, read_schema

MOST_RULES = 64
STRING = r'"\"" ( [^"\\\x00-\x1F\x7F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""'
DIGITS = '( "0" | [1-9] [0-9]{0,14} )'
FRACTION = '( "." [0-9]{1,6} )?'


@lru_cache(maxsize=64)
def write_grammar(schema: str) -> str:
    """The GBNF text, rule `root` last, that admits exactly the compact JSON of the schema.

    Raises:
        SchemaTooBig: more than 64 rules or 16,384 bytes, or a schema outside the subset.
    """
    writer = _Writer()
    writer.add("root", writer.term(read_schema(schema)))
    text = "\n".join(f"{name} ::= {body}" for name, body in writer.rules.items()) + "\n"
    if len(writer.rules) > MOST_RULES or len(text.encode()) > GRAMMAR_BYTES:
        raise SchemaTooBig(f"The grammar has {len(writer.rules)} rules and {len(text.encode())} bytes.")
    return text


def _literal(text: str) -> str:
    """GBNF text that matches `text` as it stands."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _json(value: object) -> str:
    return _literal(json.dumps(value, ensure_ascii=False))


class _Writer:
    def __init__(self) -> None:
        self.rules: dict[str, str] = {}

    def add(self, name: str, body: str) -> str:
        self.rules[name] = body
        return name

    def term(self, node: Node) -> str:
        """What stands for a node inside another rule; bigger nodes become rules of their own."""
        if isinstance(node, Choice):
            return "( " + " | ".join(_json(value) for value in node.values) + " )"
        if isinstance(node, Text):
            return "string" if "string" in self.rules else self.add("string", STRING)
        if isinstance(node, Number):
            return self._number(node)
        if isinstance(node, Boolean):
            return '( "true" | "false" )'
        if isinstance(node, Union):
            return "( " + " | ".join(self.term(variant) for variant in node.variants) + " )"
        return self._compound(node)

    def _number(self, node: Number) -> str:
        sign = "" if node.least is not None and node.least >= 0 else '"-"? '
        return f"( {sign}{DIGITS} )" if node.whole else f"( {sign}{DIGITS} {FRACTION} )"

    def _compound(self, node: Node) -> str:
        if isinstance(node, Object):
            body = self._object(node)
        elif isinstance(node, Array):
            body = self._array(node)
        else:
            raise SchemaTooBig(f"No grammar for {type(node).__name__}.")
        known = next((name for name, text in self.rules.items() if text == body), None)
        return known or self.add(f"r{len(self.rules)}", body)

    def _object(self, node: Object) -> str:
        parts = [
            _literal(("{" if i == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":") + " " + self.term(field)
            for i, (name, field) in enumerate(node.fields)
        ]
        return " ".join([*parts, '"}"'])

    def _array(self, node: Array) -> str:
        item = self.term(node.item)
        least = max(node.least - 1, 0)
        more = f' ( "," {item} ){{{least},{node.most - 1}}}' if node.most > 1 else ""
        inside = f"{item}{more}"
        return f'"[" {inside} "]"' if node.least else f'"[" ( {inside} )? "]"'
