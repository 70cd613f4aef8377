"""Body measures and insulin resistance. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import bands, calculator, define, formula, measure, number, warn
from tools.calculators.quantities import BMI, GLUCOSE, HEIGHT, SEX, WEIGHT

SHORT = warn("height < 152.4", "the formula was made for heights of 152.4 cm (60 inches) and more")
IDEAL_TEXT = "(50 if sex == male else 45.5) + 2.3 * (height / 2.54 - 60)"

BODY_MASS_INDEX = calculator(
    "body_mass_index",
    "Body mass index",
    WEIGHT,
    HEIGHT,
    formula("weight / (height / 100)^2"),
    bands(
        ("value < 18.5", "underweight"),
        ("value < 25", "normal"),
        ("value < 30", "overweight"),
        ("", "obesity"),
    ),
    output=measure("kg/m2", 1, 8, 100),
    cite="Keys A, Fidanza F, Karvonen MJ, Kimura N, Taylor HL. Indices of relative weight and obesity. J Chronic Dis "
    "1972;25:329-343.",
    use="Adults; the classes are those of the WHO.",
    avoid="Children (percentiles), pregnancy, oedema, large muscle mass.",
)

IDEAL_WEIGHT = calculator(
    "ideal_body_weight",
    "Ideal body weight (Devine)",
    SEX,
    HEIGHT,
    formula(IDEAL_TEXT),
    SHORT,
    output=measure("kg", 1, 10, 150),
    cite="Devine BJ. Gentamicin therapy. Drug Intell Clin Pharm 1974;8:650-655.",
    use="Dosing and ventilator volumes of adults.",
    avoid="Children; adults below 152.4 cm.",
)

ADJUSTED_WEIGHT = calculator(
    "adjusted_body_weight",
    "Adjusted body weight",
    SEX,
    HEIGHT,
    WEIGHT,
    define("ideal", IDEAL_TEXT),
    formula("ideal + 0.4 * (weight - ideal)"),
    SHORT,
    output=measure("kg", 1, 10, 400),
    cite="Bauer LA, Edwards WAD, Dellinger EP, Simonowitz DA. Influence of weight on aminoglycoside "
    "pharmacokinetics in normal weight and morbidly obese patients. Eur J Clin Pharmacol 1983;24:643-647.",
    use="Dosing of drugs that enter fat in part, in obesity.",
    avoid="Actual weight below the ideal weight.",
)

TARGET_WEIGHT = calculator(
    "target_weight",
    "Weight at a target body mass index",
    BMI,
    HEIGHT,
    formula("bmi * (height / 100)^2"),
    output=measure("kg", 1, 5, 300),
    cite="Keys A, Fidanza F, Karvonen MJ, Kimura N, Taylor HL. Indices of relative weight and obesity. J Chronic Dis "
    "1972;25:329-343.",
    use="Aims of nutrition in adults.",
    avoid="Children, pregnancy.",
)

SURFACE_AREA = calculator(
    "body_surface_area",
    "Body surface area (Mosteller)",
    WEIGHT,
    HEIGHT,
    formula("sqrt(height * weight / 3600)"),
    output=measure("m2", 2, 0.1, 4),
    cite="Mosteller RD. Simplified calculation of body-surface area. N Engl J Med 1987;317:1098.",
    use="Dosing by surface, indexed measures of heart and kidney.",
    avoid="Extremes of build, where formulas differ.",
)

HOMA = calculator(
    "homa_ir",
    "HOMA-IR",
    number("insulin", "Fasting insulin", "uIU/mL", plausible=(1, 150), possible=(0.1, 1000), analyte="insulin"),
    GLUCOSE,
    formula("insulin * glucose / 405"),
    output=measure("{ratio}", 2, 0, 100),
    cite="Matthews DR, Hosker JP, Rudenski AS, Naylor BA, Treacher DF, Turner RC. Homeostasis model assessment: "
    "insulin resistance and beta-cell function from fasting plasma glucose and insulin concentrations in man. "
    "Diabetologia 1985;28:412-419.",
    use="Fasting samples; comparing groups or one person over time with one assay.",
    avoid="Insulin treatment; as a diagnosis: limits depend on the assay and the population.",
)

CALCULATORS = (BODY_MASS_INDEX, IDEAL_WEIGHT, ADJUSTED_WEIGHT, TARGET_WEIGHT, SURFACE_AREA, HOMA)
