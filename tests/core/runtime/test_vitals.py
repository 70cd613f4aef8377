"""Vital signs, bedside scores and eye measures as notes write them."""

from __future__ import annotations

import pytest

from core.domain.case import Note
from core.domain.evidence import Finding
from core.runtime.perception import analytes
from core.runtime.perception.eye_measures import eye_measures
from core.runtime.perception.numbers import IMPLAUSIBLE
from core.runtime.perception.vitals import vital_signs


def findings(text: str) -> list[Finding]:
    note = Note(id="n", title="Note", text=text, sha256="0" * 64)
    lists = analytes.packaged()
    return [draft.finding for draft in (*vital_signs(note, lists), *eye_measures(note, lists))]


def values(text: str) -> dict[str, tuple[float, str]]:
    return {f.quantity: (f.value.value, f.value.unit) for f in findings(text) if f.value and f.time == "current"}


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("BP 88/52", "systolic_bp", (88, "mm[Hg]")),
        ("blood pressure was 142/88 mmHg", "diastolic_bp", (88, "mm[Hg]")),
        ("118/64 mmHg lying", "systolic_bp", (118, "mm[Hg]")),
        ("SBP 85", "systolic_bp", (85, "mm[Hg]")),
        ("HR 128 irregular", "heart_rate", (128, "/min")),
        ("Pulse: 58 regular", "heart_rate", (58, "/min")),
        ("tachycardic at 132", "heart_rate", (132, "/min")),
        ("RR 28", "respiratory_rate", (28, "/min")),
        ("respiratory rate of 30", "respiratory_rate", (30, "/min")),
        ("SpO2 91% on air", "spo2", (91, "%")),
        ("SpO2 91% on air", "oxygen_flow", (0, "L/min")),
        ("sats 88 % on 4 L nasal cannula", "oxygen_flow", (4, "L/min")),
        ("saturating 94% RA", "oxygen_flow", (0, "L/min")),
        ("T 38.9", "temperature", (38.9, "Cel")),
        ("Temp: 103.1 \u00b0F", "temperature", (103.1, "[degF]")),
        ("temperature 36.5 \u00b0C", "temperature", (36.5, "Cel")),
        ("fever of 102 F", "temperature", (102, "[degF]")),
        ("body temperature, 36.5\u2103", "temperature", (36.5, "Cel")),
        ("respiration rate, 18/min", "respiratory_rate", (18, "/min")),
        ("GCS 14/15", "gcs", (14, "{score}")),
        ("GCS 13 (E3 V4 M6)", "gcs", (13, "{score}")),
        ("NEWS2 7", "news2", (7, "{score}")),
        ("weight 128 lb", "weight", (128, "[lb]")),
        ("weighs 81.4 kg", "weight", (81.4, "kg")),
        ("height 1.78 m", "height", (1.78, "m")),
        ("pain 8/10", "pain", (8, "{score}")),
        ("LVEF 35-40%", "lvef", (37.5, "%")),
        ("ejection fraction of 55%", "lvef", (55, "%")),
        ("FEV1/FVC 0.58", "fev1_fvc", (0.58, "{ratio}")),
        ("Cardiothoracic ratio 0.58 on the PA film", "cardiothoracic_ratio", (0.58, "{ratio}")),
        ("CTR of 62%", "cardiothoracic_ratio", (0.62, "{ratio}")),
        ("FEV1/FVC 62%", "fev1_fvc", (0.62, "{ratio}")),
        ("PEF 180 L/min (best 440)", "pef_percent", (40.9, "%")),
        ("peak flow 35% of best", "pef_percent", (35, "%")),
        ("urine output 0.3 mL/kg/h", "urine_output", (0.3, "mL/kg/h")),
        ("IOP right 58 mmHg, left 17", "iop_right", (58, "mm[Hg]")),
        ("IOP (Goldmann, 10:20) 28 mmHg right, 25 mmHg left. CCT 528", "iop_left", (25, "mm[Hg]")),
        ("IOP 17 OD, 18 OS at 2 PM", "iop_left", (18, "mm[Hg]")),
        ("IOP is 31 in the left eye and 18 in the right", "iop_left", (31, "mm[Hg]")),
        ("IOP 54.", "iop_max", (54, "mm[Hg]")),
        ("right vertical cup-disc ratio 0.8 with a notch; left 0.6", "cup_disc_left", (0.6, "{ratio}")),
        ("C/D 0.75 OD, 0.9 OS", "cup_disc_right", (0.75, "{ratio}")),
    ],
)
def test_what_is_read(text: str, quantity: str, value: tuple[float, str]) -> None:
    assert values(text).get(quantity) == value


