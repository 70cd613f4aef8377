"""The arithmetic language: what an expression over named values comes to (grammar: arithmetic_parser.py).

Used by the calculator tool, plan formulas and safety rules. Pure: names come from the caller's mapping, nothing else
can be reached. It must not know cases, analytes or the journal.

Units. A number without a unit, beside a quantity, is read in that quantity's unit ("potassium >= 6.5"). Quantities of
one dimension are converted to the left one's unit; other dimensions are refused, and so is a named value without
unit beside a quantity with one, since its unit would be a guess. Products carry their dimension; per cent and ratios
become plain numbers in a product ("70 kg * 10%" is 7 kg). Comparison holds two numbers equal that differ by less
than 1 part in 10^12, so that a threshold met exactly is met after conversion too (0.3 / 0.2 >= 1.5).
"""

import datetime
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeVar

import msgspec

from core.domain.arithmetic_parser import PLAIN, ArithmeticRefused, Node, parse
from core.domain.unit_table import BASES
from core.domain.units import Quantity, Unit, WrongDimension, convert, parse_unit

__all__ = ["ArithmeticRefused", "Value", "concepts", "evaluate", "holds", "names"]

Value = Quantity | float | datetime.date
Has = Callable[[str], bool | None]
_Outcome = TypeVar("_Outcome", bool, Quantity)

LARGEST, LARGEST_EXPONENT, MOST_PLACES, TOLERANCE = 1e15, 16, 15, 1e-12

_MASS, _BODY = BASES.index("M"), BASES.index("B")
_DAYS = parse_unit("d")

# Of a named value given as a bare float: mixes with plain numbers and its like, never with a unit.
UNSTATED = Unit(name="(no unit)", dimension=PLAIN.dimension, factor=1.0, kind="unstated")


def evaluate(
    text: str, values: Mapping[str, Value], *, has: Callable[[str], bool] | None = None, unit: Unit | None = None
) -> float | bool:
    """The number or truth value of an expression; with `has`, the truth of a rule.

    A number comes in the unit of the expression's leftmost quantity, or in `unit` if given. A result made of values
    without unit is taken to be in `unit`; a plain number or ratio is so only where `unit` is a ratio too. Raises
    ArithmeticRefused: form, "unknown name" for any name that `values` lacks, or a value that is not real, not finite
    or not below 1e15 in size.
    """
    tree = parse(text, rules=has is not None)
    for node in _walk(tree):
        if node.op == "name" and values.get(str(node.leaf)) is None:
            raise ArithmeticRefused("unknown name", node.at, str(node.leaf))
    if has is not None:
        _require_truth(tree)
    reading = _Reading(values, has or _no_findings)
    outcome = reading.truth(tree) if tree.truth else reading.number(tree)
    if outcome is None:
        raise ArithmeticRefused("unknown name", tree.at, "a finding is neither present nor absent")
    return _result(outcome, unit, at=tree.at) if isinstance(outcome, Quantity) else outcome


def holds(text: str, values: Mapping[str, Value], has: Has) -> bool | None:
    """The truth of a rule where not everything is known: None if it depends on something unknown (Kleene 1952).

    A name that `values` lacks, and a concept for which `has` returns None, is unknown. Raises ArithmeticRefused.
    """
    tree = parse(text, rules=True)
    _require_truth(tree)
    return _Reading(values, has).truth(tree)


def names(text: str) -> frozenset[str]:
    """The named values that an expression or rule uses. Raises ArithmeticRefused."""
    return frozenset(str(node.leaf) for node in _walk(parse(text, rules=True)) if node.op == "name")


def concepts(text: str) -> frozenset[str]:
    """The concepts that a rule asks for with has("..."). Raises ArithmeticRefused."""
    return frozenset(str(node.leaf) for node in _walk(parse(text, rules=True)) if node.op == "has")


def _no_findings(concept: str) -> bool:
    raise LookupError(concept)  # the grammar outside a rule has no has(...)


