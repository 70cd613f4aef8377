"""FHIR R4 in JSON (a Bundle, one resource, or NDJSON) to a patient, notes, laboratory rows and attached documents.

Every resource is read on its own: a damaged, foreign or unknown one costs one sentence and no other. Nothing that a
file refers to is ever opened ("url"). Knows no store; attached documents go to the other readers.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TypeVar

import msgspec

from core import codec
from core.domain import case
from core.errors import UserError
from core.readers import fhir_record, text
from core.readers import fhir_resources as r
from core.readers.fhir_bundle import Found, Remarks, Resource, found_in
from core.readers.fhir_record import Line
from core.readers.fhir_values import lab_row, moment, name_of_test, phrase, value_words

ROWS = 20_000
T = TypeVar("T")
SUFFIXES = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
SEXES = {"male": "M", "female": "F", "other": "O"}
NAME_USES = ("official", "usual", "")
WRONG = ("entered-in-error", "refuted")
NO_RESULT = ("cancelled", "registered")
# Kinds that others refer to, or that carry nothing of their own for a case.
SILENT = {
    "Medication",
    "Specimen",
    "Practitioner",
    "PractitionerRole",
    "Organization",
    "Location",
    "Encounter",
    "OperationOutcome",
}


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A document made of resources: title, text, and date (ISO 8601)."""

    title: str
    text: str
    written_on: str = ""


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """A document that lies inside a resource, for the other readers; `title` ends in the suffix of its kind."""

    title: str
    data: bytes
    written_on: str = ""


class FhirDocument(msgspec.Struct, frozen=True, kw_only=True, tag="fhir"):
    """What a file holds, laboratory and earlier vital signs as rows; `remarks` say what was not read and why."""

    patient: case.Patient
    texts: tuple[Text, ...] = ()
    laboratory: tuple[case.LabRow, ...] = ()
    earlier_signs: tuple[case.LabRow, ...] = ()
    attached: tuple[Attached, ...] = ()
    remarks: tuple[str, ...] = ()


def read(data: bytes, *, limit_bytes: int) -> FhirDocument:
    """Read a FHIR file.

    Raises:
        UserError: too large ("size"), not JSON ("json"), no FHIR ("not fhir"), nothing in it for a case ("nothing").
    """
    content, _, assumed = text.decode(data, limit_bytes=limit_bytes)
    remarks = Remarks()
    found = found_in(content, remarks)
    return _Reading(found, remarks).document(assumed)


