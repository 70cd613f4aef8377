"""Whose files are these? One patient a case: what names somebody else is kept out and said. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from core.domain.case import Patient, Unread

FIELDS = ("name", "patient_id", "birth_date")
STRANGER = "It names another patient than the rest of this case"
SAID = {"name": "name", "patient_id": "patient number", "birth_date": "date of birth"}


class Claim(msgspec.Struct, frozen=True):
    """A file (by name) and the patient that it names."""

    name: str
    patient: Patient


def settle(known: Patient, claims: Sequence[Claim]) -> tuple[Patient, list[Unread]]:
    """The case's patient, and a sentence for each file that names another one.

    The patient of the case so far decides; without one, the patient that most files name (then the first by name).
    """
    patient = known if _stated(known) else _commonest(claims)
    refused: list[Unread] = []
    for claim in sorted(claims, key=lambda one: one.name):
        if differing := conflicts(patient, claim.patient):
            refused.append(Unread(claim.name, _sentence(differing)))
        else:
            patient = _filled(patient, claim.patient)
    return patient, refused


def conflicts(one: Patient, other: Patient) -> list[str]:
    """The fields that both state and state differently (PS3.3 C.7.1.1: name, id, birth date).

    A name with a further given name is the same one where number or date of birth agree.
    """
    pairs = {field: (_plain(getattr(one, field)), _plain(getattr(other, field))) for field in FIELDS}
    differing = [field for field, (a, b) in pairs.items() if a and b and a != b]
    agrees = any(a and a == b for field, (a, b) in pairs.items() if field != "name")
    if differing == ["name"] and agrees and _is_longer(*pairs["name"]):
        return []
    return differing


def _plain(text: str) -> str:
    return " ".join(text.replace(",", " ").casefold().split())


def _is_longer(one: str, other: str) -> bool:
    """Is one of two names the other with more behind it?"""
    return f"{one} ".startswith(f"{other} ") or f"{other} ".startswith(f"{one} ")


def _stated(patient: Patient) -> bool:
    return any(getattr(patient, field) for field in FIELDS)


def _commonest(claims: Iterable[Claim]) -> Patient:
    stated = [one.patient for one in sorted(claims, key=lambda one: one.name) if _stated(one.patient)]
    return Counter(stated).most_common(1)[0][0] if stated else Patient()


def _filled(patient: Patient, other: Patient) -> Patient:
    """The patient with empty fields taken from what a file of theirs states."""
    added = {f: getattr(other, f) for f in (*FIELDS, "sex") if not getattr(patient, f) and getattr(other, f)}
    return replace(patient, **added) if added else patient


def _sentence(differing: list[str]) -> str:
    listed = " and ".join(SAID[field] for field in differing)
    return f"{STRANGER} (other {listed}); it was not added."