@pytest.mark.parametrize(
    "text",
    [
        "if SpO2 < 88 start oxygen",
        "keep SBP > 90",
        "target SpO2 88-92%",
        "QRS 120 ms, PR 200 ms",
        "pulse 3 days ago",
        "lost 5 kg weight",
        "weight loss of 5 kg",
        "T12 fracture",
        "T 12 level",
        "pain for 8 days",
        "on 12/10/2026",
        "CURB-65 2, respiratory team",
        "IOP not measured; 54 years old",
        "cup of tea 0.5 L",
        "pressure ulcer 3 cm",
        "PAP pressure of 45 mmHg",
        "",
    ],
)
def test_what_is_no_measurement(text: str) -> None:
    assert values(text) == {}


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("BP 12/80", "systolic_bp"),
        ("BP 80/120", "systolic_bp"),  # the lower one is the higher one
        ("HR 400", "heart_rate"),
        ("SpO2 150%", "spo2"),
        ("GCS 18", "gcs"),
        ("IOP 130 mmHg right", "iop_right"),
        ("temperature 70 \u00b0C", "temperature"),
    ],
)
def test_the_implausible_is_marked_and_never_repaired(text: str, quantity: str) -> None:
    found = [f for f in findings(text) if f.quantity == quantity]
    assert [f.note for f in found] == [IMPLAUSIBLE]
    assert found[0].value is not None
    assert f"{found[0].value.value:g}" in text


def test_fahrenheit_and_celsius_are_never_confused() -> None:
    for celsius in range(32, 43):
        (reading,) = findings(f"T {celsius}.0")
        assert reading.value is not None
        assert reading.value.unit == "Cel"
        (reading,) = findings(f"T {celsius * 9 / 5 + 32:.1f}")
        assert reading.value is not None
        assert reading.value.unit == "[degF]"
        assert "Fahrenheit" in reading.note
    (contrary,) = findings("T 98.6 \u00b0C")
    assert (contrary.note, contrary.value.unit if contrary.value else "") == (IMPLAUSIBLE, "Cel")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("usual BP 124/76", "past"),
        ("EF 30% in 2019", "past"),
        ("baseline SpO2 92%", "past"),
        ("BP 92/50 (usual 124/76)", "current"),
        ("return if temp 38.5", "future"),
        ("HR 92 now", "current"),
    ],
)
def test_when_a_value_was(text: str, time: str) -> None:
    assert {f.time for f in findings(text)} == {time}


def test_a_blood_pressure_is_no_eye_pressure() -> None:
    assert not [f for f in findings("His blood pressure is 158/98 mm Hg.") if f.quantity.startswith("iop")]


def test_two_numbers_without_a_side_say_how_they_were_read() -> None:
    right, left = findings("Pressures were 26 and 24 mmHg.")
    assert (right.quantity, left.quantity) == ("iop_right", "iop_left")
    assert "right then left" in right.note


def test_the_span_quotes_the_text() -> None:
    text = "Well.\nO/E HR 92, BP 124/70."
    for finding in findings(text):
        start, end = finding.provenance.start, finding.provenance.end
        assert start is not None
        assert text[start:end] == finding.text
        assert finding.provenance.label == "Note, line 2"