class _Reading:
    """One file: each resource put into words, rows or documents."""

    def __init__(self, found: Found, remarks: Remarks) -> None:
        self._found = found
        self._remarks = remarks
        self._lines: list[Line] = []
        self._signs: list[r.Observation] = []
        self._rows: list[case.LabRow] = []
        self._texts: list[Text] = []
        self._attached: list[Attached] = []
        self._readers: dict[str, Callable[[Resource], None]] = {
            "Condition": lambda one: self._with(one, r.Condition, self._condition),
            "Observation": lambda one: self._with(one, r.Observation, self._observation),
            "MedicationRequest": lambda one: self._with(one, r.Prescribed, self._medication),
            "MedicationStatement": lambda one: self._with(one, r.Prescribed, self._medication),
            "AllergyIntolerance": lambda one: self._with(one, r.Allergy, self._allergy),
            "DiagnosticReport": lambda one: self._with(one, r.Report, self._report),
            "DocumentReference": lambda one: self._with(one, r.Document, self._reference),
        }

    def document(self, assumed: tuple[str, ...]) -> FhirDocument:
        """Everything that the file says. Raises UserError as `read`."""
        chosen, patients = self._found.patient(), [case.Patient()]
        if chosen is not None:
            self._with(chosen, r.Patient, lambda head, person: patients.append(self._patient(head, person)))
        for resource in self._found.of_patient(self._remarks):
            kind = resource.head.resource_type
            if kind in self._readers:
                self._readers[kind](resource)
            elif kind not in SILENT:
                self._remarks.add(resource.head, "is of a kind that this version does not read")
        earlier = self._vital_signs()
        if self._lines:
            day = max((moment(sign.at)[:10] for sign in self._signs), default="") or moment(self._found.timestamp)[:10]
            self._texts.insert(0, Text(title="Record", text=fhir_record.text_of(self._lines), written_on=day))
        if not (self._texts or self._rows or self._attached or earlier):
            said = " ".join(self._remarks.sentences()[:3])
            raise UserError(f"The FHIR file holds nothing for a case. {said}".strip(), code="nothing")
        return FhirDocument(
            patient=patients[-1],
            texts=tuple(self._texts),
            laboratory=self._newest(self._rows),
            earlier_signs=self._newest(earlier),
            attached=tuple(self._attached),
            remarks=(*assumed, *self._remarks.sentences()),
        )

    def _with(self, one: Resource, kind: type[T], take: Callable[[r.Head, T], None]) -> None:
        """Hand on the resource as a value; a sentence where a part of it is of a wrong type."""
        try:
            value: T = codec.decode(one.raw, kind)
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            place = str(error).rpartition("`$.")[2].rstrip("`") or "structure"
            self._remarks.add(one.head, f"is not built as FHIR R4 says ({place})")
            return
        take(one.head, value)

    def _newest(self, rows: list[case.LabRow]) -> tuple[case.LabRow, ...]:
        """At most 20,000 rows, the latest ones, numbered in the order of the file."""
        kept = rows
        if len(rows) > ROWS:
            self._remarks.say(f"Of {len(rows):,} results the latest {ROWS:,} were read.")
            latest = {id(row) for row in sorted(rows, key=lambda row: row.collected_at)[-ROWS:]}
            kept = [row for row in rows if id(row) in latest]
        return tuple(msgspec.structs.replace(row, row=number) for number, row in enumerate(kept, start=1))

    # ------------------------------------------------------------------------------------------ one kind each

    def _patient(self, head: r.Head, person: r.Patient) -> case.Patient:
        if line := fhir_record.of_patient(person):
            self._lines.append(line)
        birth = moment(person.birth_date)
        if person.birth_date and len(birth) != len("2000-01-01"):
            self._remarks.say(f"The date of birth is not a full date ({phrase(person.birth_date)}); it was left out.")
            birth = ""
        name = min(person.name, key=_name_rank, default=r.HumanName())
        parts = [phrase(name.family), " ".join(phrase(part) for part in name.given)]
        numbers = sorted(person.identifier, key=lambda one: "MR" not in one.type.codes())
        return case.Patient(
            name=", ".join(part for part in parts if part) or phrase(name.text),
            patient_id=next((phrase(one.value) for one in numbers if one.value.strip()), ""),
            birth_date=birth,
            sex=SEXES.get(person.gender, ""),
        )

    def _condition(self, head: r.Head, found: r.Condition) -> None:
        if self._left_out(head, found.verification_status.codes()) or self._nameless(head, found.code):
            return
        self._lines.append(fhir_record.of_condition(found))

    def _observation(self, head: r.Head, found: r.Observation) -> None:
        if self._left_out(head, (found.status,)):
            return
        values = [part for part in (found, *found.component) if value_words(part) and name_of_test(part.code)]
        if not values:
            absent = phrase(found.data_absent_reason.words)
            self._remarks.add(head, f"holds no value{f' ({absent})' if absent else ''}")
            return
        categories = {code for category in found.category for code in category.codes()}
        is_sign = "vital-signs" in categories or any(fhir_record.sign_code(part) for part in values)
        if is_sign and "laboratory" not in categories:
            self._signs.append(found)
        elif "laboratory" in categories or (not categories and any(part.value_quantity for part in values)):
            self._results(head, found, values)
        elif line := fhir_record.of_other(found):
            self._lines.append(line)

    def _results(self, head: r.Head, found: r.Observation, values: list[r.Measured]) -> None:
        specimen = self._specimen(found)
        for value in values:
            row, said = lab_row(value, row=0, at=moment(found.at), specimen=specimen)
            if row is not None:
                self._rows.append(row)
            if said:
                self._remarks.say(f"{row.test if row else 'A result'}: {said}.")

    def _specimen(self, found: r.Observation) -> str:
        """What the sample is of, in words."""
        resource = self._found.get(found.specimen, found.contained)
        named = [phrase(found.specimen.display)]
        if resource is not None:
            self._with(resource, r.Specimen, lambda head, one: named.append(phrase(one.type.words)))
        return next((name for name in reversed(named) if name), "")

    def _medication(self, head: r.Head, found: r.Prescribed) -> None:
        if self._left_out(head, (found.status,)):
            return
        unsure = {"draft": "is a draft", "proposal": "is only proposed", "plan": "is only planned"}
        for word in (found.status, found.intent):
            if word in unsure:
                self._remarks.add(head, unsure[word])
                return
        if found.do_not_perform:
            self._remarks.add(head, "says what must not be given")
            return
        name = phrase(found.medication_codeable_concept.words) or self._medicine(found)
        if not name:
            missing = phrase(found.medication_reference.reference)
            why = f"refers to {missing}, which is not in the file" if missing else "names no medication"
            self._remarks.add(head, why)
            return
        self._lines.append(fhir_record.of_medication(found, name))

    def _medicine(self, found: r.Prescribed) -> str:
        """The name of the medication that is referred to."""
        resource = self._found.get(found.medication_reference, found.contained)
        named = [phrase(found.medication_reference.display)]
        if resource is not None:
            self._with(resource, r.Medication, lambda head, one: named.append(phrase(one.code.words)))
        return next((name for name in reversed(named) if name), "")

    def _allergy(self, head: r.Head, found: r.Allergy) -> None:
        if not self._left_out(head, found.verification_status.codes()) and not self._nameless(head, found.code):
            self._lines.append(fhir_record.of_allergy(found, phrase(found.code.words)))

    def _report(self, head: r.Head, found: r.Report) -> None:
        if self._left_out(head, (found.status,)):
            return
        period = found.effective_period
        day = moment(found.effective_date_time or period.start or period.end or found.issued)[:10]
        title = phrase(found.code.words) or f"Report {head.id}".strip()
        if said := fhir_record.report_text(found):
            self._texts.append(Text(title=title, text=said, written_on=day))
        for form in found.presented_form:
            self._attach(head, form, title, day)
        if lost := [ref.reference for ref in found.result if ref.reference and self._lost(ref, found)]:
            self._remarks.say(
                f"The report {title} refers to results that are not in the file ({', '.join(lost[:3])}"
                f"{', …' if len(lost) > 3 else ''}); they were not read."
            )

    def _lost(self, reference: r.Reference, found: r.Report) -> bool:
        return self._found.get(reference, found.contained) is None

    def _reference(self, head: r.Head, found: r.Document) -> None:
        if self._left_out(head, (found.status, found.doc_status)):
            return
        if found.status == "superseded":
            self._remarks.add(head, "is superseded by a newer document")
            return
        title = phrase(found.description) or phrase(found.type.words) or f"Document {head.id}".strip()
        if not found.content:
            self._remarks.add(head, "holds no content")
        for content in found.content:
            self._attach(head, content.attachment, title, moment(found.date)[:10])

    def _attach(self, head: r.Head, form: r.Attachment, title: str, day: str) -> None:
        """Put a document into the file's list, or say why it is not read."""
        kind = form.content_type.split(";")[0].strip().lower()
        why = ""
        if not form.data:
            why = "lies at another address, which is never opened" if form.url else "is empty"
        elif kind not in SUFFIXES:
            why = f"is of the kind {phrase(kind) or 'unknown'}"
        else:
            try:
                data = base64.b64decode("".join(form.data.split()), validate=True)
            except (binascii.Error, ValueError):
                why = "is damaged (not Base64)"
        if why:
            self._remarks.add(head, f"holds a document that {why}")
            return
        named = (phrase(form.title) or title).replace("/", "-")
        suffix = "" if named.lower().endswith(SUFFIXES[kind]) else SUFFIXES[kind]
        self._attached.append(Attached(title=named + suffix, data=data, written_on=day or moment(form.creation)[:10]))

    # ------------------------------------------------------------------------------------------ left out

    def _left_out(self, head: r.Head, codes: tuple[str, ...]) -> bool:
        """Whether a status says that this never held, or holds no result; it is remarked then."""
        for code in codes:
            if code in WRONG or code in NO_RESULT:
                self._remarks.add(head, f"is marked as {code}")
                return True
        return False

    def _nameless(self, head: r.Head, code: r.Concept) -> bool:
        if phrase(code.words):
            return False
        self._remarks.add(head, "does not say what it is of")
        return True

    # ------------------------------------------------------------------------------------------ vital signs

    def _vital_signs(self) -> list[case.LabRow]:
        """The latest of each sign becomes a sentence of the record; earlier and odd ones are returned as rows."""
        latest: dict[str, list[r.Observation]] = {}
        for sign in sorted(self._signs, key=lambda one: moment(one.at), reverse=True):
            latest.setdefault(name_of_test(sign.code), []).append(sign)
        current = max((moment(sign.at)[:10] for sign in self._signs), default="")
        earlier: list[case.LabRow] = []
        for group in latest.values():
            said = fhir_record.of_sign(group[0]) if moment(group[0].at)[:10] == current else ()
            self._lines += said
            for sign in group[1:] if said else group:
                parts = [part for part in (sign, *sign.component) if value_words(part)]
                rows = (lab_row(part, row=0, at=moment(sign.at))[0] for part in parts)
                earlier += [row for row in rows if row is not None]
        return earlier


def _name_rank(name: r.HumanName) -> int:
    """Which of several names counts: the official one, the usual one, one without a use, any other."""
    return NAME_USES.index(name.use) if name.use in NAME_USES else len(NAME_USES)