def _require_truth(tree: Node) -> None:
    if not tree.truth:
        raise ArithmeticRefused("not a truth value", tree.at, "a rule says yes or no")


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for part in node.parts:
        yield from _walk(part)


def _result(result: Quantity, unit: Unit | None, *, at: int) -> float:
    value = result.value
    if unit is not None and result.unit != UNSTATED:
        value = _converted(result, unit, at=at)
    if not abs(value) < LARGEST:
        raise ArithmeticRefused("too large", at, "at most 1e15 in size")
    return value


class _Reading:
    """One evaluation: a tree read against values, where None is unknown."""

    def __init__(self, values: Mapping[str, Value], has: Has) -> None:
        self._values = values
        self._has = has

    def truth(self, node: Node) -> bool | None:
        if node.op == "has":
            return self._has(str(node.leaf))
        if node.op == "not":
            inner = self.truth(node.parts[0])
            return None if inner is None else not inner
        if node.op in {"and", "or"}:
            return self._joined(node, decisive=node.op == "or")
        if node.op == "if":
            return self._chosen(node, self.truth)
        operands = self._operands(node)
        return None if operands is None else _compare(node, *operands)

    def _joined(self, node: Node, *, decisive: bool) -> bool | None:
        """`or` is settled by one true part, `and` by one false part; else an unknown part leaves it unknown."""
        left = self.truth(node.parts[0])
        if left is decisive:
            return decisive
        right = self.truth(node.parts[1])
        if right is decisive:
            return decisive
        return None if left is None or right is None else not decisive

    def _chosen(self, node: Node, read: Callable[[Node], _Outcome | None]) -> _Outcome | None:
        condition, yes, no = node.parts
        chosen = self.truth(condition)
        if chosen is not None:
            return read(yes if chosen else no)
        first = read(yes)
        return first if first == read(no) else None

    def number(self, node: Node) -> Quantity | None:
        if node.op == "name":
            return self._named(node)
        if node.op == "if":
            return self._chosen(node, self.number)
        if node.op == "days":
            return self._days(node)
        if isinstance(node.leaf, Quantity):
            return _checked(node, node.leaf)
        operands = self._operands(node)
        return None if operands is None else _checked(node, _calculated(node, operands))

    def _operands(self, node: Node) -> list[Quantity] | None:
        operands = [self.number(part) for part in node.parts]
        known = [operand for operand in operands if operand is not None]
        return known if len(known) == len(operands) else None

    def _named(self, node: Node) -> Quantity | None:
        value = self._values.get(str(node.leaf))
        if value is None:
            return None
        if isinstance(value, datetime.date):
            raise ArithmeticRefused("date", node.at, "a date stands only in days(first, last)")
        return _checked(node, value if isinstance(value, Quantity) else Quantity(float(value), UNSTATED))

    def _days(self, node: Node) -> Quantity | None:
        first, last = (self._day(part) for part in node.parts)
        return None if first is None or last is None else Quantity(float((last - first).days), _DAYS)

    def _day(self, node: Node) -> datetime.date | None:
        if isinstance(node.leaf, datetime.date):
            return node.leaf
        value = self._values.get(str(node.leaf))
        if value is None:
            return None
        if not isinstance(value, datetime.date):
            raise ArithmeticRefused("date", node.at, f"{node.leaf} is no date")
        return value.date() if isinstance(value, datetime.datetime) else value


def _checked(node: Node, result: Quantity) -> Quantity:
    if not math.isfinite(result.value):
        raise ArithmeticRefused("not finite", node.at)
    return result


def _converted(quantity: Quantity, unit: Unit, *, at: int) -> float:
    try:
        return convert(quantity.value, quantity.unit, unit)
    except WrongDimension as error:
        raise ArithmeticRefused("wrong dimension", at, error.text) from None


def _aligned(node: Node, left: Quantity, right: Quantity) -> tuple[float, float, Unit]:
    """Both numbers in one unit: the left one's, or the right one's where the left is a plain number."""
    if left.unit == PLAIN or right.unit == PLAIN:
        return left.value, right.value, right.unit if left.unit == PLAIN else left.unit
    return left.value, _converted(right, left.unit, at=node.at), left.unit


