"""From an evidence id to what the reader must see: the note and its span, the cell, the picture, the passage. Pure."""

from __future__ import annotations

import msgspec

from core.domain.case import Case, ImageRef, LabTable, Note, SeriesRef
from core.domain.evidence import Evidence, Finding
from core.domain.memory import WorkingMemory
from core.domain.passage import Passage


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence with everything needed to show where it comes from.

    Exactly one of `note`, `table`, `picture`, `passage` is set where the source has a place of its own; `inputs` are
    the evidence that a computed statement rests on; `about` says the rest in words, one line each.
    """

    evidence: Evidence
    note: Note | None = None
    table: LabTable | None = None
    picture: ImageRef | SeriesRef | None = None
    passage: Passage | None = None
    inputs: tuple[Evidence, ...] = ()
    about: tuple[str, ...] = ()


def resolve(evidence: Evidence, case: Case, memory: WorkingMemory, *, remark: str = "") -> Source:
    """The source of an evidence item; `remark`: what is to be said of the edition that it cites (N14)."""
    place = evidence.provenance
    item = case.item(place.reference)
    finding = next((f for f in memory.findings if f.id == evidence.finding), None) if evidence.finding else None
    return Source(
        evidence=evidence,
        note=item if isinstance(item, Note) else None,
        table=item if isinstance(item, LabTable) else None,
        picture=item if isinstance(item, ImageRef | SeriesRef) else None,
        passage=next((p for p in memory.passages if p.key == place.reference), None),
        inputs=_inputs(finding, memory),
        about=(*filter(None, (remark,)), *_about(finding)),
    )


def _inputs(finding: Finding | None, memory: WorkingMemory) -> tuple[Evidence, ...]:
    """Evidence of the findings that a derived finding was computed from."""
    if finding is None or not finding.inputs:
        return ()
    wanted = set(finding.inputs)
    items = memory.assessment.evidence if memory.assessment else memory.evidence
    return tuple(item for item in items if item.finding in wanted)


def _about(finding: Finding | None) -> tuple[str, ...]:
    """How the finding was read: whose, when, by which formula, by which extractor."""
    if finding is None:
        return ()
    lines = [f"{finding.polarity}, {finding.time}, {finding.who}"]
    if finding.formula:
        lines.append(finding.formula)
    if finding.reference_range:
        lines.append(f"reference {finding.reference_range}")
    if finding.note:
        lines.append(finding.note)
    return (*lines, f"read by {finding.extractor}")
