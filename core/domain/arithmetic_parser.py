"""The grammar of the arithmetic language: text to a small tree, or a refusal with code and place.

Own tokenizer and recursive descent; the language's own interpreter is never asked. It must not know values, cases or
what a result is used for (arithmetic.py evaluates). Limits: 400 characters, 100 nodes, depth 20, sign runs of 8.

    choice      = disjunction [ "if" disjunction "else" choice ]
    disjunction = conjunction { "or" conjunction }           "or", "and", "not", has("..."): in rules only
    conjunction = negation { "and" negation }
    negation    = "not" negation | comparison
    comparison  = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
    sum         = product { ( "+" | "-" ) product }
    product     = signed { ( "*" | "/" ) signed }
    signed      = ( "+" | "-" ) signed | power
    power       = primary [ ( "^" | "**" ) signed ]
    primary     = number [ unit ] | name | function "(" choice { "," choice } ")" | "(" choice ")"
                | "days" "(" day "," day ")"                 a day is a name or 2026-11-30
"""

import datetime
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

import msgspec

from core.domain.unit_table import BASES
from core.domain.units import Quantity, Unit, find_unit, parse_unit

MOST_CHARACTERS, MOST_NODES, DEEPEST, LONGEST_SIGN_RUN = 400, 100, 20, 8

# function -> fewest and most arguments
FUNCTIONS = {
    "abs": (1, 1), "min": (1, 100), "max": (1, 100), "round": (1, 2), "sqrt": (1, 1), "ln": (1, 1), "log10": (1, 1),
    "log": (2, 2), "exp": (1, 1), "floor": (1, 1), "ceil": (1, 1), "mod": (2, 2), "days": (2, 2),
}  # fmt: skip
KEYWORDS = {"if", "else", "and", "or", "not", "has"}

PLAIN = Unit(name="", dimension=(0,) * len(BASES), factor=1.0)  # of a number written without a unit
_PER_CENT_UNIT = parse_unit("%")


class ArithmeticRefused(ValueError):
    """An expression that the language does not take. `code` is one of the codes below, `position` counts from 0.

    Form: not text · empty · too long · too many parts · too deep · sign run · character · syntax · incomplete ·
    attribute · index · string · assignment · floor division · modulo · thousands comma · leading zero ·
    chained comparison · logic outside a rule · unknown function · arguments · unknown unit · date · not a number ·
    not a truth value. Values: unknown name · wrong dimension · division by zero · exponent · places · not real ·
    not finite · too large.
    """

    def __init__(self, code: str, position: int, hint: str = "") -> None:
        super().__init__(f"{code} at {position}" + (f": {hint}" if hint else ""))
        self.code = code
        self.position = position
        self.hint = hint


class Node(msgspec.Struct, frozen=True):
    """One part of an expression: an operator or function `op`, its place, its operands, or a leaf.

    Leaves: "number" (Quantity), "name" and "has" (text), "day" (date). `truth` tells yes-or-no nodes from numbers.
    """

    op: str
    at: int
    parts: tuple["Node", ...] = ()
    leaf: Quantity | str | datetime.date | None = None
    truth: bool = False


class _Token(msgspec.Struct, frozen=True):
    kind: str  # "number", "day", "name", "string", "sign", "end"
    text: str
    at: int
    unit: Unit = PLAIN


_LEXEMES = re.compile(
    r"""(?P<day>\d{4}-\d\d-\d\d(?![\w.-]))
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<string>"[^"]*"|'[^']*')
      | (?P<sign>\*\*|//|<=|>=|==|!=|:=|[-+*/^(),<>=.\[\]%"'])""",
    re.VERBOSE | re.ASCII,
)
_THOUSANDS = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?!\d)", re.ASCII)
_UNIT_START = re.compile(r"[A-Za-z/\[{°ºµμ×]|10\s*[*^]", re.ASCII)
_UNIT_ENDS = re.compile(r"(?<=[A-Za-z0-9\]})°²³⁰¹⁴-⁹])(?![A-Za-z0-9_°²³\]}])")
_PER_CENT = re.compile(r"%|\s+%(?=\s*(?:$|[),<>=!]|(?:and|or|if|else)\b))")
_LONGEST_UNIT = 32
_CONCEPT = re.compile(r"[A-Z]+:[A-Za-z0-9-]+", re.ASCII)
_HINTS = {"%": ("modulo", "write mod(a, b)"), "//": ("floor division", "write floor(a / b)")}
_FOREIGN = {
    ".": ("attribute", ""), "[": ("index", ""), "]": ("index", ""), "=": ("assignment", ""), ":=": ("assignment", ""),
    '"': ("string", ""), "'": ("string", ""),
} | _HINTS  # fmt: skip


