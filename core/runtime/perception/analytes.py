"""Laboratory analytes and limits of plausibility as values: names, units, adult reference intervals.

Reads the tables analytes.toml and plausibility.toml (texts handed in; `packaged` reads the shipped ones). It must not
know cases.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Literal

import msgspec

from core.domain import units
from core.domain.analyte_factors import MEASURED
from core.domain.units import Unit, WrongDimension
from core.retrieval.terms import norm

_AROUND = frozenset(
    ["serum", "plasma", "blood", "level", "s", "p", "b", "result", "total", "arterial", "venous", "fasting"]
)
# Units other than the canonical one in which a value is written without saying so.
_CONVENTIONAL = {
    "g/L": ("g/dL",),
    "mg/L": ("mg/dL",),
    "ug/L FEU": ("mg/L FEU",),
    "kPa": ("mm[Hg]",),
    "10*9/L": ("/uL",),
}


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A reference interval in the analyte's canonical unit; None = open."""

    population: str
    sex: Literal["any", "male", "female"]
    low: float | None = None
    high: float | None = None


class Analyte(msgspec.Struct, frozen=True, kw_only=True):
    """A row of analytes.toml. `plausible` is in the canonical `unit`."""

    id: str
    name: str
    unit: str
    plausible: tuple[float, float]
    aliases: tuple[str, ...] = ()
    reference: tuple[Interval, ...] = ()
    loinc: str = ""
    citation: str = ""
    status: str = "unreviewed"


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Outside these a bedside value is implausible as written."""

    quantity: str
    unit: str
    low: float
    high: float


class Analytes:
    """The tables with their look-ups. Immutable."""

    def __init__(self, analytes: str, plausibility: str) -> None:
        rows = msgspec.convert(tomllib.loads(analytes)["analyte"], tuple[Analyte, ...])
        limits = msgspec.convert(tomllib.loads(plausibility)["vital"], tuple[Limit, ...])
        self.by_id = {row.id: row for row in rows}
        self.by_loinc = {row.loinc: row for row in rows if row.loinc}
        self.limits = {limit.quantity: limit for limit in limits}
        self.names: dict[tuple[str, ...], str] = {}
        for row in rows:
            for name in (row.name, row.id.replace("_", " "), *row.aliases):
                if not ("%" in name and len(norm(name)) == 1):  # "% saturation" is more than "saturation"
                    self.names.setdefault(norm(name), row.id)
        self.first_words = frozenset(words[0] for words in self.names if words)

    def find(self, test: str) -> Analyte | None:
        """The analyte that a printed test name means; None rather than a guess."""
        for words in _readings(norm(test)):
            if words in self.names:
                return self.by_id[self.names[words]]
        return None

    def of_row(self, test: str, loinc: str) -> Analyte | None:
        """The analyte of a row by its code, else by its name; None where the two mean different ones."""
        coded, named = self.by_loinc.get(loinc), self.find(test)
        return None if coded and named and coded is not named else coded or named

    def plausible(self, quantity: str, value: float) -> bool:
        """Whether a value in the canonical unit lies inside the limits; a quantity without limits has none."""
        if quantity in self.by_id:
            low, high = self.by_id[quantity].plausible
            return low <= value <= high
        limit = self.limits.get(quantity)
        return limit is None or limit.low <= value <= limit.high

    def only_unit(self, analyte: Analyte, value: float) -> Unit | None:
        """The one unit in which a number without unit is plausible; None where there are several or none."""
        if units.parse_unit(analyte.unit).kind:  # FEU or DDU must be said
            return None
        found = [unit for unit in _written_units(analyte) if self._is_plausible(analyte, value, unit)]
        return found[0] if len(found) == 1 else None

    def _is_plausible(self, analyte: Analyte, value: float, unit: Unit) -> bool:
        converted = canonical(analyte.id, value, unit)
        return converted is not None and self.plausible(analyte.id, converted)


def canonical(quantity: str, value: float, unit: Unit) -> float | None:
    """The value in the quantity's canonical unit; None where it cannot be stated in it."""
    try:
        return units.convert_analyte(quantity, value, unit, units.canonical(quantity))
    except (KeyError, WrongDimension):
        return None


def _readings(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The name as printed, then without the specimen words around it."""
    readings = [words]
    trimmed = words
    while len(trimmed) > 1 and trimmed[0] in _AROUND:
        trimmed = trimmed[1:]
        readings.append(trimmed)
    while len(trimmed) > 1 and trimmed[-1] in _AROUND:
        trimmed = trimmed[:-1]
        readings.append(trimmed)
    return readings


def _written_units(analyte: Analyte) -> list[Unit]:
    """Units in which that analyte is usually written, those with equal numbers once."""
    names = [analyte.unit, *_CONVENTIONAL.get(analyte.unit, ())]
    relations = MEASURED[analyte.id].relations if analyte.id in MEASURED else ()
    if analyte.id != "haemoglobin":  # mmol/L is always said
        names += [side for relation in relations for side in (relation.first, relation.second)]
    if analyte.id.startswith("troponin"):
        names.append("ng/mL")
    found: dict[float, Unit] = {}
    for name in dict.fromkeys(names):
        unit = units.parse_unit(name)
        one = canonical(analyte.id, 1.0, unit)
        if one is not None and unit.name not in ("ukat/L", "mm/h"):
            found.setdefault(round(one, 9), unit)
    return list(found.values())


@lru_cache(maxsize=1)
def packaged() -> Analytes:
    """The tables that ship with the program."""
    folder = resources.files("core.retrieval").joinpath("resources")
    return Analytes(
        folder.joinpath("analytes.toml").read_text("utf-8"), folder.joinpath("plausibility.toml").read_text("utf-8")
    )
