"""Unit text and conversion, against factors composed anew from prefixes and atoms, and against molar masses."""

import random
import re
from fractions import Fraction

import pytest

from core.domain.analyte_factors import MEASURED
from core.domain.unit_table import ALIASES
from core.domain.units import (
    UNITS,
    UnknownUnit,
    WrongDimension,
    acceptable,
    canonical,
    convert,
    convert_analyte,
    find_unit,
    format_value,
    parse_unit,
)

PREFIXES = {"": 0, "k": 3, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15}
ATOMS = {
    "g": Fraction(1), "m": Fraction(1), "mol": Fraction(1), "Eq": Fraction(1), "U": Fraction(1), "IU": Fraction(1),
    "kat": Fraction(1), "Osm": Fraction(1), "L": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60),
    "h": Fraction(3600), "d": Fraction(86400), "day": Fraction(86400), "Hz": Fraction(1), "": Fraction(1),
    "m2": Fraction(1), "1.73m2": Fraction(1), "Pa": Fraction(1000),
}  # fmt: skip


def composed(part: str) -> Fraction:
    """One part of a unit as prefix x atom; squared and cubed lengths square and cube the prefix."""
    ten = re.match(r"10\*(\d+)$", part)
    if ten:
        return Fraction(10) ** int(ten.group(1))
    if part in ATOMS:
        return ATOMS[part]
    power = int(part[-1]) if part[-1] in "23" else 1
    return (Fraction(10) ** PREFIXES[part[0]]) ** power * ATOMS[part[1:].rstrip("23")]


NOT_COMPOSED = {
    "mm[Hg]": 133322.387415, "cm[H2O]": 98066.5, "[lb]": 453.59237, "[oz]": 453.59237 / 16, "[in]": 0.0254,
    "[ft]": 12 * 0.0254, "K": 1.0, "Cel": 1.0, "[degF]": 1 / 1.8, "wk": 604800.0, "mo": 30.4375 * 86400,
    "a": 365.25 * 86400, "%": 0.01, "{fraction}": 1.0, "{ratio}": 1.0, "{score}": 1.0, "deg": 1.0, "dB": 1.0,
    "[hnsf'U]": 1.0, "[diop]": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(UNITS))
def test_factor_is_that_of_prefix_and_atom(name: str) -> None:
    if name in NOT_COMPOSED:
        expected = NOT_COMPOSED[name]
    else:
        first, *others = name.split("/")
        exact = composed(first)
        for part in others:
            exact /= composed(part)
        expected = float(exact)
    assert UNITS[name].factor == pytest.approx(expected, rel=1e-14)


def test_four_hundred_pairs_round_trip() -> None:
    draw = random.Random(14)
    pairs = [(a, b) for a in UNITS.values() for b in UNITS.values() if a != b and a.dimension == b.dimension]
    assert len(pairs) >= 400
    for a, b in pairs:
        value = draw.uniform(0.01, 900.0)
        assert convert(convert(value, a, b), b, a) == pytest.approx(value, rel=1e-9), f"{a} {b}"


@pytest.mark.parametrize(
    ("value", "start", "end", "expected"),
    [
        (98.6, "°F", "°C", 37.0), (37.0, "Cel", "degF", 98.6), (-40.0, "°C", "°F", -40.0), (0.0, "°C", "K", 273.15),
        (760.0, "mmHg", "kPa", 101.325), (1.0, "kPa", "mmHg", 7.50062), (10.0, "cmH2O", "mmHg", 7.35559),
        (150.0, "K/µL", "10*9/L", 150.0), (250.0, "x10^9/L", "/uL", 250000.0), (154.0, "lbs", "kg", 69.85323),
        (70.0, "in", "cm", 177.8), (6.0, "feet", "m", 1.8288), (2.0, "mL/min", "L/day", 2.88),
        (1.2, "ng/mL", "pg/mL", 1200.0), (13.5, "g/dL", "g/L", 135.0), (45.0, "%", "L/L", 0.45),
        (1.5, "Hz", "bpm", 90.0), (2.0, "uIU/mL", "mIU/L", 2.0), (18.0, "months", "years", 1.5),
    ],
)  # fmt: skip
def test_conversion_by_hand(value: float, start: str, end: str, expected: float) -> None:
    assert convert(value, parse_unit(start), parse_unit(end)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mcg", "ug"), ("µg", "ug"), ("μg", "ug"), ("cc", "mL"), ("bpm", "/min"), ("breaths/min", "/min"),
        ("mmHg", "mm[Hg]"), ("mm Hg", "mm[Hg]"), ("K/µL", "10*3/uL"), ("x10^9/L", "10*9/L"), ("×10⁹/L", "10*9/L"),
        ("x 10⁹ / L", "10*9/L"), ("10¹²/L", "10*12/L"), ("10**9/L", "10*9/L"), ("cells/mm³", "/mm3"), ("lbs", "[lb]"),
        ("°C", "Cel"), ("ºF", "[degF]"), ("degrees celsius", "Cel"), ("℃", "Cel"), ("MG/DL", "mg/dL"),
        ("mmol/l", "mmol/L"), ("MMOL/L", "mmol/L"), ("meq/l", "mEq/L"), ("umol/L", "umol/L"), ("µmol/l", "umol/L"),
        ("mL/min/1.73 m²", "mL/min/1.73m2"), ("mL/min/1.73m^2", "mL/min/1.73m2"), ("mg/24 h", "mg/day"),
        ("mg/kg/d", "mg/kg/day"), ("mcg/kg/min", "ug/kg/min"), ("mm/hr", "mm/h"), (" mmol / L ", "mmol/L"),
        ("[iU]/L", "IU/L"), ("mU/L", "mIU/L"), ("kg/m²", "kg/m2"), ("years", "a"), ("hrs", "h"), ("HU", "[hnsf'U]"),
        ("INR", "{ratio}"), ("points", "{score}"), ("per cent", "%"), ("gm/dL", "g/dL"), ("mmol/mol", "mmol/mol"),
    ],
)  # fmt: skip
def test_clinical_spelling_is_read(text: str, name: str) -> None:
    assert parse_unit(text) is UNITS[name]


