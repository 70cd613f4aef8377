"""The only reader of unit text, and all conversion (closed table: unit_table.py).

An unknown spelling is an error, never a guess; a unit of another dimension than the quantity's is refused. Values
keep the unit they came with unless the caller converts. It must not know cases, files or languages of the window.
"""

import re
from decimal import Decimal
from functools import lru_cache

import msgspec

from core.domain.analyte_factors import MEASURED, Relation
from core.domain.unit_table import ALIASES, BASES, FACTORS, OFFSETS, PARTS, SHOWN

_LONGEST = 40  # characters; the longest spelling of the table has 22


class UnknownUnit(ValueError):
    """A text that no row of the closed table spells. `code` is "unknown unit", `text` the text as given."""

    def __init__(self, text: str) -> None:
        super().__init__(f"unknown unit: {text!r}")
        self.code = "unknown unit"
        self.text = text


class WrongDimension(ValueError):
    """Two units, or a unit and a quantity, that cannot stand for one another.

    `code` is "wrong dimension", "different kind" (FEU against DDU), "kind not stated" (FEU or DDU is asked for, the
    value has no label) or "not a unit of this quantity"; `text` says which.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class Unit(msgspec.Struct, frozen=True):
    """A unit: value x factor + offset is the value in coherent base units (unit_table.py).

    `dimension` holds one exponent for each letter of BASES. `kind` is "" or what the unit counts where that changes
    the number: "FEU" or "DDU" of a D-dimer. `name` is the spelling of the table (composed units: of their parts).
    """

    name: str
    dimension: tuple[int, ...]
    factor: float
    offset: float = 0.0
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.kind}".rstrip()


class Quantity(msgspec.Struct, frozen=True):
    """A number with its unit."""

    value: float
    unit: Unit


_SIGNS = str.maketrans(
    {"µ": "u", "μ": "u", "º": "°", "˚": "°", "℃": "°C", "℉": "°F", "×": "x", "⁄": "/", "∕": "/", "\u00a0": " "}
    | {"\u2009": " ", "\u202f": " "}
    | {sign: f"^{digit}" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)
_TWELVE = re.compile(r"\^1\^2")  # two superscript digits
_TEN = re.compile(r"^(?:[x*]\s*)?10\s*(?:\*\*|\^|\*)\s*(\d+)(?!\d)\s*")
_POWER = re.compile(r"(?<=[A-Za-z])\^(?=\d)")
_KIND = re.compile(r"\s*[({]?\b(FEU|DDU)\b[)}]?")
# An all-capitals text is read as a laboratory system prints it (UCUM, case-insensitive column), except these,
# which have a capital meaning of their own: giga per litre, mega-units.
_NEVER_FOLDED = {"G/L", "MU/L", "MU/ML"}


def _dimension(text: str) -> tuple[int, ...]:
    exponents = {item[0]: int(item[1:] or 1) for item in text.split()}
    return tuple(exponents.get(base, 0) for base in BASES)


def _key(text: str) -> str:
    """One spelling for signs, superscripts, powers of ten, spaces round a slash and the usual short words."""
    text = _TWELVE.sub("^12", " ".join(text.translate(_SIGNS).split()))
    text = _POWER.sub("", _TEN.sub(r"10*\1 ", text))
    parts = (part.strip() for part in text.split("/"))
    return "/".join(PARTS.get(part, part) for part in parts)


UNITS: dict[str, Unit] = {
    name: Unit(name=name, dimension=_dimension(dimension), factor=factor, offset=OFFSETS.get(name, 0.0))
    for dimension, group in FACTORS.items()
    for name, factor in group.items()
}
_BY_KEY: dict[str, Unit] = {_key(name): unit for name, unit in UNITS.items()} | {
    _key(alias): UNITS[name] for name, aliases in ALIASES.items() for alias in aliases
}


def _folded() -> dict[str, Unit]:
    """Lower-case keys of three letters and more that mean one unit only."""
    found: dict[str, set[str]] = {}
    for key, unit in _BY_KEY.items():
        found.setdefault(key.lower(), set()).add(unit.name)
    return {key: UNITS[names.pop()] for key, names in found.items() if len(key) >= 3 and len(names) == 1}


_BY_FOLDED = _folded()
_MASS_PER_VOLUME = UNITS["g/L"].dimension


@lru_cache(maxsize=4096)
def find_unit(text: str) -> Unit | None:
    """As parse_unit, but None for a text that is no unit."""
    if not text.strip() or len(text) > _LONGEST:
        return None
    bare, kinds = _KIND.subn("", text)
    kind = _KIND.search(text)
    key = _key(bare)
    unit = _BY_KEY.get(key)
    if unit is None and key not in _NEVER_FOLDED and (bare.isupper() or bare.islower()):
        unit = _BY_FOLDED.get(key.lower())
    if unit is None or kind is None:
        return unit
    if kinds > 1 or unit.dimension != _MASS_PER_VOLUME:
        return None
    return msgspec.structs.replace(unit, kind=kind.group(1))


def parse_unit(text: str) -> Unit:
    """The unit that `text` spells, in UCUM or one of the listed clinical spellings.

    "ng/mL FEU", "ng/mL{DDU}" and the like carry their kind. Raises UnknownUnit; nothing is ever guessed.
    """
    unit = find_unit(text)
    if unit is None:
        raise UnknownUnit(text)
    return unit


def convert(value: float, from_: Unit, to: Unit) -> float:
    """`value` in unit `from_` as a value in unit `to`. Raises WrongDimension unless dimension and kind are equal."""
    if from_ == to:
        return value
    if from_.dimension != to.dimension:
        raise WrongDimension("wrong dimension", f"{from_} is not convertible to {to}")
    if from_.kind != to.kind:
        code = "different kind" if from_.kind else "kind not stated"
        raise WrongDimension(code, f"{from_} is not convertible to {to}")
    return (value * from_.factor + from_.offset - to.offset) / to.factor


def canonical(analyte: str) -> Unit:
    """The unit in which rules and reference intervals name the quantity. Raises KeyError for an unknown one."""
    return parse_unit(MEASURED[analyte].unit)


def acceptable(analyte: str, unit: Unit) -> bool:
    """Whether a value of this quantity can be stated in `unit` ("sodium 140 mg/dL" cannot).

    True does not promise a conversion: a D-dimer in DDU is a real unit that no factor brings to FEU. A quantity that
    the table does not hold accepts nothing.
    """
    measured = MEASURED.get(analyte)
    if measured is None:
        return False
    own = parse_unit(measured.unit)
    if measured.only:
        return unit == own
    if unit.kind and not own.kind:
        return False
    sides = {name for relation in measured.relations for name in (relation.first, relation.second)}
    return unit.dimension in {own.dimension, *(UNITS[name].dimension for name in sides)}


def convert_analyte(analyte: str, value: float, from_: Unit, to: Unit) -> float:
    """As `convert`, and also across dimensions where the substance has a factor (knowledge: per-analyte factors).

    A quantity that the table does not hold is converted within one dimension only. An unlabelled target of a D-dimer
    means the canonical kind, FEU; an unlabelled source means nothing. Raises WrongDimension.
    """
    if analyte not in MEASURED:
        return convert(value, from_, to)
    for unit in (from_, to):
        if not acceptable(analyte, unit):
            raise WrongDimension("not a unit of this quantity", f"{analyte} in {unit}")
    own = canonical(analyte)
    if not to.kind and from_.kind == own.kind:
        to = msgspec.structs.replace(to, kind=from_.kind)
    if from_.dimension == to.dimension:
        return convert(value, from_, to)
    relations = MEASURED[analyte].relations
    return _across(_across(value, relations, from_=from_, to=own), relations, from_=own, to=to)


def _across(value: float, relations: tuple[Relation, ...], *, from_: Unit, to: Unit) -> float:
    """One step between dimensions, by the relation that has `from_` on one side and `to` on the other."""
    if from_.dimension == to.dimension:
        return convert(value, from_, to)
    for relation in relations:
        first, second = UNITS[relation.first], UNITS[relation.second]
        if (from_.dimension, to.dimension) == (second.dimension, first.dimension):
            inner = relation.factor * (convert(value, from_, second) - relation.shift)
            return convert(inner, first, to)
        if (from_.dimension, to.dimension) == (first.dimension, second.dimension):
            inner = convert(value, from_, first) / relation.factor + relation.shift
            return convert(inner, second, to)
    raise WrongDimension("wrong dimension", f"{from_} is not convertible to {to}")


def format_value(value: float, unit: Unit, *, decimals: int | None = None) -> str:
    """Number and unit as a person reads them: "5.1 mmol/L", "120 mmHg", "37.2 °C", "92%", "850 ng/mL FEU".

    Without `decimals`: six significant digits, the whole part never rounded, no trailing zeros, no exponent.
    The value is finite.
    """
    if decimals is None:
        digits = max(6, len(str(int(abs(value)))))
        number = f"{Decimal(f'{value or 0.0:.{digits}g}').normalize():f}"
    else:
        number = f"{value:.{decimals}f}"
    name = SHOWN.get(unit.name, re.sub(r"(^|/)u(?=[A-Za-z])", r"\1µ", unit.name))
    gap = "" if name[:1] in {"", "%", "/"} or name == "°" else " "
    return f"{number}{gap}{name} {unit.kind}".rstrip()
