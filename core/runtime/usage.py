"""Who cites which edition of a guideline: runs that used a pack, and what a report must say of old editions (N14).

A citation is a piece of evidence that names a passage and the hash of its text. Assessments are never changed, only
flagged. It must not know a window or a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from core.domain import event as ev
from core.domain.evidence import Evidence
from core.domain.report import Remark
from core.retrieval import editions
from core.retrieval.editions import Calendar
from core.store.journal import Journal, RunRow
from core.store.knowledge_values import Pack

PASSAGE = "passage"


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run whose assessment cites passages of a pack; signed by whom, if it is."""

    run: str
    case: str
    workflow: str
    at: str
    status: Literal["finished", "signed"]
    signed_by: str
    passages: tuple[str, ...]


def uses(journal: Journal, hashes: Mapping[str, str], *, on_run: Callable[[], None] = lambda: None) -> tuple[Use, ...]:
    """Finished runs that cite one of these passages (key to sha256 of the text), newest first."""
    found = []
    for row in journal.runs():
        on_run()
        if row.status == "finished" and (use := _use(row, journal, hashes)):
            found.append(use)
    return tuple(found)


def _use(row: RunRow, journal: Journal, hashes: Mapping[str, str]) -> Use | None:
    events = [recorded.event for recorded in journal.legible(row.id)]
    evidence = [item for e in events if isinstance(e, ev.RunFinished) for item in e.assessment.evidence]
    passages = dict.fromkeys(
        item.provenance.reference
        for item in evidence
        if item.provenance.kind == PASSAGE and hashes.get(item.provenance.reference) == item.provenance.sha256
    )
    if not passages:
        return None
    signed = [event.actor for event in events if isinstance(event, ev.AssessmentSigned)]
    return Use(
        run=row.id,
        case=row.case_id,
        workflow=row.workflow,
        at=row.created_at,
        status="signed" if signed else "finished",
        signed_by=signed[-1] if signed else "",
        passages=tuple(passages),
    )


def remarks(evidence: Iterable[Evidence], packs: Sequence[Pack], calendar: Calendar | None) -> tuple[Remark, ...]:
    """What is to be said of evidence from an edition that is superseded, expired, withdrawn or damaged."""
    said = {pack.id: (pack.title, editions.remark(pack, packs, calendar)) for pack in packs if pack.state != "active"}
    found = (
        (item, *said.get(item.provenance.reference.partition(":")[0], ("", "")))
        for item in evidence
        if item.provenance.kind == PASSAGE
    )
    return tuple(Remark(evidence=item.id, title=title, text=text) for item, title, text in found if text)