def test_every_spelling_of_the_table_means_its_own_unit() -> None:
    for name, unit in UNITS.items():
        assert find_unit(name) == unit
        assert all(find_unit(alias) == unit for alias in ALIASES.get(name, ()))


REFUSED = [
    "", " ", "mmoll", "mmol/", "/mmol", "mmol//L", "mmol/L/L", "mml/L", "mgdL", "mg/d L", "mg\\dL", "mg-dL", "mg dL",
    "mmol per L", "Mmol/L", "Mg/dL", "mM", "MM", "D", "G/L", "T/L", "MU/L", "M/uL", "109/L", "10e9/L", "1e9/L",
    "10*99/L", "10^9", "x10/L", "9/L", "K/uK", "10**10**10", "degrees", "degC/L", "°K", "mmH", "Hg", "mm[hg",
    "kPa2", "mEq", "IU", "ukat", "mol", "pmol", "mg/dL mg", "5 mg/dL", "mg/dL 5", "mg/kg/kg", "ug/kg", "mL/min/1.73m3",
    "cm3", "tsp", "drops", "stone", "Fr", "mmol/24h", "ng/mL XYZ", "kg FEU", "ng/mL FEU DDU", "FEU", "NaN", "None",
    "g" * 400, "mg/dL; drop", "м", "kɡ",
]  # fmt: skip


def test_misspelt_or_impossible_units_are_refused() -> None:
    assert len(set(REFUSED)) >= 60
    guessed = {text: str(unit) for text in REFUSED if (unit := find_unit(text)) is not None}
    assert guessed == {}
    for text in REFUSED:
        with pytest.raises(UnknownUnit) as refused:
            parse_unit(text)
        assert (refused.value.code, refused.value.text) == ("unknown unit", text)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("mg/dL", "mmol/L"), ("mL/min", "mL/min/1.73m2"), ("mg/kg", "%"), ("mg/g", "{ratio}"), ("mmol/mol", "%"),
        ("mEq/L", "mmol/L"), ("U/L", "ukat/L"), ("mOsm/kg", "mOsm/L"), ("mm", "mm2"), ("deg", "Cel"), ("10*9/L", "g/L"),
        ("mm/h", "mL/min/1.73m2"), ("mg/mmol", "mg/g"), ("{score}", "{ratio}"), ("dB", "[diop]"),
    ],
)  # fmt: skip
def test_other_dimension_is_refused(start: str, end: str) -> None:
    with pytest.raises(WrongDimension) as refused:
        convert(1.0, parse_unit(start), parse_unit(end))
    assert refused.value.code == "wrong dimension"


# Molar mass (g/mol, from the atomic weights of the formula) of what one "mole" of the laboratory counts.
MOLAR = {
    "glucose": 180.156, "creatinine": 113.120, "urea": 60.056, "urea_nitrogen": 28.014, "bilirubin": 584.673,
    "calcium": 40.078, "magnesium": 24.305, "phosphate": 30.974, "urate": 168.112, "cholesterol": 386.664,
    "triglycerides": 885.432, "lactate": 90.078, "ethanol": 46.069, "iron": 55.845, "ammonia": 17.031,
    "cortisol": 362.466, "free_t4": 776.874, "b12": 1355.37, "folate": 441.404, "vitamin_d": 400.647,
    "bnp": 3464.1, "nt_probnp": 8457.6, "haemoglobin": 16114.5,
}  # fmt: skip


