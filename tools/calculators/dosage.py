"""Doses that stand for one another, and fluids. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import bands, calculator, choice, define, first, formula, measure, number, warn
from tools.calculators.quantities import WEIGHT
from tools.calculators.record import Input, Term

GLUCOCORTICOIDS = {  # equal doses in mg
    "hydrocortisone": 20,
    "cortisone": 25,
    "prednisone": 5,
    "prednisolone": 5,
    "methylprednisolone": 4,
    "triamcinolone": 4,
    "dexamethasone": 0.75,
    "betamethasone": 0.75,
}
OPIOIDS = {  # mg of morphine by mouth for 1 mg
    "codeine": 0.15,
    "hydrocodone": 1,
    "hydromorphone": 5,
    "methadone": 4.7,
    "morphine": 1,
    "oxycodone": 1.5,
    "oxymorphone": 3,
    "tapentadol": 0.4,
    "tramadol": 0.2,
}

STEROIDS = calculator(
    "steroid_conversion",
    "Equal doses of glucocorticoids",
    number("dose", "Dose", "mg", plausible=(0.1, 1000), possible=(0, 10000)),
    choice("from_drug", "Drug given", *GLUCOCORTICOIDS, required=True),
    choice("to_drug", "Drug wanted", *GLUCOCORTICOIDS, required=True),
    define("from_mg", *((f"from_drug == {drug}", dose) for drug, dose in GLUCOCORTICOIDS.items())),
    define("to_mg", *((f"to_drug == {drug}", dose) for drug, dose in GLUCOCORTICOIDS.items())),
    formula("dose * to_mg / from_mg"),
    output=measure("mg", 2, 0, 20000),
    cite="Meikle AW, Tyler FH. Potency and duration of action of glucocorticoids. Effects of hydrocortisone, "
    "prednisone and dexamethasone on human pituitary-adrenal function. Am J Med 1977;63:200-207.",
    use="Changing one systemic glucocorticoid for another by its anti-inflammatory effect.",
    avoid="Mineralocorticoid effect, inhaled or topical drugs, intra-articular use.",
)

FLUIDS = calculator(
    "maintenance_fluids",
    "Maintenance fluids (Holliday-Segar)",
    WEIGHT,
    first(
        "fluids",
        ("weight <= 10", "4 * weight"),
        ("weight <= 20", "40 + 2 * (weight - 10)"),
        ("", "60 + (weight - 20)"),
    ),
    warn("weight > 80", "the rule was made for children: it reads too high at this weight"),
    output=measure("mL/h", 1, 0, 800),
    cite="Holliday MA, Segar WE. The maintenance need for water in parenteral fluid therapy. Pediatrics "
    "1957;19:823-832.",
    use="Children from the newborn age on, without deficits or losses.",
    avoid="Newborns, kidney or heart failure, risk of water retention.",
)


def _opioid(name: str, unit: str = "mg/day", most: float = 2000) -> Input:
    label = name.replace("_", " ").capitalize()
    return number(name, label, unit, plausible=(0, most / 5), possible=(0, most), default=0)


def _equivalent(name: str, factor: float) -> Term:
    return formula(f"{name} * {factor:g}", name.replace("_", " "))


MME = calculator(
    "morphine_equivalents",
    "Morphine milligram equivalents a day",
    *(_opioid(name) for name in OPIOIDS),
    _opioid("fentanyl_patch", "ug/h", 1000),
    _opioid("fentanyl_buccal", "ug/day", 50000),
    *(_equivalent(name, factor) for name, factor in OPIOIDS.items()),
    _equivalent("fentanyl_patch", 2.4),
    _equivalent("fentanyl_buccal", 0.13),
    bands(
        ("value >= 50", "50 mg or more a day: benefit and harm to be reassessed"),
        ("", "below 50 mg a day"),
    ),
    warn("methadone > 0 or morphine >= 0", "not for changing one opioid into another: doses by this table can kill"),
    output=measure("mg/day", 1, 0, 20000),
    cite="Dowell D, Ragan KR, Jones CM, Baldwin GT, Chou R. CDC clinical practice guideline for prescribing "
    "opioids for pain. MMWR Recomm Rep 2022;71(3):1-95.",
    use="The risk of overdose from all opioids of a day together; a drug that is not given counts 0.",
    avoid="Changing one opioid into another; buprenorphine; opioids for opioid use disorder.",
)

CALCULATORS = (STEROIDS, FLUIDS, MME)
