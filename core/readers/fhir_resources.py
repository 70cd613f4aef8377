"""The parts of FHIR R4 resources that a case needs, as values (HL7 FHIR R4, 4.0.1). Numbers are kept as written.

Fields that are not named here are passed over. Knows neither files nor sentences.
"""

from __future__ import annotations

from decimal import Decimal

import msgspec


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """JSON names in camel case, every field optional."""


class Coding(_Part, frozen=True):
    system: str = ""
    code: str = ""
    display: str = ""


class Concept(_Part, frozen=True):
    """A CodeableConcept."""

    text: str = ""
    coding: tuple[Coding, ...] = ()

    @property
    def words(self) -> str:
        """What a person calls it: its text, else the first name given to a code, else a code."""
        names = (self.text, *(c.display for c in self.coding), *(c.code for c in self.coding))
        return next((" ".join(name.split()) for name in names if name.strip()), "")

    def codes(self, system: str = "") -> tuple[str, ...]:
        """The codes, of one system or of all, in the order of the file."""
        return tuple(c.code for c in self.coding if c.code and (not system or c.system == system))


class Quantity(_Part, frozen=True):
    value: Decimal | None = None
    comparator: str = ""
    unit: str = ""
    system: str = ""
    code: str = ""


class Range(_Part, frozen=True):
    low: Quantity | None = None
    high: Quantity | None = None


class Ratio(_Part, frozen=True):
    numerator: Quantity | None = None
    denominator: Quantity | None = None


class Reference(_Part, frozen=True):
    reference: str = ""
    display: str = ""


class Period(_Part, frozen=True):
    start: str = ""
    end: str = ""


class Attachment(_Part, frozen=True):
    content_type: str = ""
    data: str = ""
    url: str = ""
    title: str = ""
    creation: str = ""


class HumanName(_Part, frozen=True):
    use: str = ""
    text: str = ""
    family: str = ""
    given: tuple[str, ...] = ()


class Identifier(_Part, frozen=True):
    value: str = ""
    type: Concept = Concept()


class Annotation(_Part, frozen=True):
    text: str = ""


class Resource(_Part, frozen=True):
    """What all resources have. `contained` are resources that only this one refers to, as "#id"."""

    resource_type: str = ""
    id: str = ""
    contained: tuple[msgspec.Raw, ...] = ()
    subject: Reference = Reference()


class Patient(Resource, frozen=True):
    name: tuple[HumanName, ...] = ()
    identifier: tuple[Identifier, ...] = ()
    birth_date: str = ""
    gender: str = ""
    deceased_boolean: bool = False
    deceased_date_time: str = ""


class Condition(Resource, frozen=True):
    clinical_status: Concept = Concept()
    verification_status: Concept = Concept()
    code: Concept = Concept()
    severity: Concept = Concept()
    onset_date_time: str = ""
    onset_string: str = ""
    onset_period: Period = Period()
    onset_age: Quantity | None = None
    abatement_date_time: str = ""
    abatement_string: str = ""
    note: tuple[Annotation, ...] = ()


class ReferenceRange(_Part, frozen=True):
    low: Quantity | None = None
    high: Quantity | None = None
    type: Concept = Concept()
    applies_to: tuple[Concept, ...] = ()
    age: Range | None = None
    text: str = ""


class Measured(_Part, frozen=True):
    """What an Observation and each of its components say: a code and a value of one of many forms."""

    code: Concept = Concept()
    value_quantity: Quantity | None = None
    value_string: str = ""
    value_codeable_concept: Concept | None = None
    value_boolean: bool | None = None
    value_integer: int | None = None
    value_range: Range | None = None
    value_ratio: Ratio | None = None
    value_date_time: str = ""
    value_time: str = ""
    data_absent_reason: Concept = Concept()
    interpretation: tuple[Concept, ...] = ()
    reference_range: tuple[ReferenceRange, ...] = ()


class Observation(Measured, frozen=True):
    """A resource that is itself one of the things measured; its fields of a resource stand here once more."""

    resource_type: str = ""
    id: str = ""
    contained: tuple[msgspec.Raw, ...] = ()
    subject: Reference = Reference()
    status: str = ""
    category: tuple[Concept, ...] = ()
    effective_date_time: str = ""
    effective_instant: str = ""
    effective_period: Period = Period()
    issued: str = ""
    specimen: Reference = Reference()
    component: tuple[Measured, ...] = ()

    @property
    def at(self) -> str:
        """When it was measured, as written; the time of the report where that is all there is."""
        period = self.effective_period.start or self.effective_period.end
        return self.effective_date_time or self.effective_instant or period or self.issued


class Specimen(Resource, frozen=True):
    type: Concept = Concept()


class Dose(_Part, frozen=True):
    dose_quantity: Quantity | None = None
    dose_range: Range | None = None


class Timing(_Part, frozen=True):
    code: Concept = Concept()


class Dosage(_Part, frozen=True):
    text: str = ""
    route: Concept = Concept()
    timing: Timing = Timing()
    dose_and_rate: tuple[Dose, ...] = ()


class Medication(Resource, frozen=True):
    code: Concept = Concept()


class Prescribed(Resource, frozen=True):
    """MedicationRequest and MedicationStatement: `dosage` is the statement's name of `dosage_instruction`."""

    status: str = ""
    intent: str = ""
    do_not_perform: bool = False
    medication_codeable_concept: Concept = Concept()
    medication_reference: Reference = Reference()
    dosage_instruction: tuple[Dosage, ...] = ()
    dosage: tuple[Dosage, ...] = ()


class Reaction(_Part, frozen=True):
    manifestation: tuple[Concept, ...] = ()
    description: str = ""
    severity: str = ""


class Allergy(Resource, frozen=True):
    """AllergyIntolerance."""

    clinical_status: Concept = Concept()
    verification_status: Concept = Concept()
    code: Concept = Concept()
    criticality: str = ""
    reaction: tuple[Reaction, ...] = ()
    patient: Reference = Reference()


class Report(Resource, frozen=True):
    """DiagnosticReport."""

    status: str = ""
    code: Concept = Concept()
    effective_date_time: str = ""
    effective_period: Period = Period()
    issued: str = ""
    result: tuple[Reference, ...] = ()
    conclusion: str = ""
    conclusion_code: tuple[Concept, ...] = ()
    presented_form: tuple[Attachment, ...] = ()


class Content(_Part, frozen=True):
    attachment: Attachment = Attachment()


class Document(Resource, frozen=True):
    """DocumentReference."""

    status: str = ""
    doc_status: str = ""
    type: Concept = Concept()
    description: str = ""
    date: str = ""
    content: tuple[Content, ...] = ()


class Entry(_Part, frozen=True):
    full_url: str = ""
    resource: msgspec.Raw = msgspec.Raw()


class Bundle(_Part, frozen=True):
    """`entry` is read one by one, so that a damaged one costs itself only."""

    timestamp: str = ""
    entry: tuple[msgspec.Raw, ...] = ()


class Head(_Part, frozen=True):
    """As much of any resource as tells what it is."""

    resource_type: str = ""
    id: str = ""
