"""Severity in intensive care: APACHE II and SOFA. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import (
    bands,
    calculator,
    choice,
    define,
    first,
    formula,
    number,
    score,
    steps,
    yes_no,
)
from tools.calculators.quantities import (
    AGE,
    BILIRUBIN,
    BREATHS,
    CREATININE,
    DIASTOLIC,
    FIO2,
    GCS,
    HAEMATOCRIT,
    HEART_RATE,
    PAO2,
    PH,
    PLATELETS,
    POTASSIUM,
    SODIUM,
    SYSTOLIC,
    TEMPERATURE,
    WHITE_CELLS,
    unknowable,
)
from tools.calculators.record import Input

MEAN = define("mean_pressure", "(systolic + 2 * diastolic) / 3")


def _dose(name: str, label: str) -> Input:
    return number(name, label, "ug/kg/min", plausible=(0, 30), possible=(0, 500), required=False)


APACHE2 = calculator(
    "apache2",
    "APACHE II",
    AGE,
    GCS,
    *(
        unknowable(each)
        for each in (
            TEMPERATURE,
            SYSTOLIC,
            DIASTOLIC,
            HEART_RATE,
            BREATHS,
            FIO2,
            PAO2,
            PH,
            SODIUM,
            POTASSIUM,
            CREATININE,
            HAEMATOCRIT,
            WHITE_CELLS,
        )
    ),
    number("aa_gradient", "A-a gradient", "mm[Hg]", plausible=(0, 600), possible=(-50, 750), required=False),
    yes_no("acute_renal_failure", "Acute renal failure"),
    yes_no("organ_failure", "Severe chronic organ failure or immunosuppression"),
    choice("surgery", "Admission", "nonoperative", "elective", "emergency", default="nonoperative"),
    MEAN,
    steps("temperature", 4, (30, 3), (32, 2), (34, 1), (36, 0), (38.5, 1), (39, 3), (41, 4)),
    steps("mean_pressure", 4, (50, 2), (70, 0), (110, 2), (130, 3), (160, 4)),
    steps("heart_rate", 4, (40, 3), (55, 2), (70, 0), (110, 2), (140, 3), (180, 4)),
    steps("respiratory_rate", 4, (6, 2), (10, 1), (12, 0), (25, 1), (35, 3), (50, 4)),
    first(
        "oxygenation",
        ("fio2 >= 0.5 and aa_gradient >= 500", 4),
        ("fio2 >= 0.5 and aa_gradient >= 350", 3),
        ("fio2 >= 0.5 and aa_gradient >= 200", 2),
        ("fio2 >= 0.5", 0),
        ("pao2 > 70", 0),
        ("pao2 >= 61", 1),
        ("pao2 >= 55", 3),
        ("", 4),
    ),
    steps("ph", 4, (7.15, 3), (7.25, 2), (7.33, 0), (7.5, 1), (7.6, 3), (7.7, 4), label="pH"),
    steps("sodium", 4, (111, 3), (120, 2), (130, 0), (150, 1), (155, 2), (160, 3), (180, 4)),
    steps("potassium", 4, (2.5, 2), (3, 1), (3.5, 0), (5.5, 1), (6, 3), (7, 4)),
    first(
        "creatinine",
        ("creatinine < 0.6", 2),
        ("creatinine < 1.5", 0),
        ("creatinine < 2", "4 if acute_renal_failure == yes else 2"),
        ("creatinine < 3.5", "6 if acute_renal_failure == yes else 3"),
        ("", "8 if acute_renal_failure == yes else 4"),
    ),
    steps("haematocrit", 4, (20, 2), (30, 0), (46, 1), (50, 2), (60, 4)),
    steps("white_cells", 4, (1, 2), (3, 0), (15, 1), (20, 2), (40, 4)),
    formula("15 - gcs", "coma"),
    steps("age", 0, (45, 2), (55, 3), (65, 5), (75, 6)),
    first(
        "chronic health",
        ("organ_failure == yes and surgery == elective", 2),
        ("organ_failure == yes", 5),
    ),
    output=score(0, 71),
    cite="Knaus WA, Draper EA, Wagner DP, Zimmerman JE. APACHE II: a severity of disease classification system. "
    "Crit Care Med 1985;13:818-829.",
    use="Worst values of the first 24 hours in intensive care.",
    avoid="Following one patient over days; burns and coronary bypass, which the paper left out.",
)

SOFA = calculator(
    "sofa",
    "SOFA score",
    *(unknowable(each) for each in (PAO2, FIO2, PLATELETS, GCS, BILIRUBIN, SYSTOLIC, DIASTOLIC, CREATININE)),
    yes_no("ventilated", "Mechanical ventilation"),
    yes_no("cpap", "Continuous positive airway pressure"),
    yes_no("hypotension", "Hypotension, mean pressure below 70 mmHg"),
    _dose("dopamine", "Dopamine"),
    _dose("dobutamine", "Dobutamine"),
    _dose("epinephrine", "Adrenaline"),
    _dose("norepinephrine", "Noradrenaline"),
    number("urine_output", "Urine a day", "mL/day", plausible=(0, 6000), possible=(0, 30000), required=False),
    MEAN,
    define("ratio", "pao2 / fio2"),
    define("support", ("ventilated == yes or cpap == yes", 1), ("", 0)),
    first(
        "respiration",
        ("ratio >= 400", 0),
        ("ratio >= 300", 1),
        ("ratio >= 200", 2),
        ("support == 0", 2),
        ("ratio >= 100", 3),
        ("", 4),
    ),
    steps("platelets", 4, (20, 3), (50, 2), (100, 1), (150, 0)),
    first(
        "bilirubin", ("bilirubin < 1.2", 0), ("bilirubin < 2", 1), ("bilirubin < 6", 2), ("bilirubin < 12", 3), ("", 4)
    ),
    first(
        "circulation",
        ("dopamine > 15 or epinephrine > 0.1 or norepinephrine > 0.1", 4),
        ("dopamine > 5 or epinephrine > 0 or norepinephrine > 0", 3),
        ("dopamine > 0 or dobutamine > 0", 2),
        ("mean_pressure < 70 or hypotension == yes", 1),
    ),
    first("brain", ("gcs >= 15", 0), ("gcs >= 13", 1), ("gcs >= 10", 2), ("gcs >= 6", 3), ("", 4)),
    first(
        "kidney",
        ("creatinine >= 5 or urine_output < 200", 4),
        ("creatinine >= 3.5 or urine_output < 500", 3),
        ("creatinine >= 2", 2),
        ("creatinine >= 1.2", 1),
    ),
    bands(("", "")),
    output=score(0, 24),
    cite="Vincent JL, Moreno R, Takala J, et al. The SOFA (Sepsis-related Organ Failure Assessment) score to "
    "describe organ dysfunction/failure. Intensive Care Med 1996;22:707-710.",
    use="Organ dysfunction in intensive care, day by day, with the worst values of the day.",
    avoid="Outside intensive care without blood gases; sedated patients need the coma score before sedation.",
)

CALCULATORS = (APACHE2, SOFA)
