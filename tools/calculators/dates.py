"""Days of a pregnancy, from the first day of the last period. Declarations only; days are day numbers."""

from __future__ import annotations

from tools.calculators.notation import calculator, day, formula, number, refuse, warn
from tools.calculators.record import Output, Range

PERIOD = day("last_period", "First day of the last menstrual period")
CYCLE = number("cycle", "Length of the cycle", "d", plausible=(21, 35), possible=(15, 60), default=28)
DAYS = Output(shape="date", unit="d", range=Range(690_000, 770_000))
CITE = (
    "Committee Opinion No 700: Methods for Estimating the Due Date. American College of Obstetricians and "
    "Gynecologists. Obstet Gynecol 2017;129:e150-e154."
)

DUE_DATE = calculator(
    "due_date",
    "Estimated due date (Naegele)",
    PERIOD,
    CYCLE,
    formula("last_period + 280 + (cycle - 28)"),
    output=DAYS,
    cite=CITE,
    use="A certain last period and regular cycles; a longer cycle moves the date back, a shorter one forward.",
    avoid="Early ultrasound that differs, assisted reproduction.",
)

CONCEPTION = calculator(
    "conception_date",
    "Estimated day of conception",
    PERIOD,
    CYCLE,
    formula("last_period + 14 + (cycle - 28)"),
    output=DAYS,
    cite=CITE,
    use="A certain last period; the cycle counts, since ovulation comes 14 days before the next period.",
    avoid="Irregular cycles; questions of paternity.",
)

GESTATION = calculator(
    "gestational_age",
    "Gestational age",
    PERIOD,
    day("today", "Day of the estimate"),
    refuse("today < last_period", "the day lies before the last period"),
    formula("today - last_period"),
    warn("today - last_period > 301", "more than 43 weeks: check the dates"),
    output=Output(shape="weeks and days", unit="d", range=Range(0, 315)),
    cite=CITE,
    use="A certain last period and regular cycles.",
    avoid="Early ultrasound that differs, assisted reproduction.",
)

CALCULATORS = (DUE_DATE, CONCEPTION, GESTATION)
