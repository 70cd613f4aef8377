"""The sentences of a patient record made of FHIR resources, under headings that a clinical note has. Pure.

What is not certain is said as not certain, what is over as over. Each line stands for one resource. Knows no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

import msgspec

from core.readers.fhir_resources import (
    Allergy,
    Condition,
    Dosage,
    Measured,
    Observation,
    Patient,
    Prescribed,
    Quantity,
    Report,
)
from core.readers.fhir_values import LOINC, interval, moment, name_of_test, number, phrase, quantity, value_words

OVER = {"inactive", "remission", "resolved"}
UNSURE = {"unconfirmed", "provisional", "differential"}
SECTIONS = (
    "Problem list", "Past medical history", "Medication", "Previous medication", "Allergies", "Vital signs",
    "Other observations", "Patient",
)  # fmt: skip


class Line(msgspec.Struct, frozen=True):
    """A sentence and the heading it stands under."""

    section: str
    text: str


class Sign(msgspec.Struct, frozen=True, kw_only=True):
    """A vital sign: how a note calls it, its units (as coded, as spoken), decimals that such a value has."""

    label: str
    units: dict[str, str]
    decimals: int = 0


_RATE = {"/min": "/min", "{beats}/min": "/min", "{breaths}/min": "/min"}
_PRESSURE = {"mm[Hg]": "mmHg", "mmHg": "mmHg"}
_SCORE = {"": "", "{score}": "", "1": ""}
SYSTOLIC, DIASTOLIC = "8480-6", "8462-4"
# LOINC codes of the vital signs profile (HL7 FHIR R4, observation-vitalsigns) and of scores at the bedside.
SIGNS = {
    "8867-4": Sign(label="HR", units=_RATE),
    "9279-1": Sign(label="RR", units=_RATE),
    "2708-6": Sign(label="SpO2", units={"%": "%"}),
    "59408-5": Sign(label="SpO2", units={"%": "%"}),
    "8310-5": Sign(label="Temp", units={"Cel": "°C", "[degF]": "°F"}, decimals=2),
    "8331-1": Sign(label="Temp", units={"Cel": "°C", "[degF]": "°F"}, decimals=2),
    "29463-7": Sign(label="Weight", units={"kg": "kg", "[lb_av]": "lb"}, decimals=2),
    "8302-2": Sign(label="Height", units={"cm": "cm", "m": "m"}, decimals=2),
    "39156-5": Sign(label="BMI", units={"kg/m2": "kg/m2"}, decimals=2),
    "9269-2": Sign(label="GCS", units=_SCORE),
    SYSTOLIC: Sign(label="Systolic BP", units=_PRESSURE),
    DIASTOLIC: Sign(label="Diastolic BP", units=_PRESSURE),
}


def text_of(lines: Iterable[Line]) -> str:
    """The record as text: sections in fixed order, each line a sentence of its own."""
    by_section: dict[str, list[str]] = {}
    for line in lines:
        by_section.setdefault(line.section, []).append(line.text)
    parts = (f"{name}:\n" + "\n".join(by_section[name]) for name in SECTIONS if name in by_section)
    return "\n\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------------ lines


def of_patient(patient: Patient) -> Line | None:
    """That the patient has died, which no other part of a case says."""
    day = moment(patient.deceased_date_time)
    if not (day or patient.deceased_boolean):
        return None
    return Line("Patient", f"The record says that the patient has died{f' ({day})' if day else ''}.")


def of_condition(condition: Condition) -> Line:
    """A problem; dates stand in a sentence of their own, since a year makes a finding a past one."""
    name = phrase(condition.code.words)
    certain, state = set(condition.verification_status.codes()), set(condition.clinical_status.codes())
    severity = phrase(condition.severity.words)
    said = f"Possible {name} (not confirmed)." if certain & UNSURE else f"{name}{f' ({severity})' if severity else ''}."
    onset = moment(condition.onset_date_time or condition.onset_period.start) or phrase(condition.onset_string)
    onset = onset or (f"age {quantity(condition.onset_age)}" if quantity(condition.onset_age) else "")
    end = moment(condition.abatement_date_time or condition.onset_period.end) or phrase(condition.abatement_string)
    since = f" Recorded onset: {onset}." if onset else ""
    over = bool(state & OVER) or bool(end)
    said = f"History of {said[:1].lower()}{said[1:]}" if over else said
    until = f" Recorded as {next(iter(sorted(state & OVER)), 'ended')}{f', {end}' if end else ''}." if over else ""
    remarks = "".join(f" Remark: {phrase(note.text)}" for note in condition.note if note.text.strip())
    return Line("Past medical history" if over else "Problem list", f"- {said}{since}{until}{remarks}")


def of_medication(medicine: Prescribed, name: str) -> Line:
    """A drug with dose and route behind its name, as notes write it; a stopped one says so before its name."""
    doses = [_dosage(d) for d in (*medicine.dosage_instruction, *medicine.dosage)]
    written = "; ".join(dict.fromkeys(dose for dose in doses if dose))
    drug = f"{name} {written}".strip()
    if medicine.status in ("completed", "stopped", "cancelled", "not-taken"):
        said = "Never taken" if medicine.status == "not-taken" else f"No longer taken ({medicine.status})"
        return Line("Previous medication", f"- {said}: {drug}.")
    held = " On hold at present." if medicine.status == "on-hold" else ""
    return Line("Medication", f"- {drug}.{held}")


def _dosage(dosage: Dosage) -> str:
    dose = next((found for part in dosage.dose_and_rate if (found := _dose(part.dose_quantity))), "")
    dose = dose or next((interval(part.dose_range) for part in dosage.dose_and_rate if part.dose_range), "")
    parts = [dose, phrase(dosage.route.words).lower(), phrase(dosage.timing.code.words)]
    plain = " ".join(part for part in parts if part)
    written = phrase(dosage.text)
    return f"{plain} ({written})" if plain and written else plain or written


def _dose(dose: Quantity | None) -> str:
    return quantity(dose)


def of_allergy(allergy: Allergy, name: str) -> Line:
    """An allergy stays one in the record also when it is unconfirmed or over: the note says which."""
    shown = [phrase(m.words) for reaction in allergy.reaction for m in reaction.manifestation]
    shown += [phrase(reaction.description) for reaction in allergy.reaction if not reaction.manifestation]
    reactions = ", ".join(dict.fromkeys(word for word in shown if word))
    gravity = next((r.severity for r in allergy.reaction if r.severity), "")
    said = f"- {name}{f' ({reactions})' if reactions else ''}."
    state = [*allergy.verification_status.codes(), *allergy.clinical_status.codes()]
    extra = [f"criticality {phrase(allergy.criticality)}"] if allergy.criticality else []
    extra += [f"reaction {phrase(gravity)}"] if gravity else []
    extra += [f"recorded as {code}" for code in state if code in UNSURE | OVER]
    return Line("Allergies", f"{said} {', '.join(extra).capitalize()}." if extra else said)


def of_other(observation: Observation) -> Line | None:
    """An observation that is neither of the laboratory nor a vital sign, in words."""
    parts = [f"{name_of_test(part.code)} {value_words(part)}" for part in observation.component if value_words(part)]
    said = ", ".join(part for part in (value_words(observation), *parts) if part)
    day = moment(observation.at)
    return Line("Other observations", f"- {name_of_test(observation.code)}: {said}. {day}".rstrip()) if said else None


# ------------------------------------------------------------------------------------------------ vital signs


def sign_code(found: Measured) -> str:
    """The LOINC code by which a value is a vital sign; "" where it is none."""
    return next((code for code in found.code.codes(LOINC) if code in SIGNS), "")


def spoken(found: Measured) -> str:
    """ "HR 104 /min"; "" where value or unit is not one that such a sign has.

    A value with more decimals than the sign is spoken of with is rounded, and the value as recorded stands behind it.
    """
    sign, value = SIGNS.get(sign_code(found)), found.value_quantity
    if sign is None or value is None or not number(value.value) or value.value is None or value.comparator:
        return ""
    unit = sign.units.get(value.code or value.unit)
    if unit is None:
        return ""
    rounded, said = _rounded(value.value, sign.decimals)
    return f"{sign.label} {rounded} {unit}".rstrip() + said


def _rounded(value: Decimal, decimals: int) -> tuple[str, str]:
    whole = value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    if whole == value:
        shown = format(whole if decimals == 0 else value, "f")
        return shown, ""
    return format(whole, "f"), f" (recorded as {format(value, 'f')})"


def pressure(systolic: Measured, diastolic: Measured) -> str:
    """ "BP 85/50 mmHg"; "" where either is not such a value, or was rounded."""
    upper, lower = spoken(systolic).split(), spoken(diastolic).split()
    if len(upper) != 4 or len(lower) != 4:
        return ""
    return f"BP {upper[2]}/{lower[2]} mmHg"


def of_sign(found: Observation) -> tuple[Line, ...]:
    """A vital sign as a sentence with its time; () where a value or unit is not one that such a sign has."""
    by_code = {sign_code(part): part for part in found.component}
    if SYSTOLIC in by_code and DIASTOLIC in by_code:
        said = [pressure(by_code[SYSTOLIC], by_code[DIASTOLIC])]
    else:
        said = [spoken(part) for part in (found, *found.component) if value_words(part)]
    if not said or not all(said):
        return ()
    clock = moment(found.at)[11:]
    return (Line("Vital signs", f"{', '.join(said)}{f' at {clock}' if clock else ''}."),)


# ------------------------------------------------------------------------------------------------ reports


def report_text(report: Report) -> str:
    """A report's own words: what it is of, its conclusion; "" where it has none."""
    coded = ", ".join(phrase(code.words) for code in report.conclusion_code if code.words)
    said = "\n".join(part for part in (report.conclusion.strip(), f"Coded: {coded}" if coded else "") if part)
    return f"{phrase(report.code.words) or 'Report'}\n\nConclusion:\n{said}\n" if said else ""
