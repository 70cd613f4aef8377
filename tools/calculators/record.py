"""What a named calculator is: a frozen record whose formulas and points are text of the arithmetic language.

One form carries all of them. A `Term` is a list of cases, each a condition and a value; the first condition that holds
gives the value, and the result is the sum of the terms. A formula is one term with one case, a point score is many
terms, a date is a day number. What is shown as the formula is what is computed. It must not know how a record is
evaluated, nor any single calculator.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["number", "choice", "yes-no", "date"]
Shape = Literal["number", "score", "date", "weeks and days"]


class Range(msgspec.Struct, frozen=True):
    """From `low` to `high`, both included, in the unit of the input."""

    low: float
    high: float


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a calculator reads.

    `name` is the word used in the texts; a number is converted to `unit` (with the factors of `analyte`, where one is
    named). Outside `plausible` is a warning, outside `possible` a refusal. An input that is not required may be
    unknown; one with a `default` is never unknown.
    """

    name: str
    label: str
    kind: Kind
    unit: str = ""
    analyte: str = ""
    plausible: Range | None = None
    possible: Range | None = None
    options: tuple[str, ...] = ()
    required: bool = False
    default: float | str | None = None


class Case(msgspec.Struct, frozen=True):
    """`value` where `condition` holds; an empty condition always does."""

    condition: str
    value: str


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """A summand: the value of its first case that holds, 0 if none does."""

    label: str
    cases: tuple[Case, ...]


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A named intermediate value, read like a term; it may use those before it."""

    name: str
    cases: tuple[Case, ...]


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """Where `condition` holds, the sentence is a warning, or with `refuse` the reason of a refusal."""

    condition: str
    sentence: str
    refuse: bool = False


class Band(msgspec.Struct, frozen=True):
    """What a result means; `condition` is over `value` and the inputs, and the first band that holds counts."""

    condition: str
    text: str


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """The result: unit, decimals shown, the least and most that a sane result can be (a warning outside)."""

    shape: Shape = "number"
    unit: str = "{score}"
    decimals: int = 0
    range: Range


class Citation(msgspec.Struct, frozen=True):
    """The primary paper. `status` stays "unreviewed" until a person has compared the record with it."""

    text: str
    status: Literal["unreviewed", "reviewed"] = "unreviewed"


class Calculator(msgspec.Struct, frozen=True, kw_only=True):
    """A named calculator. `use` and `avoid` say when it is meant to be used and when not."""

    id: str
    name: str
    version: str
    inputs: tuple[Input, ...]
    derived: tuple[Derived, ...]
    terms: tuple[Term, ...]
    guards: tuple[Guard, ...]
    bands: tuple[Band, ...]
    output: Output
    citation: Citation
    use: str
    avoid: str
