"""The closed table of clinical units: spelling, dimension, factor, offset, aliases.

Data only. It must not know how a text is read, how values are converted, or which analyte is measured in what.
Spelling follows the Unified Code for Units of Measure (UCUM); exact factors are those of its table.

A dimension is written as letters with exponents over these base dimensions (coherent units in brackets):
L length [m], M mass [g], T time [s], K temperature [K], N amount [mol], E equivalents [Eq], U enzyme or hormone
activity [U], O osmoles [Osm], and the clinical ones that plain physics would cancel and so confuse: B body or
solvent mass [g] ("mg/kg" is no ratio), S body surface in units of 1.73 m2 (an indexed clearance is no clearance),
C creatinine mass [g] ("mg/g" of a urine ratio), X mole fraction (HbA1c in mmol/mol is not its per cent / 10),
A angle [deg], D level [dB], H attenuation [HU], P score points.
"""

BASES = "LMTKNEUOBSCXADHP"

_MIN, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_YEAR = 365.25 * _DAY  # the Julian year, as in UCUM

# fmt: off
# dimension -> unit -> factor: a value in the unit, times the factor, is the value in coherent base units.
FACTORS: dict[str, dict[str, float]] = {
    "M L-3": {
        "g/mL": 1e6, "g/L": 1e3, "g/dL": 1e4, "mg/dL": 10.0, "mg/L": 1.0, "mg/mL": 1e3, "ug/L": 1e-3, "ug/dL": 1e-2,
        "ug/mL": 1.0, "ng/mL": 1e-3, "ng/dL": 1e-5, "ng/L": 1e-6, "pg/mL": 1e-6,
    },
    "N L-3": {"mol/L": 1e3, "mmol/L": 1.0, "umol/L": 1e-3, "nmol/L": 1e-6, "pmol/L": 1e-9},
    "E L-3": {"mEq/L": 1.0},
    "U L-3": {
        "U/L": 1e3, "IU/L": 1e3, "kU/L": 1e6, "mIU/L": 1.0, "uIU/mL": 1.0, "mIU/mL": 1e3, "IU/mL": 1e6,
    },
    "N L-3 T-1": {"ukat/L": 1e-3},
    "L-3": {"10*9/L": 1e12, "10*12/L": 1e15, "10*3/uL": 1e12, "10*6/uL": 1e15, "/uL": 1e9, "/mm3": 1e9, "/L": 1e3},
    "M L-1 T-2": {"mm[Hg]": 133322.387415, "kPa": 1e6, "cm[H2O]": 98066.5},
    "T-1": {"/min": 1 / _MIN, "Hz": 1.0},
    "L3 T-1": {
        "mL/min": 1e-6 / _MIN, "mL/h": 1e-6 / _HOUR, "L/min": 1e-3 / _MIN, "mL/day": 1e-6 / _DAY,
        "L/day": 1e-3 / _DAY,
    },
    "L3 T-1 S-1": {"mL/min/1.73m2": 1e-6 / _MIN},
    "L3 B-1 T-1": {"mL/kg/h": 1e-9 / _HOUR},
    "M B-1 T-1": {"ug/kg/min": 1e-9 / _MIN, "mg/kg/day": 1e-6 / _DAY},
    "M T-1": {"ug/min": 1e-6 / _MIN, "ug/h": 1e-6 / _HOUR, "ug/day": 1e-6 / _DAY, "mg/day": 1e-3 / _DAY},
    "M B-1": {"mg/kg": 1e-6},
    "M": {"pg": 1e-12, "ug": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3, "[lb]": 453.59237, "[oz]": 28.349523125},
    "L": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "um": 1e-6, "[in]": 0.0254, "[ft]": 0.3048},
    "L2": {"m2": 1.0, "cm2": 1e-4, "mm2": 1e-6},
    "M L-2": {"kg/m2": 1e3, "g/m2": 1.0},
    "L3 S-1": {"mL/m2": 1e-6},  # a volume indexed to body surface; no length
    "L3": {"L": 1e-3, "dL": 1e-4, "mL": 1e-6, "uL": 1e-9, "fL": 1e-18},
    "L T-1": {"mm/h": 1e-3 / _HOUR},
    "K": {"K": 1.0, "Cel": 1.0, "[degF]": 5 / 9},
    "T": {
        "s": 1.0, "ms": 1e-3, "min": _MIN, "h": _HOUR, "d": _DAY, "wk": 7 * _DAY, "mo": _YEAR / 12, "a": _YEAR,
    },
    "": {"%": 1e-2, "{fraction}": 1.0, "{ratio}": 1.0},
    "X": {"mmol/mol": 1e-3},
    "M C-1": {"mg/g": 1e-3},
    "M N-1": {"mg/mmol": 1.0},
    "O B-1": {"mOsm/kg": 1e-6},
    "O L-3": {"mOsm/L": 1.0},
    "A": {"deg": 1.0},
    "D": {"dB": 1.0},
    "H": {"[hnsf'U]": 1.0},
    "L-1": {"[diop]": 1.0},
    "P": {"{score}": 1.0},
}

OFFSETS = {"Cel": 273.15, "[degF]": 459.67 * 5 / 9}  # coherent value = value x factor + offset