@pytest.mark.parametrize("analyte", sorted(MOLAR))
def test_factor_agrees_with_the_molar_mass(analyte: str) -> None:
    grams_per_litre = convert_analyte(analyte, 1.0, parse_unit("mol/L"), parse_unit("g/L"))
    assert grams_per_litre == pytest.approx(MOLAR[analyte], rel=3e-3)


@pytest.mark.parametrize(
    ("analyte", "value", "start", "expected", "end"),
    [
        ("glucose", 5.0, "mmol/L", 90.08, "mg/dL"), ("creatinine", 2.0, "mg/dL", 176.84, "umol/L"),
        ("urine_creatinine", 100.0, "mg/dL", 8.842, "mmol/L"), ("urea_nitrogen", 28.01, "mg/dL", 10.0, "mmol/L"),
        ("urea", 60.06, "mg/dL", 10.0, "mmol/L"), ("bilirubin", 2.0, "mg/dL", 34.2, "umol/L"),
        ("calcium", 10.02, "mg/dL", 2.5, "mmol/L"), ("calcium", 5.0, "mEq/L", 2.5, "mmol/L"),
        ("calcium", 5.0, "mEq/L", 10.02, "mg/dL"), ("magnesium", 2.431, "mg/dL", 2.0, "mEq/L"),
        ("phosphate", 3.097, "mg/dL", 1.0, "mmol/L"), ("urate", 5.0, "mg/dL", 297.4, "umol/L"),
        ("ldl", 100.0, "mg/dL", 2.585984, "mmol/L"), ("hdl", 1.0, "mmol/L", 38.67, "mg/dL"),
        ("triglycerides", 2.0, "mmol/L", 177.14, "mg/dL"), ("lactate", 4.0, "mmol/L", 36.032, "mg/dL"),
        ("haemoglobin", 8.0, "mmol/L", 128.88, "g/L"), ("iron", 10.0, "umol/L", 55.85, "ug/dL"),
        ("cortisol", 10.0, "ug/dL", 275.9, "nmol/L"), ("free_t4", 1.0, "ng/dL", 12.87, "pmol/L"),
        ("b12", 300.0, "pg/mL", 221.4, "pmol/L"), ("folate", 10.0, "ng/mL", 22.66, "nmol/L"),
        ("vitamin_d", 20.0, "ng/mL", 49.92, "nmol/L"), ("ammonia", 50.0, "ug/dL", 29.35, "umol/L"),
        ("bnp", 100.0, "pg/mL", 28.9, "pmol/L"), ("nt_probnp", 1000.0, "ng/L", 118.0, "pmol/L"),
        ("ethanol", 100.0, "mg/dL", 21.706099, "mmol/L"), ("hba1c", 6.5, "%", 47.5455, "mmol/mol"),
        ("hba1c", 53.0, "mmol/mol", 6.999039, "%"), ("sodium", 140.0, "mEq/L", 140.0, "mmol/L"),
        ("alt", 1.0, "ukat/L", 60.0, "U/L"), ("ck", 300.0, "IU/L", 5.0, "ukat/L"),
        ("esr", 40.0, "mm/h", 40.0, "{score}"),
        ("urine_acr", 30.0, "mg/g", 3.392898, "mg/mmol"), ("temperature", 101.3, "°F", 38.5, "Cel"),
        ("po2", 60.0, "mmHg", 7.999343, "kPa"), ("troponin_t", 0.052, "ng/mL", 52.0, "ng/L"),
    ],
)  # fmt: skip
def test_analyte_factor_by_hand_and_back(analyte: str, value: float, start: str, expected: float, end: str) -> None:
    a, b = parse_unit(start), parse_unit(end)
    assert convert_analyte(analyte, value, a, b) == pytest.approx(expected, rel=1e-6)
    assert convert_analyte(analyte, expected, b, a) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("analyte", "text", "fits"),
    [
        ("sodium", "mmol/L", True), ("sodium", "mEq/L", True), ("sodium", "mg/dL", False),
        ("potassium", "mg/dL", False),
        ("glucose", "mg/dL", True), ("glucose", "mEq/L", False), ("haemoglobin", "%", False), ("egfr", "mL/min", False),
        ("neutrophils", "%", False), ("neutrophils", "K/uL", True), ("inr", "%", False), ("inr", "ratio", True),
        ("ph", "nmol/L", False), ("spo2", "%", True), ("spo2", "mmHg", False), ("temperature", "°", False),
        ("temperature", "°F", True), ("troponin_i", "pmol/L", False), ("insulin", "pmol/L", False),
        ("insulin", "uIU/mL", True), ("d_dimer", "ng/mL DDU", True), ("d_dimer", "ng/mL", True),
        ("ferritin", "ng/mL FEU", False), ("weight", "lb", True), ("weight", "cm", False),
        ("unheard_of", "mmol/L", False),
    ],
)  # fmt: skip
def test_acceptable_units(analyte: str, text: str, fits: bool) -> None:
    assert acceptable(analyte, parse_unit(text)) is fits


