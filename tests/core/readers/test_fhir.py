"""FHIR R4: what each kind of resource becomes, exact numbers, and that every part not read has a sentence.

The expected values are written by hand from the HL7 definitions of the resources, not taken from the reader.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from core.domain.case import Case, LabTable, Note
from core.errors import UserError
from core.readers import fhir
from core.readers.fhir import FhirDocument
from core.retrieval.knowledge import packaged
from core.runtime import findings

LOINC, UCUM = "http://loinc.org", "http://unitsofmeasure.org"
NORA = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"use": "nickname", "text": "No"}, {"use": "official", "family": "Example", "given": ["Nora", "B"]}],
    "identifier": [{"value": "X"}, {"value": "E-1", "type": {"coding": [{"code": "MR"}]}}],
    "gender": "female",
    "birthDate": "1958-03-22",
}
Json = dict[str, Any]


def concept(text: str, code: str = "", system: str = LOINC) -> Json:
    return {"text": text, "coding": [{"system": system, "code": code}] if code else []}


def status(code: str) -> Json:
    return {"coding": [{"code": code}]}


def amount(value: object, unit: str, code: str | None = None) -> Json:
    return {"value": value, "unit": unit, "system": UCUM, "code": unit if code is None else code}


def observation(category: str, code: str, text: str, value: Json | None = None, **more: object) -> Json:
    found: Json = {"resourceType": "Observation", "status": "final", "code": concept(text, code), **more}
    if category:
        found["category"] = [status(category)]
    if value is not None:
        found["valueQuantity"] = value
    return {"effectiveDateTime": "2026-11-20T08:30:15+01:00", **found}


def bundle(*resources: object, **more: object) -> bytes:
    return json.dumps({"resourceType": "Bundle", "entry": [{"resource": r} for r in resources], **more}).encode()


def read(*resources: object, **more: object) -> FhirDocument:
    return fhir.read(bundle(*resources, **more), limit_bytes=10**7)


def record(*resources: object) -> str:
    return next(text.text for text in read(*resources).texts if text.title == "Record")


CONDITION = {"resourceType": "Condition", "id": "c1", "code": concept("Gout")}

# ------------------------------------------------------------------------------------------------ each kind


def test_patient() -> None:
    patient = read(NORA, CONDITION).patient
    assert (patient.name, patient.patient_id, patient.birth_date, patient.sex) == (
        "Example, Nora B", "E-1", "1958-03-22", "F",
    )  # fmt: skip


def test_a_partial_birth_date_is_left_out_and_death_is_said() -> None:
    done = read(NORA | {"birthDate": "1958-03", "deceasedDateTime": "2026-11-21T03:00:00Z"}, CONDITION)
    assert done.patient.birth_date == ""
    assert done.remarks == ("The date of birth is not a full date (1958-03); it was left out.",)
    assert "The record says that the patient has died (2026-11-21T03:00)." in done.texts[0].text


def test_conditions_by_certainty_and_time() -> None:
    text = record(
        {**CONDITION, "onsetDateTime": "2015-03-02", "clinicalStatus": status("active")},
        {**CONDITION, "code": concept("Sarcoidosis"), "verificationStatus": status("provisional")},
        {**CONDITION, "code": concept("Scarlet fever"), "clinicalStatus": status("resolved")},
    )
    assert text == (
        "Problem list:\n- Gout. Recorded onset: 2015-03-02.\n- Possible Sarcoidosis (not confirmed).\n\n"
        "Past medical history:\n- History of scarlet fever. Recorded as resolved.\n"
    )


@pytest.mark.parametrize("code", ["refuted", "entered-in-error"])
def test_what_was_refuted_or_entered_in_error_is_listed_and_nowhere_else(code: str) -> None:
    wrong = {**CONDITION, "id": "c9", "code": concept("Asthma"), "verificationStatus": status(code)}
    done = read(CONDITION, wrong)
    assert done.remarks == (f"Condition c9 is marked as {code}; it was not read.",)
    assert "Asthma" not in repr(done.texts)


def test_medication_with_dose_and_route_and_by_reference() -> None:
    order = {"resourceType": "MedicationRequest", "status": "active", "intent": "order"}
    dose = {"route": concept("Oral"), "doseAndRate": [{"doseQuantity": {"value": 2.5, "unit": "mg"}}]}
    text = record(
        {**order, "medicationCodeableConcept": concept("Bisoprolol"), "dosageInstruction": [dose | {"text": "1-0-0"}]},
        {**order, "medicationReference": {"reference": "#m"},
         "contained": [{"resourceType": "Medication", "id": "m", "code": concept("Metformin")}]},
        {**order, "medicationReference": {"reference": "http://host/fhir/Medication/7/_history/2"}},
        {"resourceType": "Medication", "id": "7", "code": concept("Aspirin")},
        {"resourceType": "MedicationStatement", "status": "stopped", "medicationCodeableConcept": concept("Warfarin")},
    )  # fmt: skip
    assert text == (
        "Medication:\n- Bisoprolol 2.5 mg oral (1-0-0).\n- Metformin.\n- Aspirin.\n\n"
        "Previous medication:\n- No longer taken (stopped): Warfarin.\n"
    )


def test_allergy_with_reaction_and_criticality() -> None:
    text = record(
        {"resourceType": "AllergyIntolerance", "code": concept("Penicillin"), "criticality": "high",
         "reaction": [{"manifestation": [concept("Urticaria")], "severity": "severe"}]}
    )  # fmt: skip
    assert text == "Allergies:\n- Penicillin (Urticaria). Criticality high, reaction severe.\n"


def test_laboratory_rows_keep_number_unit_range_and_flag() -> None:
    ends = {"low": amount(3.5, "mmol/L"), "high": amount(5.1, "mmol/L")}
    potassium = observation(
        "laboratory", "2823-3", "Potassium [Moles/volume] in Serum or Plasma", amount(6.1, "mmol/L"),
        referenceRange=[ends], interpretation=[status("H")],
    )  # fmt: skip
    (row,) = read(potassium).laboratory
    assert (row.test, row.value, row.number, row.unit, row.low, row.high) == (
        "Potassium", "6.1", 6.1, "mmol/L", 3.5, 5.1,
    )  # fmt: skip
    assert (row.flag, row.collected_at, row.loinc) == ("H", "2026-11-20T08:30", "2823-3")


def test_numbers_stand_as_written() -> None:
    raw = bundle(observation("laboratory", "", "CRP", amount("@", "mg/L"))).replace(b'"@"', b"5.10")
    (row,) = fhir.read(raw, limit_bytes=10**6).laboratory
    assert (row.value, row.number) == ("5.10", 5.1)
    (row,) = read(observation("laboratory", "", "CRP", amount(5, "mg/L") | {"comparator": "<"})).laboratory
    assert (row.value, row.number) == ("<5", None)


def test_a_range_of_another_unit_or_for_some_people_only_is_shown_not_used() -> None:
    foreign = {"high": amount(45, "mg/dL"), "low": amount(10, "mg/dL")}
    some = {"high": amount(5, "mmol/L"), "appliesTo": [concept("pregnant")]}
    for ends, shown in ((foreign, "10 mg/dL to 45 mg/dL"), (some, "up to 5 mmol/L")):
        (row,) = read(observation("laboratory", "", "Urea", amount(9, "mmol/L"), referenceRange=[ends])).laboratory
        assert (row.low, row.high, row.range_text) == (None, None, shown)


def test_units_that_contradict_each_other_are_said() -> None:
    done = read(observation("laboratory", "", "Glucose", amount(9, "mg/dL", "mmol/L")))
    assert done.laboratory[0].unit == "mg/dL or mmol/L"
    assert done.remarks == ("Glucose: text and code of the unit contradict each other (mg/dL or mmol/L).",)


def test_urine_is_not_blood() -> None:
    rows = read(
        observation("laboratory", "5792-7", "Glucose [Mass/volume] in Urine by Test strip", amount(5, "mg/dL")),
        observation("laboratory", "", "Sodium", amount(40, "mmol/L"), specimen={"display": "Urine"}),
    ).laboratory
    assert [row.test for row in rows] == ["Glucose [Mass/volume] in Urine by Test strip", "Sodium (Urine)"]


def test_vital_signs_latest_into_the_record_earlier_into_a_table() -> None:
    pressure = observation(
        "vital-signs", "85354-9", "Blood pressure",
        component=[
            {"code": concept("s", "8480-6"), "valueQuantity": amount(85, "mmHg", "mm[Hg]")},
            {"code": concept("d", "8462-4"), "valueQuantity": amount(50, "mmHg", "mm[Hg]")},
        ],
    )  # fmt: skip
    done = read(
        pressure,
        observation("vital-signs", "8867-4", "Heart rate", amount(118, "/min")),
        observation("vital-signs", "8867-4", "Heart rate", amount(80, "/min"), effectiveDateTime="2026-11-10"),
        observation("vital-signs", "8310-5", "Temperature", amount(38.2166667, "Cel")),
        observation("vital-signs", "59408-5", "Saturation", amount(12, "kPa")),
    )
    assert done.texts[0].text == (
        "Vital signs:\nBP 85/50 mmHg at 08:30.\nHR 118 /min at 08:30.\n"
        "Temp 38.22 °C (recorded as 38.2166667) at 08:30.\n"
    )
    assert done.texts[0].written_on == "2026-11-20"
    assert [(row.test, row.value, row.unit) for row in done.earlier_signs] == [
        ("Heart rate", "80", "/min"), ("Saturation", "12", "kPa"),
    ]  # fmt: skip


def test_reports_and_documents_become_texts_and_attachments() -> None:
    encoded = base64.b64encode(b"%PDF-1.4").decode()
    report = {
        "resourceType": "DiagnosticReport", "id": "d", "status": "final", "code": concept("Chest X-ray"),
        "effectiveDateTime": "2026-11-20", "conclusion": "No pneumothorax.",
        "presentedForm": [{"contentType": "application/pdf", "data": encoded}, {"url": "http://host/Binary/1"}],
    }  # fmt: skip
    letter = {"attachment": {"contentType": "text/plain; charset=utf-8", "data": "RGVhcg==", "title": "a/b.txt"}}
    odd = {"attachment": {"contentType": "text/plain", "data": "###"}}
    document = {"resourceType": "DocumentReference", "id": "r", "status": "current", "content": [letter, odd]}
    done = read(report, document)
    assert [(text.title, text.text) for text in done.texts] == [
        ("Chest X-ray", "Chest X-ray\n\nConclusion:\nNo pneumothorax.\n")
    ]
    assert [(one.title, one.data) for one in done.attached] == [("Chest X-ray.pdf", b"%PDF-1.4"), ("a-b.txt", b"Dear")]
    assert done.remarks == (
        "DiagnosticReport d holds a document that lies at another address, which is never opened; it was not read.",
        "DocumentReference r holds a document that is damaged (not Base64); it was not read.",
    )


# ------------------------------------------------------------------------------------------------ odd files


def test_a_single_resource_and_ndjson() -> None:
    single = fhir.read(json.dumps(CONDITION).encode(), limit_bytes=10**6)
    lines = "\n".join([json.dumps(CONDITION), "", "{broken", json.dumps(CONDITION | {"code": concept("Rickets")})])
    many = fhir.read(lines.encode(), limit_bytes=10**6)
    assert single.texts[0].text == "Problem list:\n- Gout.\n"
    assert many.texts[0].text == "Problem list:\n- Gout.\n- Rickets.\n"
    assert many.remarks == ("Line 3 is no FHIR resource; it was not read.",)


ONE = {"reference": "Patient/p1"}
ODD: list[tuple[list[object], str]] = [
    ([{"resourceType": "Immunization", "id": "i"}],
     "Immunization i is of a kind that this version does not read; it was not read."),
    ([{"resourceType": "Immunization", "id": n} for n in "abcd"],
     "Immunization (a, b, c, …): 4 times, each is of a kind that this version does not read; they were not read."),
    ([{"resourceType": "Condition", "id": "x", "code": "gout"}],
     "Condition x is not built as FHIR R4 says (code); it was not read."),
    ([{"resourceType": "Condition", "id": "x"}], "Condition x does not say what it is of; it was not read."),
    ([{"resourceType": 7}], "An entry is no FHIR resource; it was not read."),
    ([{"resourceType": "MedicationRequest", "id": "m", "medicationReference": {"reference": "Medication/9"}}],
     "MedicationRequest m refers to Medication/9, which is not in the file; it was not read."),
    ([{"resourceType": "MedicationRequest", "id": "m", "status": "draft"}],
     "MedicationRequest m is a draft; it was not read."),
    ([{"resourceType": "MedicationRequest", "id": "m", "doNotPerform": True}],
     "MedicationRequest m says what must not be given; it was not read."),
    ([{"resourceType": "Observation", "id": "o", "dataAbsentReason": concept("not asked")}],
     "Observation o holds no value (not asked); it was not read."),
    ([{"resourceType": "Observation", "id": "o", "status": "cancelled"}],
     "Observation o is marked as cancelled; it was not read."),
    ([{"resourceType": "DocumentReference", "id": "d", "status": "superseded"}],
     "DocumentReference d is superseded by a newer document; it was not read."),
    ([NORA, {**CONDITION, "subject": ONE}, {**CONDITION, "id": "z", "subject": {"reference": "Patient/p2"}}],
     "Condition z is of a patient who is not in the file (Patient/p2); it was not read."),
    ([NORA, NORA | {"id": "p2"}, {**CONDITION, "subject": ONE}],
     "Patient p2 is another patient than the rest of the file; it was not read."),
    ([{"resourceType": "DiagnosticReport", "code": concept("Blood"), "result": [{"reference": "Observation/1"}]}],
     "The report Blood refers to results that are not in the file (Observation/1); they were not read."),
]  # fmt: skip


@pytest.mark.parametrize(("resources", "sentence"), ODD, ids=[row[1][:40] for row in ODD])
def test_each_part_that_is_not_read_has_a_sentence(resources: list[object], sentence: str) -> None:
    done = read(CONDITION, *resources)
    assert done.remarks == (sentence,)
    assert "- Gout." in done.texts[0].text


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[1, 2]", "not fhir"),
        (b'{"a": 1}', "not fhir"),
        (b'{"resourceType": "Bundle", "entry": [', "json"),
        (b'{"a": ' + b"[" * 100_000, "json"),
        (b'{"resourceType": "Bundle", "entry": [null, 5, {}]}', "nothing"),
        (b'{"resourceType": "Bundle", "entry": {}}', "nothing"),
        (b'{"resourceType": "Condition", "code": {"text": NaN}}', "json"),
    ],
)
def test_what_is_no_record_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(UserError) as caught:
        fhir.read(data, limit_bytes=10**6)
    assert caught.value.code == code


# ------------------------------------------------------------------------------------------------ what perception reads


def test_perception_reads_the_record_rightly() -> None:
    done = read(
        NORA,
        {**CONDITION, "code": concept("Type 2 diabetes mellitus"), "onsetDateTime": "2015-03-02"},
        {**CONDITION, "code": concept("pulmonary embolism"), "verificationStatus": status("differential")},
        {**CONDITION, "code": concept("Community acquired pneumonia"), "clinicalStatus": status("resolved")},
        {"resourceType": "AllergyIntolerance", "code": concept("Penicillin")},
        {"resourceType": "MedicationStatement", "status": "stopped", "medicationCodeableConcept": concept("Warfarin")},
        observation("vital-signs", "8867-4", "Heart rate", amount(118, "/min")),
        observation("laboratory", "2160-0", "Kreatinin", amount(1.8, "mg/dL")),
    )
    note = Note(id="n1", title="Record", text=done.texts[0].text, sha256="0" * 64)
    table = LabTable(id="t1", title="x", rows=done.laboratory, sha256="0" * 64)
    case = Case(id="c", title="c", revision=1, created_at="2026-11-30", items=(note, table), patient=done.patient)
    found = {f.name: f for f in findings.perceive(case, packaged())}
    states = {name: (found[name].polarity, found[name].time) for name in found}
    assert states["Type 2 diabetes"] == ("present", "current")
    assert states["Pulmonary embolism"] == ("possible", "current")
    assert states["Community-acquired pneumonia"] == ("present", "past")
    assert states["Warfarin"][0] == "absent"
    assert found["Penicillin"].extractor == "allergy"
    assert found["Heart rate"].value is not None and found["Heart rate"].value.value == 118.0
    assert (found["Creatinine"].quantity, found["Creatinine"].abnormal) == ("creatinine", "high")