def _spaces(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _unit_at(text: str, at: int) -> tuple[Unit, int]:
    """The longest unit of the closed table that begins at `at` (spaces before it allowed), and where it ends."""
    per_cent = _PER_CENT.match(text, at)
    if per_cent:
        return _PER_CENT_UNIT, per_cent.end()
    start = _spaces(text, at)
    if not _UNIT_START.match(text, start):
        return PLAIN, at
    ends = [end.start() for end in _UNIT_ENDS.finditer(text, start + 1, min(len(text), start + _LONGEST_UNIT))]
    for end in reversed(ends):
        # a name before "(" is a function: 6/min(2, 3) divides
        if text[_spaces(text, end) : _spaces(text, end) + 1] == "(":
            continue
        unit = find_unit(text[start:end])
        if unit is not None:
            return unit, end
    return PLAIN, at


def _number(text: str, match: re.Match[str]) -> tuple[_Token, int]:
    digits, at = match.group(), match.start()
    if _THOUSANDS.match(text, at):
        raise ArithmeticRefused("thousands comma", at, "write 1000, and a space after the comma between arguments")
    if re.match(r"0\d", digits):
        raise ArithmeticRefused("leading zero", at)
    unit, end = _unit_at(text, match.end())
    if unit is PLAIN and digits == "10" and _unit_at(text, at)[0] is not PLAIN:
        raise ArithmeticRefused("incomplete", at, "a unit without a number: write 1 10*9/L")
    return _Token(kind="number", text=digits, at=at, unit=unit), end


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = _spaces(text, 0)
    while at < len(text):
        match = _LEXEMES.match(text, at)
        if match is None:
            raise ArithmeticRefused("character", at, repr(text[at]))
        kind = str(match.lastgroup)
        if kind == "number":
            token, end = _number(text, match)
        else:
            token, end = _Token(kind=kind, text=match.group(), at=at), match.end()
        found.append(token)
        at = _spaces(text, end)
    return [*found, _Token(kind="end", text="", at=len(text))]


class _Parser:
    """One pass over the tokens; every method returns the node that begins at the current token."""

    def __init__(self, text: str, *, rules: bool) -> None:
        self._tokens = _tokens(text)
        self._next = 0
        self._rules = rules
        self._depth = 0
        self._nodes = 0

    def whole(self) -> Node:
        node = self._choice()
        if self._token.kind != "end":
            self._refuse_token()
        return node

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> _Token | None:
        """The current token, consumed, if it is one of these signs or words."""
        token = self._token
        if token.kind in {"sign", "name"} and token.text in texts:
            self._next += 1
            return token
        return None

    def _expect(self, text: str) -> _Token:
        token = self._take(text)
        if token is None:
            self._refuse_token()
        return token

    def _refuse_token(self) -> NoReturn:
        token = self._token
        previous = self._tokens[self._next - 1] if self._next else None
        if token.kind == "end":
            raise ArithmeticRefused("incomplete", token.at)
        if previous is not None and previous.kind == "number" and previous.unit.name == "%":
            raise ArithmeticRefused("modulo", token.at, "write mod(a, b)")
        if token.kind == "string":
            raise ArithmeticRefused("string", token.at)
        if previous is not None and previous.kind == "number" and token.kind == "name" and token.text not in KEYWORDS:
            raise ArithmeticRefused("unknown unit", token.at, token.text)
        code, hint = _FOREIGN.get(token.text, ("syntax", token.text))
        raise ArithmeticRefused(code, token.at, hint)

    def _node(self, op: str, at: int, *parts: Node, truth: bool = False) -> Node:
        return self._counted(Node(op=op, at=at, parts=parts, truth=truth))

    def _counted(self, node: Node) -> Node:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise ArithmeticRefused("too many parts", node.at, f"at most {MOST_NODES}")
        return node

    def _deeper(self, read: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ArithmeticRefused("too deep", self._token.at, f"at most {DEEPEST}")
        node = read()
        self._depth -= 1
        return node

    def _choice(self) -> Node:
        node = self._disjunction()
        token = self._take("if")
        if token is None:
            return node
        condition = _truth(self._disjunction())
        self._expect("else")
        other = self._deeper(self._choice)
        return self._node("if", token.at, condition, node, _same(node, other), truth=node.truth)

    def _disjunction(self) -> Node:
        node = self._conjunction()
        while token := self._logic("or"):
            node = self._node("or", token.at, _truth(node), _truth(self._conjunction()), truth=True)
        return node

    def _conjunction(self) -> Node:
        node = self._negation()
        while token := self._logic("and"):
            node = self._node("and", token.at, _truth(node), _truth(self._negation()), truth=True)
        return node

    def _negation(self) -> Node:
        token = self._logic("not")
        if token is None:
            return self._comparison()
        return self._node("not", token.at, _truth(self._deeper(self._negation)), truth=True)

    def _logic(self, word: str) -> _Token | None:
        token = self._take(word)
        if token is not None and not self._rules:
            raise ArithmeticRefused("logic outside a rule", token.at, word)
        return token

    def _comparison(self) -> Node:
        signs = ("<", "<=", ">", ">=", "==", "!=")
        left = self._sum()
        token = self._take(*signs)
        if token is None:
            return left
        node = self._node(token.text, token.at, _numeric(left), _numeric(self._sum()), truth=True)
        if chained := self._take(*signs):
            raise ArithmeticRefused("chained comparison", chained.at, "write a < b and b < c as two comparisons")
        return node

    def _sum(self) -> Node:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Node:
        return self._chain(("*", "/"), self._signed)

    def _chain(self, signs: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        node = operand()
        while token := self._take(*signs):
            node = self._node(token.text, token.at, _numeric(node), _numeric(operand()))
        return node

    def _signed(self) -> Node:
        run: list[_Token] = []
        while token := self._take("+", "-"):
            run.append(token)
        if len(run) > LONGEST_SIGN_RUN:
            raise ArithmeticRefused("sign run", run[0].at, f"at most {LONGEST_SIGN_RUN}")
        node = self._power()
        for token in reversed(run):
            node = self._node("negate" if token.text == "-" else "keep", token.at, _numeric(node))
        return node

    def _power(self) -> Node:
        node = self._primary()
        token = self._take("^", "**")
        if token is None:
            return node
        return self._node("^", token.at, _numeric(node), _numeric(self._deeper(self._signed)))

    def _primary(self) -> Node:
        token = self._token
        if self._take("("):
            node = self._deeper(self._choice)
            self._expect(")")
            return node
        if token.kind == "day":
            raise ArithmeticRefused("date", token.at, "a date stands only in days(first, last)")
        if token.kind == "number":
            self._next += 1
            return self._counted(Node(op="number", at=token.at, leaf=Quantity(float(token.text), token.unit)))
        if token.kind != "name" or token.text in KEYWORDS - {"has"}:
            self._refuse_token()
        self._next += 1
        return self._call(token) if self._take("(") else self._named(token)

    def _named(self, token: _Token) -> Node:
        if token.text in KEYWORDS | FUNCTIONS.keys():
            raise ArithmeticRefused("syntax", token.at, f"{token.text} needs (")
        return self._counted(Node(op="name", at=token.at, leaf=token.text))

    def _call(self, name: _Token) -> Node:
        if name.text == "has":
            return self._has(name)
        if name.text not in FUNCTIONS:
            raise ArithmeticRefused("unknown function", name.at, name.text)
        read = self._day if name.text == "days" else self._argument
        arguments: list[Node] = []
        while not self._take(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._deeper(read))
        fewest, most = FUNCTIONS[name.text]
        if not fewest <= len(arguments) <= most:
            raise ArithmeticRefused("arguments", name.at, f"{name.text} takes {fewest} to {most}")
        return self._node(name.text, name.at, *arguments)

    def _argument(self) -> Node:
        return _numeric(self._choice())

    def _day(self) -> Node:
        token = self._token
        if token.kind == "name":
            self._next += 1
            return self._named(token)
        if token.kind != "day":
            raise ArithmeticRefused("date", token.at, "days takes two dates, as 2026-11-30")
        self._next += 1
        try:
            return self._counted(Node(op="day", at=token.at, leaf=datetime.date.fromisoformat(token.text)))
        except ValueError:
            raise ArithmeticRefused("date", token.at, token.text) from None

    def _has(self, name: _Token) -> Node:
        if not self._rules:
            raise ArithmeticRefused("logic outside a rule", name.at, "has")
        token = self._token
        if token.kind != "string" or not _CONCEPT.fullmatch(token.text[1:-1]):
            raise ArithmeticRefused("arguments", token.at, 'has takes one concept: has("WR:...")')
        self._next += 1
        self._expect(")")
        return self._counted(Node(op="has", at=name.at, leaf=token.text[1:-1], truth=True))


def _numeric(node: Node) -> Node:
    if node.truth:
        raise ArithmeticRefused("not a number", node.at)
    return node


def _truth(node: Node) -> Node:
    if not node.truth:
        raise ArithmeticRefused("not a truth value", node.at)
    return node


def _same(node: Node, other: Node) -> Node:
    return _truth(other) if node.truth else _numeric(other)


def parse(text: str, *, rules: bool) -> Node:
    """The tree of an expression; with `rules`, `and`, `or`, `not` and has("WR:...") are words of the language too.

    Raises ArithmeticRefused.
    """
    if not isinstance(text, str):
        raise ArithmeticRefused("not text", 0)
    return _parsed(text, rules)


@lru_cache(maxsize=512)  # the rules of the knowledge store are read again for every case
def _parsed(text: str, rules: bool) -> Node:
    if len(text) > MOST_CHARACTERS:
        raise ArithmeticRefused("too long", MOST_CHARACTERS, f"at most {MOST_CHARACTERS} characters")
    if not text.strip():
        raise ArithmeticRefused("empty", 0)
    return _Parser(text, rules=rules).whole()