def _compare(node: Node, left: Quantity, right: Quantity) -> bool:
    a, b, _ = _aligned(node, left, right)
    equal = math.isclose(a, b, rel_tol=TOLERANCE)
    less, greater = a < b and not equal, a > b and not equal
    outcomes = {"==": equal, "!=": not equal, "<": less, ">": greater, "<=": not greater, ">=": not less}
    return outcomes[node.op]


def _calculated(node: Node, operands: list[Quantity]) -> Quantity:
    try:
        return _OPERATIONS[node.op](node, *operands)
    except ZeroDivisionError:
        raise ArithmeticRefused("division by zero", node.at) from None
    except OverflowError:
        raise ArithmeticRefused("not finite", node.at) from None


def _plus(node: Node, left: Quantity, right: Quantity, *, sign: int) -> Quantity:
    a, b, unit = _aligned(node, left, right)
    united = left.unit != PLAIN and right.unit != PLAIN
    if united and bool(left.unit.offset) != bool(right.unit.offset):
        raise ArithmeticRefused("wrong dimension", node.at, "a temperature and a temperature difference")
    if united and unit.offset and sign < 0:
        unit = msgspec.structs.replace(unit, name=f"difference in {unit.name}", offset=0.0)
    return Quantity(a + sign * b, unit)


def _scaled(quantity: Quantity) -> Quantity:
    """Per cent, ratios and cancelled units as plain numbers."""
    unit = quantity.unit
    if any(unit.dimension) or unit.kind:
        return quantity
    return Quantity(quantity.value * unit.factor, PLAIN)


def _times(node: Node, left: Quantity, right: Quantity, *, power: int) -> Quantity:
    left, right = _scaled(left), _scaled(right)
    if power < 0 and left.unit != PLAIN and left.unit.dimension == right.unit.dimension:
        a, b, unit = _aligned(node, left, right)
        return Quantity(a / b, UNSTATED if unit == UNSTATED else PLAIN)
    value = left.value * right.value if power > 0 else left.value / right.value
    return _scaled(Quantity(value, _composed(node, left.unit, right.unit, power=power)))


def _composed(node: Node, left: Unit, right: Unit, *, power: int) -> Unit:
    if right == PLAIN or UNSTATED in (left, right):
        return left if right == PLAIN else UNSTATED
    if left == PLAIN and power > 0:
        return right
    raised = _raised(node, right, float(power))
    _refuse_offset(node, left)
    return _unit(
        node,
        name=f"{left.name}.{raised.name}".strip("."),
        dimension=_joined_dimension(left.dimension, raised.dimension),
        factor=left.factor * raised.factor,
        kind=left.kind or raised.kind,
    )


