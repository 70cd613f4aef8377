"""Findings before they have ids, and the canonical order that gives them ids.

Pure. The order depends on what a finding says, never on where in the case it stood, so that shuffled documents, rows
and sentences give the same findings with the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from core.domain.case import LabRow, LabTable, Note
from core.domain.evidence import Finding, Provenance

NOTES, LABORATORY, VITALS, BACKGROUND = "notes-1", "laboratory-1", "vitals-1", "background-1"
MEDICATION, ALLERGY, DERIVED, IMAGE = "medication-1", "allergy", "derived-1", "image-1"
_ORDER = (BACKGROUND, VITALS, LABORATORY, DERIVED, NOTES, MEDICATION, ALLERGY, IMAGE)


class Draft(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A finding whose id is still empty, and the drafts it rests on."""

    finding: Finding
    inputs: tuple[Draft, ...] = ()


def numbered(drafts: Iterable[Draft]) -> tuple[Finding, ...]:
    """The findings in canonical order with ids "f1", "f2", ..., their inputs named by id."""
    ordered = sorted(drafts, key=canonical_key)
    ids = {id(draft): f"f{number}" for number, draft in enumerate(ordered, start=1)}
    return tuple(
        msgspec.structs.replace(
            draft.finding,
            id=ids[id(draft)],
            inputs=tuple(sorted((ids[id(source)] for source in draft.inputs), key=lambda name: int(name[1:]))),
        )
        for draft in ordered
    )


def canonical_key(draft: Draft) -> tuple[object, ...]:
    """What a finding says first, where it stands last."""
    f, p = draft.finding, draft.finding.provenance
    rank = _ORDER.index(f.extractor)
    value = (f.value.value, f.value.unit) if f.value is not None else (float("-inf"), "")
    said = (f.polarity, f.time, f.who, f.abnormal, f.text, f.note, f.formula, f.reference_range)
    place = (p.sha256, p.reference, -1 if p.start is None else p.start, -1 if p.row is None else p.row)
    return (rank, f.concept, f.quantity, f.collected_at or "", value, said, place)


def note_source(note: Note, start: int, end: int) -> Provenance:
    """The span of a note, labelled with title and line."""
    line = note.text.count("\n", 0, start) + 1
    return Provenance(
        kind="document",
        reference=note.id,
        sha256=note.sha256,
        label=f"{note.title}, line {line}",
        start=start,
        end=end,
    )


def cell_source(table: LabTable, row: LabRow) -> Provenance:
    """The value cell of a laboratory row."""
    label = f"{table.title}, row {row.row}"
    return Provenance(
        kind="cell", reference=table.id, sha256=table.sha256, label=label, row=row.row, column="value"
    )


def derived_source(formula: str, inputs: Iterable[Draft]) -> Provenance:
    """A formula over other findings; the hash is that of the first input in canonical order."""
    first = min(inputs, key=canonical_key)
    return Provenance(kind="derived", reference=formula, sha256=first.finding.provenance.sha256, label=formula)
