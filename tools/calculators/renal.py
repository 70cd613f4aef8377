"""Kidney function: clearance, filtration rate, sodium excretion. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import bands, calculator, choice, define, formula, measure, number, warn
from tools.calculators.quantities import ADULT_AGE, CREATININE, HEIGHT, SEX, SODIUM, WEIGHT, unknowable

STAGES = bands(  # KDIGO 2012
    ("value >= 90", "G1"),
    ("value >= 60", "G2"),
    ("value >= 45", "G3a"),
    ("value >= 30", "G3b"),
    ("value >= 15", "G4"),
    ("", "G5"),
)

COCKCROFT_GAULT = calculator(
    "cockcroft_gault",
    "Creatinine clearance (Cockcroft-Gault)",
    ADULT_AGE,
    SEX,
    WEIGHT,
    unknowable(HEIGHT),
    choice("weight_rule", "Weight to use", "actual", "by_bmi", default="actual"),
    CREATININE,
    define("bmi", "weight / (height / 100)^2"),
    define(
        "ideal_weight",
        ("sex == male", "50 + 2.3 * (height / 2.54 - 60)"),
        "45.5 + 2.3 * (height / 2.54 - 60)",
    ),
    define(
        "used_weight",
        ("weight_rule == actual", "weight"),
        ("bmi >= 25", "ideal_weight + 0.4 * (weight - ideal_weight)"),
        ("bmi >= 18.5", "min(ideal_weight, weight)"),
        "weight",
    ),
    formula("(140 - age) * used_weight / (72 * creatinine) * (0.85 if sex == female else 1)"),
    warn("age < 18", "the formula was made for adults"),
    output=measure("mL/min", 1, 0, 300),
    cite="Cockcroft DW, Gault MH. Prediction of creatinine clearance from serum creatinine. Nephron 1976;16:31-41.",
    use="Dosing of drugs whose labels state creatinine clearance; creatinine in steady state.",
    avoid="Acute kidney injury, pregnancy, children, dialysis. With weight_rule = by_bmi the weight is adjusted, ideal "
    "or actual by body mass index and needs the height; the paper used the actual weight.",
)

CKD_EPI = calculator(
    "ckd_epi_2021",
    "Estimated GFR (CKD-EPI 2021, creatinine)",
    ADULT_AGE,
    SEX,
    CREATININE,
    define("k", ("sex == female", 0.7), ("", 0.9)),
    define("a", ("sex == female", "-0.241"), ("", "-0.302")),
    formula(
        "142 * min(creatinine / k, 1)^a * max(creatinine / k, 1)^-1.2 * exp(age * ln(0.9938)) "
        "* (1.012 if sex == female else 1)"
    ),
    warn("age < 18", "the equation was made for adults"),
    STAGES,
    output=measure("mL/min/1.73m2", 1, 0, 250),
    cite="Inker LA, Eneanya ND, Coresh J, et al. New creatinine- and cystatin C-based equations to estimate GFR "
    "without race. N Engl J Med 2021;385:1737-1749.",
    use="Staging of kidney function in adults with stable creatinine.",
    avoid="Acute kidney injury, pregnancy, extremes of muscle mass. One value is no diagnosis of chronic disease.",
)

MDRD = calculator(
    "mdrd",
    "Estimated GFR (MDRD, 4 variables)",
    ADULT_AGE,
    SEX,
    CREATININE,
    formula("175 * creatinine^-1.154 * age^-0.203 * (0.742 if sex == female else 1)"),
    warn("age < 18", "the equation was made for adults"),
    STAGES,
    output=measure("mL/min/1.73m2", 1, 0, 300),
    cite="Levey AS, Coresh J, Greene T, et al. Using standardized serum creatinine values in the Modification "
    "of Diet in Renal Disease study equation for estimating glomerular filtration rate. Ann Intern Med "
    "2006;145:247-254.",
    use="Comparison with older results; the equation of 2021 is preferred.",
    avoid="Acute kidney injury, pregnancy, values above 60, where it reads too low.",
)

FENA = calculator(
    "fena",
    "Fractional excretion of sodium",
    SODIUM,
    CREATININE,
    number("urine_sodium", "Urine sodium", "mmol/L", plausible=(5, 250), possible=(0, 500), analyte="urine_sodium"),
    number(
        "urine_creatinine",
        "Urine creatinine",
        "mg/dL",
        plausible=(5, 400),
        possible=(0.1, 2000),
        analyte="urine_creatinine",
    ),
    formula("100 * urine_sodium * creatinine / (sodium * urine_creatinine)"),
    bands(
        ("value < 1", "suggests a prerenal cause"),
        ("value <= 2", "undecided"),
        ("", "suggests tubular injury"),
    ),
    output=measure("%", 2, 0, 100),
    cite="Espinel CH. The FENa test. Use in the differential diagnosis of acute renal failure. JAMA 1976;236:579-581.",
    use="Acute kidney injury with oliguria, before diuretics.",
    avoid="After diuretics; chronic kidney disease; glomerulonephritis and contrast injury can be below 1 % too.",
)

CALCULATORS = (COCKCROFT_GAULT, CKD_EPI, MDRD, FENA)