def test_sodium_in_milligrams_is_refused_even_within_its_dimension() -> None:
    with pytest.raises(WrongDimension) as refused:
        convert_analyte("sodium", 140.0, parse_unit("mg/dL"), parse_unit("g/L"))
    assert refused.value.code == "not a unit of this quantity"


FEU, DDU, BARE = "ng/mL FEU", "ug/L{DDU}", "ug/L"


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [(FEU, DDU, "different kind"), (DDU, FEU, "different kind"), (BARE, FEU, "kind not stated"),
     (BARE, DDU, "kind not stated"), (DDU, BARE, "different kind")],
)  # fmt: skip
def test_d_dimer_kinds_are_never_crossed(start: str, end: str, code: str) -> None:
    with pytest.raises(WrongDimension) as refused:
        convert_analyte("d_dimer", 500.0, parse_unit(start), parse_unit(end))
    assert refused.value.code == code
    with pytest.raises(WrongDimension):
        convert(500.0, parse_unit(start), parse_unit(end))


def test_d_dimer_within_one_kind() -> None:
    assert convert_analyte("d_dimer", 0.5, parse_unit("mg/L FEU"), canonical("d_dimer")) == pytest.approx(500.0)
    assert convert_analyte("d_dimer", 0.5, parse_unit("ug/mL (FEU)"), parse_unit(BARE)) == pytest.approx(500.0)
    assert convert_analyte("d_dimer", 0.25, parse_unit("ug/mL DDU"), parse_unit(DDU)) == pytest.approx(250.0)
    assert [parse_unit(text).kind for text in ("ng{FEU}/mL", "ng DDU/mL", "mg/L")] == ["FEU", "DDU", ""]


def test_insulin_and_troponin_have_no_factor() -> None:
    assert MEASURED["insulin"].relations == MEASURED["troponin_t"].relations == MEASURED["troponin_i"].relations == ()
    with pytest.raises(WrongDimension):
        convert_analyte("insulin", 10.0, parse_unit("uIU/mL"), parse_unit("pmol/L"))


def test_every_named_quantity_accepts_its_own_unit_and_both_sides_of_its_factors() -> None:
    for analyte, measured in MEASURED.items():
        own = canonical(analyte)
        assert acceptable(analyte, own)
        for relation in measured.relations:
            for name in (relation.first, relation.second):
                there = convert_analyte(analyte, 7.0, own, parse_unit(name))
                assert convert_analyte(analyte, there, parse_unit(name), own) == pytest.approx(7.0, rel=1e-9)


def test_a_quantity_outside_the_table_is_converted_within_one_dimension_only() -> None:
    assert convert_analyte("unheard_of", 1.0, parse_unit("g/L"), parse_unit("mg/dL")) == pytest.approx(100.0)
    with pytest.raises(WrongDimension):
        convert_analyte("unheard_of", 1.0, parse_unit("g/L"), parse_unit("mmol/L"))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5.1, "mmol/l", "5.1 mmol/L"), (120.0, "mm[Hg]", "120 mmHg"), (37.2, "Cel", "37.2 °C"), (92.0, "%", "92%"),
        (850.0, "ng/mL FEU", "850 ng/mL FEU"), (1234567.0, "/uL", "1234567/µL"), (250.0, "10*9/L", "250 ×10⁹/L"),
        (114.9460000001, "umol/L", "114.946 µmol/L"), (0.1 + 0.2, "ug/kg/min", "0.3 µg/kg/min"),
        (15.0, "{score}", "15"),
        (0.00005, "g", "0.00005 g"), (1.2, "INR", "1.2"), (67.0, "a", "67 years"), (88.0, "bpm", "88/min"),
        (-0.0, "mmol/L", "0 mmol/L"), (90.0, "deg", "90°"), (72.0, "mL/min/1.73m2", "72 mL/min/1.73 m²"),
    ],
)  # fmt: skip
def test_value_for_a_person(value: float, unit: str, text: str) -> None:
    assert format_value(value, parse_unit(unit)) == text


def test_decimals_are_kept_when_asked() -> None:
    assert format_value(7.4, parse_unit("pH"), decimals=2) == "7.40"
