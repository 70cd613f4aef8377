"""Acid, base, salt and water: gaps, osmolality, corrected ions, water deficit. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import Part, bands, calculator, define, formula, measure
from tools.calculators.quantities import (
    AGE,
    ALBUMIN,
    BICARBONATE,
    BUN,
    CALCIUM,
    CHLORIDE,
    GLUCOSE,
    SEX,
    SODIUM,
    WEIGHT,
)

IONS: tuple[Part, ...] = (SODIUM, CHLORIDE, BICARBONATE)
GAP = define("gap", "sodium - chloride - bicarbonate")
CORRECTED_GAP = define("gap", "sodium - chloride - bicarbonate + 2.5 * (4 - albumin)")
EMMETT = "Emmett M, Narins RG. Clinical use of the anion gap. Medicine (Baltimore) 1977;56:38-54."
FIGGE = "Figge J, Jabor A, Kazda A, Fencl V. Anion gap and hypoalbuminemia. Crit Care Med 1998;26:1807-1810."
WRENN = "Wrenn K. The delta gap: an approach to mixed acid-base disorders. Ann Emerg Med 1990;19:1310-1313."
RASTEGAR = (
    "Rastegar A. Use of the delta AG/delta HCO3 ratio in the diagnosis of mixed acid-base disorders. J Am Soc Nephrol "
    "2007;18:2429-2431."
)
HIGH_GAP = bands(("value > 12", "above 12 mmol/L, the usual limit without potassium"), ("", "not raised"))
RATIO = bands(
    ("value < 0.4", "suggests a hyperchloraemic acidosis"),
    ("value < 1", "suggests a mixed high and normal gap acidosis"),
    ("value <= 2", "suggests a pure high gap acidosis"),
    ("", "suggests a metabolic alkalosis as well, or a raised bicarbonate before"),
)
LOCAL = "Normal gap 12, bicarbonate 24 and albumin 4 g/dL are assumed; the laboratory's own limits come first."

ANION_GAP = calculator(
    "anion_gap",
    "Anion gap",
    *IONS,
    formula("sodium - chloride - bicarbonate"),
    HIGH_GAP,
    output=measure("mmol/L", 1, -10, 60),
    cite=EMMETT,
    use="Metabolic acidosis.",
    avoid="Low albumin: use the corrected gap. " + LOCAL,
)

CORRECTED_ANION_GAP = calculator(
    "anion_gap_albumin",
    "Anion gap corrected for albumin",
    *IONS,
    ALBUMIN,
    CORRECTED_GAP,
    formula("gap"),
    HIGH_GAP,
    output=measure("mmol/L", 1, -10, 65),
    cite=FIGGE,
    use="Metabolic acidosis with low albumin.",
    avoid=LOCAL,
)

DELTA_GAP = calculator(
    "delta_gap",
    "Delta gap",
    *IONS,
    GAP,
    formula("gap - 12"),
    output=measure("mmol/L", 1, -25, 50),
    cite=WRENN,
    use="A raised anion gap, to find a second disorder.",
    avoid="A gap that is not raised. Compare it with the fall of bicarbonate below 24. " + LOCAL,
)

CORRECTED_DELTA_GAP = calculator(
    "delta_gap_albumin",
    "Delta gap corrected for albumin",
    *IONS,
    ALBUMIN,
    CORRECTED_GAP,
    formula("gap - 12"),
    output=measure("mmol/L", 1, -25, 55),
    cite=WRENN,
    use="A raised anion gap with low albumin, to find a second disorder.",
    avoid="Compare it with the fall of bicarbonate below 24. " + LOCAL,
)

DELTA_RATIO = calculator(
    "delta_ratio",
    "Delta ratio",
    *IONS,
    GAP,
    formula("(gap - 12) / (24 - bicarbonate)"),
    RATIO,
    output=measure("{ratio}", 2, -20, 20),
    cite=RASTEGAR,
    use="A raised anion gap with bicarbonate below 24 mmol/L.",
    avoid="Bicarbonate of 24 mmol/L, where it is not defined. " + LOCAL,
)

CORRECTED_DELTA_RATIO = calculator(
    "delta_ratio_albumin",
    "Delta ratio corrected for albumin",
    *IONS,
    ALBUMIN,
    CORRECTED_GAP,
    formula("(gap - 12) / (24 - bicarbonate)"),
    RATIO,
    output=measure("{ratio}", 2, -20, 20),
    cite=RASTEGAR,
    use="A raised anion gap with low albumin and bicarbonate below 24 mmol/L.",
    avoid="Bicarbonate of 24 mmol/L, where it is not defined. " + LOCAL,
)

OSMOLALITY = calculator(
    "serum_osmolality",
    "Calculated serum osmolality",
    SODIUM,
    BUN,
    GLUCOSE,
    formula("2 * sodium + bun / 2.8 + glucose / 18"),
    output=measure("mOsm/kg", 1, 200, 450),
    cite="Dorwart WV, Chalmers L. Comparison of methods for calculating serum osmolality from chemical "
    "concentrations, and the prognostic value of such calculations. Clin Chem 1975;21:190-194.",
    use="The osmolal gap, together with a measured osmolality.",
    avoid="Instead of a measurement; alcohols are not counted.",
)

CORRECTED_CALCIUM = calculator(
    "corrected_calcium",
    "Calcium corrected for albumin",
    CALCIUM,
    ALBUMIN,
    formula("calcium + 0.8 * (4 - albumin)"),
    output=measure("mg/dL", 2, 3, 20),
    cite="Payne RB, Little AJ, Williams RB, Milner JR. Interpretation of serum calcium in patients with "
    "abnormal serum proteins. Br Med J 1973;4:643-646.",
    use="Total calcium with low albumin where ionised calcium is not at hand.",
    avoid="Critical illness, kidney failure, acid-base disorders: measure ionised calcium.",
)

CORRECTED_SODIUM = calculator(
    "corrected_sodium",
    "Sodium corrected for glucose (Hillier)",
    SODIUM,
    GLUCOSE,
    formula("sodium + 0.024 * (glucose - 100)"),
    output=measure("mmol/L", 1, 90, 220),
    cite="Hillier TA, Abbott RD, Barrett EJ. Hyponatremia: evaluating the correction factor for hyperglycemia. "
    "Am J Med 1999;106:399-403.",
    use="Hyperglycaemia.",
    avoid="Glucose that is not raised.",
)

WATER_DEFICIT = calculator(
    "free_water_deficit",
    "Free water deficit",
    AGE,
    SEX,
    WEIGHT,
    SODIUM,
    define(
        "body_water",
        ("age < 18", 0.6),
        ("age < 65 and sex == male", 0.6),
        ("age < 65 or sex == male", 0.5),
        ("", 0.45),
    ),
    formula("body_water * weight * (sodium / 140 - 1)"),
    output=measure("L", 2, -30, 50),
    cite="Adrogue HJ, Madias NE. Hypernatremia. N Engl J Med 2000;342:1493-1499.",
    use="Hypernatraemia with loss of pure water; aim 140 mmol/L.",
    avoid="Hyponatraemia; it counts no ongoing losses and says nothing about the speed of correction.",
)

CALCULATORS = (
    ANION_GAP,
    CORRECTED_ANION_GAP,
    DELTA_GAP,
    CORRECTED_DELTA_GAP,
    DELTA_RATIO,
    CORRECTED_DELTA_RATIO,
    OSMOLALITY,
    CORRECTED_CALCIUM,
    CORRECTED_SODIUM,
    WATER_DEFICIT,
)