def _joined_dimension(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The sum of exponents, where a mass cancels "per kg of body" and an inverted one is a mass: 15 mg/kg x 70 kg."""
    total = [a + b for a, b in zip(left, right, strict=True)]
    met = max(0, total[_BODY])
    for per, whole in ((left, right), (right, left)):
        if whole[_BODY] == 0:
            met -= max(0, min(-per[_BODY], whole[_MASS]))
    total[_BODY] -= met
    total[_MASS] += met
    return tuple(total)


def _raised(node: Node, unit: Unit, exponent: float) -> Unit:
    if unit in (PLAIN, UNSTATED) or exponent == 1:
        return unit
    _refuse_offset(node, unit)
    exponents = [base * exponent for base in unit.dimension]
    if not all(whole.is_integer() for whole in exponents):
        raise ArithmeticRefused("wrong dimension", node.at, f"{unit} to the power {exponent:g}")
    dimension = tuple(int(whole) for whole in exponents)
    name = f"({unit.name})^{exponent:g}"
    return _unit(node, name=name, dimension=dimension, factor=unit.factor**exponent, kind=unit.kind)


def _refuse_offset(node: Node, unit: Unit) -> None:
    if unit.offset:
        raise ArithmeticRefused("wrong dimension", node.at, f"{unit} has no true zero")


def _unit(node: Node, *, name: str, dimension: tuple[int, ...], factor: float, kind: str) -> Unit:
    if not (0 < factor < math.inf):
        raise ArithmeticRefused("not finite", node.at, "the unit is out of range")
    return Unit(name=name, dimension=dimension, factor=factor, kind=kind)


def _bare(node: Node, quantity: Quantity) -> Quantity:
    """A plain number, as logarithms and exponents need it."""
    scaled = _scaled(quantity)
    if scaled.unit not in (PLAIN, UNSTATED):
        raise ArithmeticRefused("wrong dimension", node.at, f"{node.op} needs a plain number, not {scaled.unit}")
    return scaled


def _power(node: Node, left: Quantity, right: Quantity) -> Quantity:
    base, exponent = _scaled(left), _bare(node, right)
    if abs(exponent.value) > LARGEST_EXPONENT:
        raise ArithmeticRefused("exponent", node.at, f"at most {LARGEST_EXPONENT} in size")
    value = base.value**exponent.value
    if isinstance(value, complex):
        raise ArithmeticRefused("not real", node.at)
    unit = _raised(node, base.unit, exponent.value)
    return Quantity(value, UNSTATED if exponent.unit == UNSTATED and unit == PLAIN else unit)


def _root(node: Node, quantity: Quantity) -> Quantity:
    scaled = _scaled(quantity)
    if scaled.value < 0:
        raise ArithmeticRefused("not real", node.at, "the root of a negative number")
    return Quantity(math.sqrt(scaled.value), _raised(node, scaled.unit, 0.5))


def _transcendental(node: Node, *operands: Quantity, function: Callable[..., float]) -> Quantity:
    bare = [_bare(node, operand) for operand in operands]
    try:
        value = function(*(operand.value for operand in bare))
    except ValueError:
        raise ArithmeticRefused("not real", node.at, f"{node.op} of a number that is not positive") from None
    return Quantity(value, UNSTATED if any(operand.unit == UNSTATED for operand in bare) else PLAIN)


def _extreme(node: Node, first: Quantity, *others: Quantity, pick: Callable[[float, float], float]) -> Quantity:
    best = first
    for other in others:
        a, b, unit = _aligned(node, best, other)
        best = Quantity(pick(a, b), unit)
    return best


def _round(node: Node, quantity: Quantity, places: Quantity | None = None) -> Quantity:
    """Half to even, as the binary number stands."""
    digits = 0.0 if places is None else _bare(node, places).value
    if abs(digits) > MOST_PLACES or not digits.is_integer():
        raise ArithmeticRefused("places", node.at, f"whole, at most {MOST_PLACES} in size")
    return Quantity(round(quantity.value, int(digits)), quantity.unit)


def _modulo(node: Node, left: Quantity, right: Quantity) -> Quantity:
    """The remainder with the sign of the divisor."""
    a, b, unit = _aligned(node, left, right)
    return Quantity(a % b, unit)


def _mapped(_node: Node, quantity: Quantity, *, function: Callable[[float], float]) -> Quantity:
    return Quantity(float(function(quantity.value)), quantity.unit)


_OPERATIONS: dict[str, Callable[..., Quantity]] = {
    "+": partial(_plus, sign=1),
    "-": partial(_plus, sign=-1),
    "*": partial(_times, power=1),
    "/": partial(_times, power=-1),
    "^": _power,
    "negate": partial(_mapped, function=lambda value: -value),
    "keep": partial(_mapped, function=float),
    "abs": partial(_mapped, function=abs),
    "floor": partial(_mapped, function=math.floor),
    "ceil": partial(_mapped, function=math.ceil),
    "min": partial(_extreme, pick=min),
    "max": partial(_extreme, pick=max),
    "round": _round,
    "mod": _modulo,
    "sqrt": _root,
    "ln": partial(_transcendental, function=math.log),
    "log": partial(_transcendental, function=math.log),
    "log10": partial(_transcendental, function=math.log10),
    "exp": partial(_transcendental, function=math.exp),
}