# Whole spellings only. Left out on purpose, because two meanings exist: "D" (dioptre, day), "G/L" (giga, gram),
# "M/uL" (mega, mille), "mM", "degrees", "109/L", "10e9/L".
ALIASES: dict[str, tuple[str, ...]] = {
    "g/dL": ("g%",),
    "mg/dL": ("mg%",),
    "mEq/L": ("mequiv/L",),
    "U/L": ("units/L", "unit/L"),
    "IU/L": ("[IU]/L", "[iU]/L"),
    "mIU/L": ("mU/L", "m[IU]/L", "m[iU]/L"),
    "uIU/mL": ("uU/mL", "u[IU]/mL", "u[iU]/mL"),
    "mIU/mL": ("mU/mL", "m[IU]/mL", "m[iU]/mL"),
    "IU/mL": ("U/mL", "[IU]/mL", "[iU]/mL"),
    "ukat/L": ("ukatal/L",),
    "10*9/L": ("10*9 cells/L", "billion/L"),
    "10*3/uL": ("K/uL", "10*3/mm3", "10*3 cells/uL", "thou/uL", "thousand/uL"),
    "10*6/uL": ("10*6/mm3", "10*6 cells/uL", "million/uL", "million/mm3"),
    "/uL": ("cells/uL",),
    "/mm3": ("cells/mm3",),
    "/L": ("cells/L",),
    "mm[Hg]": ("mmHg", "mm Hg", "torr"),
    "cm[H2O]": ("cmH2O", "cm H2O"),
    "/min": ("bpm", "beats/min", "breaths/min", "beats per min", "breaths per min", "beats per minute",
             "breaths per minute", "per minute"),
    "mL/min/1.73m2": ("mL/min/{1.73_m2}", "mL/min/1.73", "mL/min per 1.73 m2", "mL/min per 1.73m2"),
    "mg": ("MG", "milligram", "milligrams"),
    "ug": ("UG", "microgram", "micrograms"),
    "g": ("gram", "grams"),
    "kg": ("KG", "Kg", "kgs", "kilogram", "kilograms"),
    "[lb]": ("lb", "lbs", "[lb_av]", "pound", "pounds"),
    "[oz]": ("oz", "[oz_av]", "ounce", "ounces"),
    "mm": ("millimetre", "millimetres", "millimeter", "millimeters"),
    "cm": ("CM", "cms", "centimetre", "centimetres", "centimeter", "centimeters"),
    "m": ("metre", "metres", "meter", "meters"),
    "um": ("micron", "microns"),
    "[in]": ("in", "[in_i]", "inch", "inches"),
    "[ft]": ("ft", "[ft_i]", "foot", "feet"),
    "mL": ("ML", "millilitre", "millilitres", "milliliter", "milliliters"),
    "mm/h": ("mm/1h", "mm in 1 h"),
    "Cel": ("°C", "C", "° C", "degC", "deg C", "celsius", "degrees celsius", "degree celsius"),
    "[degF]": ("°F", "F", "° F", "degF", "deg F", "fahrenheit", "degrees fahrenheit", "degree fahrenheit"),
    "K": ("kelvin",),
    "s": ("secs",),
    "ms": ("msec", "millisecond", "milliseconds"),
    "min": ("mins",),
    "h": ("hrs",),
    "wk": ("wks", "week", "weeks"),
    "mo": ("mos", "month", "months"),
    "a": ("y", "yr", "yrs", "year", "years", "years old"),
    "%": ("percent", "per cent", "pct"),
    "{fraction}": ("fraction",),
    "{ratio}": ("1", "ratio", "L/L", "INR", "pH", "[pH]"),
    "mg/mmol": ("mg/mmol creatinine",),
    "mg/g": ("mg/g creatinine",),
    "mOsm/kg": ("mosmol/kg", "mOsm/kg H2O"),
    "mOsm/L": ("mosmol/L",),
    "deg": ("°",),
    "dB": ("decibel", "decibels"),
    "[hnsf'U]": ("HU", "Hounsfield units", "hounsfield unit"),
    "[diop]": ("dpt", "dioptre", "dioptres", "diopter", "diopters"),
    "{score}": ("point", "points", "pts", "score"),
}

# fmt: on

# One part of a unit between slashes, as hands write it -> as the table spells it.
PARTS = {
    "l": "L", "litre": "L", "litres": "L", "liter": "L", "liters": "L", "ml": "mL", "cc": "mL", "dl": "dL", "ul": "uL",
    "mcL": "uL", "mcl": "uL", "mcg": "ug", "mcmol": "umol", "gm": "g", "gms": "g", "hr": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "24h": "d", "24 h": "d", "24hr": "d", "24 hr": "d", "minute": "min", "minutes": "min",
    "sec": "s", "second": "s", "seconds": "s", "1.73 m2": "1.73m2", "cu mm": "mm3", "cumm": "mm3",
}  # fmt: skip

# How a person reads the unit after a number; every other unit is shown as spelled, with "u" as the micro sign.
SHOWN = {
    "mm[Hg]": "mmHg", "cm[H2O]": "cmH\u2082O", "Cel": "°C", "[degF]": "°F", "%": "%", "{fraction}": "", "{ratio}": "",
    "{score}": "", "10*9/L": "×10⁹/L", "10*12/L": "×10¹²/L", "10*3/uL": "×10³/µL", "10*6/uL": "×10⁶/µL",
    "mL/min/1.73m2": "mL/min/1.73 m²", "m2": "m²", "cm2": "cm²", "mm2": "mm²", "kg/m2": "kg/m²", "g/m2": "g/m²",
    "mL/m2": "mL/m²",
    "/mm3": "/mm³", "[lb]": "lb", "[oz]": "oz", "[in]": "in", "[ft]": "ft", "[hnsf'U]": "HU", "[diop]": "D", "deg": "°",
    "a": "years", "mo": "months", "wk": "weeks", "d": "days",
}  # fmt: skip
