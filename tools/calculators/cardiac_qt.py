"""The QT interval corrected for rate, by five formulas. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import bands, calculator, formula, measure, number
from tools.calculators.quantities import HEART_RATE
from tools.calculators.record import Calculator

QT = number("qt", "QT interval", "ms", plausible=(200, 700), possible=(50, 1500))
AVOID = "Atrial fibrillation without averaging, bundle branch block; no formula fits every rate."


def _corrected(id: str, name: str, text: str, *, cite: str, use: str) -> Calculator:
    return calculator(
        id,
        f"QTc ({name})",
        QT,
        HEART_RATE,
        formula(text),
        bands(("value >= 500", "markedly long"), ("", "")),
        output=measure("ms", 0, 200, 800),
        cite=cite,
        use=use,
        avoid=AVOID,
    )


CALCULATORS = (
    _corrected(
        "qtc_bazett",
        "Bazett",
        "qt / sqrt(60 / heart_rate)",
        cite="Bazett HC. An analysis of the time-relations of electrocardiograms. Heart 1920;7:353-370.",
        use="Heart rates of 60 to 100 per minute; corrects too much above, too little below.",
    ),
    _corrected(
        "qtc_fridericia",
        "Fridericia",
        "qt / (60 / heart_rate)^(1/3)",
        cite="Fridericia LS. Die Systolendauer im Elektrokardiogramm bei normalen Menschen und bei Herzkranken. "
        "Acta Med Scand 1920;53:469-486.",
        use="Heart rates outside 60 to 100 per minute.",
    ),
    _corrected(
        "qtc_framingham",
        "Framingham",
        "qt + 154 * (1 - 60 / heart_rate)",
        cite="Sagie A, Larson MG, Goldberg RJ, Bengtson JR, Levy D. An improved method for adjusting the QT "
        "interval for heart rate (the Framingham Heart Study). Am J Cardiol 1992;70:797-801.",
        use="Resting heart rates; a linear correction.",
    ),
    _corrected(
        "qtc_hodges",
        "Hodges",
        "qt + 1.75 * (heart_rate - 60)",
        cite="Hodges M, Salerno D, Erlien D. Bazett's QT correction reviewed: evidence that a linear QT "
        "correction for heart rate is better. J Am Coll Cardiol 1983;1:694.",
        use="Heart rates outside 60 to 100 per minute; linear in the rate.",
    ),
    _corrected(
        "qtc_rautaharju",
        "Rautaharju",
        "qt * (120 + heart_rate) / 180",
        cite="Rautaharju PM, Zhou SH, Wong S, Prineas R, Berenson G. Functional characteristics of QT "
        "prediction formulas. The concepts of QTmax and QT rate sensitivity. Comput Biomed Res 1993;26:188-204.",
        use="A wide range of heart rates.",
    ),
)
