"""The library of named calculators; this list is explicit.

Figures and limits are from the cited papers as remembered: every citation stays "unreviewed" until a person has
compared the record with the paper.
"""

from __future__ import annotations

from tools.calculators import (
    acidbase,
    body,
    cardiac,
    cardiac_qt,
    dates,
    dosage,
    hepatic,
    renal,
    severity,
    severity_critical,
    vte,
)
from tools.calculators.record import Calculator

FAMILIES = (renal, cardiac, cardiac_qt, acidbase, hepatic, severity, severity_critical, vte, dosage, body, dates)
CALCULATORS: dict[str, Calculator] = {each.id: each for family in FAMILIES for each in family.CALCULATORS}
