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

MOST_REPEATED = 3  # places kept of what a document says more often
_REPEATED = "said in this document further "


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


def folded(drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts with what one document says over and over kept three times; the third notes how often more.

    Drafts that others rest on stay, and so do table cells. The three are the first in canonical order.
    """
    listed = list(drafts)
    needed = {id(source) for draft in listed for source in draft.inputs}
    groups: dict[tuple[object, ...], list[Draft]] = {}
    for draft in listed:
        f, p = draft.finding, draft.finding.provenance
        plain = p.kind == "document" and p.start is not None and id(draft) not in needed
        value = (f.quantity, f.value, f.abnormal, f.reference_range, f.change, f.collected_at, f.note)
        said = (p.reference, f.extractor, f.concept, f.name, f.polarity, f.time, f.who, value)
        groups.setdefault(said if plain else (id(draft),), []).append(draft)
    return [draft for group in groups.values() for draft in _first(sorted(group, key=canonical_key))]


def _first(group: list[Draft]) -> list[Draft]:
    more = len(group) - MOST_REPEATED
    if more <= 0:
        return group
    *others, last = group[:MOST_REPEATED]
    times = "once" if more == 1 else f"{more} times"
    note = "; ".join(filter(None, (last.finding.note, f"{_REPEATED}{times}")))
    return [*others, Draft(finding=msgspec.structs.replace(last.finding, note=note), inputs=last.inputs)]


def without_count(note: str) -> str:
    """The remark of a finding without how often more it is said."""
    return note.partition(_REPEATED)[0].removesuffix("; ")


def note_source(note: Note, start: int, end: int) -> Provenance:
    """The span of a note, labelled with title, page where there are pages, line, and whether it is hidden there."""
    return Provenance(
        kind="document",
        reference=note.id,
        sha256=note.sha256,
        label=f"{note.title}, {place(note, start, end)}",
        start=start,
        end=end,
    )


def place(note: Note, start: int, end: int) -> str:
    """ "page 2, line 7" (lines count on the page), "line 12"; with what keeps a reader from seeing it there."""
    page = note.page(start)
    top = note.pages[page - 1] if page else 0
    line = f"line {note.text.count(chr(10), top, start) + 1}"
    why = next((span.why for span in note.hidden if span.start < end and start < span.end), "")
    return ", ".join(part for part in (f"page {page}" if page else "", line, f"hidden: {why}" if why else "") if part)


def cell_source(table: LabTable, row: LabRow) -> Provenance:
    """The value cell of a laboratory row."""
    label = f"{table.title}, row {row.row}"
    return Provenance(kind="cell", reference=table.id, sha256=table.sha256, label=label, row=row.row, column="value")


def derived_source(formula: str, inputs: Iterable[Draft]) -> Provenance:
    """A formula over other findings; the hash is that of the first input in canonical order."""
    first = min(inputs, key=canonical_key)
    return Provenance(kind="derived", reference=formula, sha256=first.finding.provenance.sha256, label=formula)
