"""Whose images are these? One patient a case: what names somebody else is kept out and said. Pure."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from core.domain.case import Patient, Unread
from core.imaging.series import Member

FIELDS = ("name", "patient_id", "birth_date")
SAID = {"name": "name", "patient_id": "patient number", "birth_date": "date of birth"}


def settle(known: Patient, members: list[Member]) -> tuple[Patient, list[Member], list[Unread]]:
    """The case's patient, the instances that are theirs, and a sentence for each that names another patient.

    The patient of the case so far decides; without one, the patient that most instances name (then the first by name).
    """
    patient = known if _stated(known) else _commonest(members)
    kept: list[Member] = []
    refused: list[Unread] = []
    for member in sorted(members, key=lambda m: m.name):
        if differing := conflicts(patient, member.instance.patient):
            refused.append(Unread(member.name, _sentence(differing)))
        else:
            kept.append(member)
            patient = _filled(patient, member.instance.patient)
    return patient, kept, refused


def conflicts(one: Patient, other: Patient) -> list[str]:
    """The fields that both state and state differently (PS3.3 C.7.1.1: name, id, birth date)."""
    pairs = ((field, _plain(getattr(one, field)), _plain(getattr(other, field))) for field in FIELDS)
    return [field for field, a, b in pairs if a and b and a != b]


def _plain(text: str) -> str:
    return " ".join(text.replace(",", " ").casefold().split())


def _stated(patient: Patient) -> bool:
    return any(getattr(patient, field) for field in FIELDS)


def _commonest(members: list[Member]) -> Patient:
    stated = [m.instance.patient for m in sorted(members, key=lambda m: m.name) if _stated(m.instance.patient)]
    return Counter(stated).most_common(1)[0][0] if stated else Patient()


def _filled(patient: Patient, other: Patient) -> Patient:
    """The patient with empty fields taken from what an instance of theirs states."""
    added = {f: getattr(other, f) for f in (*FIELDS, "sex") if not getattr(patient, f) and getattr(other, f)}
    return replace(patient, **added) if added else patient


def _sentence(differing: list[str]) -> str:
    listed = " and ".join(SAID[field] for field in differing)
    return f"It names another patient than the rest of this case (other {listed}); it was not added."
